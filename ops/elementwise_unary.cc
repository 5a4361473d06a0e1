#include <cmath>
#include <string>

#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/integer_math.h"
#include "ops/op.h"
#include "ops/reference_util.h"
#include "ops/shape_value.h"
#include "ops/vector_emitter.h"

// Elementwise operators of one input without parameters: Abs .. Tanh, BitwiseNot, IsNaN, IsInf, Identity.
// Activations with parameters are in activation.cc.
namespace atc::ops {
namespace {

using kernels::VecOp;

std::vector<AttrSpec> consumed_inputs() { return {{"consumed_inputs", AttrKind::Ints, false, 1, 5}}; }

// Float functions -----------------------------------------------------------------------------------

Status infer_float(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 0, kFloatTypes, "a float type"));
  return infer_same_as_input(ctx);
}

template <double (*function)(double)>
Status reference_float(EvalContext& ctx) {
  ctx.outputs[0] = map_elements(ctx.input(0), [](auto v) { return function(static_cast<double>(v)); });
  return {};
}

template <VecOp op>
Status vector_unary(VectorEmitter& e) {
  e.set_output(0, e.unary(op, e.input(0)));
  return {};
}

double reciprocal(double x) { return 1 / x; }
double sigmoid(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }
/// log(1 + e^x) without overflow for large x nor cancellation for small ones.
double softplus(double x) { return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))); }
double softsign(double x) { return x / (1 + std::fabs(x)); }
double mish(double x) { return x * std::tanh(softplus(x)); }

template <double (*function)(double), VecOp op>
void register_float(Registry& r, std::string_view name, int since) {
  OpDef def{.name = name,
            .since = since,
            .infer = infer_float,
            .reference = reference_float<function>,
            .vector = vector_unary<op>};
  if (since == 1) def.attrs = consumed_inputs();
  r.add(std::move(def));
}

Status vector_softsign(VectorEmitter& e) {
  const auto x = e.input(0);
  const auto one = e.constant(e.type(x), 1);
  e.set_output(0, e.binary(VecOp::Div, x, e.binary(VecOp::Add, e.unary(VecOp::Abs, x), one)));
  return {};
}

Status vector_mish(VectorEmitter& e) {
  const auto x = e.input(0);
  e.set_output(0, e.binary(VecOp::Mul, x, e.unary(VecOp::Tanh, e.unary(VecOp::Softplus, x))));
  return {};
}

// Numeric functions: exact on integers ----------------------------------------------------------------

Status infer_numeric(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 0, kNumericTypes, "a numeric type"));
  return infer_same_as_input(ctx);
}

struct AbsOp {
  static constexpr VecOp kVector = VecOp::Abs;
  template <class T>
  static T apply(T v) {
    if constexpr (std::is_floating_point_v<T>)
      return std::fabs(v);
    else
      return v < 0 ? wrapping_sub(T{0}, v) : v;
  }
};

struct NegOp {
  static constexpr VecOp kVector = VecOp::Neg;
  template <class T>
  static T apply(T v) {
    if constexpr (std::is_floating_point_v<T>)
      return -v;
    else
      return wrapping_sub(T{0}, v);
  }
};

struct SignOp {
  static constexpr VecOp kVector = VecOp::Sign;
  template <class T>
  static T apply(T v) {
    if constexpr (std::is_floating_point_v<T>)
      if (std::isnan(v)) return v;
    return static_cast<T>(static_cast<int>(v > 0) - static_cast<int>(v < 0));
  }
};

struct ReluOp {
  static constexpr VecOp kVector = VecOp::Relu;
  template <class T>
  static T apply(T v) {
    return v < 0 ? T{0} : v;  // keeps NaN
  }
};

template <class Op>
Status reference_numeric(EvalContext& ctx) {
  ctx.outputs[0] = map_elements(ctx.input(0), [](auto v) { return Op::apply(v); });
  return {};
}

template <class Op>
void register_numeric(Registry& r, std::string_view name, int since) {
  OpDef def{.name = name,
            .since = since,
            .infer = infer_numeric,
            .reference = reference_numeric<Op>,
            .vector = vector_unary<Op::kVector>,
            .vector_accepts = has_vector_types};
  if (since == 1) def.attrs = consumed_inputs();
  r.add(std::move(def));
}

// BitwiseNot ----------------------------------------------------------------------------------------

Status infer_bitwise_not(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 0, kIntTypes, "an integer type"));
  return infer_same_as_input(ctx);
}

Status reference_bitwise_not(EvalContext& ctx) {
  ctx.outputs[0] = map_elements(ctx.input(0), [](auto v) { return ~static_cast<std::uint64_t>(v); });
  return {};
}

// IsNaN, IsInf ----------------------------------------------------------------------------------------

constexpr std::string_view kDetectNegative = "detect_negative";  // Int, 1
constexpr std::string_view kDetectPositive = "detect_positive";  // Int, 1

Status infer_float_test(InferContext& ctx) {
  ATC_TRY(require_dtype(
      ctx, 0, kFloatTypes | DTypeSet{DType::F8E4M3FN, DType::F8E4M3FNUZ, DType::F8E5M2, DType::F8E5M2FNUZ},
      "a float type"));
  ctx.set_output(0, DType::Bool, ctx.type(0).shape);
  return {};
}

template <class Predicate>
Tensor test_elements(const Tensor& x, Predicate predicate) {
  MutableTensor y(DType::Bool, x.shape);
  std::ranges::transform(to_doubles(x), y.as<Bool8>().begin(), [&](double v) { return Bool8(predicate(v)); });
  return std::move(y).freeze();
}

Status reference_is_nan(EvalContext& ctx) {
  ctx.outputs[0] = test_elements(ctx.input(0), [](double v) { return std::isnan(v); });
  return {};
}

Status reference_is_inf(EvalContext& ctx) {
  const bool negative = ctx.node().attrs.get_int(kDetectNegative, 1) != 0;
  const bool positive = ctx.node().attrs.get_int(kDetectPositive, 1) != 0;
  ctx.outputs[0] =
      test_elements(ctx.input(0), [=](double v) { return std::isinf(v) && (v > 0 ? positive : negative); });
  return {};
}

Status vector_is_nan(VectorEmitter& e) {
  e.set_output(0, e.unary(VecOp::IsNaN, e.input(0)));
  return {};
}

Status vector_is_inf(VectorEmitter& e) {
  const int positive = e.node().attrs.get_int(kDetectPositive, 1) != 0 ? 1 : 0;
  const int negative = e.node().attrs.get_int(kDetectNegative, 1) != 0 ? 2 : 0;
  e.set_output(0,
               e.program().emit(VecOp::IsInf, e.type(e.input(0)), e.input(0), -1, -1, positive + negative));
  return {};
}

// Identity ------------------------------------------------------------------------------------------

Status infer_identity(InferContext& ctx) {
  ATC_TRY(infer_same_as_input(ctx));
  keep_elements(ctx);
  return {};
}

Status reference_identity(EvalContext& ctx) {
  ctx.outputs[0] = ctx.input(0);
  return {};
}

Status vector_identity(VectorEmitter& e) {
  e.set_output(0, e.input(0));
  return {};
}

}  // namespace

void register_elementwise_unary(Registry& r) {
  register_float<std::acos, VecOp::Acos>(r, "Acos", 7);
  register_float<std::acosh, VecOp::Acosh>(r, "Acosh", 9);
  register_float<std::asin, VecOp::Asin>(r, "Asin", 7);
  register_float<std::asinh, VecOp::Asinh>(r, "Asinh", 9);
  register_float<std::atan, VecOp::Atan>(r, "Atan", 7);
  register_float<std::atanh, VecOp::Atanh>(r, "Atanh", 9);
  register_float<std::ceil, VecOp::Ceil>(r, "Ceil", 1);
  register_float<std::cos, VecOp::Cos>(r, "Cos", 7);
  register_float<std::cosh, VecOp::Cosh>(r, "Cosh", 9);
  register_float<std::exp, VecOp::Exp>(r, "Exp", 1);
  register_float<std::floor, VecOp::Floor>(r, "Floor", 1);
  register_float<std::log, VecOp::Log>(r, "Log", 1);
  register_float<reciprocal, VecOp::Reciprocal>(r, "Reciprocal", 1);
  register_float<std::nearbyint, VecOp::RoundEven>(r, "Round", 11);
  register_float<sigmoid, VecOp::Sigmoid>(r, "Sigmoid", 1);
  register_float<std::sin, VecOp::Sin>(r, "Sin", 7);
  register_float<std::sinh, VecOp::Sinh>(r, "Sinh", 9);
  register_float<softplus, VecOp::Softplus>(r, "Softplus", 1);
  register_float<std::sqrt, VecOp::Sqrt>(r, "Sqrt", 1);
  register_float<std::tan, VecOp::Tan>(r, "Tan", 7);
  register_float<std::tanh, VecOp::Tanh>(r, "Tanh", 1);

  r.add({.name = "Softsign",
         .infer = infer_float,
         .reference = reference_float<softsign>,
         .vector = vector_softsign});
  r.add({.name = "Mish",
         .since = 18,
         .infer = infer_float,
         .reference = reference_float<mish>,
         .vector = vector_mish});

  register_numeric<AbsOp>(r, "Abs", 1);
  register_numeric<NegOp>(r, "Neg", 1);
  register_numeric<ReluOp>(r, "Relu", 1);
  register_numeric<SignOp>(r, "Sign", 9);
  // Erf allows integers by its schema; on those its truncation is 0 or the sign.
  r.add({.name = "Erf",
         .since = 9,
         .infer = infer_numeric,
         .reference = reference_float<std::erf>,
         .vector = vector_unary<VecOp::Erf>,
         .vector_accepts = [](const ir::Node& n) {
           return has_vector_types(n) && is_float(n.input(0)->type.dtype);
         }});

  r.add({.name = "BitwiseNot",
         .since = 18,
         .infer = infer_bitwise_not,
         .reference = reference_bitwise_not,
         .vector = vector_unary<VecOp::BitNot>,
         .vector_accepts = has_vector_types});
  r.add({.name = "IsNaN",
         .since = 9,
         .infer = infer_float_test,
         .reference = reference_is_nan,
         .vector = vector_is_nan,
         .vector_accepts = has_vector_types});
  r.add({.name = "IsInf",
         .since = 10,
         .attrs = {{kDetectNegative, AttrKind::Int}, {kDetectPositive, AttrKind::Int}},
         .infer = infer_float_test,
         .reference = reference_is_inf,
         .vector = vector_is_inf,
         .vector_accepts = has_vector_types});
  r.add({.name = "Identity",
         .infer = infer_identity,
         .reference = reference_identity,
         .vector = vector_identity,
         .vector_accepts = has_vector_types});
}

}  // namespace atc::ops
