#pragma once

#include <cstdint>

#include "aicore/vector_ops.h"

namespace atc::aicore {

/// One operation of a chain: x = op(x, operand), f32. Relu has no operand.
struct ChainStep {
  VecOp op = VecOp::Relu;       ///< Add, Sub, Mul, Max, Min or Relu (in_chain)
  Lanes lanes = Lanes::Scalar;  ///< of the operand: Full, PerCol or Scalar
  const float* operand = nullptr;
};
inline constexpr int kMaxChain = 8;

/// Whether the host loops take the operation as a step, with an operand of these lanes.
bool in_chain(VecOp op, Lanes lanes);

/// dst = the steps applied to src one after the other, dense tiles of rows x cols: what the operations give
/// one by one, bit for bit, without the passes between. dst may be src or an operand with Full lanes.
void run_chain(float* dst, const float* src, const ChainStep* steps, int count, std::int64_t rows,
               std::int64_t cols);

using ChainLoop = void (*)(float* dst, const float* src, const ChainStep* steps, int count, std::int64_t rows,
                           std::int64_t cols);
ChainLoop chain_loop_generic();
ChainLoop chain_loop_avx2();

}  // namespace atc::aicore
