#include "ops/quantize.h"

#include <algorithm>
#include <cmath>

#include "atc/base/math.h"
#include "ops/axis_view.h"
#include "ops/cast_elements.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/vector_emitter.h"

namespace atc::ops {

namespace {

constexpr DTypeSet kFloat8 = {DType::F8E4M3FN, DType::F8E4M3FNUZ, DType::F8E5M2, DType::F8E5M2FNUZ};
constexpr DTypeSet kScaleTypes = {DType::F32, DType::F16, DType::BF16, DType::F8E8M0};

/// Quantized dtypes that a version of the operators knows.
DTypeSet quantized_types(int version) {
  DTypeSet types = {DType::I8, DType::U8};
  if (version >= 19) types = types | kFloat8;
  if (version >= 21) types = types | DTypeSet{DType::I16, DType::U16, DType::I4, DType::U4};
  if (version >= 23) types = types | DTypeSet{DType::F4E2M1};
  if (version >= 25) types = types | DTypeSet{DType::I2, DType::U2};
  return types;
}

Dims known_dims(const ir::Shape& shape) {
  Dims dims;
  for (const ir::Dim& d : shape) dims.push_back(d.known() ? d.value : -1);
  return dims;
}

/// Shapes of scale (input 1) and zero point (input 2) against the data and each other.
Status check_parameters(const InferContext& ctx) {
  if (ctx.ranked(0) && ctx.ranked(1)) {
    auto granularity =
        quantization_granularity(ctx.node(), known_dims(ctx.shape(0)), known_dims(ctx.shape(1)));
    if (!granularity.ok()) return granularity.status();
  }
  if (!ctx.has_input(2) || !ctx.ranked(1) || !ctx.ranked(2)) return {};
  const ir::Shape& scale = ctx.shape(1);
  const ir::Shape& zero = ctx.shape(2);
  // A scalar and a list of one are the same to every exporter.
  const auto count_is_one = [](const ir::Shape& s) {
    return s.empty() || (s.size() == 1 && s[0].value == 1);
  };
  if (count_is_one(scale) && count_is_one(zero)) return {};
  bool fits = scale.size() == zero.size();
  for (std::size_t i = 0; fits && i < scale.size(); ++i) fits = !conflicts(scale[i], zero[i]);
  if (fits) return {};
  return ctx.input_error(2, "must have the shape of the scale, [" + ir::to_string(scale) + "]");
}

/// An attribute that names a dtype by its ONNX number; Undefined when absent or 0.
StatusOr<DType> dtype_attribute(const InferContext& ctx, std::string_view attribute, DTypeSet allowed) {
  const std::int64_t number = ctx.node().attrs.get_int(attribute, 0);
  if (number == 0) return DType::Undefined;
  if (number > 0 && number < kDTypeCount && allowed.has(static_cast<DType>(number)))
    return static_cast<DType>(number);
  return ctx.error("attribute " + std::string(attribute) + " is " + std::to_string(number) +
                   ", not a dtype that opset " + std::to_string(ctx.version()) + " allows here");
}

// QuantizeLinear --------------------------------------------------------------------------------------

Status infer_quantize_linear(InferContext& ctx) {
  const DTypeSet allowed = quantized_types(ctx.version());
  ATC_TRY(require_dtype(ctx, 0, {DType::F32, DType::F16, DType::BF16, DType::I32}, "f32, f16, bf16 or i32"));
  ATC_TRY(require_dtype(ctx, 1, kScaleTypes | DTypeSet{DType::I32}, "f32, f16, bf16, i32 or f8e8m0"));
  ATC_ASSIGN(const DType asked, dtype_attribute(ctx, "output_dtype", allowed));
  DType dtype = asked == DType::Undefined ? DType::U8 : asked;
  if (ctx.has_input(2)) {
    ATC_TRY(require_dtype(ctx, 2, allowed, "a quantized type of opset " + std::to_string(ctx.version())));
    dtype = ctx.dtype(2);
    if (asked != DType::Undefined && asked != dtype)
      return ctx.input_error(2, "must have the dtype that output_dtype names, " + std::string(name(asked)));
  }
  ATC_TRY(check_parameters(ctx));
  ctx.set_output(0, dtype, ctx.type(0).shape);
  return {};
}

/// The dtype whose precision the division x / scale has: that of the scale unless `precision` names one.
DType division_dtype(const ir::Node& node, DType scale) {
  const auto named = static_cast<DType>(node.attrs.get_int("precision", 0));
  const DType dtype = named == DType::Undefined ? scale : named;
  return kFloatTypes.has(dtype) ? dtype : DType::F32;
}

/// x / scale, rounded to the precision of the division.
std::vector<double> divided(const ir::Node& node, const Tensor& x, const Tensor& scale,
                            const Granularity& g) {
  std::vector<double> y = to_doubles(x);
  const std::vector<double> scales = to_doubles(scale);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] /= scales[g.scale_of(i)];
  return to_doubles(from_doubles(division_dtype(node, scale.dtype), x.shape, y));
}

Status reference_quantize_linear(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const Tensor& scale = ctx.input(1);
  ATC_ASSIGN(const Granularity g, quantization_granularity(ctx.node(), x.shape, scale.shape));
  const auto named = static_cast<DType>(ctx.node().attrs.get_int("output_dtype", 0));
  const DType dtype = ctx.has_input(2) ? ctx.input(2).dtype : named != DType::Undefined ? named : DType::U8;
  const std::vector<double> zero = ctx.has_input(2) ? to_doubles(ctx.input(2)) : std::vector<double>();
  std::vector<double> y = divided(ctx.node(), x, scale, g);
  if (is_integer(dtype)) {
    for (std::size_t i = 0; i < y.size(); ++i)
      y[i] = round_and_saturate(std::nearbyint(y[i]) + (zero.empty() ? 0 : zero[g.scale_of(i)]), dtype);
    ctx.outputs[0] = from_doubles(dtype, x.shape, y);
    return {};
  }
  if (!zero.empty())
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += zero[g.scale_of(i)];
  CastOptions options;
  if (ctx.node().attrs.get_int("saturate", 1) == 0) options.overflow = Overflow::Special;
  ATC_ASSIGN(ctx.outputs[0], cast_elements(from_doubles(DType::F64, x.shape, y), dtype, options));
  return {};
}

/// The input is one number, known or not.
bool is_single(const ir::Node& node, std::size_t input) {
  const ir::Value* v = node.input(input);
  return v == nullptr || (v->type.is_static() && element_count(v->type.dims()) == 1);
}

bool is_one(const ir::Value* v) { return v->is_constant() && to_doubles(v->constant())[0] == 1.0; }

constexpr DTypeSet kRegisterTypes = {DType::I8, DType::U8, DType::I16, DType::U16};

/// One scale for the whole tensor: others are written in simpler operators by a pass.
bool accepts_quantize_linear(const ir::Node& node) {
  const ir::Value* scale = node.input(1);
  if (node.attrs.get_int("block_size", 0) != 0 || !is_single(node, 1) || !is_single(node, 2)) return false;
  if (scale->type.dtype != DType::F32 && scale->type.dtype != DType::F16) return false;
  const DType division = division_dtype(node, scale->type.dtype);
  return (division == DType::F32 || division == DType::F16) && is_float(node.input(0)->type.dtype) &&
         kRegisterTypes.has(node.output(0)->type.dtype);
}

Status vector_quantize_linear(VectorEmitter& e) {
  using kernels::RegType;
  using kernels::VecOp;
  auto r = e.input(0);
  if (!is_one(e.node().input(1))) r = e.binary(VecOp::Div, r, e.input(1));
  if (division_dtype(e.node(), e.dtype(1)) == DType::F16) r = e.unary(VecOp::Round16, r);
  r = e.unary(VecOp::RoundEven, r);
  const ir::Value* zero = e.node().input(2);
  if (zero != nullptr && zero->is_constant()) {
    const double value = to_doubles(zero->constant())[0];
    if (value != 0) r = e.binary(VecOp::Add, r, e.constant(RegType::F32, value));
  } else if (zero != nullptr) {
    r = e.binary(VecOp::Add, r, e.cast(e.input(2), RegType::F32));
  }
  const auto [least, largest] = integer_range(e.output_dtype());
  r = e.binary(VecOp::Max, r, e.constant(RegType::F32, least));
  r = e.binary(VecOp::Min, r, e.constant(RegType::F32, largest));
  e.set_output(0, e.cast(r, RegType::I32));
  return {};
}

// DequantizeLinear ------------------------------------------------------------------------------------

Status infer_dequantize_linear(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 0, quantized_types(ctx.version()) | DTypeSet{DType::I32},
                        "i32 or a quantized type of opset " + std::to_string(ctx.version())));
  ATC_TRY(require_dtype(ctx, 1, kScaleTypes, "f32, f16, bf16 or f8e8m0"));
  ATC_TRY(require_same_dtype(ctx, 2, 0));
  ATC_TRY(check_parameters(ctx));
  ATC_ASSIGN(const DType asked, dtype_attribute(ctx, "output_dtype", kFloatTypes));
  ctx.set_output(0, asked == DType::Undefined ? ctx.dtype(1) : asked, ctx.type(0).shape);
  return {};
}

Status reference_dequantize_linear(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  ATC_ASSIGN(const Granularity g, quantization_granularity(ctx.node(), x.shape, ctx.input(1).shape));
  const std::vector<double> scale = to_doubles(ctx.input(1));
  const std::vector<double> zero = ctx.has_input(2) ? to_doubles(ctx.input(2)) : std::vector<double>();
  std::vector<double> y = to_doubles(x);
  for (std::size_t i = 0; i < y.size(); ++i)
    y[i] = (y[i] - (zero.empty() ? 0 : zero[g.scale_of(i)])) * scale[g.scale_of(i)];
  const auto named = static_cast<DType>(ctx.node().attrs.get_int("output_dtype", 0));
  ctx.outputs[0] = from_doubles(named == DType::Undefined ? ctx.input(1).dtype : named, x.shape, y);
  return {};
}

bool accepts_dequantize_linear(const ir::Node& node) {
  if (node.attrs.get_int("block_size", 0) != 0 || !is_single(node, 1) || !is_single(node, 2)) return false;
  const DType scale = node.input(1)->type.dtype, y = node.output(0)->type.dtype;
  return (scale == DType::F32 || scale == DType::F16) && (y == DType::F32 || y == DType::F16) &&
         (kRegisterTypes | DTypeSet{DType::I32}).has(node.input(0)->type.dtype);
}

Status vector_dequantize_linear(VectorEmitter& e) {
  using kernels::RegType;
  using kernels::VecOp;
  auto r = e.input(0);
  const ir::Value* zero = e.node().input(2);
  if (zero != nullptr && !(zero->is_constant() && to_doubles(zero->constant())[0] == 0))
    r = e.binary(VecOp::Sub, r, e.input(2));
  r = e.cast(r, RegType::F32);
  if (!is_one(e.node().input(1))) r = e.binary(VecOp::Mul, r, e.input(1));
  if (e.output_dtype() == DType::F16) r = e.unary(VecOp::Round16, r);
  e.set_output(0, r);
  return {};
}

// DynamicQuantizeLinear -------------------------------------------------------------------------------

Status infer_dynamic_quantize_linear(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 0, {DType::F32}, "f32"));
  ctx.set_output(0, DType::U8, ctx.type(0).shape);
  ctx.set_output(1, DType::F32, ir::Shape());
  ctx.set_output(2, DType::U8, ir::Shape());
  return {};
}

/// The u8 range is laid over [min, max] with 0 in it; all in float, as the standard writes it.
Status reference_dynamic_quantize_linear(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const auto in = x.as<float>();
  float least = 0;
  float largest = 0;
  for (float v : in) {
    least = std::min(least, v);
    largest = std::max(largest, v);
  }
  const float scale = (largest - least) / 255.0F;
  const double zero = scale == 0 ? 0 : round_and_saturate(-least / scale, DType::U8);
  std::vector<double> y(in.size());
  for (std::size_t i = 0; i < in.size(); ++i)
    y[i] = round_and_saturate(std::nearbyint(scale == 0 ? 0.0F : in[i] / scale) + zero, DType::U8);
  ctx.outputs[0] = from_doubles(DType::U8, x.shape, y);
  ctx.outputs[1] = scalar_tensor(DType::F32, scale);
  ctx.outputs[2] = scalar_tensor(DType::U8, zero);
  return {};
}

}  // namespace

std::pair<double, double> integer_range(DType dtype) {
  ATC_CHECK(is_integer(dtype), "integer_range: not an integer");
  const int bits = bit_width(dtype);
  if (!is_signed(dtype)) return {0, std::ldexp(1.0, bits) - 1};
  return {-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1) - 1};
}

double round_and_saturate(double value, DType dtype) {
  const auto [least, largest] = integer_range(dtype);
  if (std::isnan(value)) return least;
  return std::clamp(std::nearbyint(value), least, largest);
}

StatusOr<Granularity> quantization_granularity(const ir::Node& node, const Dims& x, const Dims& scale) {
  Granularity g;
  const InferContext ctx(node);
  const std::int64_t block = node.attrs.get_int("block_size", 0);
  if (block < 0) return ctx.error("attribute block_size is " + std::to_string(block) + ", expected >= 0");
  const bool one = scale.empty() || (scale.size() == 1 && scale[0] == 1);
  if (one && block == 0) return g;
  if (block == 0 && scale.size() != 1)
    return ctx.error("the scale has rank " + std::to_string(scale.size()) +
                     ", expected 0 or 1 (block_size is 0)");
  if (block > 0 && scale.size() != x.size())
    return ctx.error("the scale has rank " + std::to_string(scale.size()) + ", expected " +
                     std::to_string(x.size()) + " as the data has (block_size is " + std::to_string(block) +
                     ")");
  ATC_ASSIGN(const std::int64_t axis, axis_attribute(ctx, "axis", 1, x.size()));
  const auto a = static_cast<std::size_t>(axis);
  const std::int64_t wanted = x[a] < 0 ? -1 : block > 0 ? ceil_div(x[a], block) : x[a];
  const std::int64_t found = block > 0 ? scale[a] : scale[0];
  if (wanted >= 0 && found >= 0 && wanted != found)
    return ctx.error("the scale has " + std::to_string(found) + " values along axis " + std::to_string(axis) +
                     ", expected " + std::to_string(wanted) + " for " + std::to_string(x[a]) + " elements" +
                     (block > 0 ? " in blocks of " + std::to_string(block) : ""));
  for (std::size_t i = 0; block > 0 && i < x.size(); ++i)
    if (i != a && x[i] >= 0 && scale[i] >= 0 && x[i] != scale[i])
      return ctx.error("the scale has shape [" + to_string(scale) + "], which differs from the data's [" +
                       to_string(x) + "] elsewhere than on axis " + std::to_string(axis));
  if (std::any_of(x.begin(), x.end(), [](std::int64_t d) { return d < 0; })) return g;
  const AxisView view = axis_view(x, axis);
  g.length = std::max<std::size_t>(view.length, 1);
  g.inner = std::max<std::size_t>(view.inner, 1);
  g.block = static_cast<std::size_t>(std::max<std::int64_t>(block, 1));
  if (block == 0) {
    g.axis_step = 1;
    return g;
  }
  g.outer_step = static_cast<std::size_t>(wanted) * g.inner;
  g.axis_step = g.inner;
  g.inner_step = 1;
  return g;
}

void register_quantize(Registry& registry) {
  registry.add({.name = "QuantizeLinear",
                .since = 10,
                .attrs = {{"axis", AttrKind::Int, false, 13},
                          {"block_size", AttrKind::Int, false, 21},
                          {"output_dtype", AttrKind::Int, false, 21},
                          {"precision", AttrKind::Int, false, 23},
                          {"saturate", AttrKind::Int, false, 19}},
                .inputs = {2, 3},
                .infer = infer_quantize_linear,
                .reference = reference_quantize_linear,
                .vector = vector_quantize_linear,
                .vector_accepts = accepts_quantize_linear});
  registry.add({.name = "DequantizeLinear",
                .since = 10,
                .attrs = {{"axis", AttrKind::Int, false, 13},
                          {"block_size", AttrKind::Int, false, 21},
                          {"output_dtype", AttrKind::Int, false, 23}},
                .inputs = {2, 3},
                .infer = infer_dequantize_linear,
                .reference = reference_dequantize_linear,
                .vector = vector_dequantize_linear,
                .vector_accepts = accepts_dequantize_linear});
  registry.add({.name = "DynamicQuantizeLinear",
                .since = 11,
                .outputs = {3, 3},
                .infer = infer_dynamic_quantize_linear,
                .reference = reference_dynamic_quantize_linear});
}

}  // namespace atc::ops
