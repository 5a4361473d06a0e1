#include <cmath>
#include <limits>

#include "ops/families.h"
#include "ops/infer_checks.h"

namespace atc::ops {

namespace {

/// N,C,1,1,...
Status infer_global_pool(InferContext& ctx) {
  ATC_TRY(require_float(ctx, 0));
  if (!ctx.ranked(0)) {
    ctx.set_output(0, ctx.dtype(0), std::nullopt);
    return {};
  }
  ATC_TRY(require_rank(ctx, 0, 2));
  ir::Shape shape = ctx.shape(0);
  for (std::size_t i = 2; i < shape.size(); ++i) shape[i] = ir::Dim::of(1);
  ctx.set_output(0, ctx.dtype(0), std::move(shape));
  return {};
}

/// y[n,c] = finish(fold of combine over the plane, elements of the plane).
template <class Combine, class Finish>
Status fold_planes(EvalContext& ctx, double start, Combine combine, Finish finish) {
  const Tensor& x = ctx.input(0);
  Dims shape = x.shape;
  std::fill(shape.begin() + 2, shape.end(), 1);
  std::vector<double> y(static_cast<std::size_t>(element_count(shape)), start);
  const std::vector<double> in = to_doubles(x);
  const std::size_t plane = y.empty() ? 0 : in.size() / y.size();
  for (std::size_t o = 0; o < y.size(); ++o) {
    for (std::size_t i = 0; i < plane; ++i) y[o] = combine(y[o], in[o * plane + i]);
    y[o] = finish(y[o], static_cast<double>(plane));
  }
  ctx.outputs[0] = from_doubles(x.dtype, shape, y);
  return {};
}

Status reference_global_average_pool(EvalContext& ctx) {
  return fold_planes(
      ctx, 0.0, [](double a, double v) { return a + v; }, [](double a, double n) { return a / n; });
}

Status reference_global_max_pool(EvalContext& ctx) {
  return fold_planes(
      ctx, -std::numeric_limits<double>::infinity(),
      [](double a, double v) { return v > a || std::isnan(v) ? v : a; }, [](double a, double) { return a; });
}

/// `p` was a float in version 1 and is an integer since.
double norm_order(const ir::Node& node) {
  return node.version < 2 ? static_cast<double>(node.attrs.get_float("p", 2.0F))
                          : static_cast<double>(node.attrs.get_int("p", 2));
}

Status infer_global_lp_pool(InferContext& ctx) {
  if (!(norm_order(ctx.node()) > 0)) return ctx.error("attribute p must be > 0");
  return infer_global_pool(ctx);
}

Status reference_global_lp_pool(EvalContext& ctx) {
  const double p = norm_order(ctx.node());
  return fold_planes(
      ctx, 0.0, [p](double a, double v) { return a + std::pow(std::abs(v), p); },
      [p](double a, double) { return std::pow(a, 1.0 / p); });
}

}  // namespace

void register_global_pool(Registry& registry) {
  registry.add(
      {.name = "GlobalAveragePool", .infer = infer_global_pool, .reference = reference_global_average_pool});
  registry.add({.name = "GlobalMaxPool", .infer = infer_global_pool, .reference = reference_global_max_pool});
  registry.add({.name = "GlobalLpPool",
                .attrs = {{"p", AttrKind::Float, false, 1, 1}, {"p", AttrKind::Int, false, 2}},
                .infer = infer_global_lp_pool,
                .reference = reference_global_lp_pool});
}

}  // namespace atc::ops
