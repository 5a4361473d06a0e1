#include "ops/axis_view.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/reduce.h"
#include "ops/reference_util.h"

// ArgMax, ArgMin: the index along one axis; i64.
namespace atc::ops {

namespace {

bool keeps_dims(const ir::Node& node) { return node.attrs.get_int("keepdims", 1) != 0; }

Status infer_arg(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 0, kNumericTypes, "a numeric type"));
  ATC_TRY(require_rank(ctx, 0, 1));
  std::optional<ir::Shape> shape;
  if (ctx.ranked(0)) {
    ATC_ASSIGN(const std::int64_t axis, axis_attribute(ctx, "axis", 0, ctx.shape(0).size()));
    if (ctx.shape(0)[static_cast<std::size_t>(axis)] == ir::Dim::of(0))
      return ctx.input_error(
          0, "is empty along axis " + std::to_string(axis) + ", there is no largest or smallest element");
    shape = reduced_shape(ctx.shape(0), {axis}, keeps_dims(ctx.node()));
  }
  ctx.set_output(0, DType::I64, std::move(shape));
  return {};
}

template <bool kLargest>
Status reference_arg(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const bool last = ctx.node().attrs.get_int("select_last_index", 0) != 0;
  const std::int64_t axis = *normalize_axis(ctx.node().attrs.get_int("axis", 0), std::ssize(x.shape));
  const AxisView v = axis_view(x.shape, axis);
  std::vector<std::int64_t> y(v.outer * v.inner);
  dispatch(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto in = x.as<T>();
    for (std::size_t o = 0; o < v.outer; ++o)
      for (std::size_t i = 0; i < v.inner; ++i) {
        std::size_t best = 0;
        for (std::size_t k = 1; k < v.length; ++k) {
          const auto a = widen(in[v.column(o, i) + k * v.inner]);
          const auto b = widen(in[v.column(o, i) + best * v.inner]);
          if ((kLargest ? a > b : a < b) || (last && a == b)) best = k;
        }
        y[o * v.inner + i] = static_cast<std::int64_t>(best);
      }
  });
  ctx.outputs[0] = from_int64s(DType::I64, reduced_shape(x.shape, {axis}, keeps_dims(ctx.node())), y);
  return {};
}

}  // namespace

void register_arg_reduce(Registry& registry) {
  const std::vector<AttrSpec> attrs = {
      {"axis", AttrKind::Int}, {"keepdims", AttrKind::Int}, {"select_last_index", AttrKind::Int, false, 12}};
  registry.add({.name = "ArgMax", .attrs = attrs, .infer = infer_arg, .reference = reference_arg<true>});
  registry.add({.name = "ArgMin", .attrs = attrs, .infer = infer_arg, .reference = reference_arg<false>});
}

}  // namespace atc::ops
