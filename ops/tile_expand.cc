#include <string>

#include "atc/base/math.h"
#include "kernels/vector_program.h"
#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/move.h"
#include "ops/op.h"
#include "ops/reference_util.h"
#include "ops/shape_value.h"

// Repetition: Tile and Expand.
namespace atc::ops {
namespace {

// Tile ----------------------------------------------------------------------------------------------

/// Repeats for every axis; opset 1 names one axis and its count in two scalar inputs.
std::optional<ir::Shape> repeats_of(const InferContext& ctx, std::size_t rank) {
  if (ctx.version() >= 6) return elements_of(ctx, 1);
  const auto tiles = literals_of(ctx, 1);
  const auto axis = literals_of(ctx, 2);
  if (!tiles || tiles->size() != 1 || !axis || axis->size() != 1) return std::nullopt;
  ir::Shape repeats(rank, literal(1));
  if (const auto at = normalize_axis(axis->front(), static_cast<std::int64_t>(rank)))
    repeats[static_cast<std::size_t>(*at)] = literal(tiles->front());
  return repeats;
}

Status infer_tile(InferContext& ctx) {
  if (!ctx.ranked(0)) {
    ctx.set_output(0, ctx.dtype(0), std::nullopt);
    return {};
  }
  ir::Shape shape = ctx.shape(0);
  const auto repeats = repeats_of(ctx, shape.size());
  if (!repeats) {
    ctx.set_output(0, ctx.dtype(0), unknown_shape(ctx, shape.size()));
    return {};
  }
  if (repeats->size() != shape.size())
    return ctx.input_error(1, "has " + std::to_string(repeats->size()) + " repeats for an input of rank " +
                                  std::to_string(shape.size()));
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const ir::Dim& count = (*repeats)[i];
    if (is_literal(count) && count.value < 0)
      return ctx.input_error(1, "has the negative repeat " + std::to_string(count.value));
    if (count == literal(1)) continue;
    if (shape[i] == ir::Dim::of(1)) {
      shape[i] = count;
    } else if (shape[i].known() && is_literal(count)) {
      const auto length = checked_mul(shape[i].value, count.value);
      if (!length) return ctx.error("the length of axis " + std::to_string(i) + " does not fit 64 bits");
      shape[i] = ir::Dim::of(*length);
    } else {
      shape[i] = ctx.unknown_dim();
    }
  }
  ctx.set_output(0, ctx.dtype(0), std::move(shape));
  return {};
}

Status reference_tile(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  Dims repeats = to_int64s(ctx.input(1));
  if (ctx.version() < 6) {
    const auto axis = normalize_axis(int_at(ctx.input(2), 0), static_cast<std::int64_t>(x.shape.size()));
    if (!axis || repeats.size() != 1) return ctx.error("tiles and axis must be scalars that fit the input");
    const std::int64_t count = repeats[0];
    repeats.assign(x.shape.size(), 1);
    repeats[static_cast<std::size_t>(*axis)] = count;
  }
  if (repeats.size() != x.shape.size())
    return ctx.error("repeats [" + to_string(repeats) + "] do not fit shape [" + to_string(x.shape) + "]");
  Dims shape = x.shape;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto length = checked_mul(shape[i], repeats[i]);
    if (repeats[i] < 0 || !length)
      return ctx.error("repeats [" + to_string(repeats) + "] are not possible lengths");
    shape[i] = *length;
  }
  if (element_count(shape) < 0) return ctx.error("the number of elements does not fit 64 bits");
  const Dims strides = row_major_strides(x.shape);
  ElementWriter out(x.dtype, shape);
  for (NdIndex at(shape); !at.done(); at.next()) {
    std::int64_t from = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) from += at[i] % x.shape[i] * strides[i];
    out.copy(at.position(), x, from);
  }
  ctx.outputs[0] = std::move(out).freeze();
  return {};
}

// Expand --------------------------------------------------------------------------------------------

Status infer_expand(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 1, {DType::I64}, "type i64"));
  const auto target = elements_of(ctx, 1);
  if (!target || !ctx.ranked(0)) {
    const auto count = length_of(ctx, 1);
    std::optional<ir::Shape> shape;
    if (count && ctx.ranked(0))
      shape = unknown_shape(ctx, std::max(static_cast<std::size_t>(*count), ctx.shape(0).size()));
    ctx.set_output(0, ctx.dtype(0), std::move(shape));
    return {};
  }
  for (const ir::Dim& d : *target)
    if (is_literal(d) && d.value < 0)
      return ctx.input_error(1, "has the negative length " + std::to_string(d.value));
  auto shape = broadcast(ctx.shape(0), *target);
  if (!shape)
    return ctx.error("input of shape [" + ir::to_string(ctx.shape(0)) + "] does not expand to [" +
                     ir::to_string(*target) + "]");
  ctx.set_output(0, ctx.dtype(0), std::move(shape));
  // One element repeated is a shape value too.
  if (const auto elements = elements_of(ctx, 0); elements && elements->size() == 1 && target->size() <= 1) {
    if (target->empty())
      set_elements(ctx, 0, *elements);
    else if (is_literal(target->front()) && target->front().value <= 64)
      set_elements(ctx, 0, ir::Shape(static_cast<std::size_t>(target->front().value), elements->front()));
  }
  return {};
}

Status reference_expand(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const Dims target = to_int64s(ctx.input(1));
  const auto shape = broadcast_dims(x.shape, target);
  if (!shape || element_count(*shape) < 0 || std::ranges::any_of(target, [](auto d) { return d < 0; }))
    return ctx.error("input of shape [" + to_string(x.shape) + "] does not expand to [" + to_string(target) +
                     "]");
  ctx.outputs[0] = strided_copy(x, *shape, strides_over(x.shape, *shape));
  return {};
}

// Lowering ------------------------------------------------------------------------------------------

Status lower_expand(LowerContext& ctx) {
  const Dims x = ctx.node().input(0)->type.dims(), y = ctx.node().output(0)->type.dims();
  return emit_copy(ctx, y, {0, kernels::broadcast_strides(x, y)}, {0, row_major_strides(y)});
}

/// Each axis is one of repeats and one of elements.
Status lower_tile(LowerContext& ctx) {
  const Dims x = ctx.node().input(0)->type.dims(), y = ctx.node().output(0)->type.dims();
  const Dims from = row_major_strides(x), to = row_major_strides(y);
  Dims dims;
  Box source, target;
  for (std::size_t i = 0; i < x.size(); ++i) {
    dims.insert(dims.end(), {y[i] / x[i], x[i]});
    source.strides.insert(source.strides.end(), {0, from[i]});
    target.strides.insert(target.strides.end(), {x[i] * to[i], to[i]});
  }
  return emit_copy(ctx, dims, source, target);
}

}  // namespace

void register_tile_expand(Registry& r) {
  r.add({.name = "Expand",
         .since = 8,
         .inputs = {2, 2},
         .infer = infer_expand,
         .reference = reference_expand,
         .lower = lower_expand,
         .lowers = copies_input});
  r.add({.name = "Tile",
         .since = 1,
         .until = 5,
         .inputs = {3, 3},
         .infer = infer_tile,
         .reference = reference_tile,
         .lower = lower_tile,
         .lowers = copies_input});
  r.add({.name = "Tile",
         .since = 6,
         .inputs = {2, 2},
         .infer = infer_tile,
         .reference = reference_tile,
         .lower = lower_tile,
         .lowers = copies_input});
}

}  // namespace atc::ops
