#ifndef SOFTMAX_MUL_REDUCE_SUM_TILING_H
#define SOFTMAX_MUL_REDUCE_SUM_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(SoftmaxMulReduceSumTilingData)
TILING_DATA_FIELD_DEF(uint32_t, outer);     // elements of the axes in front of the summed one
TILING_DATA_FIELD_DEF(uint32_t, length);    // of the summed axis
TILING_DATA_FIELD_DEF(uint32_t, inner);     // elements of the axes behind it
TILING_DATA_FIELD_DEF(uint32_t, perScore);  // 1: a score for each element; 0: one for each of the summed axis
TILING_DATA_FIELD_DEF(uint32_t, outerPerCore);
END_TILING_DATA_DEF;

REGISTER_TILING_DATA_CLASS(SoftmaxMulReduceSum, SoftmaxMulReduceSumTilingData)
}  // namespace optiling
#endif
