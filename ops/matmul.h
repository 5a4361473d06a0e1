#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ops/op.h"

// numpy.matmul's shapes and products, shared by MatMul, Gemm and the quantized products.
namespace atc::ops {

/// A batched product with operands brought to [batch, m, k] x [batch, k, n].
struct MatMulGeometry {
  std::int64_t m = 0;
  std::int64_t k = 0;
  std::int64_t n = 0;
  Dims batch;    ///< broadcast batch dims
  Dims a_batch;  ///< batch dims of A before broadcasting
  Dims b_batch;
  Dims output;  ///< without the 1 that stands for a vector operand
};

/// nullopt when the inner sizes differ, the batch dims do not broadcast or an operand is a scalar.
std::optional<MatMulGeometry> matmul_geometry(const Dims& a, const Dims& b);

/// Output shape of inputs `a` and `b` by numpy.matmul's rules; nullopt while a rank is unknown.
StatusOr<std::optional<ir::Shape>> matmul_output_shape(InferContext& ctx, std::size_t a, std::size_t b);

/// c[m,n] += a[m,k] b[k,n], row-major.
template <class T>
void multiply_add(const T* a, const T* b, T* c, std::int64_t m, std::int64_t k, std::int64_t n) {
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t p = 0; p < k; ++p) {
      const T factor = a[i * k + p];
      for (std::int64_t j = 0; j < n; ++j) c[i * n + j] += factor * b[p * n + j];
    }
}

/// The whole batched product, row-major over geometry.output. T: double, or uint64_t for integers that
/// wrap.
template <class T>
std::vector<T> multiply(const std::vector<T>& a, const std::vector<T>& b, const MatMulGeometry& geometry);

extern template std::vector<double> multiply(const std::vector<double>&, const std::vector<double>&,
                                             const MatMulGeometry&);
extern template std::vector<std::uint64_t> multiply(const std::vector<std::uint64_t>&,
                                                    const std::vector<std::uint64_t>&, const MatMulGeometry&);

}  // namespace atc::ops
