#include <string>

#include "ops/axis_view.h"
#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/op.h"
#include "ops/reference_util.h"
#include "ops/shape_value.h"

// OneHot: each index becomes a vector along a new axis, `on` at the index and `off` elsewhere.
namespace atc::ops {
namespace {

constexpr std::string_view kAxis = "axis";  // Int, -1: of the output
constexpr std::size_t kDepth = 1;           // scalar or one-element vector
constexpr std::size_t kValues = 2;          // [off, on]

Status infer_one_hot(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 0, kNumericTypes, "a numeric type"));
  ATC_TRY(require_dtype(ctx, kDepth, kNumericTypes, "a numeric type"));
  ATC_TRY(require_vector(ctx, kValues, ir::Dim::of(2)));
  ctx.set_output(0, ctx.dtype(kValues), std::nullopt);
  if (!ctx.ranked(0)) return {};
  ir::Shape shape = ctx.shape(0);
  ATC_ASSIGN(const std::int64_t axis, axis_attribute(ctx, kAxis, -1, shape.size() + 1));

  ir::Dim depth = ctx.unknown_dim();
  if (const Tensor* constant = ctx.constant(kDepth); constant != nullptr && constant->count() == 1)
    depth = literal(int_at(*constant, 0));
  else if (const auto elements = elements_of(ctx, kDepth); elements && elements->size() == 1)
    depth = elements->front();
  if (is_literal(depth) && depth.value < 0)
    return ctx.input_error(kDepth, "is " + std::to_string(depth.value) + ", expected 0 or more");
  shape.insert(shape.begin() + axis, depth);
  ctx.set_output(0, ctx.dtype(kValues), std::move(shape));
  return {};
}

Status reference_one_hot(EvalContext& ctx) {
  const Tensor& indices = ctx.input(0);
  const Tensor& values = ctx.input(kValues);
  if (ctx.input(kDepth).count() != 1 || values.count() != 2)
    return ctx.error("depth must have one element and values two");
  const std::int64_t depth = int_at(ctx.input(kDepth), 0);
  if (depth < 0) return ctx.error("depth is " + std::to_string(depth) + ", expected 0 or more");
  Dims shape = indices.shape;
  const auto axis =
      normalize_axis(ctx.node().attrs.get_int(kAxis, -1), static_cast<std::int64_t>(shape.size()) + 1);
  if (!axis) return ctx.error("attribute axis is outside the rank of the output");
  shape.insert(shape.begin() + *axis, depth);

  // Negative indices count from the end since opset 11; all others outside are all `off`.
  const bool wraps = ctx.version() >= 11;
  const AxisView view = axis_view(shape, *axis);
  ElementWriter out(values.dtype, shape);
  out.copy(0, filled(values, shape), 0, element_count(shape));
  const std::vector<std::int64_t> index = to_int64s(indices);
  for (std::size_t i = 0; i < index.size(); ++i) {
    const std::int64_t at = wraps && index[i] < 0 ? index[i] + depth : index[i];
    if (at < 0 || at >= depth) continue;
    const std::size_t column = view.column(i / view.inner, i % view.inner);
    out.copy(static_cast<std::int64_t>(column) + at * static_cast<std::int64_t>(view.inner), values, 1);
  }
  ctx.outputs[0] = std::move(out).freeze();
  return {};
}

}  // namespace

void register_one_hot(Registry& r) {
  r.add({.name = "OneHot",
         .since = 9,
         .attrs = {{kAxis, AttrKind::Int}},
         .inputs = {3, 3},
         .infer = infer_one_hot,
         .reference = reference_one_hot});
}

}  // namespace atc::ops
