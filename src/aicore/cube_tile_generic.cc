#include <cstdint>

#include "aicore/cube_tile.h"
#include "atc/base/half.h"

namespace atc::aicore {
namespace tile_generic {
#define FUSED(a, b, c) ((a) * (b) + (c))
#define WIDEN(p) widen(p)
#define PAIRS(a, b) pairs(a, b)
#define FROM_F16(p) widen_floats(reinterpret_cast<const Half*>(p))
#define FROM_BF16(p) widen_floats(reinterpret_cast<const BFloat16*>(p))
namespace {
using Wide = std::int16_t __attribute__((vector_size(32)));
using Sums = std::uint32_t __attribute__((vector_size(32)));
inline Wide widen(const std::int8_t* p) {
  Wide w;
  for (int i = 0; i < 16; ++i) w[i] = p[i];
  return w;
}
inline Sums pairs(Wide a, Wide b) {
  Sums s;
  for (int i = 0; i < 8; ++i)
    s[i] = static_cast<std::uint32_t>(a[2 * i] * b[2 * i] + a[2 * i + 1] * b[2 * i + 1]);
  return s;
}
using Floats = float __attribute__((vector_size(32), aligned(4), may_alias));
template <class T>
inline Floats widen_floats(const T* p) {
  float f[8];
  convert(p, f, 8);
  return Floats{f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7]};
}
}  // namespace
#include "aicore/cube_tile.inc"
#undef FUSED
#undef WIDEN
#undef PAIRS
#undef FROM_F16
#undef FROM_BF16
}  // namespace tile_generic

const CubeTable& cube_table_generic() { return tile_generic::kTable; }

}  // namespace atc::aicore
