#pragma once

// Layer and RMS normalisation over the last axis, hLength elements of which originalHLength count.
#include "ascendc/rows.h"

namespace AscendC {
namespace detail {

template <class Tiling>
RowShape norm_shape(const Tiling& t) {
  const std::int64_t rows = std::int64_t{t.bLength} * t.sLength;
  return {rows, t.originalHLength != 0 ? std::int64_t{t.originalHLength} : std::int64_t{t.hLength},
          t.hLength};
}

}  // namespace detail

/// (x - mean) / sqrt(variance + epsilon) * gamma + beta; mean and variance of each row.
template <class T, bool isReuseSource = false>
void LayerNorm(const LocalTensor<T>& output, const LocalTensor<T>& mean, const LocalTensor<T>& variance,
               const LocalTensor<T>& input, const LocalTensor<T>& gamma, const LocalTensor<T>& beta,
               detail::same_t<T> epsilon, const LayerNormTiling& tiling, detail::Site site = detail::Site()) {
  detail::check_type<T, float, half>();
  AtcRows r = detail::rows_call(ATC_ROW_LAYER_NORM, detail::norm_shape(tiling));
  r.out[0] = detail::operand(output);
  r.out[1] = detail::operand(mean);
  r.out[2] = detail::operand(variance);
  r.in[0] = detail::operand(input);
  r.in[1] = detail::operand(gamma);
  r.in[2] = detail::operand(beta);
  r.scalar = static_cast<double>(static_cast<float>(epsilon));
  detail::run(r, site);
}
template <class T, bool isReuseSource = false>
void LayerNorm(const LocalTensor<T>& output, const LocalTensor<T>& mean, const LocalTensor<T>& variance,
               const LocalTensor<T>& input, const LocalTensor<T>& gamma, const LocalTensor<T>& beta,
               const LocalTensor<std::uint8_t>& /*tmp*/, detail::same_t<T> epsilon,
               const LayerNormTiling& tiling, detail::Site site = detail::Site()) {
  LayerNorm<T>(output, mean, variance, input, gamma, beta, epsilon, tiling, site);
}

/// x / sqrt(mean of squares + epsilon) * gamma.
template <class T, bool isBasicBlock = false>
void RmsNorm(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& gamma,
             detail::same_t<T> epsilon, const RmsNormTiling& tiling, detail::Site site = detail::Site()) {
  detail::check_type<T, float, half>();
  AtcRows r = detail::rows_call(ATC_ROW_RMS_NORM, detail::norm_shape(tiling));
  r.out[0] = detail::operand(dst);
  r.in[0] = detail::operand(src);
  r.in[1] = detail::operand(gamma);
  r.scalar = static_cast<double>(static_cast<float>(epsilon));
  detail::run(r, site);
}
template <class T, bool isBasicBlock = false>
void RmsNorm(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& gamma,
             const LocalTensor<std::uint8_t>& /*tmp*/, detail::same_t<T> epsilon, const RmsNormTiling& tiling,
             detail::Site site = detail::Site()) {
  RmsNorm<T>(dst, src, gamma, epsilon, tiling, site);
}

}  // namespace AscendC
