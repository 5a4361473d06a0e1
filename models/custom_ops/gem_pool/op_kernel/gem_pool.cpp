// Generalized mean pooling: y = mean(max(x, epsilon)^p)^(1/p) over each plane of [N, C, H, W], in fp32. p = 1 is the mean,
// a large p comes near the maximum. Each core takes whole planes, a tile of kTile elements at a time.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t kTile = 4096;

class KernelGemPool {
 public:
  template <class Tiling>
  __aicore__ inline void Process(GM_ADDR x, GM_ADDR y, const Tiling& t) {
    x_.SetGlobalBuffer((__gm__ DTYPE_X*)x);
    y_.SetGlobalBuffer((__gm__ DTYPE_X*)y);
    pipe_.InitBuffer(in_, 2, kTile * sizeof(DTYPE_X));
    pipe_.InitBuffer(out_, 1, 32);
    pipe_.InitBuffer(rowBuffer_, kTile * sizeof(float));
    pipe_.InitBuffer(workBuffer_, kTile * sizeof(float));
    pipe_.InitBuffer(partBuffer_, 32);
    pipe_.InitBuffer(sumBuffer_, 32);
    const uint32_t first = GetBlockIdx() * t.planesPerCore;
    const uint32_t last = first + t.planesPerCore < t.planes ? first + t.planesPerCore : t.planes;
    for (uint32_t plane = first; plane < last; ++plane) {
      LocalTensor<float> sum = sumBuffer_.Get<float>();
      Duplicate(sum, 0.0f, 1);
      PipeBarrier<PIPE_V>();
      for (uint32_t at = 0; at < t.area; at += kTile)
        AddTile(static_cast<uint64_t>(plane) * t.area + at, t.area - at < kTile ? t.area - at : kTile, t.p, t.epsilon);
      Muls(sum, sum, 1.0f / static_cast<float>(t.area), 1);
      PipeBarrier<PIPE_V>();
      Power(sum, 1.0f / t.p, 1);
      Store(plane);
    }
  }

 private:
  // v^e by exp(e * ln v).
  __aicore__ inline void Power(const LocalTensor<float>& v, float e, uint32_t n) {
    Ln(v, v, n);
    PipeBarrier<PIPE_V>();
    Muls(v, v, e, n);
    PipeBarrier<PIPE_V>();
    Exp(v, v, n);
    PipeBarrier<PIPE_V>();
  }
  __aicore__ inline void AddTile(uint64_t from, uint32_t n, float p, float epsilon) {
    constexpr uint32_t perBlock = 32 / sizeof(DTYPE_X);
    const uint8_t missing = static_cast<uint8_t>((perBlock - n % perBlock) % perBlock);
    LocalTensor<DTYPE_X> x = in_.AllocTensor<DTYPE_X>();
    DataCopyPad(x, x_[from], DataCopyExtParams{1, static_cast<uint32_t>(n * sizeof(DTYPE_X)), 0, 0, 0},
                DataCopyPadExtParams<DTYPE_X>{true, 0, missing, static_cast<DTYPE_X>(0)});
    in_.EnQue(x);
    x = in_.DeQue<DTYPE_X>();
    LocalTensor<float> row = rowBuffer_.Get<float>(), work = workBuffer_.Get<float>(), part = partBuffer_.Get<float>(),
                       sum = sumBuffer_.Get<float>();
    if constexpr (sizeof(DTYPE_X) == 4)
      Maxs(row, x.template ReinterpretCast<float>(), epsilon, n);
    else
      Cast(row, x, RoundMode::CAST_NONE, n);
    in_.FreeTensor(x);
    PipeBarrier<PIPE_V>();
    if constexpr (sizeof(DTYPE_X) != 4) {
      Maxs(row, row, epsilon, n);
      PipeBarrier<PIPE_V>();
    }
    Power(row, p, n);
    ReduceSum<float>(part, row, work, static_cast<int32_t>(n));
    PipeBarrier<PIPE_V>();
    Add(sum, sum, part, 1);
    PipeBarrier<PIPE_V>();
  }
  __aicore__ inline void Store(uint32_t plane) {
    LocalTensor<float> sum = sumBuffer_.Get<float>();
    LocalTensor<DTYPE_X> y = out_.AllocTensor<DTYPE_X>();
    if constexpr (sizeof(DTYPE_X) == 4)
      Adds(y.template ReinterpretCast<float>(), sum, 0.0f, 1);
    else
      Cast(y, sum, RoundMode::CAST_RINT, 1);
    out_.EnQue<DTYPE_X>(y);
    y = out_.DeQue<DTYPE_X>();
    DataCopyPad(y_[plane], y, DataCopyExtParams{1, sizeof(DTYPE_X), 0, 0, 0});
    out_.FreeTensor(y);
  }

  TPipe pipe_;
  TQue<QuePosition::VECIN, 1> in_;
  TQue<QuePosition::VECOUT, 1> out_;
  TBuf<QuePosition::VECCALC> rowBuffer_, workBuffer_, partBuffer_, sumBuffer_;
  GlobalTensor<DTYPE_X> x_, y_;
};

extern "C" __global__ __aicore__ void gem_pool(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
  GET_TILING_DATA(data, tiling);
  KernelGemPool kernel;
  kernel.Process(x, y, data);
}
