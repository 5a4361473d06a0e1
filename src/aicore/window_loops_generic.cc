#include <cstdint>

#include "aicore/window.h"

namespace atc::aicore {
namespace window_generic {
#define FUSED(a, b, c) ((a) * (b) + (c))
#define LARGER(a, b) ((b) > (a) ? (b) : (a))
#define PICK_NAN(a, b) ((b) != (b) ? (b) : (a))
#include "aicore/window_loops.inc"
#undef FUSED
#undef LARGER
#undef PICK_NAN
}  // namespace window_generic

const WindowTable& window_table_generic() { return window_generic::kTable; }

}  // namespace atc::aicore
