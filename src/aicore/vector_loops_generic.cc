#include <cstdint>
#include <type_traits>

#include "aicore/vector_table.h"

namespace atc::aicore {
namespace loops_generic {
#include "aicore/vector_loops.inc"
}  // namespace loops_generic

const VectorTable& vector_table_generic() { return loops_generic::kTable; }

}  // namespace atc::aicore
