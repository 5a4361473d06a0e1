#include "passes/blocked_channels.h"

#include <algorithm>

#include "ops/fused_views.h"
#include "ops/op.h"

namespace atc::passes {
namespace {

using ir::Node;
using ir::Value;

bool is_blocked_rank(std::size_t rank) { return rank >= 3 && rank <= 5; }

// All the program's tensors have blocks of as many channels: those of 8-bit types have 32, others 16.
bool one_block_size(const Node& n) {
  const std::int64_t c0 = ir::c0_of(n.output(0)->type.dtype);
  auto other_blocks = [c0](const Value* v) {
    return element_count(v->type.dims()) != 1 && ir::c0_of(v->type.dtype) != c0;
  };
  return std::none_of(n.inputs().begin(), n.inputs().end(), other_blocks) &&
         std::all_of(n.outputs().begin(), n.outputs().end(),
                     [c0](const Value* v) { return ir::c0_of(v->type.dtype) == c0; });
}

// All operands have the space's channels, and channels stay where they are.
bool vector_program(const Node& n) {
  // The space: the widest operand.
  Dims space;
  for (const Value* v : n.inputs())
    space = std::max(space, v->type.dims(), [](const Dims& a, const Dims& b) {
      return std::pair(a.size(), element_count(a)) < std::pair(b.size(), element_count(b));
    });
  if (!is_blocked_rank(space.size()) || n.outputs().empty()) return false;
  // Channels and batch are no axes to reduce over in blocks of lanes.
  for (std::int64_t a : n.attrs.get_ints("reduce_axes"))
    if (a < 2) return false;
  for (const Value* v : n.inputs()) {
    Dims d = v->type.dims();
    if (element_count(d) == 1) continue;
    d.insert(d.begin(), space.size() - d.size(), 1);
    if (d[1] != space[1]) return false;
  }
  for (const Value* v : n.outputs())
    if (v->type.dims().size() != space.size() || v->type.dims()[1] != space[1]) return false;
  // One reduced axis group must stay neighbours in storage: spatial axes do.
  return true;
}

bool whole_blocks(std::int64_t channels, DType dtype) { return channels % ir::c0_of(dtype) == 0; }

bool concat(const Node& n) {
  const std::int64_t rank = std::ssize(n.output(0)->type.dims());
  const auto axis = ops::normalize_axis(n.attrs.get_int("axis", 0), rank);
  if (!axis || !is_blocked_rank(static_cast<std::size_t>(rank))) return false;
  if (*axis != 1) return true;
  for (std::size_t i = 0; i + 1 < n.inputs().size(); ++i)
    if (!whole_blocks(n.input(i)->type.dims()[1], n.input(i)->type.dtype)) return false;
  return true;
}

bool split(const Node& n) {
  const std::int64_t rank = std::ssize(n.input(0)->type.dims());
  const auto axis = ops::normalize_axis(n.attrs.get_int("axis", 0), rank);
  if (!axis || !is_blocked_rank(static_cast<std::size_t>(rank))) return false;
  if (*axis != 1) return true;
  for (std::size_t i = 0; i + 1 < n.outputs().size(); ++i)
    if (n.output(i) == nullptr || !whole_blocks(n.output(i)->type.dims()[1], n.output(i)->type.dtype))
      return false;
  return true;
}

// Only spatial axes change.
bool spatial_only(const Node& n) {
  const Dims in = n.input(0)->type.dims(), out = n.output(0)->type.dims();
  return is_blocked_rank(in.size()) && in.size() == out.size() && in[0] == out[0] && in[1] == out[1];
}

}  // namespace

bool is_parameter(const Node& n, std::size_t input) {
  if (n.domain == "atc") return false;
  return input > 0 && !n.is("Concat");
}

bool carries_blocked_channels(const Node& n) {
  if (n.is_internal("Fused")) return !ops::has_fused_views(n) && vector_program(n) && one_block_size(n);
  if (n.is("Concat")) return concat(n);
  if (n.is("Split")) return split(n);
  if (n.is("Resize") || n.is("Upsample")) {
    const ops::OpDef* def = ops::Registry::instance().find(n);
    return spatial_only(n) && def != nullptr && def->lowers != nullptr && def->lowers(n);
  }
  return false;
}

bool stores_small_channels(const Node& n) {
  if (!n.is_internal("Fused") || ops::has_fused_views(n) || n.attrs.has("parts") || n.outputs().size() != 1)
    return false;
  const Dims out = n.output(0)->type.dims();
  return is_blocked_rank(out.size()) && out[1] <= ir::c0_of(ir::Format::NC1HWC0_C04, DType::F16) &&
         vector_program(n);
}

}  // namespace atc::passes
