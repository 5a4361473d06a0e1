// y = gate * sigmoid(gate) * up, where gate and up are the even and the odd elements of x. A tile of both comes in by one
// copy and is taken apart on the chip (GatherMask): reading every other element from Global Memory would move 32 bytes for
// each. Computed in fp32.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t kTile = 2048;  // pairs at once

class KernelSwiGlu {
 public:
  template <class Tiling>
  __aicore__ inline void Process(GM_ADDR x, GM_ADDR y, const Tiling& t) {
    x_.SetGlobalBuffer((__gm__ DTYPE_X*)x, static_cast<uint64_t>(t.pairs) * 2);
    y_.SetGlobalBuffer((__gm__ DTYPE_X*)y, t.pairs);
    pipe_.InitBuffer(in_, 2, 2 * kTile * sizeof(DTYPE_X));
    pipe_.InitBuffer(out_, 2, kTile * sizeof(DTYPE_X));
    pipe_.InitBuffer(pairs_, 2 * kTile * sizeof(float));
    for (auto* buffer : {&gate_, &up_, &sigmoid_}) pipe_.InitBuffer(*buffer, kTile * sizeof(float));
    const uint32_t first = GetBlockIdx() * t.pairsPerCore;
    const uint32_t last = first + t.pairsPerCore < t.pairs ? first + t.pairsPerCore : t.pairs;
    for (uint32_t at = first; at < last; at += kTile) {
      const uint32_t n = last - at < kTile ? last - at : kTile;
      CopyIn(at, n);
      Compute(n);
      LocalTensor<DTYPE_X> y = out_.DeQue<DTYPE_X>();
      DataCopyPad(y_[at], y, DataCopyExtParams{1, static_cast<uint32_t>(n * sizeof(DTYPE_X)), 0, 0, 0});
      out_.FreeTensor(y);
    }
  }

 private:
  __aicore__ inline void CopyIn(uint32_t at, uint32_t n) {
    constexpr uint32_t perBlock = 32 / sizeof(DTYPE_X);
    const uint8_t missing = static_cast<uint8_t>((perBlock - 2 * n % perBlock) % perBlock);
    LocalTensor<DTYPE_X> x = in_.AllocTensor<DTYPE_X>();
    DataCopyPad(x, x_[static_cast<uint64_t>(at) * 2], DataCopyExtParams{1, static_cast<uint32_t>(2 * n * sizeof(DTYPE_X)), 0, 0, 0},
                DataCopyPadExtParams<DTYPE_X>{true, 0, missing, static_cast<DTYPE_X>(0)});
    in_.EnQue(x);
  }
  __aicore__ inline void Compute(uint32_t n) {
    LocalTensor<float> pairs = pairs_.Get<float>(), gate = gate_.Get<float>(), up = up_.Get<float>(), s = sigmoid_.Get<float>();
    LocalTensor<DTYPE_X> x = in_.DeQue<DTYPE_X>();
    if constexpr (sizeof(DTYPE_X) == 4)
      Adds(pairs, x.template ReinterpretCast<float>(), 0.0f, 2 * n);
    else
      Cast(pairs, x, RoundMode::CAST_NONE, 2 * n);
    in_.FreeTensor(x);
    PipeBarrier<PIPE_V>();
    // Pattern 1 keeps even elements, 2 odd ones; the mask counts elements.
    uint64_t kept = 0;
    const GatherMaskParams whole = {1, 1, 8, 8};
    GatherMask(gate, pairs, 1, true, 2 * n, whole, kept);
    GatherMask(up, pairs, 2, true, 2 * n, whole, kept);
    PipeBarrier<PIPE_V>();
    // gate / (1 + exp(-gate)) * up
    Muls(s, gate, -1.0f, n);
    PipeBarrier<PIPE_V>();
    Exp(s, s, n);
    PipeBarrier<PIPE_V>();
    Adds(s, s, 1.0f, n);
    PipeBarrier<PIPE_V>();
    Div(s, gate, s, n);
    PipeBarrier<PIPE_V>();
    LocalTensor<DTYPE_X> y = out_.AllocTensor<DTYPE_X>();
    if constexpr (sizeof(DTYPE_X) == 4) {
      Mul(y.template ReinterpretCast<float>(), s, up, n);
    } else {
      Mul(s, s, up, n);
      PipeBarrier<PIPE_V>();
      Cast(y, s, RoundMode::CAST_RINT, n);
    }
    out_.EnQue<DTYPE_X>(y);
  }

  TPipe pipe_;
  TQue<QuePosition::VECIN, 1> in_;
  TQue<QuePosition::VECOUT, 1> out_;
  TBuf<QuePosition::VECCALC> pairs_, gate_, up_, sigmoid_;
  GlobalTensor<DTYPE_X> x_, y_;
};

extern "C" __global__ __aicore__ void swi_glu(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
  GET_TILING_DATA(data, tiling);
  KernelSwiGlu kernel;
  kernel.Process(x, y, data);
}
