#pragma once

// The host's classes of the high-level library's tiling, for tiling data classes that have them as members.
// Their fields are those of the kernels' structures (ascendc/tiling_structs.h).
#include <cstdint>

#include "ascendc/tiling_structs.h"
#include "atc_opp/tiling_def.h"

namespace optiling {

#define ATC_OPP_FIELD_I32(name) TILING_DATA_FIELD_DEF(std::int32_t, name)
#define ATC_OPP_FIELD_U32(name) TILING_DATA_FIELD_DEF(std::uint32_t, name)
#define ATC_OPP_LIBRARY_CLASS(Class) \
  class Class : public TilingDef {   \
   public:                           \
    Class() : TilingDef(#Class, "kernel_tiling/kernel_tiling.h") {}

ATC_OPP_LIBRARY_CLASS(TCubeTiling)
ATC_CUBE_TILING_FIELDS(ATC_OPP_FIELD_I32)
END_TILING_DATA_DEF;
ATC_OPP_LIBRARY_CLASS(SoftMaxTiling)
ATC_SOFTMAX_TILING_FIELDS(ATC_OPP_FIELD_U32)
END_TILING_DATA_DEF;
ATC_OPP_LIBRARY_CLASS(LayerNormTiling)
ATC_LAYERNORM_TILING_FIELDS(ATC_OPP_FIELD_U32)
TILING_DATA_FIELD_DEF(float, lastDimValueBack)
END_TILING_DATA_DEF;
ATC_OPP_LIBRARY_CLASS(RmsNormTiling)
ATC_RMSNORM_TILING_FIELDS(ATC_OPP_FIELD_U32)
TILING_DATA_FIELD_DEF(float, reciprocalOfHLength)
END_TILING_DATA_DEF;
ATC_OPP_LIBRARY_CLASS(ConfusionTransposeTiling)
ATC_CONFUSION_TRANSPOSE_TILING_FIELDS(ATC_OPP_FIELD_U32)
END_TILING_DATA_DEF;
#define ATC_OPP_FIELD_U16(name) TILING_DATA_FIELD_DEF(std::uint16_t, name)
ATC_OPP_LIBRARY_CLASS(TopkTiling)
ATC_TOPK_TILING_FIELDS(ATC_OPP_FIELD_I32, ATC_OPP_FIELD_U32)
ATC_TOPK_TILING_HALF_FIELDS(ATC_OPP_FIELD_U16)
END_TILING_DATA_DEF;

#undef ATC_OPP_FIELD_U16
#undef ATC_OPP_FIELD_I32
#undef ATC_OPP_FIELD_U32
#undef ATC_OPP_LIBRARY_CLASS

}  // namespace optiling
