#pragma once

// Temporaries and tilings of TopK, AscendQuant and AscendDequant for host code. The simulated functions need
// none; sizes are what the steps of such a function take on hardware.
#include <cstdint>
#include <cstdio>

#include "ascendc/top_k_mode.h"
#include "atc_opp/function_tiling.h"

namespace AscendC {
namespace opp {

/// Whether TopK works on this shape; says on stderr why not.
inline bool top_k_shape(std::int32_t inner, std::int32_t outter, std::int32_t k, std::uint32_t bytes,
                        TopKMode mode) {
  const bool small = mode == TopKMode::TOPK_NSMALL;
  const char* wrong = inner < 32 || inner % 32 != 0 || inner > 4096 ? "inner is a multiple of 32 up to 4096"
                      : small && inner != 32                        ? "inner is 32 in small mode"
                      : outter < 1                                  ? "outter is at least 1"
                      : k < 1 || k > inner                          ? "k is from 1 to inner"
                      : bytes != 2 && bytes != 4                    ? "elements have 2 or 4 bytes"
                                                                    : nullptr;
  if (wrong != nullptr)
    std::fprintf(stderr, "TopK tiling of %d rows of %d, k %d failed: %s\n", outter, inner, k, wrong);
  return wrong == nullptr;
}
/// Bytes of two lists of records and, without given places, of the places.
inline std::uint32_t top_k_bytes(std::int32_t inner, std::int32_t outter, bool places, TopKMode mode) {
  const auto rows = static_cast<std::uint32_t>(mode == TopKMode::TOPK_NSMALL ? outter : 1);
  return rows * static_cast<std::uint32_t>(inner) * (16 + (places ? 0 : 4));
}

}  // namespace opp

inline bool GetTopKMaxMinTmpSize(const platform_ascendc::PlatformAscendC&, const std::int32_t inner,
                                 const std::int32_t outter, const bool, const bool isInitIndex,
                                 enum TopKMode mode, const bool, const std::uint32_t dataTypeSize,
                                 std::uint32_t& maxValue, std::uint32_t& minValue) {
  if (!opp::top_k_shape(inner, outter, 1, dataTypeSize, mode)) return false;
  maxValue = minValue = opp::top_k_bytes(inner, outter, isInitIndex, mode);
  return true;
}
namespace opp {
/// Fields that kernels may read: sizes in elements of the operands.
inline void fill_top_k(tiling::TopkTiling& t, std::int32_t inner, std::int32_t outter, std::int32_t k,
                       std::uint32_t bytes, bool places, TopKMode mode) {
  t = {};
  t.tmpLocalSize = static_cast<std::int32_t>(top_k_bytes(inner, outter, places, mode) / bytes);
  t.allDataSize = inner * outter;
  t.innerDataSize = inner;
  t.sortRepeat = static_cast<std::uint32_t>(mode == TopKMode::TOPK_NSMALL ? outter : inner / 32);
  t.kAlignFourBytes = (k + 7) / 8 * 8;
  t.kAlignTwoBytes = (k + 15) / 16 * 16;
}
}  // namespace opp
inline bool TopKTilingFunc(const platform_ascendc::PlatformAscendC&, const std::int32_t inner,
                           const std::int32_t outter, const std::int32_t k, const std::uint32_t dataTypeSize,
                           const bool isInitIndex, enum TopKMode mode, const bool, tiling::TopkTiling& t) {
  if (!opp::top_k_shape(inner, outter, k, dataTypeSize, mode)) return false;
  opp::fill_top_k(t, inner, outter, k, dataTypeSize, isInitIndex, mode);
  return true;
}
inline bool TopKTilingFunc(const platform_ascendc::PlatformAscendC&, const std::int32_t inner,
                           const std::int32_t outter, const std::int32_t k, const std::uint32_t dataTypeSize,
                           const bool isInitIndex, enum TopKMode mode, const bool, optiling::TopkTiling& t) {
  if (!opp::top_k_shape(inner, outter, k, dataTypeSize, mode)) return false;
  tiling::TopkTiling plain{};
  opp::fill_top_k(plain, inner, outter, k, dataTypeSize, isInitIndex, mode);
  t.set_tmpLocalSize(plain.tmpLocalSize);
  t.set_allDataSize(plain.allDataSize);
  t.set_innerDataSize(plain.innerDataSize);
  t.set_sortRepeat(plain.sortRepeat);
  t.set_kAlignFourBytes(plain.kAlignFourBytes);
  t.set_kAlignTwoBytes(plain.kAlignTwoBytes);
  return true;
}

/// Elements in half while they are quantised, in float while they are brought back.
inline void GetAscendQuantMaxMinTmpSize(const ge::Shape& shape, const std::uint32_t, std::uint32_t& maxValue,
                                        std::uint32_t& minValue) {
  minValue = 512;
  maxValue = std::max(opp::up(opp::elements(shape) * 2, 32) * 2, minValue);
}
inline void GetAscendDequantMaxMinTmpSize(const ge::Shape& shape, const std::uint32_t typeSize,
                                          std::uint32_t& maxValue, std::uint32_t& minValue) {
  opp::sizes(shape, typeSize, 2, maxValue, minValue);
}

}  // namespace AscendC
