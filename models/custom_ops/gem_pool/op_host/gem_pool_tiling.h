#ifndef GEM_POOL_TILING_H
#define GEM_POOL_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(GemPoolTilingData)
TILING_DATA_FIELD_DEF(uint32_t, planes);  // batch * channels
TILING_DATA_FIELD_DEF(uint32_t, planesPerCore);
TILING_DATA_FIELD_DEF(uint32_t, area);  // elements of a plane
TILING_DATA_FIELD_DEF(float, p);
TILING_DATA_FIELD_DEF(float, epsilon);
END_TILING_DATA_DEF;

REGISTER_TILING_DATA_CLASS(GemPool, GemPoolTilingData)
}  // namespace optiling
#endif
