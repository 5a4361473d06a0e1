#include <algorithm>
#include <string>

#include "ops/cast_elements.h"
#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/move.h"
#include "ops/op.h"
#include "ops/reference_util.h"
#include "ops/shape_value.h"
#include "ops/vector_emitter.h"

// Type conversions: Cast, CastLike, BitCast.
namespace atc::ops {
namespace {

using kernels::RegType;
using kernels::VecOp;

// Attributes: `to` is the name of the type up to opset 5, its number after.
constexpr std::string_view kTo = "to";
constexpr std::string_view kSaturate = "saturate";     // Int, 1, since 19: fp8 targets
constexpr std::string_view kRoundMode = "round_mode";  // String, "up", since 24: FLOAT8E8M0 targets

bool is_complex(DType t) { return t == DType::C64 || t == DType::C128; }

DType target_of(const ir::Node& node) {
  if (node.version < 6 && node.op_type == "Cast") {
    const std::string wanted = node.attrs.get_string(kTo, "");
    for (int i = 1; i < kDTypeCount; ++i)
      if (onnx_name(static_cast<DType>(i)) == wanted) return static_cast<DType>(i);
    return DType::Undefined;
  }
  const std::int64_t number = node.attrs.get_int(kTo, 0);
  return number > 0 && number < kDTypeCount ? static_cast<DType>(number) : DType::Undefined;
}

std::string describe_target(const ir::Node& node) {
  const std::string text = node.attrs.get_string(kTo, "");
  return text.empty() ? std::to_string(node.attrs.get_int(kTo, 0)) : "'" + text + "'";
}

CastOptions options_of(const ir::Node& node) {
  CastOptions options;
  if (node.attrs.get_int(kSaturate, 1) == 0) options.overflow = Overflow::Special;
  const std::string mode = node.attrs.get_string(kRoundMode, "up");
  options.round = mode == "down" ? E8M0Round::Down : mode == "nearest" ? E8M0Round::Nearest : E8M0Round::Up;
  options.saturate_fnuz_infinity = node.version >= 24;
  return options;
}

Status infer_conversion(InferContext& ctx, DType to) {
  const std::string mode = ctx.node().attrs.get_string(kRoundMode, "up");
  if (mode != "up" && mode != "down" && mode != "nearest")
    return ctx.error("attribute round_mode must be up, down or nearest, found '" + mode + "'");
  if (is_complex(ctx.dtype(0))) return ctx.input_error(0, "must not be of a complex type");
  ctx.set_output(0, to, ctx.type(0).shape);
  if (auto elements = elements_of(ctx, 0); elements && is_integer(to)) {
    // Lengths fit 32 bits or more; narrower targets may wrap.
    if (bit_width(to) >= 32) set_elements(ctx, 0, *std::move(elements));
  }
  return {};
}

Status infer_cast(InferContext& ctx) {
  const DType to = target_of(ctx.node());
  if (to == DType::Undefined || is_complex(to))
    return ctx.error("attribute to is " + describe_target(ctx.node()) + ", which is not a type to cast to");
  return infer_conversion(ctx, to);
}

Status infer_cast_like(InferContext& ctx) {
  if (is_complex(ctx.dtype(1))) return ctx.input_error(1, "must not be of a complex type");
  return infer_conversion(ctx, ctx.dtype(1));
}

Status convert_input(EvalContext& ctx, DType to) {
  auto result = cast_elements(ctx.input(0), to, options_of(ctx.node()));
  if (!result.ok()) return ctx.error(result.status().diagnostic().message);
  ctx.outputs[0] = *std::move(result);
  return {};
}

Status reference_cast(EvalContext& ctx) { return convert_input(ctx, target_of(ctx.node())); }
Status reference_cast_like(EvalContext& ctx) { return convert_input(ctx, ctx.input(1).dtype); }

Status vector_cast(VectorEmitter& e) {
  const RegType to = *kernels::reg_type_of(e.output_dtype());
  auto r = e.cast(e.input(0), to);
  // A cast to f16 rounds even where the value stays in a register.
  if (e.output_dtype() == DType::F16 && e.dtype(0) != DType::F16) r = e.unary(VecOp::Round16, r);
  e.set_output(0, r);
  return {};
}

/// The element type is all that CastLike takes of its second input.
bool accepts_cast(const ir::Node& node) {
  return kernels::reg_type_of(node.input(0)->type.dtype) && kernels::reg_type_of(node.output(0)->type.dtype);
}

Status infer_bit_cast(InferContext& ctx) {
  const DType to = target_of(ctx.node());
  if (to == DType::Undefined || to == DType::String)
    return ctx.error("attribute to is " + describe_target(ctx.node()) +
                     ", which is not a type to reinterpret as");
  if (ctx.dtype(0) == DType::String || bit_width(ctx.dtype(0)) != bit_width(to))
    return ctx.input_error(0, "has elements of " + std::to_string(bit_width(ctx.dtype(0))) + " bits, type " +
                                  std::string(name(to)) + " needs " + std::to_string(bit_width(to)));
  ctx.set_output(0, to, ctx.type(0).shape);
  return {};
}

Status reference_bit_cast(EvalContext& ctx) {
  ctx.outputs[0] = ctx.input(0);
  ctx.outputs[0].dtype = target_of(ctx.node());
  return {};
}

}  // namespace

void register_cast(Registry& r) {
  OpDef cast{.name = "Cast",
             .since = 1,
             .until = 5,
             .attrs = {{kTo, AttrKind::String, true}},
             .infer = infer_cast,
             .reference = reference_cast,
             .vector = vector_cast,
             .vector_accepts = accepts_cast};
  r.add(cast);
  cast.since = 6;
  cast.until = INT_MAX;
  cast.attrs = {{kTo, AttrKind::Int, true},
                {kSaturate, AttrKind::Int, false, 19},
                {kRoundMode, AttrKind::String, false, 24}};
  r.add(cast);
  r.add({.name = "CastLike",
         .since = 15,
         .attrs = {{kSaturate, AttrKind::Int, false, 19}, {kRoundMode, AttrKind::String, false, 24}},
         .inputs = {2, 2},
         .infer = infer_cast_like,
         .reference = reference_cast_like,
         .vector = vector_cast,
         .vector_accepts = accepts_cast});
  r.add({.name = "BitCast",
         .since = 26,
         .attrs = {{kTo, AttrKind::Int, true}},
         .infer = infer_bit_cast,
         .reference = reference_bit_cast,
         .lower = lower_view,
         .lowers = copies_input});
}

}  // namespace atc::ops
