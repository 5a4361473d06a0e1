#include <cstdint>

#include "aicore/cube_tile.h"

namespace atc::aicore {
namespace tile_generic {
#define FUSED(a, b, c) ((a) * (b) + (c))
#include "aicore/cube_tile.inc"
#undef FUSED
}  // namespace tile_generic

const CubeTable& cube_table_generic() { return tile_generic::kTable; }

}  // namespace atc::aicore
