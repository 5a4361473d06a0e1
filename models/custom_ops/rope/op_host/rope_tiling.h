#ifndef ROPE_TILING_H
#define ROPE_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(RoPETilingData)
TILING_DATA_FIELD_DEF(uint32_t, rows);  // heads of all positions: elements of x / width
TILING_DATA_FIELD_DEF(uint32_t, rowsPerCore);
TILING_DATA_FIELD_DEF(uint32_t, width);         // elements of a head
TILING_DATA_FIELD_DEF(uint32_t, interleaved);   // 1: a head's parts are even and odd elements, 0: halves
TILING_DATA_FIELD_DEF(uint32_t, rank);          // of what follows
TILING_DATA_FIELD_DEF_ARR(uint32_t, 8, dims);   // of x without the last axis
TILING_DATA_FIELD_DEF_ARR(uint32_t, 8, table);  // row of cos and sin from one position of a dim to the next
END_TILING_DATA_DEF;

REGISTER_TILING_DATA_CLASS(RoPE, RoPETilingData)
}  // namespace optiling
#endif
