// y = sum over an axis of softmax(scores) * x, in fp32, without writing weights or products to Global Memory. With x
// as [outer, length, inner], each core takes some of the outer ones. Where a score is there for each element, rows of
// `inner` are walked twice: for the largest scores, then for the sums. Where one score counts for a whole row, the
// weights of all rows are made first.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t kTile = 2048;  // elements of a row at once

class KernelSoftmaxMulReduceSum {
 public:
  template <class Tiling>
  __aicore__ inline void Process(GM_ADDR scores, GM_ADDR x, GM_ADDR y, const Tiling& t) {
    length_ = t.length;
    inner_ = t.inner;
    scores_.SetGlobalBuffer((__gm__ DTYPE_X*)scores);
    x_.SetGlobalBuffer((__gm__ DTYPE_X*)x);
    y_.SetGlobalBuffer((__gm__ DTYPE_X*)y);
    const uint32_t weights = t.perScore ? kTile : (length_ + 63) / 64 * 64;
    pipe_.InitBuffer(inScores_, 2, (t.perScore ? kTile : weights) * sizeof(DTYPE_X));
    pipe_.InitBuffer(inX_, 2, kTile * sizeof(DTYPE_X));
    pipe_.InitBuffer(out_, 1, kTile * sizeof(DTYPE_X));
    pipe_.InitBuffer(weightsBuffer_, weights * sizeof(float));
    pipe_.InitBuffer(workBuffer_, weights * sizeof(float));
    for (auto* buffer : {&sumBuffer_, &accBuffer_, &rowBuffer_, &maxBuffer_}) pipe_.InitBuffer(*buffer, kTile * sizeof(float));
    const uint32_t first = GetBlockIdx() * t.outerPerCore;
    const uint32_t last = first + t.outerPerCore < t.outer ? first + t.outerPerCore : t.outer;
    for (uint32_t o = first; o < last; ++o) {
      if (!t.perScore) MakeWeights(o);
      for (uint32_t at = 0; at < inner_; at += kTile) {
        const uint32_t n = inner_ - at < kTile ? inner_ - at : kTile;
        if (t.perScore)
          ByElement(o, at, n);
        else
          ByRow(o, at, n);
        Store(o, at, n);
      }
    }
  }

 private:
  using Queue = TQue<QuePosition::VECIN, 1>;
  __aicore__ inline uint64_t Row(uint32_t o, uint32_t t, uint32_t at) const {
    return (static_cast<uint64_t>(o) * length_ + t) * inner_ + at;
  }
  // n elements as fp32.
  __aicore__ inline void Load(const LocalTensor<float>& to, Queue& queue, const GlobalTensor<DTYPE_X>& from, uint32_t n) {
    constexpr uint32_t perBlock = 32 / sizeof(DTYPE_X);
    const uint8_t missing = static_cast<uint8_t>((perBlock - n % perBlock) % perBlock);
    LocalTensor<DTYPE_X> tensor = queue.AllocTensor<DTYPE_X>();
    DataCopyPad(tensor, from, DataCopyExtParams{1, static_cast<uint32_t>(n * sizeof(DTYPE_X)), 0, 0, 0},
                DataCopyPadExtParams<DTYPE_X>{true, 0, missing, static_cast<DTYPE_X>(0)});
    queue.EnQue(tensor);
    tensor = queue.DeQue<DTYPE_X>();
    if constexpr (sizeof(DTYPE_X) == 4)
      Adds(to, tensor.template ReinterpretCast<float>(), 0.0f, n);
    else
      Cast(to, tensor, RoundMode::CAST_NONE, n);
    queue.FreeTensor(tensor);
    PipeBarrier<PIPE_V>();
  }
  __aicore__ inline float Scalar(const LocalTensor<float>& from) {
    const event_t ready = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::V_S));
    SetFlag<HardEvent::V_S>(ready);
    WaitFlag<HardEvent::V_S>(ready);
    const float value = from.GetValue(0);
    const event_t go = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::S_V));
    SetFlag<HardEvent::S_V>(go);
    WaitFlag<HardEvent::S_V>(go);
    return value;
  }
  // The softmax of one score a row.
  __aicore__ inline void MakeWeights(uint32_t o) {
    LocalTensor<float> w = weightsBuffer_.Get<float>(), work = workBuffer_.Get<float>(), scalar = sumBuffer_.Get<float>();
    Load(w, inScores_, scores_[static_cast<uint64_t>(o) * length_], length_);
    ReduceMax<float>(scalar, w, work, static_cast<int32_t>(length_));
    const float largest = Scalar(scalar);
    Adds(w, w, -largest, length_);
    PipeBarrier<PIPE_V>();
    Exp(w, w, length_);
    PipeBarrier<PIPE_V>();
    ReduceSum<float>(scalar, w, work, static_cast<int32_t>(length_));
    const float sum = Scalar(scalar);
    Muls(w, w, 1.0f / sum, length_);
    // The rows' weights are read as scalars.
    Scalar(w);
  }
  __aicore__ inline void ByRow(uint32_t o, uint32_t at, uint32_t n) {
    LocalTensor<float> w = weightsBuffer_.Get<float>(), row = rowBuffer_.Get<float>(), acc = accBuffer_.Get<float>();
    Duplicate(acc, 0.0f, n);
    PipeBarrier<PIPE_V>();
    for (uint32_t t = 0; t < length_; ++t) {
      Load(row, inX_, x_[Row(o, t, at)], n);
      Axpy(acc, row, w.GetValue(t), n);
      PipeBarrier<PIPE_V>();
    }
  }
  __aicore__ inline void ByElement(uint32_t o, uint32_t at, uint32_t n) {
    LocalTensor<float> s = weightsBuffer_.Get<float>(), row = rowBuffer_.Get<float>(), acc = accBuffer_.Get<float>(),
                       sum = sumBuffer_.Get<float>(), largest = maxBuffer_.Get<float>();
    Load(largest, inScores_, scores_[Row(o, 0, at)], n);
    for (uint32_t t = 1; t < length_; ++t) {
      Load(s, inScores_, scores_[Row(o, t, at)], n);
      Max(largest, largest, s, n);
      PipeBarrier<PIPE_V>();
    }
    Duplicate(acc, 0.0f, n);
    Duplicate(sum, 0.0f, n);
    PipeBarrier<PIPE_V>();
    for (uint32_t t = 0; t < length_; ++t) {
      Load(s, inScores_, scores_[Row(o, t, at)], n);
      Sub(s, s, largest, n);
      PipeBarrier<PIPE_V>();
      Exp(s, s, n);
      PipeBarrier<PIPE_V>();
      Add(sum, sum, s, n);
      Load(row, inX_, x_[Row(o, t, at)], n);
      Mul(row, row, s, n);
      PipeBarrier<PIPE_V>();
      Add(acc, acc, row, n);
      PipeBarrier<PIPE_V>();
    }
    Div(acc, acc, sum, n);
    PipeBarrier<PIPE_V>();
  }
  __aicore__ inline void Store(uint32_t o, uint32_t at, uint32_t n) {
    LocalTensor<float> acc = accBuffer_.Get<float>();
    LocalTensor<DTYPE_X> y = out_.AllocTensor<DTYPE_X>();
    if constexpr (sizeof(DTYPE_X) == 4)
      Adds(y.template ReinterpretCast<float>(), acc, 0.0f, n);
    else
      Cast(y, acc, RoundMode::CAST_RINT, n);
    out_.EnQue<DTYPE_X>(y);
    y = out_.DeQue<DTYPE_X>();
    DataCopyPad(y_[static_cast<uint64_t>(o) * inner_ + at], y,
                DataCopyExtParams{1, static_cast<uint32_t>(n * sizeof(DTYPE_X)), 0, 0, 0});
    out_.FreeTensor(y);
  }

  TPipe pipe_;
  Queue inScores_, inX_;
  TQue<QuePosition::VECOUT, 1> out_;
  TBuf<QuePosition::VECCALC> weightsBuffer_, workBuffer_, sumBuffer_, accBuffer_, rowBuffer_, maxBuffer_;
  GlobalTensor<DTYPE_X> scores_, x_, y_;
  uint32_t length_ = 0, inner_ = 0;
};

extern "C" __global__ __aicore__ void softmax_mul_reduce_sum(GM_ADDR scores, GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
  GET_TILING_DATA(data, tiling);
  KernelSoftmaxMulReduceSum kernel;
  kernel.Process(scores, x, y, data);
}
