#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/matmul.h"
#include "ops/quantize.h"
#include "ops/reference_util.h"

// MatMulInteger and QLinearMatMul: a product of 8-bit integers. Sums are exact: doubles hold them.
namespace atc::ops {

namespace {

constexpr DTypeSet kBytes = {DType::I8, DType::U8};

/// Scales and zero points come for the whole operand, or one for each row of A ([M] or [..., M, 1]) or
/// column of B ([N] or [..., 1, N]). The shape under which they broadcast over the operand.
Dims parameter_shape(const Dims& parameter, bool of_rows) {
  if (!of_rows || parameter.size() != 1 || parameter[0] == 1) return parameter;
  return {parameter[0], 1};
}

Status check_parameter(const InferContext& ctx, std::size_t parameter, std::size_t operand, bool of_rows) {
  if (!ctx.has_input(parameter) || !ctx.ranked(parameter) || !ctx.ranked(operand)) return {};
  const ir::Shape& p = ctx.shape(parameter);
  const ir::Shape& x = ctx.shape(operand);
  if (p.size() == 1 && p[0].value == 1) return {};
  ir::Shape over = p;
  if (of_rows && p.size() == 1) over.push_back(ir::Dim::of(1));
  bool fits = over.size() <= x.size();
  for (std::size_t i = 0; fits && i < over.size(); ++i)
    fits = over[i].value == 1 || !conflicts(over[i], x[x.size() - over.size() + i]);
  if (fits) return {};
  return ctx.input_error(parameter, "does not fit input " + std::to_string(operand) + " [" +
                                        ir::to_string(x) + "]: expected one value, or one for each " +
                                        (of_rows ? "row" : "column"));
}

/// Calls f(element, parameter) for each element, the parameter broadcast over it.
template <class F>
void for_each_with(std::vector<double>& v, const Dims& shape, const Tensor& parameter, bool of_rows, F f) {
  const std::vector<double> p = to_doubles(parameter);
  if (p.size() == 1) {
    for (double& e : v) f(e, p[0]);
    return;
  }
  const Dims strides = strides_over(parameter_shape(parameter.shape, of_rows), shape);
  for (StridedWalk w(shape, {strides}); !w.done(); w.next())
    f(v[static_cast<std::size_t>(w.position())], p[static_cast<std::size_t>(w.offset())]);
}

/// Elements less their zero point (null: zero).
std::vector<double> centered(const Tensor& t, const Tensor* zero, bool of_rows) {
  std::vector<double> v = to_doubles(t);
  if (zero) for_each_with(v, t.shape, *zero, of_rows, [](double& e, double z) { e -= z; });
  return v;
}

// MatMulInteger (A, B, a_zero_point, b_zero_point) ----------------------------------------------------

Status infer_matmul_integer(InferContext& ctx) {
  for (std::size_t i = 0; i < 2; ++i) {
    ATC_TRY(require_dtype(ctx, i, kBytes, "i8 or u8"));
    ATC_TRY(require_same_dtype(ctx, i + 2, i));
    ATC_TRY(check_parameter(ctx, i + 2, i, i == 0));
  }
  ATC_ASSIGN(std::optional<ir::Shape> shape, matmul_output_shape(ctx, 0, 1));
  ctx.set_output(0, DType::I32, std::move(shape));
  return {};
}

Status reference_matmul_integer(EvalContext& ctx) {
  const auto g = matmul_geometry(ctx.input(0).shape, ctx.input(1).shape);
  if (!g) return ctx.error("the shapes of A and B cannot be multiplied");
  const auto zero = [&](std::size_t i) { return ctx.has_input(i) ? &ctx.input(i) : nullptr; };
  const std::vector<double> y =
      multiply(centered(ctx.input(0), zero(2), true), centered(ctx.input(1), zero(3), false), *g);
  ctx.outputs[0] = from_doubles(DType::I32, g->output, y);
  return {};
}

// QLinearMatMul (a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero) -----------------------------

constexpr std::size_t kA = 0;
constexpr std::size_t kB = 3;

Status infer_qlinear_matmul(InferContext& ctx) {
  const DTypeSet bytes = ctx.version() < 21 ? kBytes
                                            : kBytes | DTypeSet{DType::F8E4M3FN, DType::F8E4M3FNUZ,
                                                                DType::F8E5M2, DType::F8E5M2FNUZ};
  const DTypeSet scales =
      ctx.version() < 21 ? DTypeSet{DType::F32} : DTypeSet{DType::F32, DType::F16, DType::BF16};
  for (std::size_t operand : {kA, kB}) {
    ATC_TRY(require_dtype(ctx, operand, bytes, "an 8-bit type"));
    ATC_TRY(require_dtype(ctx, operand + 1, scales, "a scale type"));
    ATC_TRY(require_same_dtype(ctx, operand + 2, operand));
    ATC_TRY(check_parameter(ctx, operand + 1, operand, operand == kA));
    ATC_TRY(check_parameter(ctx, operand + 2, operand, operand == kA));
  }
  ATC_TRY(require_dtype(ctx, 6, scales, "a scale type"));
  ATC_TRY(require_dtype(ctx, 7, bytes, "an 8-bit type"));
  ATC_ASSIGN(std::optional<ir::Shape> shape, matmul_output_shape(ctx, kA, kB));
  ctx.set_output(0, ctx.dtype(7), std::move(shape));
  return {};
}

/// Scales per row and column factor out of the sums, so operands are scaled before the product.
Status reference_qlinear_matmul(EvalContext& ctx) {
  const Tensor& a = ctx.input(kA);
  const Tensor& b = ctx.input(kB);
  const auto g = matmul_geometry(a.shape, b.shape);
  if (!g) return ctx.error("the shapes of a and b cannot be multiplied");
  const auto scale = [](double& e, double s) { e *= s; };
  const auto quantize_by = [](double& e, double s) { e /= s; };
  std::vector<double> va = centered(a, &ctx.input(kA + 2), true);
  std::vector<double> vb = centered(b, &ctx.input(kB + 2), false);
  for_each_with(va, a.shape, ctx.input(kA + 1), true, scale);
  for_each_with(vb, b.shape, ctx.input(kB + 1), false, scale);
  std::vector<double> y = multiply(va, vb, *g);
  const DType dtype = ctx.input(7).dtype;
  // Y's own scale and zero point follow the rows, as A's do.
  for_each_with(y, g->output, ctx.input(6), true, quantize_by);
  for_each_with(y, g->output, ctx.input(7), true, [dtype](double& e, double z) {
    e = is_integer(dtype) ? round_and_saturate(e + z, dtype) : e + z;
  });
  ctx.outputs[0] = from_doubles(dtype, g->output, y);
  return {};
}

}  // namespace

void register_quantized_matmul(Registry& registry) {
  registry.add({.name = "MatMulInteger",
                .since = 10,
                .inputs = {2, 4},
                .infer = infer_matmul_integer,
                .reference = reference_matmul_integer});
  registry.add({.name = "QLinearMatMul",
                .since = 10,
                .inputs = {8, 8},
                .infer = infer_qlinear_matmul,
                .reference = reference_qlinear_matmul});
}

}  // namespace atc::ops
