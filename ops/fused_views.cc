#include "ops/fused_views.h"

#include "atc/base/check.h"

namespace atc::ops {

namespace {

constexpr const char* kSpace = "space";  // Ints
constexpr const char* kViews = "views";  // Ints: offset and strides of each operand

}  // namespace

void set_fused_views(ir::Node& node, const FusedViews& views) {
  Dims flat;
  for (const FusedViews::Operand& o : views.operands) {
    flat.push_back(o.offset);
    flat.insert(flat.end(), o.strides.begin(), o.strides.end());
  }
  node.attrs.set(kSpace, views.space);
  node.attrs.set(kViews, std::move(flat));
}

bool has_fused_views(const ir::Node& node) { return node.attrs.has(kSpace); }

std::optional<FusedViews> fused_views(const ir::Node& node) {
  if (!has_fused_views(node)) return std::nullopt;
  FusedViews views{node.attrs.get_ints(kSpace), {}};
  const Dims flat = node.attrs.get_ints(kViews);
  const std::size_t step = views.space.size() + 1, count = node.inputs().size() + node.outputs().size();
  ATC_CHECK(flat.size() == step * count, node.label() + " has views of other operands");
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = flat.begin() + static_cast<std::ptrdiff_t>(i * step);
    views.operands.push_back({*at, Dims(at + 1, at + static_cast<std::ptrdiff_t>(step))});
  }
  return views;
}

}  // namespace atc::ops
