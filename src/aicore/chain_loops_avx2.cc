#include "aicore/chain.h"

namespace atc::aicore {
namespace chain_avx2 {
#include "aicore/chain_loops.inc"
}  // namespace chain_avx2

ChainLoop chain_loop_avx2() { return chain_avx2::chain; }

}  // namespace atc::aicore
