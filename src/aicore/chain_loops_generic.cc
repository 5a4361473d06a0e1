#include "aicore/chain.h"

namespace atc::aicore {
namespace chain_generic {
#include "aicore/chain_loops.inc"
}  // namespace chain_generic

ChainLoop chain_loop_generic() { return chain_generic::chain; }

}  // namespace atc::aicore
