#include <cmath>

#include "ops/axis_view.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/softmax_fused.h"
#include "ops/vector_emitter.h"

// Softmax, LogSoftmax, Hardmax. Before opset 13 the input is coerced to 2-D at `axis` (default 1) and
// each row is one distribution over all trailing axes; since 13 the one axis (default -1) is.
namespace atc::ops {

namespace {

bool coerces_to_2d(const ir::Node& node) { return node.version < 13; }
std::int64_t default_axis(const ir::Node& node) { return coerces_to_2d(node) ? 1 : -1; }

/// axis = rank coerces to [all, 1] before opset 11, which gave axis its range.
bool is_past_the_end(const ir::Node& node, std::size_t rank) {
  return node.version < 11 &&
         node.attrs.get_int("axis", default_axis(node)) == static_cast<std::int64_t>(rank);
}

Status infer_softmax(InferContext& ctx) {
  ATC_TRY(require_float(ctx, 0));
  if (ctx.ranked(0) && !is_past_the_end(ctx.node(), ctx.shape(0).size())) {
    auto axis = axis_attribute(ctx, "axis", default_axis(ctx.node()), ctx.shape(0).size());
    if (!axis.ok()) return axis.status();
  }
  return infer_same_as_input(ctx);
}

AxisView distributions(const ir::Node& node, const Dims& shape) {
  const std::size_t rank = shape.size();
  if (is_past_the_end(node, rank)) return axes_view(shape, rank, rank);
  const std::int64_t axis =
      *normalize_axis(node.attrs.get_int("axis", default_axis(node)), static_cast<std::int64_t>(rank));
  return coerces_to_2d(node) ? axes_view(shape, static_cast<std::size_t>(axis), rank)
                             : axis_view(shape, axis);
}

/// Applies f(first element, count, step, largest element's position) to each distribution in place.
template <class F>
Status for_each_distribution(EvalContext& ctx, F f) {
  const Tensor& x = ctx.input(0);
  const AxisView v = distributions(ctx.node(), x.shape);
  std::vector<double> y = to_doubles(x);
  for (std::size_t o = 0; o < v.outer && v.length > 0; ++o)
    for (std::size_t i = 0; i < v.inner; ++i) {
      double* column = y.data() + v.column(o, i);
      std::size_t largest = 0;
      for (std::size_t k = 1; k < v.length; ++k)
        if (column[k * v.inner] > column[largest * v.inner]) largest = k;
      f(column, v.length, v.inner, largest);
    }
  ctx.outputs[0] = from_doubles(x.dtype, x.shape, y);
  return {};
}

Status reference_softmax(EvalContext& ctx) {
  return for_each_distribution(ctx, [](double* x, std::size_t count, std::size_t step, std::size_t largest) {
    const double max = x[largest * step];
    double sum = 0;
    for (std::size_t k = 0; k < count; ++k) {
      x[k * step] = std::exp(x[k * step] - max);
      sum += x[k * step];
    }
    for (std::size_t k = 0; k < count; ++k) x[k * step] /= sum;
  });
}

Status reference_log_softmax(EvalContext& ctx) {
  return for_each_distribution(ctx, [](double* x, std::size_t count, std::size_t step, std::size_t largest) {
    const double max = x[largest * step];
    double sum = 0;
    for (std::size_t k = 0; k < count; ++k) sum += std::exp(x[k * step] - max);
    const double log_sum = max + std::log(sum);
    for (std::size_t k = 0; k < count; ++k) x[k * step] -= log_sum;
  });
}

/// 1 at the first largest element, 0 elsewhere.
Status reference_hardmax(EvalContext& ctx) {
  return for_each_distribution(ctx, [](double* x, std::size_t count, std::size_t step, std::size_t largest) {
    for (std::size_t k = 0; k < count; ++k) x[k * step] = k == largest ? 1 : 0;
  });
}

// Vector form ---------------------------------------------------------------------------------------

std::optional<Dims> vector_axes(const ir::Node& node) {
  const std::int64_t rank = std::ssize(*node.input(0)->type.shape);
  const auto axis = normalize_axis(node.attrs.get_int("axis", default_axis(node)), rank);
  if (!axis) return std::nullopt;
  Dims axes;
  for (std::int64_t a = *axis; a < (coerces_to_2d(node) ? rank : *axis + 1); ++a) axes.push_back(a);
  return axes;
}

bool accepts_float(const ir::Node& node) {
  return aicore::reg_type_of(node.input(0)->type.dtype) == kernels::RegType::F32;
}

/// exp(x - max) and its sum.
std::pair<VectorEmitter::Reg, VectorEmitter::Reg> exps_and_sum(VectorEmitter& e, VectorEmitter::Reg shifted) {
  const auto exps = e.unary(kernels::VecOp::Exp, shifted);
  return {exps, e.unary(kernels::VecOp::ReduceSum, exps)};
}
VectorEmitter::Reg shifted_by_max(VectorEmitter& e) {
  return e.binary(kernels::VecOp::Sub, e.input(0), e.unary(kernels::VecOp::ReduceMax, e.input(0)));
}

Status vector_softmax(VectorEmitter& e) {
  const auto [exps, sum] = exps_and_sum(e, shifted_by_max(e));
  e.set_output(0, e.binary(kernels::VecOp::Div, exps, sum));
  return {};
}

Status vector_log_softmax(VectorEmitter& e) {
  const auto shifted = shifted_by_max(e);
  const auto [exps, sum] = exps_and_sum(e, shifted);
  e.set_output(0, e.binary(kernels::VecOp::Sub, shifted, e.unary(kernels::VecOp::Log, sum)));
  return {};
}

}  // namespace

void register_softmax(Registry& registry) {
  const std::vector<AttrSpec> attrs = {{"axis", AttrKind::Int}};
  const auto add = [&](std::string_view name, Status (*reference)(EvalContext&),
                       Status (*vector)(VectorEmitter&)) {
    OpDef def{.name = name,
              .until = 12,
              .attrs = attrs,
              .infer = infer_softmax,
              .reference = reference,
              .vector = vector,
              .vector_accepts = accepts_float,
              .reduce_axes = vector_axes};
    registry.add(def);
    def.since = 13;
    def.until = INT_MAX;
    registry.add(def);
  };
  add("Hardmax", reference_hardmax, nullptr);
  add("LogSoftmax", reference_log_softmax, vector_log_softmax);
  add("Softmax", reference_softmax, vector_softmax);
  register_softmax_fused(registry);
}

}  // namespace atc::ops
