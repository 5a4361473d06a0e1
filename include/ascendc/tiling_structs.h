#pragma once

// Plain structures of the high-level library's tiling, as the host's classes of the same names write them.
#include <cstdint>

namespace AscendC {
namespace tiling {

/// Fields of TCubeTiling in their order, each an int32_t. X(name).
#define ATC_CUBE_TILING_FIELDS(X)                                                                            \
  X(usedCoreNum)                                                                                             \
  X(M)                                                                                                       \
  X(N)                                                                                                       \
  X(Ka)                                                                                                      \
  X(Kb)                                                                                                      \
  X(singleCoreM)                                                                                             \
  X(singleCoreN)                                                                                             \
  X(singleCoreK)                                                                                             \
  X(baseM) X(baseN) X(baseK) X(depthA1) X(depthB1) X(stepM) X(stepN) X(isBias) X(transLength)                \
      X(iterateOrder) X(shareMode) X(shareL1Size) X(shareL0CSize) X(shareUbSize) X(batchM) X(batchN)         \
          X(singleBatchM) X(singleBatchN) X(stepKa) X(stepKb) X(depthAL1CacheUB) X(depthBL1CacheUB) X(dbL0A) \
              X(dbL0B) X(dbL0C) X(ALayoutInfoB) X(ALayoutInfoS) X(ALayoutInfoN) X(ALayoutInfoG)              \
                  X(ALayoutInfoD) X(BLayoutInfoB) X(BLayoutInfoS) X(BLayoutInfoN) X(BLayoutInfoG)            \
                      X(BLayoutInfoD) X(CLayoutInfoB) X(CLayoutInfoS1) X(CLayoutInfoN) X(CLayoutInfoG)       \
                          X(CLayoutInfoS2) X(BatchNum) X(mxTypePara)
/// Of SoftMaxTiling, each a uint32_t.
#define ATC_SOFTMAX_TILING_FIELDS(X) \
  X(srcM)                            \
  X(srcK)                            \
  X(srcSize)                         \
  X(outMaxM)                         \
  X(outMaxK)                         \
  X(outMaxSize)                      \
  X(splitM)                          \
  X(splitK)                          \
  X(splitSize) X(reduceM) X(reduceK) X(reduceSize) X(rangeM) X(tailM) X(tailSplitSize) X(tailReduceSize)
/// Of LayerNormTiling, each a uint32_t; a float follows them.
#define ATC_LAYERNORM_TILING_FIELDS(X)                                                              \
  X(bLength)                                                                                        \
  X(sLength)                                                                                        \
  X(hLength)                                                                                        \
  X(originalHLength)                                                                                \
  X(inputXSize)                                                                                     \
  X(meanVarSize)                                                                                    \
  X(numberOfTmpBuf)                                                                                 \
  X(meanTmpTensorPos)                                                                               \
  X(meanTmpTensorSize) X(varianceTmpTensorPos) X(varianceTmpTensorSize) X(tmpBufSize) X(oneTmpSize) \
      X(firstTmpStartPos) X(secondTmpStartPos) X(thirdTmpStartPos) X(loopRound) X(inputRoundSize)   \
          X(inputTailSize) X(inputTailPos) X(meanVarRoundSize) X(meanVarTailSize) X(meanVarTailPos) \
              X(bshCurLength)
/// Of RmsNormTiling, each a uint32_t; a float follows them.
#define ATC_RMSNORM_TILING_FIELDS(X) X(bLength) X(sLength) X(hLength) X(originalHLength)
/// Of ConfusionTransposeTiling, each a uint32_t.
#define ATC_CONFUSION_TRANSPOSE_TILING_FIELDS(X)                                                   \
  X(param0)                                                                                        \
  X(param1)                                                                                        \
  X(param2)                                                                                        \
  X(param3)                                                                                        \
  X(param4)                                                                                        \
  X(param5)                                                                                        \
  X(param6)                                                                                        \
  X(param7)                                                                                        \
  X(param8) X(param9) X(param10) X(param11) X(param12) X(param13) X(param14) X(param15) X(param16) \
      X(param17)
/// Of TopkTiling: those that are an int32_t or uint32_t, then those that are a uint16_t.
#define ATC_TOPK_TILING_FIELDS(I, U)                                                                      \
  I(tmpLocalSize)                                                                                         \
  I(allDataSize) I(innerDataSize) U(sortRepeat) I(mrgSortRepeat) I(kAlignFourBytes) I(kAlignTwoBytes)     \
      I(maskOffset) I(maskVreducev2FourBytes) I(maskVreducev2TwoBytes) I(mrgSortSrc1offset)               \
          I(mrgSortSrc2offset) I(mrgSortSrc3offset) I(mrgSortTwoQueueSrc1Offset) I(mrgFourQueueTailPara1) \
              I(mrgFourQueueTailPara2) I(srcIndexOffset) U(copyUbToUbBlockCount)                          \
                  I(topkMrgSrc1MaskSizeOffset) I(topkNSmallSrcIndexOffset) U(vreduceValMask0)             \
                      U(vreduceValMask1) U(vreduceIdxMask0) U(vreduceIdxMask1)
#define ATC_TOPK_TILING_HALF_FIELDS(X)                                                        \
  X(vreducehalfValMask0)                                                                      \
  X(vreducehalfValMask1) X(vreducehalfValMask2) X(vreducehalfValMask3) X(vreducehalfValMask4) \
      X(vreducehalfValMask5) X(vreducehalfValMask6) X(vreducehalfValMask7)

#define ATC_FIELD_I32(name) std::int32_t name;
#define ATC_FIELD_U32(name) std::uint32_t name;
struct alignas(8) TCubeTiling {
  ATC_CUBE_TILING_FIELDS(ATC_FIELD_I32)
};
struct alignas(8) SoftMaxTiling {
  ATC_SOFTMAX_TILING_FIELDS(ATC_FIELD_U32)
};
struct alignas(8) LayerNormTiling {
  ATC_LAYERNORM_TILING_FIELDS(ATC_FIELD_U32)
  float lastDimValueBack;
};
struct alignas(8) RmsNormTiling {
  ATC_RMSNORM_TILING_FIELDS(ATC_FIELD_U32)
  float reciprocalOfHLength;
};
struct alignas(8) ConfusionTransposeTiling {
  ATC_CONFUSION_TRANSPOSE_TILING_FIELDS(ATC_FIELD_U32)
};
#define ATC_FIELD_U16(name) std::uint16_t name;
struct alignas(8) TopkTiling {
  ATC_TOPK_TILING_FIELDS(ATC_FIELD_I32, ATC_FIELD_U32)
  ATC_TOPK_TILING_HALF_FIELDS(ATC_FIELD_U16)
};
#undef ATC_FIELD_U16
#undef ATC_FIELD_I32
#undef ATC_FIELD_U32

}  // namespace tiling
using namespace tiling;
}  // namespace AscendC
