#pragma once

// Softmaxes over the last axis. Sums and maxima have one data block of 32 bytes a row. Temporary tensors may
// be given and are not needed.
#include "ascendc/rows.h"

namespace AscendC {
namespace detail {

template <class D, class S>
void softmax(AtcRowOp op, const LocalTensor<D>& dst, const LocalTensor<S>* sum, const LocalTensor<S>* max,
             const LocalTensor<D>& src, const SoftMaxTiling& tiling, const SoftMaxShapeInfo& info,
             const SoftmaxConfig& config, const Site& site) {
  check_type<D, float, half>();
  AtcRows r = rows_call(op, shape_of(src, tiling, info));
  if (config.mode == SoftmaxMode::SOFTMAX_OUTPUT_WITHOUT_BRC) r.flag = ATC_ROW_PLAIN_STATS;
  r.out[0] = operand(dst);
  r.in[0] = operand(src);
  AtcOperand* stats = op == ATC_ROW_SIMPLE_SOFTMAX ? r.in : r.out;
  if (sum != nullptr) stats[1] = operand(*sum);
  if (max != nullptr) stats[2] = operand(*max);
  run(r, site);
}

template <class D, class S>
void softmax_flash(AtcRowOp op, bool update, const LocalTensor<D>& dst, const LocalTensor<S>& sum,
                   const LocalTensor<S>& max, const LocalTensor<D>& src, const LocalTensor<D>& exp_max,
                   const LocalTensor<S>& in_sum, const LocalTensor<S>& in_max, const SoftMaxTiling& tiling,
                   const SoftMaxShapeInfo& info, const SoftmaxConfig& config, const Site& site) {
  AtcRows r = rows_call(op, shape_of(src, tiling, info));
  r.flag = (update ? ATC_ROW_UPDATE : 0) |
           (config.mode == SoftmaxMode::SOFTMAX_OUTPUT_WITHOUT_BRC ? ATC_ROW_PLAIN_STATS : 0);
  r.out[0] = operand(dst);
  r.out[1] = operand(sum);
  r.out[2] = operand(max);
  if (update) {
    r.out[3] = operand(exp_max);
    r.in[1] = operand(in_sum);
    r.in[2] = operand(in_max);
  }
  r.in[0] = operand(src);
  run(r, site);
}

}  // namespace detail

/// exp(x - max) / sum of each row.
template <class T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,
          const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>
void SoftMax(const LocalTensor<T>& dst, const LocalTensor<T>& sum, const LocalTensor<T>& max,
             const LocalTensor<T>& src, const SoftMaxTiling& tiling, const SoftMaxShapeInfo& shape = {},
             detail::Site site = detail::Site()) {
  static_assert(!isDataFormatNZ, "SoftMax of NZ tensors is not simulated");
  detail::softmax(ATC_ROW_SOFTMAX, dst, &sum, &max, src, tiling, shape, config, site);
}
template <class T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,
          const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>
void SoftMax(const LocalTensor<T>& dst, const LocalTensor<T>& sum, const LocalTensor<T>& max,
             const LocalTensor<T>& src, const LocalTensor<std::uint8_t>& /*tmp*/, const SoftMaxTiling& tiling,
             const SoftMaxShapeInfo& shape = {}, detail::Site site = detail::Site()) {
  static_assert(!isDataFormatNZ, "SoftMax of NZ tensors is not simulated");
  detail::softmax(ATC_ROW_SOFTMAX, dst, &sum, &max, src, tiling, shape, config, site);
}
/// Halves with sums and maxima in float.
template <class T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,
          const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>
void SoftMax(const LocalTensor<half>& dst, const LocalTensor<float>& sum, const LocalTensor<float>& max,
             const LocalTensor<half>& src, const SoftMaxTiling& tiling, const SoftMaxShapeInfo& shape = {},
             detail::Site site = detail::Site()) {
  static_assert(!isDataFormatNZ, "SoftMax of NZ tensors is not simulated");
  detail::softmax(ATC_ROW_SOFTMAX, dst, &sum, &max, src, tiling, shape, config, site);
}
template <class T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,
          const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>
void SoftMax(const LocalTensor<half>& dst, const LocalTensor<float>& sum, const LocalTensor<float>& max,
             const LocalTensor<half>& src, const LocalTensor<std::uint8_t>& /*tmp*/,
             const SoftMaxTiling& tiling, const SoftMaxShapeInfo& shape = {},
             detail::Site site = detail::Site()) {
  static_assert(!isDataFormatNZ, "SoftMax of NZ tensors is not simulated");
  detail::softmax(ATC_ROW_SOFTMAX, dst, &sum, &max, src, tiling, shape, config, site);
}
/// Without sums and maxima.
template <class T, bool isReuseSource = false, bool isBasicBlock = false,
          const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>
void SoftMax(const LocalTensor<T>& dst, const LocalTensor<T>& src, const SoftMaxTiling& tiling,
             const SoftMaxShapeInfo& shape = {}, detail::Site site = detail::Site()) {
  detail::softmax<T, T>(ATC_ROW_SOFTMAX, dst, nullptr, nullptr, src, tiling, shape, config, site);
}
template <class T, bool isReuseSource = false, bool isBasicBlock = false,
          const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>
void SoftMax(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<std::uint8_t>& /*tmp*/,
             const SoftMaxTiling& tiling, const SoftMaxShapeInfo& shape = {},
             detail::Site site = detail::Site()) {
  detail::softmax<T, T>(ATC_ROW_SOFTMAX, dst, nullptr, nullptr, src, tiling, shape, config, site);
}

/// With sums and maxima that are known.
template <class T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,
          const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG, class S>
void SimpleSoftMax(const LocalTensor<T>& dst, const LocalTensor<S>& sum, const LocalTensor<S>& max,
                   const LocalTensor<T>& src, const SoftMaxTiling& tiling, const SoftMaxShapeInfo& shape = {},
                   detail::Site site = detail::Site()) {
  static_assert(!isDataFormatNZ, "SimpleSoftMax of NZ tensors is not simulated");
  detail::softmax(ATC_ROW_SIMPLE_SOFTMAX, dst, &sum, &max, src, tiling, shape, config, site);
}
template <class T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false,
          const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG, class S>
void SimpleSoftMax(const LocalTensor<T>& dst, const LocalTensor<S>& sum, const LocalTensor<S>& max,
                   const LocalTensor<T>& src, const LocalTensor<std::uint8_t>& /*tmp*/,
                   const SoftMaxTiling& tiling, const SoftMaxShapeInfo& shape = {},
                   detail::Site site = detail::Site()) {
  static_assert(!isDataFormatNZ, "SimpleSoftMax of NZ tensors is not simulated");
  detail::softmax(ATC_ROW_SIMPLE_SOFTMAX, dst, &sum, &max, src, tiling, shape, config, site);
}

#define ATC_SOFTMAX_FLASH(Name, op)                                                                       \
  template <class T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,        \
            bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG, class S>      \
  void Name(const LocalTensor<T>& dst, const LocalTensor<S>& sum, const LocalTensor<S>& max,              \
            const LocalTensor<T>& src, const LocalTensor<T>& expMax, const LocalTensor<S>& inSum,         \
            const LocalTensor<S>& inMax, const SoftMaxTiling& tiling, const SoftMaxShapeInfo& shape = {}, \
            detail::Site site = detail::Site()) {                                                         \
    static_assert(!isDataFormatNZ, #Name " of NZ tensors is not simulated");                              \
    detail::softmax_flash(op, isUpdate, dst, sum, max, src, expMax, inSum, inMax, tiling, shape, config,  \
                          site);                                                                          \
  }                                                                                                       \
  template <class T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,        \
            bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG, class S>      \
  void Name(const LocalTensor<T>& dst, const LocalTensor<S>& sum, const LocalTensor<S>& max,              \
            const LocalTensor<T>& src, const LocalTensor<T>& expMax, const LocalTensor<S>& inSum,         \
            const LocalTensor<S>& inMax, const LocalTensor<std::uint8_t>& /*tmp*/,                        \
            const SoftMaxTiling& tiling, const SoftMaxShapeInfo& shape = {},                              \
            detail::Site site = detail::Site()) {                                                         \
    static_assert(!isDataFormatNZ, #Name " of NZ tensors is not simulated");                              \
    detail::softmax_flash(op, isUpdate, dst, sum, max, src, expMax, inSum, inMax, tiling, shape, config,  \
                          site);                                                                          \
  }
/// The softmax of a row that comes in pieces; V2 leaves the division by the sum to the end.
ATC_SOFTMAX_FLASH(SoftmaxFlash, ATC_ROW_SOFTMAX_FLASH)
ATC_SOFTMAX_FLASH(SoftmaxFlashV2, ATC_ROW_SOFTMAX_FLASH_V2)
#undef ATC_SOFTMAX_FLASH

/// y * (dy - sum(dy * y)); isFront: the sum alone, one data block a row.
template <class T, bool isReuseSource = false, bool isDataFormatNZ = false>
void SoftmaxGrad(const LocalTensor<T>& dst, const LocalTensor<T>& grad, const LocalTensor<T>& src,
                 const SoftMaxTiling& tiling, bool isFront = false, const SoftMaxShapeInfo& shape = {},
                 detail::Site site = detail::Site()) {
  AtcRows r = detail::rows_call(isFront ? ATC_ROW_SOFTMAX_GRAD_FRONT : ATC_ROW_SOFTMAX_GRAD,
                                detail::shape_of(src, tiling, shape));
  r.out[0] = detail::operand(dst);
  r.in[0] = detail::operand(grad);
  r.in[1] = detail::operand(src);
  detail::run(r, site);
}
template <class T, bool isReuseSource = false, bool isDataFormatNZ = false>
void SoftmaxGrad(const LocalTensor<T>& dst, const LocalTensor<T>& grad, const LocalTensor<T>& src,
                 const LocalTensor<std::uint8_t>& /*tmp*/, const SoftMaxTiling& tiling, bool isFront = false,
                 const SoftMaxShapeInfo& shape = {}, detail::Site site = detail::Site()) {
  SoftmaxGrad<T>(dst, grad, src, tiling, isFront, shape, site);
}
template <class T, bool isBasicBlock = false, bool isDataFormatNZ = false>
void SoftmaxGradFront(const LocalTensor<T>& dst, const LocalTensor<T>& grad, const LocalTensor<T>& src,
                      const SoftMaxTiling& tiling, const SoftMaxShapeInfo& shape = {},
                      detail::Site site = detail::Site()) {
  SoftmaxGrad<T>(dst, grad, src, tiling, true, shape, site);
}
template <class T, bool isBasicBlock = false, bool isDataFormatNZ = false>
void SoftmaxGradFront(const LocalTensor<T>& dst, const LocalTensor<T>& grad, const LocalTensor<T>& src,
                      const LocalTensor<std::uint8_t>& /*tmp*/, const SoftMaxTiling& tiling,
                      const SoftMaxShapeInfo& shape = {}, detail::Site site = detail::Site()) {
  SoftmaxGrad<T>(dst, grad, src, tiling, true, shape, site);
}

// Tilings that a kernel makes itself, for another shape than the host's.
inline SoftMaxTiling SoftMaxFlashV2TilingFuncImpl(std::uint32_t srcM, std::uint32_t srcK, std::uint32_t,
                                                  std::uint32_t, std::uint32_t /*tmp*/, bool = false,
                                                  bool = false) {
  SoftMaxTiling t{};
  t.srcM = srcM;
  t.srcK = srcK;
  t.srcSize = srcM * srcK;
  return t;
}
inline bool SoftMaxTilingFunc(std::uint32_t /*tmp*/, const SoftMaxShapeInfo& shape, SoftMaxTiling& tiling,
                              std::uint32_t = 2, std::uint32_t = 2, bool = false, bool = false) {
  tiling = {};
  tiling.srcM = shape.srcM;
  tiling.srcK = shape.srcK;
  tiling.srcSize = shape.srcM * shape.srcK;
  return true;
}
template <bool isBasicBlock = false>
SoftMaxTiling SoftMaxFlashV2TilingFunc(const SoftMaxShapeInfo& shape, std::uint32_t bytes,
                                       std::uint32_t bytes_of_stats, std::uint32_t tmp, bool = false,
                                       bool = false) {
  return SoftMaxFlashV2TilingFuncImpl(shape.srcM, shape.srcK, bytes, bytes_of_stats, tmp);
}

}  // namespace AscendC
