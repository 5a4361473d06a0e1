#include "ops/legacy_broadcast.h"

#include <string>

#include "ops/reference_util.h"

namespace atc::ops {
namespace {

/// How many ones to append to `b_rank` dims so that they start at the node's `axis` of `a_rank` dims;
/// nullopt when they do not fit there.
std::optional<std::size_t> trailing_ones(const ir::Node& node, std::size_t a_rank, std::size_t b_rank) {
  if (node.version > kLastLegacyBroadcast || !node.attrs.has("axis")) return 0;
  if (node.attrs.get_int("broadcast", 0) == 0 || b_rank == 0 || b_rank > a_rank) return 0;
  std::int64_t axis = node.attrs.get_int("axis", 0);
  if (axis < 0) axis += static_cast<std::int64_t>(a_rank);
  const std::int64_t ones = static_cast<std::int64_t>(a_rank) - axis - static_cast<std::int64_t>(b_rank);
  if (axis < 0 || ones < 0) return std::nullopt;
  return static_cast<std::size_t>(ones);
}

}  // namespace

std::vector<AttrSpec> legacy_broadcast_attrs() {
  return {{"axis", AttrKind::Int, false, 1, kLastLegacyBroadcast},
          {"broadcast", AttrKind::Int, false, 1, kLastLegacyBroadcast},
          {"consumed_inputs", AttrKind::Ints, false, 1, 5}};
}

StatusOr<std::optional<ir::Shape>> pairwise_shape(const InferContext& ctx) {
  if (!ctx.ranked(0) || !ctx.ranked(1)) return std::optional<ir::Shape>();
  const ir::Shape& a = ctx.shape(0);
  ir::Shape b = ctx.shape(1);
  const auto ones = trailing_ones(ctx.node(), a.size(), b.size());
  if (!ones)
    return ctx.error("axis " + std::to_string(ctx.node().attrs.get_int("axis", 0)) +
                     " does not place shape [" + ir::to_string(b) + "] of input 1 inside shape [" +
                     ir::to_string(a) + "] of input 0");
  b.insert(b.end(), *ones, ir::Dim::of(1));
  auto out = broadcast(a, b);
  if (!out)
    return ctx.error("shapes [" + ir::to_string(a) + "] and [" + ir::to_string(ctx.shape(1)) +
                     "] do not broadcast");
  return out;
}

Dims aligned_dims(const ir::Node& node, const Dims& a, const Dims& b) {
  Dims out = b;
  out.insert(out.end(), trailing_ones(node, a.size(), b.size()).value_or(0), 1);
  return out;
}

StatusOr<AlignedPair> aligned_inputs(const EvalContext& ctx) {
  const Tensor& a = ctx.input(0);
  const Tensor& b = ctx.input(1);
  const Dims b_dims = aligned_dims(ctx.node(), a.shape, b.shape);
  auto space = broadcast_dims(a.shape, b_dims);
  if (!space)
    return ctx.error("shapes [" + to_string(a.shape) + "] and [" + to_string(b.shape) + "] do not broadcast");
  return AlignedPair{a, with_shape(b, b_dims), *std::move(space)};
}

bool is_right_aligned(const ir::Node& node) {
  const ir::Value* a = node.input(0);
  const ir::Value* b = node.input(1);
  if (node.version > kLastLegacyBroadcast || a == nullptr || b == nullptr) return true;
  if (!a->type.shape || !b->type.shape) return false;
  return trailing_ones(node, a->type.shape->size(), b->type.shape->size()) == 0;
}

}  // namespace atc::ops
