#include <cmath>

#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/reference_util.h"
#include "ops/vector_emitter.h"

// Normalization over the trailing axes [axis, rank): LayerNormalization, RMSNormalization, and ours of a sum:
// atc::AddLayerNorm and atc::AddRmsNorm, y, x1 + x2 = (x1, x2, scale[, bias]), whose x2 broadcasts to x1.
// atc::InstanceNorm and atc::GroupNorm are layer normalizations of planes (of groups of channels, seen as
// rows) whose scale and bias are laid out to broadcast to X. stash_type only asks for the least precision of
// the statistics; here they are always double.
namespace atc::ops {

namespace {

/// Scale or bias must broadcast to X without changing its shape.
Status check_parameter(const InferContext& ctx, std::size_t input) {
  if (!ctx.has_input(input) || !ctx.ranked(input) || !ctx.ranked(0)) return {};
  const ir::Shape& x = ctx.shape(0);
  const ir::Shape& p = ctx.shape(input);
  bool fits = p.size() <= x.size();
  for (std::size_t i = 0; fits && i < p.size(); ++i)
    fits = p[i].value == 1 || !conflicts(p[i], x[x.size() - p.size() + i]);
  if (fits) return {};
  return ctx.input_error(input, "does not broadcast to the data's shape [" + ir::to_string(x) + "]");
}

/// Statistics have X's shape with 1 on the normalized axes, and the dtype that stash_type names.
StatusOr<std::optional<ir::Shape>> statistics_shape(const InferContext& ctx) {
  if (!ctx.ranked(0)) return std::optional<ir::Shape>();
  ATC_ASSIGN(const std::int64_t axis, axis_attribute(ctx, "axis", -1, ctx.shape(0).size()));
  ir::Shape shape = ctx.shape(0);
  std::fill(shape.begin() + axis, shape.end(), ir::Dim::of(1));
  return std::optional(std::move(shape));
}

DType stash_dtype(const ir::Node& node) {
  return static_cast<DType>(node.attrs.get_int("stash_type", static_cast<std::int64_t>(DType::F32)));
}

Status check_stash_type(const InferContext& ctx) {
  const std::int64_t stash = ctx.node().attrs.get_int("stash_type", 1);
  if (stash > 0 && stash < kDTypeCount && kFloatTypes.has(static_cast<DType>(stash))) return {};
  return ctx.error("attribute stash_type is " + std::to_string(stash) +
                   ", expected 1 (f32), 10 (f16), 11 (f64) or 16 (bf16)");
}

/// Walks rows of X: split at the first normalized axis.
struct Rows {
  std::size_t count = 0;
  std::size_t length = 0;
};
Rows rows_of(const Dims& shape, const ir::Node& node) {
  const auto axis = *normalize_axis(node.attrs.get_int("axis", -1), std::ssize(shape));
  const auto lead = std::span(shape).first(static_cast<std::size_t>(axis));
  const auto rest = std::span(shape).subspan(static_cast<std::size_t>(axis));
  return {static_cast<std::size_t>(element_count(lead)), static_cast<std::size_t>(element_count(rest))};
}

/// y *= scale and y += bias, broadcast over X's shape.
void scale_and_shift(std::vector<double>& y, const Dims& shape, const Tensor& scale, const Tensor* bias) {
  const std::vector<double> s = to_doubles(scale);
  for (StridedWalk w(shape, {strides_over(scale.shape, shape)}); !w.done(); w.next())
    y[static_cast<std::size_t>(w.position())] *= s[static_cast<std::size_t>(w.offset())];
  if (!bias) return;
  const std::vector<double> b = to_doubles(*bias);
  for (StridedWalk w(shape, {strides_over(bias->shape, shape)}); !w.done(); w.next())
    y[static_cast<std::size_t>(w.position())] += b[static_cast<std::size_t>(w.offset())];
}

/// Divides each row by the root of its mean square and `epsilon`; returns one over that a row.
std::vector<double> divide_by_root_mean_square(std::vector<double>& y, const Rows& rows, double epsilon) {
  std::vector<double> inverses(rows.count);
  for (std::size_t r = 0; r < rows.count; ++r) {
    double* row = y.data() + r * rows.length;
    double squares = 0;
    for (std::size_t i = 0; i < rows.length; ++i) squares += row[i] * row[i];
    inverses[r] = 1 / std::sqrt(squares / static_cast<double>(rows.length) + epsilon);
    for (std::size_t i = 0; i < rows.length; ++i) row[i] *= inverses[r];
  }
  return inverses;
}

/// Takes its mean from each row; returns the means.
std::vector<double> subtract_mean(std::vector<double>& y, const Rows& rows) {
  std::vector<double> means(rows.count);
  for (std::size_t r = 0; r < rows.count; ++r) {
    double* row = y.data() + r * rows.length;
    double sum = 0;
    for (std::size_t i = 0; i < rows.length; ++i) sum += row[i];
    means[r] = sum / static_cast<double>(rows.length);
    for (std::size_t i = 0; i < rows.length; ++i) row[i] -= means[r];
  }
  return means;
}

double epsilon_of(const ir::Node& node) {
  return static_cast<double>(node.attrs.get_float("epsilon", 1e-5F));
}

// LayerNormalization --------------------------------------------------------------------------------

Status infer_layer_normalization(InferContext& ctx) {
  ATC_TRY(require_float(ctx, 0));
  ATC_TRY(check_stash_type(ctx));
  for (std::size_t i = 1; i < ctx.input_count(); ++i) {
    ATC_TRY(require_same_dtype(ctx, i, 0));
    ATC_TRY(check_parameter(ctx, i));
  }
  ATC_ASSIGN(const std::optional<ir::Shape> statistics, statistics_shape(ctx));
  for (std::size_t i = 1; i < ctx.node().outputs().size(); ++i)
    if (ctx.node().output(i)) ctx.set_output(i, stash_dtype(ctx.node()), statistics);
  return infer_same_as_input(ctx);
}

Status reference_layer_normalization(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const Rows rows = rows_of(x.shape, ctx.node());
  std::vector<double> y = to_doubles(x);
  const std::vector<double> means = subtract_mean(y, rows);
  const std::vector<double> inverses = divide_by_root_mean_square(y, rows, epsilon_of(ctx.node()));
  scale_and_shift(y, x.shape, ctx.input(1), ctx.has_input(2) ? &ctx.input(2) : nullptr);
  ctx.outputs[0] = from_doubles(x.dtype, x.shape, y);
  Dims statistics = x.shape;
  const auto axis = *normalize_axis(ctx.node().attrs.get_int("axis", -1), std::ssize(x.shape));
  std::fill(statistics.begin() + axis, statistics.end(), 1);
  if (ctx.node().output(1)) ctx.outputs[1] = from_doubles(stash_dtype(ctx.node()), statistics, means);
  if (ctx.node().output(2)) ctx.outputs[2] = from_doubles(stash_dtype(ctx.node()), statistics, inverses);
  return {};
}

// RMSNormalization ----------------------------------------------------------------------------------

/// The scale's dtype is that of Y, X's may differ.
Status infer_rms_normalization(InferContext& ctx) {
  ATC_TRY(require_float(ctx, 0));
  ATC_TRY(require_float(ctx, 1));
  ATC_TRY(check_stash_type(ctx));
  ATC_TRY(check_parameter(ctx, 1));
  auto statistics = statistics_shape(ctx);  // for its check of axis
  if (!statistics.ok()) return statistics.status();
  ctx.set_output(0, ctx.dtype(1), ctx.type(0).shape);
  return {};
}

Status reference_rms_normalization(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  std::vector<double> y = to_doubles(x);
  divide_by_root_mean_square(y, rows_of(x.shape, ctx.node()), epsilon_of(ctx.node()));
  scale_and_shift(y, x.shape, ctx.input(1), nullptr);
  ctx.outputs[0] = from_doubles(ctx.input(1).dtype, x.shape, y);
  return {};
}

// AddLayerNorm, AddRmsNorm --------------------------------------------------------------------------

constexpr std::size_t kScale = 2, kBias = 3;  // inputs

Status infer_add_norm(InferContext& ctx) {
  ATC_TRY(require_float(ctx, 0));
  for (std::size_t i = 1; i < ctx.input_count(); ++i) {
    ATC_TRY(require_same_dtype(ctx, i, 0));
    ATC_TRY(check_parameter(ctx, i));
  }
  auto statistics = statistics_shape(ctx);  // for its check of axis
  if (!statistics.ok()) return statistics.status();
  if (ctx.node().output(1) != nullptr) ctx.set_output(1, ctx.dtype(0), ctx.type(0).shape);
  return infer_same_as_input(ctx);
}

Status reference_add_norm(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  std::vector<double> y = to_doubles(x);
  const std::vector<double> addend = to_doubles(ctx.input(1));
  for (StridedWalk w(x.shape, {strides_over(ctx.input(1).shape, x.shape)}); !w.done(); w.next())
    y[static_cast<std::size_t>(w.position())] += addend[static_cast<std::size_t>(w.offset())];
  if (ctx.node().output(1) != nullptr) ctx.outputs[1] = from_doubles(x.dtype, x.shape, y);
  const Rows rows = rows_of(x.shape, ctx.node());
  if (ctx.node().is_internal("AddLayerNorm")) subtract_mean(y, rows);
  divide_by_root_mean_square(y, rows, epsilon_of(ctx.node()));
  scale_and_shift(y, x.shape, ctx.input(kScale), ctx.has_input(kBias) ? &ctx.input(kBias) : nullptr);
  ctx.outputs[0] = from_doubles(x.dtype, x.shape, y);
  return {};
}

// Vector form ---------------------------------------------------------------------------------------

using kernels::RegType;
using kernels::VecOp;

std::optional<Dims> vector_axes(const ir::Node& node) {
  const std::int64_t rank = std::ssize(*node.input(0)->type.shape);
  const auto axis = normalize_axis(node.attrs.get_int("axis", -1), rank);
  if (!axis) return std::nullopt;
  Dims axes;
  for (std::int64_t a = *axis; a < rank; ++a) axes.push_back(a);
  return axes;
}

bool accepts_float(const ir::Node& node) {
  return aicore::reg_type_of(node.input(0)->type.dtype) == RegType::F32;
}

/// The mean over the normalized axes, one value a row.
VectorEmitter::Reg mean_of(VectorEmitter& e, VectorEmitter::Reg x) {
  const double count = static_cast<double>(rows_of(e.node().input(0)->type.dims(), e.node()).length);
  return e.binary(VecOp::Mul, e.unary(VecOp::ReduceSum, x), e.constant(RegType::F32, 1 / count));
}

/// 1 / sqrt(mean(x^2) + epsilon).
VectorEmitter::Reg inverse_root_mean_square(VectorEmitter& e, VectorEmitter::Reg x) {
  const auto epsilon = e.constant(RegType::F32, epsilon_of(e.node()));
  return e.unary(VecOp::Rsqrt, e.binary(VecOp::Add, mean_of(e, e.binary(VecOp::Mul, x, x)), epsilon));
}

/// y * scale + bias; a scale that is the constant 1 stands for none.
VectorEmitter::Reg scaled(VectorEmitter& e, VectorEmitter::Reg y, std::size_t scale, std::size_t bias) {
  const ir::Value* s = e.node().input(scale);
  const bool one = s->is_constant() && s->constant().count() == 1 && to_doubles(s->constant())[0] == 1;
  if (!one) y = e.binary(VecOp::Mul, y, e.input(scale));
  return e.has_input(bias) ? e.binary(VecOp::Add, y, e.input(bias)) : y;
}

Status vector_layer_normalization(VectorEmitter& e) {
  const auto mean = mean_of(e, e.input(0));
  const auto centred = e.binary(VecOp::Sub, e.input(0), mean);
  const auto inverse = inverse_root_mean_square(e, centred);
  e.set_output(0, scaled(e, e.binary(VecOp::Mul, centred, inverse), 1, 2));
  if (e.node().output(1) != nullptr) e.set_output(1, mean);
  if (e.node().output(2) != nullptr) e.set_output(2, inverse);
  return {};
}

Status vector_rms_normalization(VectorEmitter& e) {
  const auto inverse = inverse_root_mean_square(e, e.input(0));
  e.set_output(0, scaled(e, e.binary(VecOp::Mul, e.input(0), inverse), 1, 2));
  return {};
}

Status vector_add_norm(VectorEmitter& e) {
  const auto sum = e.binary(VecOp::Add, e.input(0), e.input(1));
  auto y = sum;
  if (e.node().is_internal("AddLayerNorm")) y = e.binary(VecOp::Sub, y, mean_of(e, y));
  y = e.binary(VecOp::Mul, y, inverse_root_mean_square(e, y));
  e.set_output(0, scaled(e, y, kScale, kBias));
  if (e.node().output(1) != nullptr) e.set_output(1, sum);
  return {};
}

}  // namespace

void register_layer_normalization(Registry& registry) {
  const std::vector<AttrSpec> attrs = {
      {"axis", AttrKind::Int}, {"epsilon", AttrKind::Float}, {"stash_type", AttrKind::Int}};
  registry.add({.name = "LayerNormalization",
                .since = 17,
                .attrs = attrs,
                .inputs = {2, 3},
                .outputs = {1, 3},
                .infer = infer_layer_normalization,
                .reference = reference_layer_normalization,
                .vector = vector_layer_normalization,
                .vector_accepts = accepts_float,
                .reduce_axes = vector_axes});
  registry.add({.name = "RMSNormalization",
                .since = 23,
                .attrs = attrs,
                .inputs = {2, 2},
                .infer = infer_rms_normalization,
                .reference = reference_rms_normalization,
                .vector = vector_rms_normalization,
                .vector_accepts = accepts_float,
                .reduce_axes = vector_axes});
  for (const std::string_view name : {"InstanceNorm", "GroupNorm"})
    registry.add({.name = name,
                  .domain = "atc",
                  .since = 0,
                  .attrs = {{"axis", AttrKind::Int, false, 0}, {"epsilon", AttrKind::Float, false, 0}},
                  .inputs = {2, 3},
                  .infer = infer_layer_normalization,
                  .reference = reference_layer_normalization,
                  .vector = vector_layer_normalization,
                  .vector_accepts = accepts_float,
                  .reduce_axes = vector_axes});
  for (const std::string_view name : {"AddLayerNorm", "AddRmsNorm"})
    registry.add({.name = name,
                  .domain = "atc",
                  .since = 0,
                  .attrs = {{"axis", AttrKind::Int, false, 0}, {"epsilon", AttrKind::Float, false, 0}},
                  .inputs = {3, name == "AddLayerNorm" ? 4 : 3},
                  .outputs = {1, 2},
                  .infer = infer_add_norm,
                  .reference = reference_add_norm,
                  .vector = vector_add_norm,
                  .vector_accepts = accepts_float,
                  .reduce_axes = vector_axes});
}

}  // namespace atc::ops
