#pragma once

#include <complex>
#include <vector>

namespace atc::ops {

/// y[k] = sum_n x[n] * exp(-2 pi i k n / N) with N = x.size(), any N; `inverse` turns the sign of the
/// exponent and divides by N. Even lengths are halved, odd ones summed directly.
std::vector<std::complex<double>> discrete_fourier(const std::vector<std::complex<double>>& x, bool inverse);

}  // namespace atc::ops
