// Rotary position embedding: y = x * cos + turned * sin over the last axis. Of halves, turned is Concat(-x[h:], x[:h]); of
// interleaved parts, elements 2i and 2i + 1 are -x[2i + 1] and x[2i]. Each core takes whole heads; the row of cos and sin
// follows from the head's position.
#include "kernel_operator.h"
using namespace AscendC;

class KernelRoPE {
 public:
  template <class Tiling>
  __aicore__ inline void Process(GM_ADDR x, GM_ADDR cos, GM_ADDR sin, GM_ADDR y, const Tiling& t) {
    const uint32_t first = GetBlockIdx() * t.rowsPerCore;
    const uint32_t last = first + t.rowsPerCore < t.rows ? first + t.rowsPerCore : t.rows;
    width_ = t.width;
    x_.SetGlobalBuffer((__gm__ DTYPE_X*)x);
    cos_.SetGlobalBuffer((__gm__ DTYPE_X*)cos);
    sin_.SetGlobalBuffer((__gm__ DTYPE_X*)sin);
    y_.SetGlobalBuffer((__gm__ DTYPE_X*)y);
    for (auto* queue : {&inX_, &inCos_, &inSin_}) pipe_.InitBuffer(*queue, 2, width_ * sizeof(DTYPE_X));
    pipe_.InitBuffer(out_, 2, width_ * sizeof(DTYPE_X));
    pipe_.InitBuffer(turned_, width_ * sizeof(DTYPE_X));
    if (t.interleaved) MakePairs();
    for (uint32_t row = first; row < last; ++row) {
      uint32_t rest = row, table = 0;
      for (uint32_t i = t.rank; i-- > 0;) {
        table += rest % t.dims[i] * t.table[i];
        rest /= t.dims[i];
      }
      Head(row, table);
    }
  }

 private:
  __aicore__ inline void Head(uint32_t row, uint32_t table) {
    LocalTensor<DTYPE_X> x = inX_.AllocTensor<DTYPE_X>(), cos = inCos_.AllocTensor<DTYPE_X>(), sin = inSin_.AllocTensor<DTYPE_X>();
    DataCopy(x, x_[static_cast<uint64_t>(row) * width_], width_);
    DataCopy(cos, cos_[static_cast<uint64_t>(table) * width_], width_);
    DataCopy(sin, sin_[static_cast<uint64_t>(table) * width_], width_);
    inX_.EnQue(x);
    inCos_.EnQue(cos);
    inSin_.EnQue(sin);

    x = inX_.DeQue<DTYPE_X>();
    cos = inCos_.DeQue<DTYPE_X>();
    sin = inSin_.DeQue<DTYPE_X>();
    LocalTensor<DTYPE_X> turned = turned_.Get<DTYPE_X>(), y = out_.AllocTensor<DTYPE_X>();
    const uint32_t middle = width_ / 2;
    if (paired_) {
      Gather(turned, x, neighbours_.Get<uint32_t>(), 0, width_);
      PipeBarrier<PIPE_V>();
      Mul(turned, turned, signs_.Get<DTYPE_X>(), width_);
    } else {
      Muls(turned, x[middle], static_cast<DTYPE_X>(-1), middle);
      Adds(turned[middle], x, static_cast<DTYPE_X>(0), middle);
    }
    Mul(y, x, cos, width_);
    PipeBarrier<PIPE_V>();
    Mul(turned, turned, sin, width_);
    PipeBarrier<PIPE_V>();
    Add(y, y, turned, width_);
    out_.EnQue<DTYPE_X>(y);
    inX_.FreeTensor(x);
    inCos_.FreeTensor(cos);
    inSin_.FreeTensor(sin);

    y = out_.DeQue<DTYPE_X>();
    DataCopy(y_[static_cast<uint64_t>(row) * width_], y, width_);
    out_.FreeTensor(y);
  }

  // The byte offset of each element's neighbour, and its sign.
  __aicore__ inline void MakePairs() {
    paired_ = true;
    pipe_.InitBuffer(neighbours_, width_ * sizeof(uint32_t));
    pipe_.InitBuffer(signs_, width_ * sizeof(DTYPE_X));
    LocalTensor<uint32_t> neighbours = neighbours_.Get<uint32_t>();
    LocalTensor<DTYPE_X> signs = signs_.Get<DTYPE_X>();
    for (uint32_t i = 0; i < width_; ++i) {
      neighbours.SetValue(i, static_cast<uint32_t>((i ^ 1) * sizeof(DTYPE_X)));
      signs.SetValue(i, static_cast<DTYPE_X>(i % 2 == 0 ? -1 : 1));
    }
    const event_t ready = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::S_V));
    SetFlag<HardEvent::S_V>(ready);
    WaitFlag<HardEvent::S_V>(ready);
  }

  TPipe pipe_;
  TQue<QuePosition::VECIN, 1> inX_, inCos_, inSin_;
  TQue<QuePosition::VECOUT, 1> out_;
  TBuf<QuePosition::VECCALC> turned_, neighbours_, signs_;
  GlobalTensor<DTYPE_X> x_, cos_, sin_, y_;
  uint32_t width_ = 0;
  bool paired_ = false;
};

extern "C" __global__ __aicore__ void ro_pe(GM_ADDR x, GM_ADDR cos, GM_ADDR sin, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
  GET_TILING_DATA(data, tiling);
  KernelRoPE kernel;
  kernel.Process(x, cos, sin, y, data);
}
