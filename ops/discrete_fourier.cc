#include "ops/discrete_fourier.h"

#include <cmath>
#include <numbers>

namespace atc::ops {
namespace {

using Complex = std::complex<double>;

/// Transform of the `count` elements x[0], x[step], ...; `roots` are the powers of exp(-+2 pi i / N) for the
/// whole length N = count * step. Halves even counts: y[k] = even[k] + root^k odd[k].
std::vector<Complex> transform(const Complex* x, std::size_t count, std::size_t step,
                               const std::vector<Complex>& roots) {
  std::vector<Complex> y(count);
  if (count % 2 == 0) {
    const std::size_t half = count / 2;
    const std::vector<Complex> even = transform(x, half, 2 * step, roots);
    const std::vector<Complex> odd = transform(x + step, half, 2 * step, roots);
    for (std::size_t k = 0; k < half; ++k) {
      const Complex turned = roots[k * step] * odd[k];
      y[k] = even[k] + turned;
      y[k + half] = even[k] - turned;
    }
    return y;
  }
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t n = 0; n < count; ++n) y[k] += x[n * step] * roots[k * n % count * step];
  return y;
}

}  // namespace

std::vector<Complex> discrete_fourier(const std::vector<Complex>& x, bool inverse) {
  if (x.empty()) return {};
  const auto n = static_cast<double>(x.size());
  std::vector<Complex> roots;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(k) / n;
    roots.emplace_back(std::cos(angle), inverse ? std::sin(angle) : -std::sin(angle));
  }
  std::vector<Complex> y = transform(x.data(), x.size(), 1, roots);
  if (inverse)
    for (Complex& v : y) v /= n;
  return y;
}

}  // namespace atc::ops
