#include "ops/element_view.h"

#include "ops/op.h"
#include "ops/reference_util.h"

namespace atc::ops {

namespace {

std::optional<ElementView> split_element_view(const ir::Node& split, const ir::Value& output) {
  const Dims dims = split.input(0)->type.dims();
  const auto axis = normalize_axis(split.attrs.get_int("axis", 0), std::ssize(dims));
  if (!axis) return std::nullopt;
  const auto at = static_cast<std::size_t>(*axis);
  ElementView v{row_major_strides(dims), 0};
  for (const ir::Value* part : split.outputs()) {
    if (part == &output) return v;
    if (part == nullptr) return std::nullopt;  // of unknown length
    v.first += part->type.dims()[at] * v.strides[at];
  }
  return std::nullopt;
}

}  // namespace

std::optional<ElementView> element_view(const ir::Value& value) {
  const ir::Node* n = value.producer();
  if (n == nullptr || !n->domain.empty() || n->input(0) == nullptr) return std::nullopt;
  if (n->is("Slice")) return slice_element_view(*n);
  if (n->is("Split")) return split_element_view(*n, value);
  return std::nullopt;
}

}  // namespace atc::ops
