#include <cmath>
#include <string>

#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/integer_math.h"
#include "ops/legacy_broadcast.h"
#include "ops/op.h"
#include "ops/reference_util.h"
#include "ops/shape_value.h"
#include "ops/vector_emitter.h"

// Elementwise operators of two inputs: Add Sub Mul Div, Pow, Mod, PRelu, BitShift, Bitwise*.
namespace atc::ops {
namespace {

using kernels::RegType;
using kernels::VecOp;

// Add, Sub, Mul, Div --------------------------------------------------------------------------------

// Each traits class: `apply` on widened elements (double, int64, uint64; integers wrap), `fold` on
// elements of shape values of which one is a symbol.
struct AddOp {
  static constexpr VecOp kVector = VecOp::Add;
  template <class T>
  static T apply(T a, T b) {
    return wrapping_add(a, b);
  }
  static std::optional<ir::Dim> fold(const ir::Dim& a, const ir::Dim& b) {
    if (a == literal(0)) return b;
    if (b == literal(0)) return a;
    return std::nullopt;
  }
};

struct SubOp {
  static constexpr VecOp kVector = VecOp::Sub;
  template <class T>
  static T apply(T a, T b) {
    return wrapping_sub(a, b);
  }
  static std::optional<ir::Dim> fold(const ir::Dim& a, const ir::Dim& b) {
    if (b == literal(0)) return a;
    if (a == b) return literal(0);
    return std::nullopt;
  }
};

struct MulOp {
  static constexpr VecOp kVector = VecOp::Mul;
  template <class T>
  static T apply(T a, T b) {
    return wrapping_mul(a, b);
  }
  static std::optional<ir::Dim> fold(const ir::Dim& a, const ir::Dim& b) {
    if (a == literal(0) || b == literal(0)) return literal(0);
    if (a == literal(1)) return b;
    if (b == literal(1)) return a;
    return std::nullopt;
  }
};

struct DivOp {
  static constexpr VecOp kVector = VecOp::Div;
  template <class T>
  static T apply(T a, T b) {
    return truncating_div(a, b);
  }
  static std::optional<ir::Dim> fold(const ir::Dim& a, const ir::Dim& b) {
    if (b == literal(1)) return a;
    return std::nullopt;
  }
};

template <class Op>
ir::Dim fold_element(InferContext& ctx, const ir::Dim& a, const ir::Dim& b) {
  if (is_literal(a) && is_literal(b)) return literal(Op::apply(a.value, b.value));
  const auto folded = Op::fold(a, b);
  return folded ? *folded : ctx.unknown_dim();
}

/// Elements of the output where both inputs are (partly) known shape values.
template <class Op>
void fold_elements(InferContext& ctx) {
  const auto a = elements_of(ctx, 0);
  const auto b = elements_of(ctx, 1);
  if (!a || !b || (a->size() != b->size() && a->size() != 1 && b->size() != 1)) return;
  ir::Shape out;
  const std::size_t count = a->size() == 1 ? b->size() : a->size();
  for (std::size_t i = 0; i < count; ++i)
    out.push_back(fold_element<Op>(ctx, (*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]));
  set_elements(ctx, 0, std::move(out));
}

Status infer_pair(InferContext& ctx, DTypeSet allowed, std::string_view what) {
  ATC_TRY(require_dtype(ctx, 0, allowed, what));
  ATC_TRY(require_same_dtype(ctx, 1, 0));
  ATC_ASSIGN(auto shape, pairwise_shape(ctx));
  ctx.set_output(0, ctx.dtype(0), std::move(shape));
  return {};
}

template <class Op>
Status infer_arithmetic(InferContext& ctx) {
  ATC_TRY(infer_pair(ctx, kNumericTypes, "a numeric type"));
  fold_elements<Op>(ctx);
  return {};
}

template <class F>
Status map_aligned(EvalContext& ctx, F f) {
  ATC_ASSIGN(const AlignedPair pair, aligned_inputs(ctx));
  ctx.outputs[0] = map_pairs(pair.a, pair.b, pair.space, f);
  return {};
}

template <class Op>
Status reference_arithmetic(EvalContext& ctx) {
  return map_aligned(ctx, [](auto a, auto b) { return Op::apply(a, b); });
}

template <VecOp op>
Status vector_pair(VectorEmitter& e) {
  e.set_output(0, e.binary(op, e.input(0), e.input(1)));
  return {};
}

bool accepts_pair(const ir::Node& node) { return has_vector_types(node) && is_right_aligned(node); }

template <class Op>
void register_arithmetic(Registry& r, std::string_view name) {
  OpDef def{.name = name,
            .since = 1,
            .until = kLastLegacyBroadcast,
            .attrs = legacy_broadcast_attrs(),
            .inputs = {2, 2},
            .infer = infer_arithmetic<Op>,
            .reference = reference_arithmetic<Op>,
            .vector = vector_pair<Op::kVector>,
            .vector_accepts = accepts_pair};
  r.add(def);
  def.since = kLastLegacyBroadcast + 1;
  def.until = INT_MAX;
  def.attrs.clear();
  r.add(def);
}

// Pow -----------------------------------------------------------------------------------------------

Status infer_pow(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 0, kNumericTypes, "a numeric type"));
  ATC_TRY(require_dtype(ctx, 1, kNumericTypes, "a numeric type"));
  // The exponent has a type of its own since opset 12.
  if (ctx.version() < 12) ATC_TRY(require_same_dtype(ctx, 1, 0));
  ATC_ASSIGN(auto shape, pairwise_shape(ctx));
  ctx.set_output(0, ctx.dtype(0), std::move(shape));
  return {};
}

Status reference_pow(EvalContext& ctx) {
  ATC_ASSIGN(const AlignedPair pair, aligned_inputs(ctx));
  MutableTensor y(pair.a.dtype, pair.space);
  dispatch(pair.a.dtype, [&](auto base_tag) {
    using Base = typename decltype(base_tag)::type;
    dispatch(pair.b.dtype, [&](auto exponent_tag) {
      using Exponent = typename decltype(exponent_tag)::type;
      const auto base = pair.a.template as<Base>();
      const auto exponent = pair.b.template as<Exponent>();
      auto out = y.as<Base>();
      for (StridedWalk w(pair.space,
                         {strides_over(pair.a.shape, pair.space), strides_over(pair.b.shape, pair.space)});
           !w.done(); w.next()) {
        const auto x = widen(base[static_cast<std::size_t>(w.offset(0))]);
        const auto p = widen(exponent[static_cast<std::size_t>(w.offset(1))]);
        Base& result = out[static_cast<std::size_t>(w.position())];
        if constexpr (kIsFloating<Base>)
          result = narrow<Base>(std::pow(x, static_cast<double>(p)));
        else if constexpr (kIsFloating<Exponent>)
          result = double_to<Base>(std::pow(static_cast<double>(x), p));
        else
          result = narrow<Base>(integer_pow(x, p));
      }
    });
  });
  ctx.outputs[0] = std::move(y).freeze();
  return {};
}

Status vector_pow(VectorEmitter& e) {
  const RegType base = e.type(e.input(0));
  const RegType exponent = e.type(e.input(1));
  // An integer base under a float exponent is raised as a float.
  const RegType common = base == exponent ? base : RegType::F32;
  const auto p = e.binary(VecOp::Pow, e.cast(e.input(0), common), e.cast(e.input(1), common));
  e.set_output(0, e.cast(p, base));
  return {};
}

bool accepts_pow(const ir::Node& node) {
  if (!accepts_pair(node)) return false;
  const auto base = kernels::reg_type_of(node.input(0)->type.dtype);
  const auto exponent = kernels::reg_type_of(node.input(1)->type.dtype);
  // Casting 32- and 64-bit integer bases to f32 would lose their low bits.
  return base == exponent || base == RegType::F32;
}

// Mod -----------------------------------------------------------------------------------------------

constexpr std::string_view kFmod = "fmod";  // Int, 0: result has the divisor's sign; 1: C's fmod

Status infer_mod(InferContext& ctx) {
  ATC_TRY(infer_pair(ctx, kNumericTypes, "a numeric type"));
  if (is_float(ctx.dtype(0)) && ctx.node().attrs.get_int(kFmod, 0) == 0)
    return ctx.error("attribute fmod must be 1 for inputs of a float type, found " +
                     std::string(name(ctx.dtype(0))));
  return {};
}

Status reference_mod(EvalContext& ctx) {
  if (ctx.node().attrs.get_int(kFmod, 0) != 0)
    return map_aligned(ctx, [](auto a, auto b) { return truncating_mod(a, b); });
  return map_aligned(ctx, [](auto a, auto b) { return floor_mod(a, b); });
}

Status vector_mod(VectorEmitter& e) {
  const bool fmod = e.node().attrs.get_int(kFmod, 0) != 0;
  e.set_output(0, e.binary(fmod ? VecOp::FMod : VecOp::Mod, e.input(0), e.input(1)));
  return {};
}

// PRelu ---------------------------------------------------------------------------------------------

/// Dims of the slope ready for NumPy broadcasting: up to opset 6 a 1-D slope runs along the channels.
template <class ShapeT, class Dim>
ShapeT slope_dims(int version, std::size_t x_rank, ShapeT slope, Dim one) {
  if (version <= kLastLegacyBroadcast && slope.size() == 1 && x_rank > 2)
    slope.insert(slope.end(), x_rank - 2, one);
  return slope;
}

Status infer_prelu(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 0, kNumericTypes, "a numeric type"));
  ATC_TRY(require_same_dtype(ctx, 1, 0));
  if (ctx.ranked(0) && ctx.ranked(1)) {
    const ir::Shape& x = ctx.shape(0);
    const ir::Shape slope = slope_dims(ctx.version(), x.size(), ctx.shape(1), ir::Dim::of(1));
    const auto joint = broadcast(x, slope);
    // Unidirectional: the slope must not widen the input.
    bool widens = !joint || joint->size() != x.size();
    for (std::size_t i = 0; !widens && i < x.size(); ++i) widens = conflicts((*joint)[i], x[i]);
    if (widens)
      return ctx.input_error(1, "does not broadcast to the shape [" + ir::to_string(x) + "] of input 0");
  }
  ctx.set_output(0, ctx.dtype(0), ctx.type(0).shape);
  return {};
}

Status reference_prelu(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const Tensor& slope = ctx.input(1);
  const Tensor aligned =
      with_shape(slope, slope_dims(ctx.version(), x.shape.size(), slope.shape, std::int64_t{1}));
  if (broadcast_dims(x.shape, aligned.shape) != x.shape)
    return ctx.error("slope of shape [" + to_string(slope.shape) + "] does not broadcast to [" +
                     to_string(x.shape) + "]");
  ctx.outputs[0] =
      map_pairs(x, aligned, x.shape, [](auto v, auto s) { return v < 0 ? wrapping_mul(v, s) : v; });
  return {};
}

bool accepts_prelu(const ir::Node& node) {
  if (!has_vector_types(node)) return false;
  if (node.version > kLastLegacyBroadcast) return true;
  const auto& x = node.input(0)->type.shape;
  const auto& slope = node.input(1)->type.shape;
  return x && slope && slope_dims(node.version, x->size(), *slope, ir::Dim::of(1)) == *slope;
}

// Bits ----------------------------------------------------------------------------------------------

Status infer_bitshift(InferContext& ctx) {
  const std::string direction = ctx.node().attrs.get_string("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    return ctx.error("attribute direction must be LEFT or RIGHT, found '" + direction + "'");
  return infer_pair(ctx, kUnsignedIntTypes, "an unsigned integer type");
}

Status reference_bitshift(EvalContext& ctx) {
  const bool left = ctx.node().attrs.get_string("direction", "") == "LEFT";
  return map_aligned(ctx, [left](auto a, auto b) { return left ? shift_left(a, b) : shift_right(a, b); });
}

Status vector_bitshift(VectorEmitter& e) {
  const bool left = e.node().attrs.get_string("direction", "") == "LEFT";
  e.set_output(0, e.binary(left ? VecOp::ShiftLeft : VecOp::ShiftRight, e.input(0), e.input(1)));
  return {};
}

Status infer_bitwise(InferContext& ctx) { return infer_pair(ctx, kIntTypes, "an integer type"); }

struct BitAndOp {
  static constexpr VecOp kVector = VecOp::BitAnd;
  static std::uint64_t apply(std::uint64_t a, std::uint64_t b) { return a & b; }
};
struct BitOrOp {
  static constexpr VecOp kVector = VecOp::BitOr;
  static std::uint64_t apply(std::uint64_t a, std::uint64_t b) { return a | b; }
};
struct BitXorOp {
  static constexpr VecOp kVector = VecOp::BitXor;
  static std::uint64_t apply(std::uint64_t a, std::uint64_t b) { return a ^ b; }
};

template <class Op>
Status reference_bitwise(EvalContext& ctx) {
  return map_aligned(ctx, [](auto a, auto b) {
    return Op::apply(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b));
  });
}

template <class Op>
OpDef bitwise_def(std::string_view name) {
  return {.name = name,
          .since = 18,
          .inputs = {2, 2},
          .infer = infer_bitwise,
          .reference = reference_bitwise<Op>,
          .vector = vector_pair<Op::kVector>,
          .vector_accepts = has_vector_types};
}

}  // namespace

void register_elementwise_binary(Registry& r) {
  register_arithmetic<AddOp>(r, "Add");
  register_arithmetic<SubOp>(r, "Sub");
  register_arithmetic<MulOp>(r, "Mul");
  register_arithmetic<DivOp>(r, "Div");

  OpDef pow{.name = "Pow",
            .since = 1,
            .until = kLastLegacyBroadcast,
            .attrs = legacy_broadcast_attrs(),
            .inputs = {2, 2},
            .infer = infer_pow,
            .reference = reference_pow,
            .vector = vector_pow,
            .vector_accepts = accepts_pow};
  r.add(pow);
  pow.since = kLastLegacyBroadcast + 1;
  pow.until = INT_MAX;
  pow.attrs.clear();
  r.add(pow);

  r.add({.name = "Mod",
         .since = 10,
         .attrs = {{kFmod, AttrKind::Int}},
         .inputs = {2, 2},
         .infer = infer_mod,
         .reference = reference_mod,
         .vector = vector_mod,
         .vector_accepts = has_vector_types});

  OpDef prelu{.name = "PRelu",
              .since = 1,
              .until = kLastLegacyBroadcast,
              .attrs = {{"consumed_inputs", AttrKind::Ints, false, 1, 5}},
              .inputs = {2, 2},
              .infer = infer_prelu,
              .reference = reference_prelu,
              .vector = vector_pair<VecOp::PRelu>,
              .vector_accepts = accepts_prelu};
  r.add(prelu);
  prelu.since = kLastLegacyBroadcast + 1;
  prelu.until = INT_MAX;
  prelu.attrs.clear();
  r.add(prelu);

  r.add({.name = "BitShift",
         .since = 11,
         .attrs = {{"direction", AttrKind::String, true}},
         .inputs = {2, 2},
         .infer = infer_bitshift,
         .reference = reference_bitshift,
         .vector = vector_bitshift,
         .vector_accepts = has_vector_types});
  r.add(bitwise_def<BitAndOp>("BitwiseAnd"));
  r.add(bitwise_def<BitOrOp>("BitwiseOr"));
  r.add(bitwise_def<BitXorOp>("BitwiseXor"));
}

}  // namespace atc::ops
