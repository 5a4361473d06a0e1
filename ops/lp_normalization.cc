#include <cmath>
#include <limits>

#include "ops/axis_view.h"
#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/vector_emitter.h"

// Division by a power sum along one axis: LpNormalization, LRN.
namespace atc::ops {

namespace {

// LpNormalization -----------------------------------------------------------------------------------

Status infer_lp_normalization(InferContext& ctx) {
  ATC_TRY(require_float(ctx, 0));
  const std::int64_t p = ctx.node().attrs.get_int("p", 2);
  if (p != 1 && p != 2) return ctx.error("attribute p is " + std::to_string(p) + ", expected 1 or 2");
  ATC_TRY(require_rank(ctx, 0, 1));
  if (ctx.ranked(0)) {
    auto axis = axis_attribute(ctx, "axis", -1, ctx.shape(0).size());
    if (!axis.ok()) return axis.status();
  }
  return infer_same_as_input(ctx);
}

Status reference_lp_normalization(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const bool l1 = ctx.node().attrs.get_int("p", 2) == 1;
  const AxisView v =
      axis_view(x.shape, *normalize_axis(ctx.node().attrs.get_int("axis", -1), std::ssize(x.shape)));
  std::vector<double> y = to_doubles(x);
  for (std::size_t o = 0; o < v.outer; ++o)
    for (std::size_t i = 0; i < v.inner; ++i) {
      double* column = y.data() + v.column(o, i);
      double norm = 0;
      for (std::size_t k = 0; k < v.length; ++k) {
        const double e = column[k * v.inner];
        norm += l1 ? std::abs(e) : e * e;
      }
      if (!l1) norm = std::sqrt(norm);
      // A zero vector has no direction: it stays zero.
      for (std::size_t k = 0; k < v.length; ++k)
        column[k * v.inner] = norm == 0 ? 0 : column[k * v.inner] / norm;
    }
  ctx.outputs[0] = from_doubles(x.dtype, x.shape, y);
  return {};
}

std::optional<Dims> lp_axes(const ir::Node& node) {
  const auto axis = normalize_axis(node.attrs.get_int("axis", -1), std::ssize(node.input(0)->type.dims()));
  return axis ? std::optional(Dims{*axis}) : std::nullopt;
}

Status vector_lp_normalization(VectorEmitter& e) {
  using kernels::RegType;
  using kernels::VecOp;
  const auto x = e.input(0);
  const bool l1 = e.node().attrs.get_int("p", 2) == 1;
  auto norm = e.unary(VecOp::ReduceSum, l1 ? e.unary(VecOp::Abs, x) : e.binary(VecOp::Mul, x, x));
  if (!l1) norm = e.unary(VecOp::Sqrt, norm);
  // Zero divided by the least positive number is zero.
  const auto least = e.constant(RegType::F32, static_cast<double>(std::numeric_limits<float>::min()));
  e.set_output(0, e.binary(VecOp::Div, x, e.binary(VecOp::Max, norm, least)));
  return {};
}

// LRN -----------------------------------------------------------------------------------------------

Status infer_lrn(InferContext& ctx) {
  ATC_TRY(require_float(ctx, 0));
  ATC_TRY(require_rank(ctx, 0, 2));
  const std::int64_t size = ctx.node().attrs.get_int("size", 0);
  if (size < 1) return ctx.error("attribute size is " + std::to_string(size) + ", expected >= 1");
  return infer_same_as_input(ctx);
}

/// y = x / (bias + alpha / size * sum of squares over `size` channels around the element's)^beta.
Status reference_lrn(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const auto& attrs = ctx.node().attrs;
  const std::int64_t size = attrs.get_int("size", 1);
  const double alpha = attrs.get_float("alpha", 1e-4F);
  const double beta = attrs.get_float("beta", 0.75F);
  const double bias = attrs.get_float("bias", 1.0F);
  const AxisView v = axis_view(x.shape, 1);
  const auto channels = static_cast<std::int64_t>(v.length);
  const std::vector<double> in = to_doubles(x);
  std::vector<double> y(in.size());
  for (std::size_t n = 0; n < v.outer; ++n)
    for (std::int64_t c = 0; c < channels; ++c) {
      const std::int64_t first = std::max<std::int64_t>(c - (size - 1) / 2, 0);
      const std::int64_t last = std::min(c + size / 2, channels - 1);
      const auto at = [&](std::int64_t channel, std::size_t i) {
        return (n * v.length + static_cast<std::size_t>(channel)) * v.inner + i;
      };
      for (std::size_t i = 0; i < v.inner; ++i) {
        double squares = 0;
        for (std::int64_t k = first; k <= last; ++k) squares += in[at(k, i)] * in[at(k, i)];
        y[at(c, i)] = in[at(c, i)] / std::pow(bias + alpha / static_cast<double>(size) * squares, beta);
      }
    }
  ctx.outputs[0] = from_doubles(x.dtype, x.shape, y);
  return {};
}

}  // namespace

void register_lp_normalization(Registry& registry) {
  registry.add({.name = "LpNormalization",
                .attrs = {{"axis", AttrKind::Int}, {"p", AttrKind::Int}},
                .infer = infer_lp_normalization,
                .reference = reference_lp_normalization,
                .vector = vector_lp_normalization,
                .vector_accepts = has_vector_types,
                .reduce_axes = lp_axes});
  registry.add({.name = "LRN",
                .attrs = {{"alpha", AttrKind::Float},
                          {"beta", AttrKind::Float},
                          {"bias", AttrKind::Float},
                          {"size", AttrKind::Int, true}},
                .infer = infer_lrn,
                .reference = reference_lrn});
}

}  // namespace atc::ops
