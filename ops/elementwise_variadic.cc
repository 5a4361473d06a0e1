#include <algorithm>
#include <cmath>
#include <string>

#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/integer_math.h"
#include "ops/op.h"
#include "ops/reference_util.h"
#include "ops/shape_value.h"
#include "ops/vector_emitter.h"

// Elementwise operators of any number of inputs: Max, Min, Sum, Mean.
namespace atc::ops {
namespace {

using kernels::VecOp;

// Max and Min propagate NaN, as NumPy's do.
struct MaxOp {
  template <class T>
  static T apply(T a, T b) {
    return a > b || a != a ? a : b;
  }
};

struct MinOp {
  template <class T>
  static T apply(T a, T b) {
    return a < b || a != a ? a : b;
  }
};

Status infer_variadic(InferContext& ctx, DTypeSet allowed, std::string_view what) {
  ATC_TRY(require_dtype(ctx, 0, allowed, what));
  std::optional<ir::Shape> shape = ctx.type(0).shape;
  for (std::size_t i = 1; i < ctx.input_count(); ++i) {
    ATC_TRY(require_same_dtype(ctx, i, 0));
    if (!shape || !ctx.ranked(i)) {
      shape.reset();
      continue;
    }
    auto joint = broadcast(*shape, ctx.shape(i));
    if (!joint)
      return ctx.input_error(i, "shape [" + ir::to_string(ctx.shape(i)) + "] does not broadcast with [" +
                                    ir::to_string(*shape) + "] of the inputs before it");
    shape = std::move(joint);
  }
  ctx.set_output(0, ctx.dtype(0), std::move(shape));
  return {};
}

/// Elements of the output where every input is a shape value of the same length, or a single element.
template <class Op>
void fold_extremum(InferContext& ctx) {
  auto out = elements_of(ctx, 0);
  for (std::size_t i = 1; out && i < ctx.input_count(); ++i) {
    const auto next = elements_of(ctx, i);
    if (!next || (next->size() != out->size() && next->size() != 1 && out->size() != 1)) return;
    if (out->size() == 1) out->resize(next->size(), out->front());
    for (std::size_t k = 0; k < out->size(); ++k) {
      ir::Dim& a = (*out)[k];
      const ir::Dim& b = (*next)[next->size() == 1 ? 0 : k];
      if (is_literal(a) && is_literal(b))
        a = literal(Op::apply(a.value, b.value));
      else if (a != b)
        a = ctx.unknown_dim();
    }
  }
  if (out) set_elements(ctx, 0, *std::move(out));
}

template <class Op>
Status infer_extremum(InferContext& ctx) {
  ATC_TRY(infer_variadic(ctx, kNumericTypes, "a numeric type"));
  fold_extremum<Op>(ctx);
  return {};
}

Status infer_sum(InferContext& ctx) { return infer_variadic(ctx, kFloatTypes, "a float type"); }

StatusOr<Dims> joint_space(const EvalContext& ctx) {
  Dims space = ctx.input(0).shape;
  for (std::size_t i = 1; i < ctx.input_count(); ++i) {
    auto joint = broadcast_dims(space, ctx.input(i).shape);
    if (!joint)
      return ctx.error("shapes [" + to_string(space) + "] and [" + to_string(ctx.input(i).shape) +
                       "] do not broadcast");
    space = *std::move(joint);
  }
  return space;
}

template <class Op>
Status reference_extremum(EvalContext& ctx) {
  ATC_ASSIGN(const Dims space, joint_space(ctx));
  Tensor y = ctx.input(0);
  for (std::size_t i = 1; i < ctx.input_count(); ++i)
    y = map_pairs(y, ctx.input(i), *broadcast_dims(y.shape, ctx.input(i).shape),
                  [](auto a, auto b) { return Op::apply(a, b); });
  ctx.outputs[0] = std::move(y);
  return {};
}

/// Sums in double, scales, rounds once.
Status scaled_sum(EvalContext& ctx, double divisor) {
  ATC_ASSIGN(const Dims space, joint_space(ctx));
  std::vector<double> total(static_cast<std::size_t>(element_count(space)));
  for (std::size_t i = 0; i < ctx.input_count(); ++i) {
    const std::vector<double> x = to_doubles(ctx.input(i));
    for (StridedWalk w(space, {strides_over(ctx.input(i).shape, space)}); !w.done(); w.next())
      total[static_cast<std::size_t>(w.position())] += x[static_cast<std::size_t>(w.offset())];
  }
  for (double& v : total) v /= divisor;
  ctx.outputs[0] = from_doubles(ctx.input(0).dtype, space, total);
  return {};
}

Status reference_sum(EvalContext& ctx) { return scaled_sum(ctx, 1); }
Status reference_mean(EvalContext& ctx) { return scaled_sum(ctx, static_cast<double>(ctx.input_count())); }

VectorEmitter::Reg chain(VectorEmitter& e, VecOp op) {
  VectorEmitter::Reg r = e.input(0);
  for (std::size_t i = 1; i < e.input_count(); ++i) r = e.binary(op, r, e.input(i));
  return r;
}

template <VecOp op>
Status vector_chain(VectorEmitter& e) {
  e.set_output(0, chain(e, op));
  return {};
}

Status vector_mean(VectorEmitter& e) {
  const auto sum = chain(e, VecOp::Add);
  const auto count = static_cast<double>(e.input_count());
  e.set_output(0, e.binary(VecOp::Div, sum, e.constant(e.type(sum), count)));
  return {};
}

OpDef variadic(std::string_view name) {
  return {.name = name,
          .attrs = {{"consumed_inputs", AttrKind::Ints, false, 1, 5}},
          .inputs = {1, INT_MAX},
          .vector_accepts = has_vector_types};
}

}  // namespace

void register_elementwise_variadic(Registry& r) {
  OpDef max = variadic("Max");
  max.infer = infer_extremum<MaxOp>;
  max.reference = reference_extremum<MaxOp>;
  max.vector = vector_chain<VecOp::Max>;
  r.add(std::move(max));

  OpDef min = variadic("Min");
  min.infer = infer_extremum<MinOp>;
  min.reference = reference_extremum<MinOp>;
  min.vector = vector_chain<VecOp::Min>;
  r.add(std::move(min));

  OpDef sum = variadic("Sum");
  sum.infer = infer_sum;
  sum.reference = reference_sum;
  sum.vector = vector_chain<VecOp::Add>;
  r.add(std::move(sum));

  OpDef mean = variadic("Mean");
  mean.infer = infer_sum;
  mean.reference = reference_mean;
  mean.vector = vector_mean;
  r.add(std::move(mean));
}

}  // namespace atc::ops
