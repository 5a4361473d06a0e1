#include <numeric>
#include <string>

#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/move.h"
#include "ops/op.h"
#include "ops/reference_util.h"
#include "ops/shape_value.h"

// Reordering of axes: Transpose, DepthToSpace, SpaceToDepth.
namespace atc::ops {
namespace {

/// The elements of `x`, seen under `view`, with its axes in the order `perm`, then seen under `shape`.
Tensor permuted(const Tensor& x, const Dims& view, const std::vector<std::size_t>& perm, Dims shape) {
  const Dims dense = row_major_strides(view);
  Dims space;
  Dims strides;
  for (std::size_t axis : perm) {
    space.push_back(view[axis]);
    strides.push_back(dense[axis]);
  }
  return with_shape(strided_copy(x, space, strides), std::move(shape));
}

// Transpose -----------------------------------------------------------------------------------------

constexpr std::string_view kPerm = "perm";  // Ints, reversed axes when absent

/// The axes of the input in the order of the output; nullopt when `perm` is not a permutation of them.
std::optional<std::vector<std::size_t>> permutation(const ir::Node& node, std::size_t rank) {
  std::vector<std::size_t> perm(rank);
  if (!node.attrs.has(kPerm)) {
    std::iota(perm.rbegin(), perm.rend(), std::size_t{0});
    return perm;
  }
  const auto axes = normalize_axes(node.attrs.get_ints(kPerm), rank);
  if (!axes || axes->size() != rank) return std::nullopt;
  std::ranges::transform(*axes, perm.begin(), [](std::int64_t a) { return static_cast<std::size_t>(a); });
  return perm;
}

std::string perm_fault(const ir::Node& node, std::size_t rank) {
  return "attribute perm [" + to_string(node.attrs.get_ints(kPerm)) + "] is not a permutation of the " +
         std::to_string(rank) + " axes of the input";
}

Status infer_transpose(InferContext& ctx) {
  if (!ctx.ranked(0)) {
    std::optional<ir::Shape> shape;
    if (ctx.node().attrs.has(kPerm)) shape = unknown_shape(ctx, ctx.node().attrs.get_ints(kPerm).size());
    ctx.set_output(0, ctx.dtype(0), std::move(shape));
    return {};
  }
  const auto perm = permutation(ctx.node(), ctx.shape(0).size());
  if (!perm) return ctx.error(perm_fault(ctx.node(), ctx.shape(0).size()));
  ir::Shape shape;
  for (std::size_t axis : *perm) shape.push_back(ctx.shape(0)[axis]);
  ctx.set_output(0, ctx.dtype(0), std::move(shape));
  return {};
}

Status reference_transpose(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const auto perm = permutation(ctx.node(), x.shape.size());
  if (!perm) return ctx.error(perm_fault(ctx.node(), x.shape.size()));
  Dims shape;
  for (std::size_t axis : *perm) shape.push_back(x.shape[axis]);
  ctx.outputs[0] = permuted(x, x.shape, *perm, shape);
  return {};
}

// DepthToSpace, SpaceToDepth --------------------------------------------------------------------------

constexpr std::string_view kBlockSize = "blocksize";  // Int, required
constexpr std::string_view kMode = "mode";            // String, "DCR" or "CRD", since 11; DepthToSpace only

StatusOr<std::int64_t> block_size(const ir::Node& node, const auto& ctx) {
  const std::int64_t block = node.attrs.get_int(kBlockSize, 0);
  if (block <= 0 || block > INT32_MAX)
    return ctx.error("attribute blocksize is " + std::to_string(block) + ", expected 1 or more");
  return block;
}

/// A dim divided by a factor; a symbol gives a fresh one.
StatusOr<ir::Dim> divided(InferContext& ctx, std::size_t axis, std::int64_t by) {
  const ir::Dim& d = ctx.shape(0)[axis];
  if (!d.known()) return by == 1 ? d : ctx.unknown_dim();
  if (d.value % by != 0)
    return ctx.input_error(0, "has axis " + std::to_string(axis) + " of length " + std::to_string(d.value) +
                                  ", which blocksize asks to be a multiple of " + std::to_string(by));
  return ir::Dim::of(d.value / by);
}

ir::Dim multiplied(InferContext& ctx, std::size_t axis, std::int64_t by) {
  const ir::Dim& d = ctx.shape(0)[axis];
  return d.known() ? ir::Dim::of(d.value * by) : by == 1 ? d : ctx.unknown_dim();
}

Status infer_depth_to_space(InferContext& ctx) {
  ATC_ASSIGN(const std::int64_t b, block_size(ctx.node(), ctx));
  const std::string mode = ctx.node().attrs.get_string(kMode, "DCR");
  if (mode != "DCR" && mode != "CRD")
    return ctx.error("attribute mode must be DCR or CRD, found '" + mode + "'");
  ATC_TRY(require_rank(ctx, 0, 4, 4));
  if (!ctx.ranked(0)) {
    ctx.set_output(0, ctx.dtype(0), unknown_shape(ctx, 4));
    return {};
  }
  ATC_ASSIGN(ir::Dim channels, divided(ctx, 1, b * b));
  ctx.set_output(
      0, ctx.dtype(0),
      ir::Shape{ctx.shape(0)[0], std::move(channels), multiplied(ctx, 2, b), multiplied(ctx, 3, b)});
  return {};
}

Status reference_depth_to_space(EvalContext& ctx) {
  ATC_ASSIGN(const std::int64_t b, block_size(ctx.node(), ctx));
  const Tensor& x = ctx.input(0);
  if (x.shape.size() != 4 || x.shape[1] % (b * b) != 0)
    return ctx.error("blocksize " + std::to_string(b) + " does not fit shape [" + to_string(x.shape) + "]");
  const std::int64_t n = x.shape[0];
  const std::int64_t c = x.shape[1] / (b * b);
  const std::int64_t h = x.shape[2];
  const std::int64_t w = x.shape[3];
  const Dims shape = {n, c, h * b, w * b};
  if (ctx.node().attrs.get_string(kMode, "DCR") == "CRD")
    ctx.outputs[0] = permuted(x, {n, c, b, b, h, w}, {0, 1, 4, 2, 5, 3}, shape);
  else
    ctx.outputs[0] = permuted(x, {n, b, b, c, h, w}, {0, 3, 4, 1, 5, 2}, shape);
  return {};
}

Status infer_space_to_depth(InferContext& ctx) {
  ATC_ASSIGN(const std::int64_t b, block_size(ctx.node(), ctx));
  ATC_TRY(require_rank(ctx, 0, 4, 4));
  if (!ctx.ranked(0)) {
    ctx.set_output(0, ctx.dtype(0), unknown_shape(ctx, 4));
    return {};
  }
  ATC_ASSIGN(ir::Dim height, divided(ctx, 2, b));
  ATC_ASSIGN(ir::Dim width, divided(ctx, 3, b));
  ctx.set_output(0, ctx.dtype(0),
                 ir::Shape{ctx.shape(0)[0], multiplied(ctx, 1, b * b), std::move(height), std::move(width)});
  return {};
}

Status reference_space_to_depth(EvalContext& ctx) {
  ATC_ASSIGN(const std::int64_t b, block_size(ctx.node(), ctx));
  const Tensor& x = ctx.input(0);
  if (x.shape.size() != 4 || x.shape[2] % b != 0 || x.shape[3] % b != 0)
    return ctx.error("blocksize " + std::to_string(b) + " does not fit shape [" + to_string(x.shape) + "]");
  const std::int64_t n = x.shape[0];
  const std::int64_t c = x.shape[1];
  const std::int64_t h = x.shape[2] / b;
  const std::int64_t w = x.shape[3] / b;
  ctx.outputs[0] = permuted(x, {n, c, h, b, w, b}, {0, 3, 5, 1, 2, 4}, {n, c * b * b, h, w});
  return {};
}

// Lowering ------------------------------------------------------------------------------------------

/// The view of `permuted` as one strided copy.
Status lower_permuted(LowerContext& ctx, const Dims& view, const std::vector<std::size_t>& perm) {
  const Dims strides = row_major_strides(view);
  Dims dims;
  Box from;
  for (std::size_t p : perm) {
    dims.push_back(view[p]);
    from.strides.push_back(strides[p]);
  }
  return emit_copy(ctx, dims, from, {0, row_major_strides(dims)});
}

Status lower_transpose(LowerContext& ctx) {
  const Dims dims = ctx.node().input(0)->type.dims();
  return lower_permuted(ctx, dims, *permutation(ctx.node(), dims.size()));
}

Status lower_depth_to_space(LowerContext& ctx) {
  const ir::Node& n = ctx.node();
  const Dims x = n.input(0)->type.dims(), y = n.output(0)->type.dims();
  const std::int64_t b = n.attrs.get_int(kBlockSize, 1);
  if (n.attrs.get_string(kMode, "DCR") == "CRD")
    return lower_permuted(ctx, {x[0], y[1], b, b, x[2], x[3]}, {0, 1, 4, 2, 5, 3});
  return lower_permuted(ctx, {x[0], b, b, y[1], x[2], x[3]}, {0, 3, 4, 1, 5, 2});
}

Status lower_space_to_depth(LowerContext& ctx) {
  const ir::Node& n = ctx.node();
  const Dims x = n.input(0)->type.dims(), y = n.output(0)->type.dims();
  const std::int64_t b = n.attrs.get_int(kBlockSize, 1);
  return lower_permuted(ctx, {x[0], x[1], y[2], b, y[3], b}, {0, 3, 5, 1, 2, 4});
}

}  // namespace

void register_transpose(Registry& r) {
  r.add({.name = "DepthToSpace",
         .attrs = {{kBlockSize, AttrKind::Int, true}, {kMode, AttrKind::String, false, 11}},
         .infer = infer_depth_to_space,
         .reference = reference_depth_to_space,
         .lower = lower_depth_to_space,
         .lowers = copies_input});
  r.add({.name = "SpaceToDepth",
         .attrs = {{kBlockSize, AttrKind::Int, true}},
         .infer = infer_space_to_depth,
         .reference = reference_space_to_depth,
         .lower = lower_space_to_depth,
         .lowers = copies_input});
  r.add({.name = "Transpose",
         .attrs = {{kPerm, AttrKind::Ints}},
         .infer = infer_transpose,
         .reference = reference_transpose,
         .lower = lower_transpose,
         .lowers = copies_input});
}

}  // namespace atc::ops
