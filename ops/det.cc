#include <cmath>
#include <utility>
#include <vector>

#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/reference_util.h"

// Det: determinants of the square matrices on the last two axes.
namespace atc::ops {
namespace {

Status infer_det(InferContext& ctx) {
  ATC_TRY(require_float(ctx, 0));
  ATC_TRY(require_rank(ctx, 0, 2));
  std::optional<ir::Shape> shape = ctx.type(0).shape;
  if (shape) {
    if (conflicts((*shape)[shape->size() - 2], shape->back()))
      return ctx.input_error(0, "must hold square matrices on its last two axes");
    shape->resize(shape->size() - 2);
  }
  ctx.set_output(0, ctx.dtype(0), std::move(shape));
  return {};
}

/// Gaussian elimination with the largest pivot of each column; the matrix is used up.
double determinant(double* a, std::size_t n) {
  double det = 1;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::fabs(a[i * n + k]) > std::fabs(a[pivot * n + k])) pivot = i;
    if (a[pivot * n + k] == 0) return 0;
    if (pivot != k) {
      for (std::size_t j = k; j < n; ++j) std::swap(a[pivot * n + j], a[k * n + j]);
      det = -det;
    }
    det *= a[k * n + k];
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] / a[k * n + k];
      for (std::size_t j = k + 1; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return det;
}

Status reference_det(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const auto n = static_cast<std::size_t>(x.shape.back());
  std::vector<double> a = to_doubles(x);
  const Dims shape(x.shape.begin(), x.shape.end() - 2);
  std::vector<double> y(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = determinant(a.data() + i * n * n, n);
  ctx.outputs[0] = from_doubles(x.dtype, shape, y);
  return {};
}

}  // namespace

void register_det(Registry& r) {
  r.add({.name = "Det", .since = 11, .infer = infer_det, .reference = reference_det});
}

}  // namespace atc::ops
