#pragma once

// Enumerations and parameter structures of the instructions. Numbers are those of the hardware's interface.
#include <cstdint>

#include "ascendc/half.h"
#include "ascendc/macros.h"
#include "ascendc/position.h"

namespace AscendC {

enum class HardEvent : std::uint8_t {
  MTE2_MTE1,
  MTE1_MTE2,
  MTE1_M,
  M_MTE1,
  MTE2_V,
  V_MTE2,
  MTE3_V,
  V_MTE3,
  M_V,
  V_M,
  V_V,
  MTE3_MTE1,
  MTE1_MTE3,
  MTE1_V,
  MTE2_M,
  M_MTE2,
  V_MTE1,
  M_FIX,
  FIX_M,
  MTE3_MTE2,
  MTE2_MTE3,
  S_V,
  V_S,
  S_MTE2,
  MTE2_S,
  S_MTE3,
  MTE3_S,
  MTE2_FIX,
  FIX_MTE2,
  FIX_S,
  M_S,
  FIX_MTE3,
  MTE1_FIX,
  FIX_MTE1,
  FIX_FIX,
  MAX,
};

enum class RoundMode : std::uint8_t {
  CAST_NONE,  ///< as CAST_RINT where digits are lost
  CAST_RINT,  ///< to nearest even
  CAST_FLOOR,
  CAST_CEIL,
  CAST_ROUND,  ///< to nearest, half away from zero
  CAST_TRUNC,
  CAST_ODD,  ///< inexact results become odd
};
enum class CMPMODE : std::uint8_t { LT, GT, EQ, LE, GE, NE };
enum class SELMODE : std::uint8_t { VSEL_CMPMASK_SPR, VSEL_TENSOR_SCALAR_MODE, VSEL_TENSOR_TENSOR_MODE };
enum class ReduceOrder : std::uint8_t {
  ORDER_VALUE_INDEX,
  ORDER_INDEX_VALUE,
  ORDER_ONLY_VALUE,
  ORDER_ONLY_INDEX
};
enum class MaskMode : std::uint8_t { NORMAL, COUNTER };
enum class CacheMode : std::uint8_t {
  CACHE_MODE_DISABLE,
  CACHE_MODE_NORMAL,
  CACHE_MODE_LAST,
  CACHE_MODE_PERSISTENT
};
enum class CacheRwMode : std::uint8_t { READ = 1, WRITE = 2, RW = 3 };
enum class CacheLine : std::uint64_t { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum class DcciDst : std::uint64_t { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
enum class BlockMode : std::uint8_t { BLOCK_MODE_NORMAL, BLOCK_MODE_MATRIX, BLOCK_MODE_VECTOR };

inline constexpr std::uint64_t MASK_PLACEHOLDER = 0;
inline constexpr std::uint64_t MASK_PLACEHOLDER_LIST[2] = {0, 0};
inline constexpr std::uint32_t ONE_BLK_SIZE = 32;
inline constexpr std::int32_t DEFAULT_C0_SIZE = 32;
inline constexpr std::int32_t DEFAULT_BLOCK_SIZE = 256;
inline constexpr std::uint32_t ONE_REPEAT_BYTE_SIZE = 256;
inline constexpr std::int32_t DEFAULT_BLK_NUM = 8;
inline constexpr std::int32_t DEFAULT_BLK_STRIDE = 1;
inline constexpr std::int32_t DEFAULT_REPEAT_STRIDE = 8;
inline constexpr std::int32_t MAX_REPEAT_TIMES = 255;
inline constexpr std::int32_t TOTAL_UB_SIZE = 192 * 1024;

// ---- Copies ----
struct DataCopyParams {
  constexpr DataCopyParams() = default;
  constexpr DataCopyParams(std::uint16_t count, std::uint16_t len, std::uint16_t src_stride,
                           std::uint16_t dst_stride)
      : blockCount(count), blockLen(len), srcStride(src_stride), dstStride(dst_stride) {}
  std::uint16_t blockCount = 1;
  std::uint16_t blockLen = 0;  ///< data blocks; of DataCopyPad bytes
  union {
    std::uint16_t srcStride = 0;
    std::uint16_t srcGap;
  };
  union {
    std::uint16_t dstStride = 0;
    std::uint16_t dstGap;
  };
};
struct DataCopyExtParams {
  constexpr DataCopyExtParams() = default;
  constexpr DataCopyExtParams(std::uint16_t count, std::uint32_t len, std::uint32_t src_stride,
                              std::uint32_t dst_stride, std::uint32_t reserved)
      : blockCount(count), blockLen(len), srcStride(src_stride), dstStride(dst_stride), rsv(reserved) {}
  std::uint16_t blockCount = 1;
  std::uint32_t blockLen = 0;  ///< bytes
  std::uint32_t srcStride = 0;
  std::uint32_t dstStride = 0;
  std::uint32_t rsv = 0;
};
struct DataCopyPadParams {
  constexpr DataCopyPadParams() = default;
  constexpr DataCopyPadParams(bool pad, std::uint8_t left, std::uint8_t right, std::uint64_t value)
      : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value) {}
  bool isPad = false;
  std::uint8_t leftPadding = 0, rightPadding = 0;
  std::uint64_t paddingValue = 0;
};
template <class T>
struct DataCopyPadExtParams {
  constexpr DataCopyPadExtParams() = default;
  constexpr DataCopyPadExtParams(bool pad, std::uint8_t left, std::uint8_t right, T value)
      : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value) {}
  bool isPad = false;
  std::uint8_t leftPadding = 0, rightPadding = 0;
  T paddingValue{};
};
struct Nd2NzParams {
  constexpr Nd2NzParams() = default;
  constexpr Nd2NzParams(std::uint16_t nd, std::uint16_t n, std::uint16_t d, std::uint64_t src_nd_stride,
                        std::uint64_t src_d, std::uint16_t c0_stride, std::uint16_t n_stride,
                        std::uint64_t nz_matrix_stride)
      : ndNum(nd),
        nValue(n),
        dValue(d),
        srcNdMatrixStride(src_nd_stride),
        srcDValue(src_d),
        dstNzC0Stride(c0_stride),
        dstNzNStride(n_stride),
        dstNzMatrixStride(nz_matrix_stride) {}
  std::uint16_t ndNum = 0, nValue = 0;
  std::uint32_t dValue = 0;
  std::uint64_t srcNdMatrixStride = 0, srcDValue = 0;
  std::uint16_t dstNzC0Stride = 0, dstNzNStride = 0;
  std::uint64_t dstNzMatrixStride = 0;
};
struct CopyRepeatParams {
  constexpr CopyRepeatParams() = default;
  constexpr CopyRepeatParams(std::uint16_t dst, std::uint16_t src, std::uint16_t dst_repeat,
                             std::uint16_t src_repeat)
      : dstStride(dst), srcStride(src), dstRepeatSize(dst_repeat), srcRepeatSize(src_repeat) {}
  std::uint16_t dstStride = 1, srcStride = 1;
  std::uint16_t dstRepeatSize = 8, srcRepeatSize = 8;
};

// ---- Vector instructions: strides in data blocks ----
struct UnaryRepeatParams {
  constexpr UnaryRepeatParams() = default;
  constexpr UnaryRepeatParams(std::uint16_t dst_block, std::uint16_t src_block, std::uint8_t dst_repeat,
                              std::uint8_t src_repeat)
      : dstBlkStride(dst_block),
        srcBlkStride(src_block),
        dstRepStride(dst_repeat),
        srcRepStride(src_repeat) {}
  constexpr UnaryRepeatParams(std::uint16_t dst_block, std::uint16_t src_block, std::uint8_t dst_repeat,
                              std::uint8_t src_repeat, bool half_block)
      : UnaryRepeatParams(dst_block, src_block, dst_repeat, src_repeat) {
    halfBlock = half_block;
  }
  std::uint32_t blockNumber = 8;
  std::uint16_t dstBlkStride = 1, srcBlkStride = 1;
  std::uint8_t dstRepStride = 8, srcRepStride = 8;
  bool repeatStrideMode = false, strideSizeMode = false, halfBlock = false;
};
struct BinaryRepeatParams {
  constexpr BinaryRepeatParams() = default;
  constexpr BinaryRepeatParams(std::uint8_t dst_block, std::uint8_t src0_block, std::uint8_t src1_block,
                               std::uint8_t dst_repeat, std::uint8_t src0_repeat, std::uint8_t src1_repeat)
      : dstBlkStride(dst_block),
        src0BlkStride(src0_block),
        src1BlkStride(src1_block),
        dstRepStride(dst_repeat),
        src0RepStride(src0_repeat),
        src1RepStride(src1_repeat) {}
  std::uint32_t blockNumber = 8;
  std::uint8_t dstBlkStride = 1, src0BlkStride = 1, src1BlkStride = 1;
  std::uint8_t dstRepStride = 8, src0RepStride = 8, src1RepStride = 8;
  bool repeatStrideMode = false, strideSizeMode = false;
};
struct BrcbRepeatParams {
  constexpr BrcbRepeatParams() = default;
  constexpr BrcbRepeatParams(std::uint16_t dst_block, std::uint16_t dst_repeat)
      : dstBlkStride(dst_block), dstRepStride(dst_repeat) {}
  std::uint32_t blockNumber = 8;
  std::uint16_t dstBlkStride = 1, dstRepStride = 8;
};
struct GatherRepeatParams {
  constexpr GatherRepeatParams() = default;
  constexpr GatherRepeatParams(std::uint8_t dst_block, std::uint8_t dst_repeat)
      : dstBlkStride(dst_block), dstRepStride(dst_repeat) {}
  std::uint32_t blockNumber = 8;
  std::uint16_t dstBlkStride = 1, dstRepStride = 8;
};
struct GatherMaskParams {
  constexpr GatherMaskParams() = default;
  constexpr GatherMaskParams(std::uint8_t block_stride, std::uint16_t repeat, std::uint16_t repeat_stride,
                             std::uint8_t pattern_stride)
      : src0BlockStride(block_stride),
        repeatTimes(repeat),
        src0RepeatStride(repeat_stride),
        src1RepeatStride(pattern_stride) {}
  std::uint8_t src0BlockStride = 1;
  std::uint16_t repeatTimes = 0, src0RepeatStride = 0;
  std::uint8_t src1RepeatStride = 0;
};
struct TransDataTo5HDParams {
  constexpr TransDataTo5HDParams() = default;
  constexpr TransDataTo5HDParams(bool dst_high, bool src_high, std::uint8_t repeat, std::uint16_t dst_repeat,
                                 std::uint16_t src_repeat)
      : dstHighHalf(dst_high),
        srcHighHalf(src_high),
        repeatTimes(repeat),
        dstRepStride(dst_repeat),
        srcRepStride(src_repeat) {}
  bool dstHighHalf = false, srcHighHalf = false;
  std::uint8_t repeatTimes = 1;
  std::uint16_t dstRepStride = 0, srcRepStride = 0;
};
struct MrgSort4Info {
  constexpr MrgSort4Info() = default;
  constexpr MrgSort4Info(const std::uint16_t lengths[4], bool suspend, std::uint16_t valid,
                         std::uint16_t repeat)
      : elementLengths{lengths[0], lengths[1], lengths[2], lengths[3]},
        ifExhaustedSuspension(suspend),
        validBit(valid),
        repeatTimes(repeat) {}
  std::uint16_t elementLengths[4] = {0, 0, 0, 0};
  bool ifExhaustedSuspension = false;
  std::uint16_t validBit = 0;
  std::uint16_t repeatTimes = 1;
};

}  // namespace AscendC
