#pragma once

// Tilings of the high-level library for host code. A file that has kernels too has the names of dtypes as
// enumerators from here on, not as the macros that kernels compare with.
#ifndef ATC_ASCENDC_HOST_TYPES
#define ATC_ASCENDC_HOST_TYPES
#endif
#undef DT_FLOAT
#undef DT_FLOAT16
#undef DT_INT8
#undef DT_INT32
#undef DT_UINT8
#undef DT_INT16
#undef DT_UINT16
#undef DT_UINT32
#undef DT_INT64
#undef DT_UINT64
#undef DT_DOUBLE
#undef DT_BOOL
#undef DT_BF16
#undef DT_INT4

#include "atc_opp/function_tiling.h"
#include "atc_opp/matmul_tiling.h"
#include "atc_opp/sort_tiling.h"
