#pragma once

// AscendQuant (to int8_t) and AscendDequant (of int32_t). A temporary tensor may be given and is not needed.
#include <cstdint>

#include "ascendc/rows.h"

namespace AscendC {

struct AscendQuantConfig {
  constexpr AscendQuantConfig(std::uint32_t count = 0, std::uint32_t offsets = 0, std::uint32_t scales = 0,
                              std::uint32_t bytes = 0)
      : calcCount(count), offsetCount(offsets), scaleCount(scales), workLocalSize(bytes) {}
  std::uint32_t calcCount, offsetCount, scaleCount, workLocalSize;
};
inline constexpr AscendQuantConfig ASCEND_QUANT_DEFAULT_CFG{};

/// `m` rows of `n` elements, of which calCount each are computed.
struct DequantParams {
  std::uint32_t m = 1, n = 0, calCount = 0;
};
enum class DeQuantMode : std::uint8_t { DEQUANT_WITH_SINGLE_ROW, DEQUANT_WITH_MULTI_ROW };

namespace detail {
/// `channels`: elements of a row, each with a scale and an offset of its own; 0: one for all.
template <class T>
AtcRows quant_call(const LocalTensor<std::int8_t>& dst, const LocalTensor<T>& src, std::uint32_t count,
                   std::uint32_t channels, const Site& site) {
  check_type<T, float, half>();
  if (channels != 0 && count % channels != 0)
    call(&AtcCoreApi::fail, &site, "AscendQuant: calCount is a multiple of the number of scales");
  const std::int64_t cols = channels != 0 ? channels : count;
  AtcRows r = rows_call(ATC_ROW_QUANT, {cols == 0 ? 0 : count / cols, cols, cols});
  r.out[0] = operand(dst);
  r.in[0] = operand(src);
  return r;
}
template <class Scale>
constexpr bool is_dequant_scale = is_one_of<Scale, std::uint64_t, float, half, bfloat16_t>;
template <class D, class Scale>
AtcRows dequant_call(const LocalTensor<D>& dst, const LocalTensor<std::int32_t>& src, const RowShape& shape,
                     std::int64_t dst_pitch) {
  static_assert(is_one_of<D, half, float, bfloat16_t>, "AscendDequant gives half, float or bfloat16_t");
  static_assert(is_dequant_scale<Scale>, "AscendDequant takes scales in uint64_t, float, half or bfloat16_t");
  AtcRows r = rows_call(ATC_ROW_DEQUANT, shape);
  r.count = dst_pitch;
  r.out[0] = operand(dst);
  r.in[0] = operand(src);
  return r;
}
/// A row of the result takes whole data blocks.
template <class D>
std::int64_t dequant_pitch(const DequantParams& p) {
  const std::int64_t block = 32 / static_cast<std::int64_t>(sizeof(D));
  return (p.n + block - 1) / block * block;
}
}  // namespace detail

/// dst = round(src * scale + offset), to nearest even, saturated; computed in half. One scale for all.
template <class T, bool isReuseSource = false, const AscendQuantConfig& config = ASCEND_QUANT_DEFAULT_CFG>
void AscendQuant(const LocalTensor<std::int8_t>& dst, const LocalTensor<T>& src, const float scale,
                 const float offset, const std::uint32_t calCount, detail::Site site = detail::Site()) {
  AtcRows r = detail::quant_call(dst, src, calCount, 0, site);
  r.scalar = static_cast<double>(scale);
  r.second = static_cast<double>(offset);
  detail::run(r, site);
}
template <class T, bool isReuseSource = false, const AscendQuantConfig& config = ASCEND_QUANT_DEFAULT_CFG>
void AscendQuant(const LocalTensor<std::int8_t>& dst, const LocalTensor<T>& src, const float scale,
                 const float offset, detail::Site site = detail::Site()) {
  AscendQuant<T>(dst, src, scale, offset, src.GetSize(), site);
}
template <class T, bool isReuseSource = false, const AscendQuantConfig& config = ASCEND_QUANT_DEFAULT_CFG>
void AscendQuant(const LocalTensor<std::int8_t>& dst, const LocalTensor<T>& src,
                 const LocalTensor<std::uint8_t>& /*tmp*/, const float scale, const float offset,
                 const std::uint32_t calCount, detail::Site site = detail::Site()) {
  AscendQuant<T>(dst, src, scale, offset, calCount, site);
}
template <class T, bool isReuseSource = false, const AscendQuantConfig& config = ASCEND_QUANT_DEFAULT_CFG>
void AscendQuant(const LocalTensor<std::int8_t>& dst, const LocalTensor<T>& src,
                 const LocalTensor<std::uint8_t>& /*tmp*/, const float scale, const float offset,
                 detail::Site site = detail::Site()) {
  AscendQuant<T>(dst, src, scale, offset, src.GetSize(), site);
}
/// A scale and an offset for each of scaleCount channels, which are the last axis.
template <class T, bool isReuseSource = false, const AscendQuantConfig& config = ASCEND_QUANT_DEFAULT_CFG>
void AscendQuant(const LocalTensor<std::int8_t>& dst, const LocalTensor<T>& src, const LocalTensor<T>& scale,
                 const LocalTensor<T>& offset, const std::uint32_t scaleCount,
                 const std::uint32_t offsetCount, const std::uint32_t calCount,
                 detail::Site site = detail::Site()) {
  if (scaleCount != offsetCount)
    detail::call(&AtcCoreApi::fail, &site, "AscendQuant: as many offsets as scales");
  AtcRows r = detail::quant_call(dst, src, calCount, scaleCount, site);
  r.in[1] = detail::operand(scale);
  r.in[2] = detail::operand(offset);
  detail::run(r, site);
}
template <class T, bool isReuseSource = false, const AscendQuantConfig& config = ASCEND_QUANT_DEFAULT_CFG>
void AscendQuant(const LocalTensor<std::int8_t>& dst, const LocalTensor<T>& src,
                 const LocalTensor<std::uint8_t>& /*tmp*/, const LocalTensor<T>& scale,
                 const LocalTensor<T>& offset, const std::uint32_t scaleCount,
                 const std::uint32_t offsetCount, const std::uint32_t calCount,
                 detail::Site site = detail::Site()) {
  AscendQuant<T>(dst, src, scale, offset, scaleCount, offsetCount, calCount, site);
}

/// dst = src * scale, a scale a column, computed in float.
template <class D, class Scale, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
void AscendDequant(const LocalTensor<D>& dst, const LocalTensor<std::int32_t>& src,
                   const LocalTensor<Scale>& deqScale, DequantParams p, detail::Site site = detail::Site()) {
  AtcRows r = detail::dequant_call<D, Scale>(dst, src, {p.m, p.calCount, p.n}, detail::dequant_pitch<D>(p));
  r.in[1] = detail::operand(deqScale);
  detail::run(r, site);
}
template <class D, class Scale, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
void AscendDequant(const LocalTensor<D>& dst, const LocalTensor<std::int32_t>& src,
                   const LocalTensor<Scale>& deqScale, const LocalTensor<std::uint8_t>& /*tmp*/,
                   DequantParams p, detail::Site site = detail::Site()) {
  AscendDequant<D, Scale, mode>(dst, src, deqScale, p, site);
}
/// One scale for all.
template <class D, class Scale, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
std::enable_if_t<detail::is_dequant_scale<Scale>> AscendDequant(const LocalTensor<D>& dst,
                                                                const LocalTensor<std::int32_t>& src,
                                                                const Scale deqScale, DequantParams p,
                                                                detail::Site site = detail::Site()) {
  static_assert(!std::is_same_v<Scale, std::uint64_t>, "AscendDequant: one scale is float or bfloat16_t");
  AtcRows r = detail::dequant_call<D, Scale>(dst, src, {p.m, p.calCount, p.n}, detail::dequant_pitch<D>(p));
  r.scalar = static_cast<double>(static_cast<float>(deqScale));
  detail::run(r, site);
}
template <class D, class Scale, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
std::enable_if_t<detail::is_dequant_scale<Scale>> AscendDequant(
    const LocalTensor<D>& dst, const LocalTensor<std::int32_t>& src, const Scale deqScale,
    const LocalTensor<std::uint8_t>& /*tmp*/, DequantParams p, detail::Site site = detail::Site()) {
  AscendDequant<D, Scale, mode>(dst, src, deqScale, p, site);
}
/// dst[i] = src[i] * scale[i % scales].
template <class D, class Scale, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
void AscendDequant(const LocalTensor<D>& dst, const LocalTensor<std::int32_t>& src,
                   const LocalTensor<Scale>& deqScale, const std::uint32_t calCount,
                   detail::Site site = detail::Site()) {
  const std::uint32_t scales = deqScale.GetSize();
  if (scales == 0 || calCount % scales != 0)
    detail::call(&AtcCoreApi::fail, &site, "AscendDequant: calCount is a multiple of the number of scales");
  AtcRows r = detail::dequant_call<D, Scale>(dst, src, {calCount / scales, scales, scales}, scales);
  r.in[1] = detail::operand(deqScale);
  detail::run(r, site);
}
template <class D, class Scale, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
void AscendDequant(const LocalTensor<D>& dst, const LocalTensor<std::int32_t>& src,
                   const LocalTensor<Scale>& deqScale, const LocalTensor<std::uint8_t>& /*tmp*/,
                   const std::uint32_t calCount, detail::Site site = detail::Site()) {
  AscendDequant<D, Scale, mode>(dst, src, deqScale, calCount, site);
}
template <class D, class Scale, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
void AscendDequant(const LocalTensor<D>& dst, const LocalTensor<std::int32_t>& src,
                   const LocalTensor<Scale>& deqScale, detail::Site site = detail::Site()) {
  AscendDequant<D, Scale, mode>(dst, src, deqScale, src.GetSize(), site);
}
template <class D, class Scale, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
void AscendDequant(const LocalTensor<D>& dst, const LocalTensor<std::int32_t>& src,
                   const LocalTensor<Scale>& deqScale, const LocalTensor<std::uint8_t>& /*tmp*/,
                   detail::Site site = detail::Site()) {
  AscendDequant<D, Scale, mode>(dst, src, deqScale, src.GetSize(), site);
}

}  // namespace AscendC
