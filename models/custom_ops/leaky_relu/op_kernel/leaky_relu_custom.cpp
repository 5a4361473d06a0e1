// y = x where x > 0, else negative_slope * x. The slope is an attribute: it comes with the tiling data.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t kTile = 4096;

class KernelLeakyRelu {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t length, uint32_t perCore, float slope) {
    const uint32_t begin = GetBlockIdx() * perCore;
    count_ = length - begin < perCore ? length - begin : perCore;
    slope_ = slope;
    x_.SetGlobalBuffer((__gm__ DTYPE_X*)x + begin, count_);
    y_.SetGlobalBuffer((__gm__ DTYPE_X*)y + begin, count_);
    pipe_.InitBuffer(in_, 2, kTile * sizeof(DTYPE_X));
    pipe_.InitBuffer(out_, 2, kTile * sizeof(DTYPE_X));
  }
  __aicore__ inline void Process() {
    for (uint32_t at = 0; at < count_; at += kTile) {
      const uint32_t n = count_ - at < kTile ? count_ - at : kTile;
      const DataCopyExtParams block{1, static_cast<uint32_t>(n * sizeof(DTYPE_X)), 0, 0, 0};
      constexpr uint32_t perBlock = 32 / sizeof(DTYPE_X);
      const uint8_t missing = static_cast<uint8_t>((perBlock - n % perBlock) % perBlock);
      LocalTensor<DTYPE_X> x = in_.AllocTensor<DTYPE_X>();
      DataCopyPad(x, x_[at], block, DataCopyPadExtParams<DTYPE_X>{true, 0, missing, static_cast<DTYPE_X>(0)});
      in_.EnQue(x);

      x = in_.DeQue<DTYPE_X>();
      LocalTensor<DTYPE_X> y = out_.AllocTensor<DTYPE_X>();
      LeakyRelu(y, x, static_cast<DTYPE_X>(slope_), n);
      out_.EnQue<DTYPE_X>(y);
      in_.FreeTensor(x);

      y = out_.DeQue<DTYPE_X>();
      DataCopyPad(y_[at], y, block);
      out_.FreeTensor(y);
    }
  }

 private:
  TPipe pipe_;
  TQue<QuePosition::VECIN, 1> in_;
  TQue<QuePosition::VECOUT, 1> out_;
  GlobalTensor<DTYPE_X> x_, y_;
  uint32_t count_ = 0;
  float slope_ = 0;
};

extern "C" __global__ __aicore__ void leaky_relu_custom(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
  GET_TILING_DATA(data, tiling);
  KernelLeakyRelu kernel;
  kernel.Init(x, y, data.length, data.perCore, data.negativeSlope);
  kernel.Process();
}
