#pragma once

// What host code asks for before it calls functions of the high-level library in a kernel: bytes of temporary
// tensors, and tilings. The simulated library needs no temporaries; the sizes are what the steps of such a
// function take on hardware, so that kernels reserve memory as they would there.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "atc_opp/ge_shape.h"
#include "atc_opp/library_tiling.h"
#include "atc_opp/platform.h"

namespace AscendC {
namespace opp {

inline std::uint32_t elements(const ge::Shape& shape) {
  return static_cast<std::uint32_t>(std::max<std::int64_t>(shape.GetShapeSize(), 1));
}
inline std::uint32_t up(std::uint32_t n, std::uint32_t to) { return (n + to - 1) / to * to; }
inline std::uint32_t last(const ge::Shape& shape) {
  const auto dims = shape.GetDims();
  return dims.empty() ? 1 : static_cast<std::uint32_t>(dims.back());
}
/// `live` floats for each element, of the tensor or of one repeat.
inline void sizes(const ge::Shape& shape, std::uint32_t bytes, std::uint32_t live, std::uint32_t& most,
                  std::uint32_t& least) {
  least = 256 * live;
  most = std::max(up(elements(shape) * std::max(bytes, 4U), 32) * live, least);
}

}  // namespace opp

// Get<Function>MaxMinTmpSize(shape, bytes of an element, reuses the source, most, least), and the factor and
// the constant of the same sizes for shapes that are not known yet.
#define ATC_OPP_TMP_SIZE(Function, live)                                                         \
  inline void Get##Function##MaxMinTmpSize(const ge::Shape& shape, std::uint32_t typeSize, bool, \
                                           std::uint32_t& maxValue, std::uint32_t& minValue) {   \
    opp::sizes(shape, typeSize, live, maxValue, minValue);                                       \
  }                                                                                              \
  inline void Get##Function##TmpBufferFactorSize(std::uint32_t, std::uint32_t& maxLiveNodeCount, \
                                                 std::uint32_t& extraBuf) {                      \
    maxLiveNodeCount = live;                                                                     \
    extraBuf = 0;                                                                                \
  }
ATC_OPP_TMP_SIZE(Sigmoid, 1)
ATC_OPP_TMP_SIZE(Tanh, 1)
ATC_OPP_TMP_SIZE(Erf, 3)
ATC_OPP_TMP_SIZE(Erfc, 4)
ATC_OPP_TMP_SIZE(Exp, 4)
ATC_OPP_TMP_SIZE(Sin, 3)
ATC_OPP_TMP_SIZE(Cos, 3)
ATC_OPP_TMP_SIZE(Tan, 4)
ATC_OPP_TMP_SIZE(Sinh, 2)
ATC_OPP_TMP_SIZE(Cosh, 2)
ATC_OPP_TMP_SIZE(Asin, 3)
ATC_OPP_TMP_SIZE(Acos, 3)
ATC_OPP_TMP_SIZE(Atan, 5)
ATC_OPP_TMP_SIZE(Asinh, 3)
ATC_OPP_TMP_SIZE(Acosh, 2)
ATC_OPP_TMP_SIZE(Atanh, 2)
ATC_OPP_TMP_SIZE(Lgamma, 8)
ATC_OPP_TMP_SIZE(Digamma, 8)
ATC_OPP_TMP_SIZE(Log, 1)
ATC_OPP_TMP_SIZE(Log2, 1)
ATC_OPP_TMP_SIZE(Log10, 1)
ATC_OPP_TMP_SIZE(Floor, 1)
ATC_OPP_TMP_SIZE(Ceil, 1)
ATC_OPP_TMP_SIZE(Round, 1)
ATC_OPP_TMP_SIZE(Trunc, 1)
ATC_OPP_TMP_SIZE(Frac, 1)
ATC_OPP_TMP_SIZE(Sign, 3)
ATC_OPP_TMP_SIZE(Xor, 1)
ATC_OPP_TMP_SIZE(Hypot, 2)
ATC_OPP_TMP_SIZE(Axpy, 1)
ATC_OPP_TMP_SIZE(ClampMax, 1)
ATC_OPP_TMP_SIZE(ClampMin, 1)
ATC_OPP_TMP_SIZE(ReGlu, 1)
ATC_OPP_TMP_SIZE(GeGLU, 3)
ATC_OPP_TMP_SIZE(CumSum, 1)
ATC_OPP_TMP_SIZE(Silu, 1)
ATC_OPP_TMP_SIZE(Swish, 1)
#undef ATC_OPP_TMP_SIZE

inline void GetSwiGLUMaxMinTmpSize(const ge::Shape& shape, std::uint32_t typeSize, std::uint32_t& maxValue,
                                   std::uint32_t& minValue, bool) {
  opp::sizes(shape, typeSize, 2, maxValue, minValue);
}
inline std::uint32_t GetGeluMaxTmpSize(const ge::Shape& shape, std::uint32_t typeSize) {
  std::uint32_t most = 0, least = 0;
  opp::sizes(shape, typeSize, 2, most, least);
  return most;
}
inline std::uint32_t GetGeluMinTmpSize(const ge::Shape&, std::uint32_t) { return 512; }
inline void GetGeluMaxMinTmpSize(const ge::Shape& shape, std::uint32_t typeSize, std::uint32_t& maxValue,
                                 std::uint32_t& minValue) {
  opp::sizes(shape, typeSize, 2, maxValue, minValue);
}
inline void GetPowerMaxMinTmpSize(const ge::Shape& base, const ge::Shape&, bool, std::uint32_t typeSize, bool,
                                  std::uint32_t& maxValue, std::uint32_t& minValue) {
  opp::sizes(base, typeSize, 4, maxValue, minValue);
}
inline void GetSumMaxMinTmpSize(std::uint32_t n, std::uint32_t typeSize, bool, std::uint32_t& maxValue,
                                std::uint32_t& minValue) {
  // One element for each repeat of 256 bytes.
  const std::uint32_t repeat = 256 / std::max(typeSize, 1U);
  maxValue = minValue = opp::up((n + repeat - 1) / repeat * typeSize, 32);
}
inline void GetMeanMaxMinTmpSize(std::uint32_t n, std::uint32_t typeSize, std::uint32_t accTypeSize, bool,
                                 std::uint32_t& maxValue, std::uint32_t& minValue) {
  GetSumMaxMinTmpSize(n, std::max(typeSize, accTypeSize), false, maxValue, minValue);
  if (accTypeSize > typeSize) maxValue = minValue = maxValue + opp::up(n * accTypeSize, 32);
}
inline void GetBroadCastMaxMinTmpSize(const platform_ascendc::PlatformAscendC&, const ge::Shape&,
                                      const ge::Shape& dst, std::uint32_t typeSize, bool,
                                      std::uint32_t& maxValue, std::uint32_t& minValue) {
  opp::sizes(dst, typeSize, 1, maxValue, minValue);
}

// ---- Softmaxes: the last axis of the shape is a row ----
inline std::uint32_t GetSoftMaxMinTmpSize(const ge::Shape& shape, std::uint32_t, bool) {
  return (opp::up(opp::last(shape), 64) + 64 + 8) * 4;  // a row, a repeat and a data block of floats
}
inline std::uint32_t GetSoftMaxMaxTmpSize(const ge::Shape& shape, std::uint32_t bytes, bool reuse) {
  return opp::elements(shape) / opp::last(shape) * GetSoftMaxMinTmpSize(shape, bytes, reuse);
}
inline std::uint32_t GetSoftMaxFlashMinTmpSize(const ge::Shape& s, std::uint32_t bytes, bool, bool reuse) {
  return GetSoftMaxMinTmpSize(s, bytes, reuse);
}
inline std::uint32_t GetSoftMaxFlashMaxTmpSize(const ge::Shape& s, std::uint32_t bytes, bool, bool reuse) {
  return GetSoftMaxMaxTmpSize(s, bytes, reuse);
}
inline std::uint32_t GetSoftMaxFlashV2MinTmpSize(const ge::Shape& s, std::uint32_t bytes, std::uint32_t, bool,
                                                 bool = false, bool reuse = false) {
  return GetSoftMaxMinTmpSize(s, bytes, reuse);
}
inline std::uint32_t GetSoftMaxFlashV2MaxTmpSize(const ge::Shape& s, std::uint32_t bytes, std::uint32_t, bool,
                                                 bool = false, bool reuse = false) {
  return GetSoftMaxMaxTmpSize(s, bytes, reuse);
}
inline std::uint32_t GetSoftMaxGradMinTmpSize(const ge::Shape& s, std::uint32_t bytes, bool, bool reuse) {
  return GetSoftMaxMinTmpSize(s, bytes, reuse);
}
inline std::uint32_t GetSoftMaxGradMaxTmpSize(const ge::Shape& s, std::uint32_t bytes, bool, bool reuse) {
  return GetSoftMaxMaxTmpSize(s, bytes, reuse);
}
/// `tmp`: bytes of the temporary; rows that fit it are done at once.
inline void SoftMaxTilingFunc(const ge::Shape& shape, std::uint32_t bytes, std::uint32_t tmp,
                              optiling::SoftMaxTiling& t) {
  const std::uint32_t k = opp::last(shape), m = opp::elements(shape) / k, block = 32 / std::max(bytes, 1U);
  const std::uint32_t rows = std::clamp(tmp / GetSoftMaxMinTmpSize(shape, bytes, false), 1U, m);
  t.set_srcM(m);
  t.set_srcK(k);
  t.set_srcSize(m * k);
  t.set_outMaxM(m);
  t.set_outMaxK(block);
  t.set_outMaxSize(m * block);
  t.set_splitM(rows);
  t.set_splitK(k);
  t.set_splitSize(rows * k);
  t.set_reduceM(rows);
  t.set_reduceK(block);
  t.set_reduceSize(rows * block);
  t.set_rangeM(m / rows);
  t.set_tailM(m % rows);
  t.set_tailSplitSize(m % rows * k);
  t.set_tailReduceSize(m % rows * block);
}
inline void SoftMaxFlashTilingFunc(const ge::Shape& shape, std::uint32_t bytes, std::uint32_t tmp,
                                   optiling::SoftMaxTiling& t, bool = false) {
  SoftMaxTilingFunc(shape, bytes, tmp, t);
}
inline void SoftMaxFlashV2TilingFunc(const ge::Shape& shape, std::uint32_t bytes, std::uint32_t,
                                     std::uint32_t tmp, optiling::SoftMaxTiling& t, bool, bool = false) {
  SoftMaxTilingFunc(shape, bytes, tmp, t);
}
inline void SoftMaxGradTilingFunc(const ge::Shape& shape, std::uint32_t bytes, std::uint32_t tmp,
                                  optiling::SoftMaxTiling& t, bool = false) {
  SoftMaxTilingFunc(shape, bytes, tmp, t);
}

// ---- Normalisations: shapes are [b, s, h] ----
inline void GetLayerNormMaxMinTmpSize(const ge::Shape& shape, std::uint32_t, bool, std::uint32_t& maxValue,
                                      std::uint32_t& minValue) {
  minValue = (3 * opp::up(opp::last(shape), 8) + 16) * 4;
  maxValue = std::max((3 * opp::elements(shape) + 16) * 4, minValue);
}
namespace opp {
template <class Tiling>
void norm_shape(const ge::Shape& shape, std::int64_t real, Tiling& t) {
  const auto dims = shape.GetDims();
  const auto dim = [&](std::size_t i) { return i < dims.size() ? static_cast<std::uint32_t>(dims[i]) : 1U; };
  t.set_bLength(dim(0));
  t.set_sLength(dim(1));
  t.set_hLength(dim(2));
  t.set_originalHLength(real > 0 ? static_cast<std::uint32_t>(real) : dim(2));
}
}  // namespace opp
inline void GetLayerNormNDTilingInfo(const ge::Shape& shape, std::uint32_t tmp, std::uint32_t, bool,
                                     optiling::LayerNormTiling& t) {
  opp::norm_shape(shape, 0, t);
  t.set_inputXSize(opp::elements(shape));
  t.set_meanVarSize(opp::elements(shape) / opp::last(shape));
  t.set_numberOfTmpBuf(3);
  t.set_tmpBufSize(tmp / 4);
  t.set_lastDimValueBack(1.0f / static_cast<float>(opp::last(shape)));
}
inline void GetLayerNormNDTillingInfo(const ge::Shape& shape, std::uint32_t tmp, std::uint32_t bytes,
                                      bool reuse, optiling::LayerNormTiling& t) {
  GetLayerNormNDTilingInfo(shape, tmp, bytes, reuse, t);
}
inline bool GetRmsNormMaxMinTmpSize(const ge::Shape& shape, std::uint32_t, std::uint32_t& maxValue,
                                    std::uint32_t& minValue, bool = false) {
  minValue = (2 * opp::up(opp::last(shape), 8) + 16) * 4;
  maxValue = std::max((2 * opp::elements(shape) + 16) * 4, minValue);
  return true;
}
inline bool GetRmsNormTilingInfo(const ge::Shape& shape, const ge::Shape& original, std::uint32_t,
                                 std::uint32_t, optiling::RmsNormTiling& t, bool = false) {
  opp::norm_shape(shape, opp::last(original), t);
  t.set_reciprocalOfHLength(1.0f / static_cast<float>(opp::last(original)));
  return true;
}

}  // namespace AscendC
