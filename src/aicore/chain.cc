#include "aicore/chain.h"

namespace atc::aicore {

bool in_chain(VecOp op, Lanes lanes) {
  switch (op) {
    case VecOp::Relu:
      return true;
    case VecOp::Add:
    case VecOp::Sub:
    case VecOp::Mul:
    case VecOp::Max:
    case VecOp::Min:
      return lanes != Lanes::PerRow;
    default:
      return false;
  }
}

void run_chain(float* dst, const float* src, const ChainStep* steps, int count, std::int64_t rows,
               std::int64_t cols) {
  static const ChainLoop loop = __builtin_cpu_supports("avx2") ? chain_loop_avx2() : chain_loop_generic();
  loop(dst, src, steps, count, rows, cols);
}

}  // namespace atc::aicore
