// y = gate * sigmoid(gate) * up, where x holds gate and up side by side in each row: its halves are read with a
// stride, a few rows at once. Computed in fp32.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t kTile = 2048;  // elements of a row at once

class KernelSwiGlu {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t rows, uint32_t rowsPerCore, uint32_t width) {
    first_ = GetBlockIdx() * rowsPerCore;
    last_ = first_ + rowsPerCore < rows ? first_ + rowsPerCore : rows;
    half_ = width;
    x_.SetGlobalBuffer((__gm__ DTYPE_X*)x, static_cast<uint64_t>(rows) * width * 2);
    y_.SetGlobalBuffer((__gm__ DTYPE_X*)y, static_cast<uint64_t>(rows) * width);
    pipe_.InitBuffer(inGate_, 2, kTile * sizeof(DTYPE_X));
    pipe_.InitBuffer(inUp_, 2, kTile * sizeof(DTYPE_X));
    pipe_.InitBuffer(out_, 2, kTile * sizeof(DTYPE_X));
    pipe_.InitBuffer(gate_, kTile * sizeof(float));
    pipe_.InitBuffer(up_, kTile * sizeof(float));
    pipe_.InitBuffer(sigmoid_, kTile * sizeof(float));
  }
  __aicore__ inline void Process() {
    for (uint32_t row = first_; row < last_; ++row)
      for (uint32_t at = 0; at < half_; at += kTile) {
        const uint32_t n = half_ - at < kTile ? half_ - at : kTile;
        const uint64_t from = static_cast<uint64_t>(row) * half_ * 2 + at;
        CopyIn(inGate_, from, n);
        CopyIn(inUp_, from + half_, n);
        Compute(n);
        LocalTensor<DTYPE_X> y = out_.DeQue<DTYPE_X>();
        DataCopyPad(y_[static_cast<uint64_t>(row) * half_ + at], y,
                    DataCopyExtParams{1, static_cast<uint32_t>(n * sizeof(DTYPE_X)), 0, 0, 0});
        out_.FreeTensor(y);
      }
  }

 private:
  using Queue = TQue<QuePosition::VECIN, 1>;
  __aicore__ inline void CopyIn(Queue& queue, uint64_t from, uint32_t n) {
    constexpr uint32_t perBlock = 32 / sizeof(DTYPE_X);
    const uint8_t missing = static_cast<uint8_t>((perBlock - n % perBlock) % perBlock);
    LocalTensor<DTYPE_X> tensor = queue.AllocTensor<DTYPE_X>();
    DataCopyPad(tensor, x_[from], DataCopyExtParams{1, static_cast<uint32_t>(n * sizeof(DTYPE_X)), 0, 0, 0},
                DataCopyPadExtParams<DTYPE_X>{true, 0, missing, static_cast<DTYPE_X>(0)});
    queue.EnQue(tensor);
  }
  __aicore__ inline void ToFloat(const LocalTensor<float>& to, Queue& queue, uint32_t n) {
    LocalTensor<DTYPE_X> from = queue.DeQue<DTYPE_X>();
    if constexpr (sizeof(DTYPE_X) == 4)
      Adds(to, from.template ReinterpretCast<float>(), 0.0f, n);
    else
      Cast(to, from, RoundMode::CAST_NONE, n);
    queue.FreeTensor(from);
  }
  __aicore__ inline void Compute(uint32_t n) {
    LocalTensor<float> gate = gate_.Get<float>(), up = up_.Get<float>(), s = sigmoid_.Get<float>();
    ToFloat(gate, inGate_, n);
    ToFloat(up, inUp_, n);
    PipeBarrier<PIPE_V>();
    // 1 / (1 + exp(-gate))
    Muls(s, gate, -1.0f, n);
    PipeBarrier<PIPE_V>();
    Exp(s, s, n);
    PipeBarrier<PIPE_V>();
    Adds(s, s, 1.0f, n);
    PipeBarrier<PIPE_V>();
    Div(s, gate, s, n);
    PipeBarrier<PIPE_V>();
    Mul(s, s, up, n);
    PipeBarrier<PIPE_V>();
    LocalTensor<DTYPE_X> y = out_.AllocTensor<DTYPE_X>();
    if constexpr (sizeof(DTYPE_X) == 4)
      Adds(y.template ReinterpretCast<float>(), s, 0.0f, n);
    else
      Cast(y, s, RoundMode::CAST_RINT, n);
    out_.EnQue<DTYPE_X>(y);
  }

  TPipe pipe_;
  Queue inGate_, inUp_;
  TQue<QuePosition::VECOUT, 1> out_;
  TBuf<QuePosition::VECCALC> gate_, up_, sigmoid_;
  GlobalTensor<DTYPE_X> x_, y_;
  uint32_t first_ = 0, last_ = 0, half_ = 0;
};

extern "C" __global__ __aicore__ void swi_glu(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
  GET_TILING_DATA(data, tiling);
  KernelSwiGlu kernel;
  kernel.Init(x, y, data.rows, data.rowsPerCore, data.halfWidth);
  kernel.Process();
}
