#include <immintrin.h>

#include <cstdint>

#include "aicore/cube_tile.h"

namespace atc::aicore {
namespace tile_avx2 {
#define FUSED(a, b, c) ((v8)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#include "aicore/cube_tile.inc"
#undef FUSED
}  // namespace tile_avx2

const CubeTable& cube_table_avx2() { return tile_avx2::kTable; }

}  // namespace atc::aicore
