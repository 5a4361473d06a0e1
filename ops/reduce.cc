#include "ops/reduce.h"

#include <cmath>
#include <limits>

#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/integer_math.h"
#include "ops/reference_util.h"
#include "ops/shape_value.h"
#include "ops/vector_emitter.h"

namespace atc::ops {

namespace {

constexpr DTypeSet kReducible = kFloatTypes | DTypeSet{DType::I32, DType::I64, DType::U32, DType::U64};

bool keeps_dims(const ir::Node& node) { return node.attrs.get_int("keepdims", 1) != 0; }
bool has_axes_input(const ir::Node& node) {
  return node.version >= 18 || (node.version >= 13 && node.op_type == "ReduceSum");
}

StatusOr<Dims> resolve_reduction(const ir::Node& node, const Dims& axes, std::size_t rank) {
  if (!axes.empty()) return resolve_axes(node, axes, rank);
  Dims all;
  if (has_axes_input(node) && node.attrs.get_int("noop_with_empty_axes", 0) != 0) return all;
  for (std::size_t i = 0; i < rank; ++i) all.push_back(static_cast<std::int64_t>(i));
  return all;
}

// Inference -----------------------------------------------------------------------------------------

/// The shape when the axes are data: only the rank may be known.
std::optional<ir::Shape> shape_of_unknown_axes(InferContext& ctx) {
  const std::size_t rank = ctx.shape(0).size();
  if (keeps_dims(ctx.node())) return unknown_shape(ctx, rank);
  const auto count = length_of(ctx, 1);
  if (!count || *count == 0 || static_cast<std::size_t>(*count) > rank) return std::nullopt;
  return unknown_shape(ctx, rank - static_cast<std::size_t>(*count));
}

Status infer_reduction(InferContext& ctx, DTypeSet allowed, std::string_view what) {
  ATC_TRY(require_dtype(ctx, 0, allowed, what));
  Dims axes = ctx.node().attrs.get_ints("axes");
  std::optional<ir::Shape> shape;
  if (has_axes_input(ctx.node()) && ctx.has_input(1)) {
    ATC_TRY(require_dtype(ctx, 1, {DType::I64}, "i64"));
    ATC_TRY(require_rank(ctx, 1, 0, 1));
    const auto known = literals_of(ctx, 1);
    if (!known) {
      if (ctx.ranked(0)) shape = shape_of_unknown_axes(ctx);
      ctx.set_output(0, ctx.dtype(0), std::move(shape));
      return {};
    }
    axes = *known;
  }
  if (ctx.ranked(0)) {
    ATC_ASSIGN(const Dims reduced, resolve_reduction(ctx.node(), axes, ctx.shape(0).size()));
    shape = reduced_shape(ctx.shape(0), reduced, keeps_dims(ctx.node()));
  }
  ctx.set_output(0, ctx.dtype(0), std::move(shape));
  return {};
}

Status infer_reduce(InferContext& ctx) {
  return infer_reduction(ctx, kReducible, "a float type or a 32- or 64-bit integer");
}
Status infer_reduce_extremum(InferContext& ctx) {
  DTypeSet allowed = kReducible;
  if (ctx.version() >= 12) allowed = allowed | DTypeSet{DType::I8, DType::U8};
  if (ctx.version() >= 20) allowed = allowed | kBoolTypes;
  return infer_reduction(ctx, allowed, "a type that opset " + std::to_string(ctx.version()) + " allows");
}

// Reference -----------------------------------------------------------------------------------------

// Each reduction: what an accumulator of element type T is, where it starts, what adding an element does
// and what it becomes after `count` elements.

struct Sum {
  template <class T>
  using Acc = Widened<T>;
  template <class T>
  static Acc<T> start() {
    return 0;
  }
  template <class A, class W>
  static A add(A acc, W v) {
    return wrapping_add(acc, v);
  }
  template <class T>
  static T finish(Acc<T> acc, std::int64_t /*count*/) {
    return narrow<T>(acc);
  }
};

struct Mean : Sum {
  template <class T>
  static T finish(Acc<T> acc, std::int64_t count) {
    return narrow<T>(truncating_div(acc, static_cast<Acc<T>>(count)));
  }
};

struct Prod : Sum {
  template <class T>
  static Acc<T> start() {
    return 1;
  }
  template <class A, class W>
  static A add(A acc, W v) {
    return wrapping_mul(acc, v);
  }
};

struct SumSquare : Sum {
  template <class A, class W>
  static A add(A acc, W v) {
    return wrapping_add(acc, wrapping_mul(v, v));
  }
};

struct L1 : Sum {
  template <class A, class W>
  static A add(A acc, W v) {
    return wrapping_add(acc, v < 0 ? wrapping_sub(W{0}, v) : v);
  }
};

/// Accumulates in double for integers too; integer results are cut toward zero.
struct L2 : Sum {
  template <class T>
  using Acc = double;
  template <class T>
  static double start() {
    return 0;
  }
  template <class W>
  static double add(double acc, W v) {
    return acc + static_cast<double>(v) * static_cast<double>(v);
  }
  template <class T>
  static T finish(double acc, std::int64_t /*count*/) {
    return double_to<T>(std::sqrt(acc));
  }
};

struct LogSum : L2 {
  template <class W>
  static double add(double acc, W v) {
    return acc + static_cast<double>(v);
  }
  template <class T>
  static T finish(double acc, std::int64_t /*count*/) {
    return double_to<T>(std::log(acc));
  }
};

/// log(sum(exp(v))) kept as the running maximum and the sum of exponentials relative to it.
struct LogSumExp {
  struct State {
    double max = -std::numeric_limits<double>::infinity();
    double sum = 0;
  };
  template <class T>
  using Acc = State;
  template <class T>
  static State start() {
    return {};
  }
  template <class W>
  static State add(State acc, W value) {
    const auto v = static_cast<double>(value);
    if (v == acc.max) return {acc.max, acc.sum + 1};  // infinities too, whose difference is NaN
    if (v > acc.max) return {v, acc.sum * std::exp(acc.max - v) + 1};
    return {acc.max, acc.sum + std::exp(v - acc.max)};
  }
  template <class T>
  static T finish(State acc, std::int64_t /*count*/) {
    return double_to<T>(acc.sum == 0 ? -std::numeric_limits<double>::infinity()
                                     : acc.max + std::log(acc.sum));
  }
};

/// Largest (or smallest) element; NaN wins over everything. Empty: the far end of T's range.
template <bool kLargest>
struct Extremum : Sum {
  template <class T>
  static Acc<T> start() {
    using Limits = std::numeric_limits<Acc<T>>;
    if constexpr (kIsFloating<T>)
      return kLargest ? -Limits::infinity() : Limits::infinity();
    else if constexpr (std::is_same_v<T, Bool8>)
      return kLargest ? 0 : 1;
    else
      return kLargest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
  }
  template <class A, class W>
  static A add(A acc, W v) {
    if (v != v || (kLargest ? v > acc : v < acc)) return v;
    return acc;
  }
};

template <class Op>
Status reference_reduce(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const Tensor* axes_input = has_axes_input(ctx.node()) && ctx.has_input(1) ? &ctx.input(1) : nullptr;
  ATC_ASSIGN(const Dims axes, reduction_axes(ctx.node(), axes_input, x.shape.size()));
  const Dims kept = reduced_shape(x.shape, axes, true);
  const Dims shape = reduced_shape(x.shape, axes, keeps_dims(ctx.node()));
  // strides_over would take a reduced axis of size 0 for one that broadcasts; there is nothing to walk.
  const std::int64_t count = x.count() > 0 ? x.count() / element_count(kept) : 0;
  MutableTensor y(x.dtype, shape);
  dispatch(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<typename Op::template Acc<T>> acc(static_cast<std::size_t>(element_count(kept)),
                                                  Op::template start<T>());
    const auto in = x.as<T>();
    if (count > 0)
      for (StridedWalk w(x.shape, {strides_over(kept, x.shape)}); !w.done(); w.next()) {
        auto& a = acc[static_cast<std::size_t>(w.offset())];
        a = Op::add(a, widen(in[static_cast<std::size_t>(w.position())]));
      }
    const auto out = y.as<T>();
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = Op::template finish<T>(acc[i], count);
  });
  ctx.outputs[0] = std::move(y).freeze();
  return {};
}

// Vector form ---------------------------------------------------------------------------------------

using kernels::RegType;
using kernels::VecOp;

std::optional<Dims> vector_axes(const ir::Node& node) {
  const ir::Value* axes_input = has_axes_input(node) ? node.input(1) : nullptr;
  if (!keeps_dims(node) || (axes_input != nullptr && !axes_input->is_constant())) return std::nullopt;
  const auto axes = reduction_axes(node, axes_input != nullptr ? &axes_input->constant() : nullptr,
                                   node.input(0)->type.shape->size());
  if (!axes.ok() || axes->empty()) return std::nullopt;
  return *axes;
}

/// Elements that one result is made of.
double reduced_count(const ir::Node& node) {
  const Dims axes = *vector_axes(node);
  double count = 1;
  for (std::int64_t a : axes)
    count *= static_cast<double>(node.input(0)->type.dims()[static_cast<std::size_t>(a)]);
  return count;
}

VectorEmitter::Reg sum_of(VectorEmitter& e, VectorEmitter::Reg x) { return e.unary(VecOp::ReduceSum, x); }
VectorEmitter::Reg squares(VectorEmitter& e) { return e.binary(VecOp::Mul, e.input(0), e.input(0)); }

Status vector_sum(VectorEmitter& e) {
  e.set_output(0, sum_of(e, e.input(0)));
  return {};
}
Status vector_mean(VectorEmitter& e) {
  const double count = reduced_count(e.node());
  const auto sum = sum_of(e, e.input(0));
  const bool real = e.type(sum) == RegType::F32;
  e.set_output(0, real ? e.binary(VecOp::Mul, sum, e.constant(RegType::F32, 1 / count))
                       : e.binary(VecOp::Div, sum, e.constant(e.type(sum), count)));
  return {};
}
template <VecOp kOp>
Status vector_extremum(VectorEmitter& e) {
  e.set_output(0, e.unary(kOp, e.input(0)));
  return {};
}
Status vector_l1(VectorEmitter& e) {
  e.set_output(0, sum_of(e, e.unary(VecOp::Abs, e.input(0))));
  return {};
}
Status vector_sum_square(VectorEmitter& e) {
  e.set_output(0, sum_of(e, squares(e)));
  return {};
}
Status vector_l2(VectorEmitter& e) {
  e.set_output(0, e.unary(VecOp::Sqrt, sum_of(e, squares(e))));
  return {};
}
Status vector_log_sum(VectorEmitter& e) {
  e.set_output(0, e.unary(VecOp::Log, sum_of(e, e.input(0))));
  return {};
}
/// Relative to the maximum, unless that is infinite: inf - inf is no number.
Status vector_log_sum_exp(VectorEmitter& e) {
  const auto largest = e.unary(VecOp::ReduceMax, e.input(0));
  const auto zero = e.constant(RegType::F32, 0);
  const auto infinity = e.constant(RegType::F32, std::numeric_limits<double>::infinity());
  const auto max = e.select(e.binary(VecOp::Equal, e.unary(VecOp::Abs, largest), infinity), zero, largest);
  const auto exps = e.unary(VecOp::Exp, e.binary(VecOp::Sub, e.input(0), max));
  e.set_output(0, e.binary(VecOp::Add, e.unary(VecOp::Log, sum_of(e, exps)), max));
  return {};
}

/// Roots and logarithms are the vector unit's in f32 only; B8 has extrema only.
bool accepts_float(const ir::Node& node) {
  return aicore::reg_type_of(node.input(0)->type.dtype) == RegType::F32;
}
bool accepts_number(const ir::Node& node) { return node.input(0)->type.dtype != DType::Bool; }
bool accepts_all(const ir::Node&) { return true; }

}  // namespace

StatusOr<Dims> reduction_axes(const ir::Node& node, const Tensor* axes_input, std::size_t rank) {
  return resolve_reduction(node, axes_input ? to_int64s(*axes_input) : node.attrs.get_ints("axes"), rank);
}

void register_reduce(Registry& registry) {
  const auto add = [&](std::string_view name, Status (*infer)(InferContext&),
                       Status (*reference)(EvalContext&), Status (*vector)(VectorEmitter&),
                       bool (*accepts)(const ir::Node&), int axes_input_since) {
    registry.add({.name = name,
                  .until = axes_input_since - 1,
                  .attrs = {{"axes", AttrKind::Ints}, {"keepdims", AttrKind::Int}},
                  .infer = infer,
                  .reference = reference,
                  .vector = vector,
                  .vector_accepts = accepts,
                  .reduce_axes = vector_axes});
    registry.add({.name = name,
                  .since = axes_input_since,
                  .attrs = {{"keepdims", AttrKind::Int}, {"noop_with_empty_axes", AttrKind::Int}},
                  .inputs = {1, 2},
                  .infer = infer,
                  .reference = reference,
                  .vector = vector,
                  .vector_accepts = accepts,
                  .reduce_axes = vector_axes});
  };
  add("ReduceL1", infer_reduce, reference_reduce<L1>, vector_l1, accepts_number, 18);
  add("ReduceL2", infer_reduce, reference_reduce<L2>, vector_l2, accepts_float, 18);
  add("ReduceLogSum", infer_reduce, reference_reduce<LogSum>, vector_log_sum, accepts_float, 18);
  add("ReduceLogSumExp", infer_reduce, reference_reduce<LogSumExp>, vector_log_sum_exp, accepts_float, 18);
  add("ReduceMax", infer_reduce_extremum, reference_reduce<Extremum<true>>, vector_extremum<VecOp::ReduceMax>,
      accepts_all, 18);
  add("ReduceMean", infer_reduce, reference_reduce<Mean>, vector_mean, accepts_number, 18);
  add("ReduceMin", infer_reduce_extremum, reference_reduce<Extremum<false>>,
      vector_extremum<VecOp::ReduceMin>, accepts_all, 18);
  add("ReduceProd", infer_reduce, reference_reduce<Prod>, vector_extremum<VecOp::ReduceProd>, accepts_number,
      18);
  add("ReduceSum", infer_reduce, reference_reduce<Sum>, vector_sum, accepts_number, 13);
  add("ReduceSumSquare", infer_reduce, reference_reduce<SumSquare>, vector_sum_square, accepts_number, 18);
}

}  // namespace atc::ops
