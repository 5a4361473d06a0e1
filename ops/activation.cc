#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <string>

#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/integer_math.h"
#include "ops/op.h"
#include "ops/reference_util.h"
#include "ops/vector_emitter.h"

// Activations with parameters: LeakyRelu Elu Selu Celu ThresholdedRelu HardSigmoid HardSwish Swish SwiGLU
// Gelu Shrink.
namespace atc::ops {
namespace {

using kernels::VecOp;
using Reg = VectorEmitter::Reg;

/// A Float attribute with its default.
struct Parameter {
  std::string_view name;
  float fallback = 0;
};

/// Emits against constants of the input's register type.
class Emit {
 public:
  explicit Emit(VectorEmitter& e) : e_(e), x(e.input(0)) {}
  Reg c(double v) { return e_.constant(e_.type(x), v); }
  Reg add(Reg a, Reg b) { return e_.binary(VecOp::Add, a, b); }
  Reg sub(Reg a, Reg b) { return e_.binary(VecOp::Sub, a, b); }
  Reg mul(Reg a, Reg b) { return e_.binary(VecOp::Mul, a, b); }
  Reg div(Reg a, Reg b) { return e_.binary(VecOp::Div, a, b); }
  Reg max(Reg a, Reg b) { return e_.binary(VecOp::Max, a, b); }
  Reg min(Reg a, Reg b) { return e_.binary(VecOp::Min, a, b); }
  Reg less(Reg a, Reg b) { return e_.binary(VecOp::Less, a, b); }
  Reg unary(VecOp op, Reg a) { return e_.unary(op, a); }
  Reg select(Reg condition, Reg a, Reg b) { return e_.select(condition, a, b); }
  /// e^v - 1 as 2t / (1 - t) with t = tanh(v / 2): as exact near zero as the tanh is, where e^v - 1
  /// cancels.
  Reg expm1(Reg v) {
    const Reg t = unary(VecOp::Tanh, mul(v, c(0.5)));
    return div(mul(c(2), t), sub(c(1), t));
  }

 private:
  VectorEmitter& e_;

 public:
  const Reg x;
};

using Values = std::span<const double>;

// Each: kParameters (attributes in order), `apply` on one element, `emit` the same as vector instructions.
struct LeakyRelu {
  static constexpr std::array kParameters = {Parameter{"alpha", 0.01F}};
  static double apply(double x, Values p) { return x < 0 ? p[0] * x : x; }
  static Reg emit(VectorEmitter& e, Values p) {
    Emit m(e);
    return e.binary(VecOp::PRelu, m.x, m.c(p[0]));
  }
};

struct Elu {
  static constexpr std::array kParameters = {Parameter{"alpha", 1.0F}};
  static double apply(double x, Values p) { return x < 0 ? p[0] * std::expm1(x) : x; }
  static Reg emit(VectorEmitter& e, Values p) {
    Emit m(e);
    const Reg zero = m.c(0);
    return m.select(m.less(m.x, zero), m.mul(m.c(p[0]), m.expm1(m.min(m.x, zero))), m.x);
  }
};

struct Selu {
  static constexpr std::array kParameters = {Parameter{"alpha", 1.67326319217681884765625F},
                                             Parameter{"gamma", 1.05070102214813232421875F}};
  static double apply(double x, Values p) { return p[1] * (x > 0 ? x : p[0] * std::expm1(x)); }
  static Reg emit(VectorEmitter& e, Values p) {
    Emit m(e);
    const Reg zero = m.c(0);
    const Reg low = m.mul(m.c(p[0] * p[1]), m.expm1(m.min(m.x, zero)));
    return m.select(m.less(zero, m.x), m.mul(m.c(p[1]), m.x), low);
  }
};

struct SeluV1 : Selu {  // the defaults had five digits before opset 6
  static constexpr std::array kParameters = {Parameter{"alpha", 1.6732F}, Parameter{"gamma", 1.0507F}};
};

struct Celu {
  static constexpr std::array kParameters = {Parameter{"alpha", 1.0F}};
  static double apply(double x, Values p) { return x > 0 ? x : p[0] * std::expm1(x / p[0]); }
  static Reg emit(VectorEmitter& e, Values p) {
    Emit m(e);
    const Reg zero = m.c(0);
    const Reg low = m.mul(m.c(p[0]), m.expm1(m.div(m.min(m.x, zero), m.c(p[0]))));
    return m.select(m.less(zero, m.x), m.x, low);
  }
};

struct ThresholdedRelu {
  static constexpr std::array kParameters = {Parameter{"alpha", 1.0F}};
  static double apply(double x, Values p) { return x <= p[0] ? 0 : x; }
  static Reg emit(VectorEmitter& e, Values p) {
    Emit m(e);
    return m.select(e.binary(VecOp::LessEqual, m.x, m.c(p[0])), m.c(0), m.x);
  }
};

struct HardSigmoid {
  static constexpr std::array kParameters = {Parameter{"alpha", 0.2F}, Parameter{"beta", 0.5F}};
  static double apply(double x, Values p) {
    const double y = p[0] * x + p[1];
    return y < 0 ? 0 : y > 1 ? 1 : y;
  }
  static Reg emit(VectorEmitter& e, Values p) {
    Emit m(e);
    return m.max(m.c(0), m.min(m.c(1), m.add(m.mul(m.x, m.c(p[0])), m.c(p[1]))));
  }
};

struct HardSwish {  // x * HardSigmoid(x) with alpha 1/6 and beta 0.5
  static constexpr std::array<Parameter, 0> kParameters = {};
  static double apply(double x, Values) {
    const double y = x / 6 + 0.5;
    return x * (y < 0 ? 0 : y > 1 ? 1 : y);
  }
  static Reg emit(VectorEmitter& e, Values) {
    Emit m(e);
    return m.mul(m.x, m.max(m.c(0), m.min(m.c(1), m.add(m.mul(m.x, m.c(1.0 / 6)), m.c(0.5)))));
  }
};

struct Swish {
  static constexpr std::array kParameters = {Parameter{"alpha", 1.0F}};
  static double apply(double x, Values p) { return x / (1 + std::exp(-p[0] * x)); }
  static Reg emit(VectorEmitter& e, Values p) {
    Emit m(e);
    return m.mul(m.x, m.unary(VecOp::Sigmoid, p[0] == 1 ? m.x : m.mul(m.x, m.c(p[0]))));
  }
};

struct Shrink {
  static constexpr std::array kParameters = {Parameter{"bias", 0.0F}, Parameter{"lambd", 0.5F}};
  static double apply(double x, Values p) { return x < -p[1] ? x + p[0] : x > p[1] ? x - p[0] : 0; }
  static Reg emit(VectorEmitter& e, Values p) {
    Emit m(e);
    const Reg high = m.select(m.less(m.c(p[1]), m.x), m.sub(m.x, m.c(p[0])), m.c(0));
    return m.select(m.less(m.x, m.c(-p[1])), m.add(m.x, m.c(p[0])), high);
  }
};

template <class Op>
std::array<double, Op::kParameters.size()> parameters(const ir::Node& node) {
  std::array<double, Op::kParameters.size()> values = {};
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] =
        static_cast<double>(node.attrs.get_float(Op::kParameters[i].name, Op::kParameters[i].fallback));
  return values;
}

Status infer_float(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 0, kFloatTypes, "a float type"));
  return infer_same_as_input(ctx);
}

template <class Op>
Status infer_celu(InferContext& ctx) {
  if (parameters<Op>(ctx.node())[0] == 0) return ctx.error("attribute alpha must not be 0");
  return infer_float(ctx);
}

Status infer_shrink(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 0, kNumericTypes, "a numeric type"));
  return infer_same_as_input(ctx);
}

template <class Op>
Status reference_activation(EvalContext& ctx) {
  const auto p = parameters<Op>(ctx.node());
  const Tensor& x = ctx.input(0);
  MutableTensor y(x.dtype, x.shape);
  dispatch(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::ranges::transform(x.as<T>(), y.as<T>().begin(),
                           [&](T v) { return double_to<T>(Op::apply(static_cast<double>(widen(v)), p)); });
  });
  ctx.outputs[0] = std::move(y).freeze();
  return {};
}

template <class Op>
Status vector_activation(VectorEmitter& e) {
  e.set_output(0, Op::emit(e, parameters<Op>(e.node())));
  return {};
}

/// Parameters are fractions: registers of integers cannot hold them.
bool accepts_float(const ir::Node& node) {
  return has_vector_types(node) && is_float(node.input(0)->type.dtype);
}

template <class Op>
OpDef activation(std::string_view name, int since) {
  OpDef def{.name = name,
            .since = since,
            .infer = infer_float,
            .reference = reference_activation<Op>,
            .vector = vector_activation<Op>,
            .vector_accepts = accepts_float};
  for (const Parameter& p : Op::kParameters) def.attrs.push_back({p.name, AttrKind::Float});
  if (since == 1) def.attrs.push_back({"consumed_inputs", AttrKind::Ints, false, 1, 5});
  return def;
}

// Gelu ------------------------------------------------------------------------------------------------

constexpr std::string_view kApproximate = "approximate";  // String, "none" or "tanh"
const double kTanhScale = std::sqrt(2 / std::numbers::pi);
constexpr double kTanhCubic = 0.044715;

Status infer_gelu(InferContext& ctx) {
  const std::string mode = ctx.node().attrs.get_string(kApproximate, "none");
  if (mode != "none" && mode != "tanh")
    return ctx.error("attribute approximate must be none or tanh, found '" + mode + "'");
  return infer_float(ctx);
}

Status reference_gelu(EvalContext& ctx) {
  const bool tanh = ctx.node().attrs.get_string(kApproximate, "none") == "tanh";
  ctx.outputs[0] = map_elements(ctx.input(0), [tanh](auto v) {
    const auto x = static_cast<double>(v);
    return tanh ? 0.5 * x * (1 + std::tanh(kTanhScale * (x + kTanhCubic * x * x * x)))
                : 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
  });
  return {};
}

Status vector_gelu(VectorEmitter& e) {
  Emit m(e);
  Reg inner = -1;
  if (e.node().attrs.get_string(kApproximate, "none") == "tanh") {
    // x + c x^3 = x (1 + c x^2)
    const Reg poly = m.add(m.c(1), m.mul(m.c(kTanhCubic), m.mul(m.x, m.x)));
    inner = m.unary(VecOp::Tanh, m.mul(m.mul(m.x, m.c(kTanhScale)), poly));
  } else {
    inner = m.unary(VecOp::Erf, m.mul(m.x, m.c(1 / std::numbers::sqrt2)));
  }
  e.set_output(0, m.mul(m.mul(m.x, m.c(0.5)), m.add(m.c(1), inner)));
  return {};
}

// SwiGLU: Swish(a) * b --------------------------------------------------------------------------------

Status infer_swiglu(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 0, kFloatTypes, "a float type"));
  return infer_broadcast(ctx);
}

Status reference_swiglu(EvalContext& ctx) {
  const Tensor& a = ctx.input(0);
  const auto space = broadcast_dims(a.shape, ctx.input(1).shape);
  if (!space)
    return ctx.error("shapes [" + to_string(a.shape) + "] and [" + to_string(ctx.input(1).shape) +
                     "] do not broadcast");
  const auto p = parameters<Swish>(ctx.node());
  ctx.outputs[0] = map_pairs(a, ctx.input(1), *space, [&](auto x, auto gate) {
    return Swish::apply(static_cast<double>(x), p) * static_cast<double>(gate);
  });
  return {};
}

Status vector_swiglu(VectorEmitter& e) {
  e.set_output(0, e.binary(VecOp::Mul, Swish::emit(e, parameters<Swish>(e.node())), e.input(1)));
  return {};
}

}  // namespace

void register_activation(Registry& r) {
  OpDef celu = activation<Celu>("Celu", 12);
  celu.infer = infer_celu<Celu>;
  r.add(std::move(celu));
  r.add(activation<Elu>("Elu", 1));
  r.add({.name = "Gelu",
         .since = 20,
         .attrs = {{kApproximate, AttrKind::String}},
         .infer = infer_gelu,
         .reference = reference_gelu,
         .vector = vector_gelu,
         .vector_accepts = accepts_float});
  r.add(activation<HardSigmoid>("HardSigmoid", 1));
  r.add(activation<HardSwish>("HardSwish", 14));
  r.add(activation<LeakyRelu>("LeakyRelu", 1));
  OpDef selu = activation<SeluV1>("Selu", 1);
  selu.until = 5;
  r.add(std::move(selu));
  r.add(activation<Selu>("Selu", 6));
  OpDef shrink = activation<Shrink>("Shrink", 9);
  shrink.infer = infer_shrink;
  r.add(std::move(shrink));
  OpDef swiglu = activation<Swish>("SwiGLU", 28);
  swiglu.inputs = {2, 2};
  swiglu.infer = infer_swiglu;
  swiglu.reference = reference_swiglu;
  swiglu.vector = vector_swiglu;
  r.add(std::move(swiglu));
  r.add(activation<Swish>("Swish", 24));
  r.add(activation<ThresholdedRelu>("ThresholdedRelu", 10));
}

}  // namespace atc::ops
