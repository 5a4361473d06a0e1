#include <immintrin.h>

#include <cstdint>

#include "aicore/window.h"

namespace atc::aicore {
namespace window_avx2 {
#define FUSED(a, b, c) ((v8)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
// MAXPS gives its second operand when either is NaN.
#define LARGER(a, b) ((v8)_mm256_max_ps((__m256)(b), (__m256)(a)))
#define PICK_NAN(a, b) \
  ((v8)_mm256_blendv_ps((__m256)(a), (__m256)(b), _mm256_cmp_ps((__m256)(b), (__m256)(b), _CMP_UNORD_Q)))
#include "aicore/window_loops.inc"
#undef FUSED
#undef LARGER
#undef PICK_NAN
}  // namespace window_avx2

const WindowTable& window_table_avx2() { return window_avx2::kTable; }

}  // namespace atc::aicore
