#include <cstdint>
#include <type_traits>

#include "aicore/vector_table.h"

namespace atc::aicore {
namespace loops_avx2 {
#include "aicore/vector_loops.inc"
}  // namespace loops_avx2

const VectorTable& vector_table_avx2() { return loops_avx2::kTable; }

}  // namespace atc::aicore
