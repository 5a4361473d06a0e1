#include <string>

#include "ops/axis_view.h"
#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/op.h"
#include "ops/reference_util.h"
#include "ops/shape_value.h"

// Selections whose size hangs on data: Compress, NonZero.
namespace atc::ops {
namespace {

constexpr std::string_view kAxis = "axis";  // Int; absent: the flattened input

Status infer_compress(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 1, kBoolTypes, "type bool"));
  ATC_TRY(require_rank(ctx, 1, 1, 1));
  ir::Dim kept = ctx.unknown_dim();
  if (const auto condition = literals_of(ctx, 1))
    kept = ir::Dim::of(std::ranges::count_if(*condition, [](std::int64_t c) { return c != 0; }));
  if (!ctx.node().attrs.has(kAxis)) {
    ctx.set_output(0, ctx.dtype(0), ir::Shape{kept});
    return {};
  }
  if (!ctx.ranked(0)) {
    ctx.set_output(0, ctx.dtype(0), std::nullopt);
    return {};
  }
  ir::Shape shape = ctx.shape(0);
  ATC_ASSIGN(const std::int64_t axis, axis_attribute(ctx, kAxis, 0, shape.size()));
  shape[static_cast<std::size_t>(axis)] = kept;
  ctx.set_output(0, ctx.dtype(0), std::move(shape));
  return {};
}

Status reference_compress(EvalContext& ctx) {
  Tensor x = ctx.input(0);
  std::int64_t axis = 0;
  if (ctx.node().attrs.has(kAxis)) {
    const auto normal =
        normalize_axis(ctx.node().attrs.get_int(kAxis, 0), static_cast<std::int64_t>(x.shape.size()));
    if (!normal) return ctx.error("attribute axis is outside the rank " + std::to_string(x.shape.size()));
    axis = *normal;
  } else {
    x = with_shape(x, {x.count()});
  }
  const AxisView view = axis_view(x.shape, axis);
  const auto condition = ctx.input(1).as<Bool8>();
  std::vector<std::int64_t> kept;
  for (std::size_t i = 0; i < condition.size(); ++i)
    if (condition[i]) kept.push_back(static_cast<std::int64_t>(i));
  if (!kept.empty() && kept.back() >= static_cast<std::int64_t>(view.length))
    return ctx.error("condition selects element " + std::to_string(kept.back()) + " of an axis of length " +
                     std::to_string(view.length));

  Dims shape = x.shape;
  shape[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(kept.size());
  const auto inner = static_cast<std::int64_t>(view.inner);
  ElementWriter out(x.dtype, shape);
  std::int64_t to = 0;
  for (std::size_t o = 0; o < view.outer; ++o)
    for (std::int64_t k : kept) {
      out.copy(to, x, static_cast<std::int64_t>(view.column(o, 0)) + k * inner, inner);
      to += inner;
    }
  ctx.outputs[0] = std::move(out).freeze();
  return {};
}

Status infer_non_zero(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 0, kNumericTypes | kBoolTypes, "a numeric type or bool"));
  const ir::Dim rank =
      ctx.ranked(0) ? ir::Dim::of(static_cast<std::int64_t>(ctx.shape(0).size())) : ctx.unknown_dim();
  ctx.set_output(0, DType::I64, ir::Shape{rank, ctx.unknown_dim()});
  return {};
}

/// One column of coordinates for each element that is not zero, in row-major order.
Status reference_non_zero(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  std::vector<Dims> found;
  for (NdIndex at(x.shape); !at.done(); at.next())
    if (double_at(x, at.position()) != 0) found.push_back(at.index());
  const auto count = static_cast<std::int64_t>(found.size());
  std::vector<std::int64_t> rows;
  for (std::size_t axis = 0; axis < x.shape.size(); ++axis)
    for (const Dims& index : found) rows.push_back(index[axis]);
  ctx.outputs[0] = from_int64s(DType::I64, {static_cast<std::int64_t>(x.shape.size()), count}, rows);
  return {};
}

}  // namespace

void register_compress(Registry& r) {
  r.add({.name = "Compress",
         .since = 9,
         .attrs = {{kAxis, AttrKind::Int}},
         .inputs = {2, 2},
         .infer = infer_compress,
         .reference = reference_compress});
  r.add({.name = "NonZero", .since = 9, .infer = infer_non_zero, .reference = reference_non_zero});
}

}  // namespace atc::ops
