#include <immintrin.h>

#include <cstdint>

#include "aicore/cube_tile.h"

namespace atc::aicore {
namespace tile_avx2 {
#define FUSED(a, b, c) ((v8)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#define WIDEN(p) ((v16s)_mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))))
#define FROM_F16(p) ((v8)_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))))
#define FROM_BF16(p) \
  ((v8)_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))), 16))
#define PAIRS(a, b) ((v8i)_mm256_madd_epi16((__m256i)(a), (__m256i)(b)))
#include "aicore/cube_tile.inc"
#undef FUSED
#undef WIDEN
#undef PAIRS
#undef FROM_F16
#undef FROM_BF16
}  // namespace tile_avx2

const CubeTable& cube_table_avx2() { return tile_avx2::kTable; }

}  // namespace atc::aicore
