// z = x + y for tensors of any length: whole tiles by queues with two buffers, the tail by DataCopyPad.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t kTile = 4096;  // elements

class KernelAdd {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t length, uint32_t perCore) {
    const uint32_t begin = GetBlockIdx() * perCore;
    count_ = length - begin < perCore ? length - begin : perCore;
    x_.SetGlobalBuffer((__gm__ DTYPE_X*)x + begin, count_);
    y_.SetGlobalBuffer((__gm__ DTYPE_X*)y + begin, count_);
    z_.SetGlobalBuffer((__gm__ DTYPE_X*)z + begin, count_);
    pipe_.InitBuffer(inX_, 2, kTile * sizeof(DTYPE_X));
    pipe_.InitBuffer(inY_, 2, kTile * sizeof(DTYPE_X));
    pipe_.InitBuffer(outZ_, 2, kTile * sizeof(DTYPE_X));
  }
  __aicore__ inline void Process() {
    for (uint32_t at = 0; at < count_; at += kTile) {
      const uint32_t n = count_ - at < kTile ? count_ - at : kTile;
      CopyIn(at, n);
      Compute(n);
      CopyOut(at, n);
    }
  }

 private:
  __aicore__ inline void CopyIn(uint32_t at, uint32_t n) {
    LocalTensor<DTYPE_X> x = inX_.AllocTensor<DTYPE_X>();
    LocalTensor<DTYPE_X> y = inY_.AllocTensor<DTYPE_X>();
    const DataCopyExtParams block{1, static_cast<uint32_t>(n * sizeof(DTYPE_X)), 0, 0, 0};
    // What the hardware appends to a row that is no whole data block is zero.
    const DataCopyPadExtParams<DTYPE_X> pad{true, 0, static_cast<uint8_t>(Missing(n)), static_cast<DTYPE_X>(0)};
    DataCopyPad(x, x_[at], block, pad);
    DataCopyPad(y, y_[at], block, pad);
    inX_.EnQue(x);
    inY_.EnQue(y);
  }
  __aicore__ inline void Compute(uint32_t n) {
    LocalTensor<DTYPE_X> x = inX_.DeQue<DTYPE_X>();
    LocalTensor<DTYPE_X> y = inY_.DeQue<DTYPE_X>();
    LocalTensor<DTYPE_X> z = outZ_.AllocTensor<DTYPE_X>();
    Add(z, x, y, n);
    outZ_.EnQue<DTYPE_X>(z);
    inX_.FreeTensor(x);
    inY_.FreeTensor(y);
  }
  __aicore__ inline void CopyOut(uint32_t at, uint32_t n) {
    LocalTensor<DTYPE_X> z = outZ_.DeQue<DTYPE_X>();
    DataCopyPad(z_[at], z, DataCopyExtParams{1, static_cast<uint32_t>(n * sizeof(DTYPE_X)), 0, 0, 0});
    outZ_.FreeTensor(z);
  }
  // Elements that a row lacks to a whole data block.
  __aicore__ inline uint32_t Missing(uint32_t n) const {
    constexpr uint32_t perBlock = 32 / sizeof(DTYPE_X);
    return (perBlock - n % perBlock) % perBlock;
  }

  TPipe pipe_;
  TQue<QuePosition::VECIN, 1> inX_, inY_;
  TQue<QuePosition::VECOUT, 1> outZ_;
  GlobalTensor<DTYPE_X> x_, y_, z_;
  uint32_t count_ = 0;
};

extern "C" __global__ __aicore__ void add_custom(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling) {
  GET_TILING_DATA(data, tiling);
  KernelAdd kernel;
  kernel.Init(x, y, z, data.length, data.perCore);
  kernel.Process();
}
