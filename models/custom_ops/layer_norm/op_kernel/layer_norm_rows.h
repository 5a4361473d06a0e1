// y = (x - mean) / sqrt(variance + epsilon) * gamma + beta over the last axis, in fp32. Each core takes whole
// rows. With two buffers the next row is on its way while this one is computed, and the last one leaves
// meanwhile; with one buffer each step waits for the one before.
#pragma once
#include "kernel_operator.h"

template <uint32_t kBuffers>
class KernelLayerNorm {
 public:
  template <class Tiling>
  __aicore__ inline void Process(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, const Tiling& t) {
    const uint32_t first = AscendC::GetBlockIdx() * t.rowsPerCore;
    const uint32_t rows = t.rows - first < t.rowsPerCore ? t.rows - first : t.rowsPerCore;
    width_ = t.width;
    epsilon_ = t.epsilon;
    const uint64_t skip = static_cast<uint64_t>(first) * width_;
    x_.SetGlobalBuffer((__gm__ DTYPE_X*)x + skip, static_cast<uint64_t>(rows) * width_);
    y_.SetGlobalBuffer((__gm__ DTYPE_X*)y + skip, static_cast<uint64_t>(rows) * width_);
    gamma_.SetGlobalBuffer((__gm__ DTYPE_X*)gamma, width_);
    beta_.SetGlobalBuffer((__gm__ DTYPE_X*)beta, width_);
    const uint32_t padded = (width_ + 63) / 64 * 64;
    pipe_.InitBuffer(in_, kBuffers, padded * sizeof(DTYPE_X));
    pipe_.InitBuffer(out_, kBuffers, padded * sizeof(DTYPE_X));
    for (auto* buffer : {&gammaBuffer_, &betaBuffer_, &rowBuffer_, &workBuffer_})
      pipe_.InitBuffer(*buffer, padded * sizeof(float));
    pipe_.InitBuffer(sumBuffer_, 32);
    Parameter(gammaBuffer_.Get<float>(), gamma_);
    Parameter(betaBuffer_.Get<float>(), beta_);
    if (kBuffers > 1) CopyIn(0);
    for (uint32_t r = 0; r < rows; ++r) {
      const uint32_t next = kBuffers > 1 ? r + 1 : r;
      if (next < rows) CopyIn(next);
      Compute();
      CopyOut(r);
    }
  }

 private:
  __aicore__ inline AscendC::DataCopyExtParams Bytes() const {
    return AscendC::DataCopyExtParams{1, static_cast<uint32_t>(width_ * sizeof(DTYPE_X)), 0, 0, 0};
  }
  __aicore__ inline void CopyRow(const AscendC::GlobalTensor<DTYPE_X>& from) {
    constexpr uint32_t perBlock = 32 / sizeof(DTYPE_X);
    const uint8_t missing = static_cast<uint8_t>((perBlock - width_ % perBlock) % perBlock);
    AscendC::LocalTensor<DTYPE_X> x = in_.template AllocTensor<DTYPE_X>();
    AscendC::DataCopyPad(x, from, Bytes(),
                         AscendC::DataCopyPadExtParams<DTYPE_X>{true, 0, missing, static_cast<DTYPE_X>(0)});
    in_.EnQue(x);
  }
  __aicore__ inline void CopyIn(uint32_t r) { CopyRow(x_[static_cast<uint64_t>(r) * width_]); }
  // The row that came in, as fp32.
  __aicore__ inline void Take(const AscendC::LocalTensor<float>& to) {
    AscendC::LocalTensor<DTYPE_X> x = in_.template DeQue<DTYPE_X>();
    if constexpr (sizeof(DTYPE_X) == 4)
      AscendC::Adds(to, x.template ReinterpretCast<float>(), 0.0f, width_);
    else
      AscendC::Cast(to, x, AscendC::RoundMode::CAST_NONE, width_);
    in_.FreeTensor(x);
    AscendC::PipeBarrier<PIPE_V>();
  }
  __aicore__ inline void Parameter(const AscendC::LocalTensor<float>& to,
                                   const AscendC::GlobalTensor<DTYPE_X>& from) {
    CopyRow(from);
    Take(to);
  }
  // The mean of the row, in a register.
  __aicore__ inline float Mean(const AscendC::LocalTensor<float>& row) {
    AscendC::LocalTensor<float> sum = sumBuffer_.Get<float>(), work = workBuffer_.Get<float>();
    AscendC::ReduceSum<float>(sum, row, work, static_cast<int32_t>(width_));
    return Scalar(sum) / static_cast<float>(width_);
  }
  __aicore__ inline float Scalar(const AscendC::LocalTensor<float>& from) {
    const event_t ready = static_cast<event_t>(AscendC::GetTPipePtr()->FetchEventID(AscendC::HardEvent::V_S));
    AscendC::SetFlag<AscendC::HardEvent::V_S>(ready);
    AscendC::WaitFlag<AscendC::HardEvent::V_S>(ready);
    const float value = from.GetValue(0);
    const event_t go = static_cast<event_t>(AscendC::GetTPipePtr()->FetchEventID(AscendC::HardEvent::S_V));
    AscendC::SetFlag<AscendC::HardEvent::S_V>(go);
    AscendC::WaitFlag<AscendC::HardEvent::S_V>(go);
    return value;
  }
  __aicore__ inline void Compute() {
    AscendC::LocalTensor<float> row = rowBuffer_.Get<float>(), work = workBuffer_.Get<float>(),
                                sum = sumBuffer_.Get<float>();
    Take(row);
    const float mean = Mean(row);
    AscendC::Adds(row, row, -mean, width_);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Mul(work, row, row, width_);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::ReduceSum<float>(sum, work, work, static_cast<int32_t>(width_));
    AscendC::PipeBarrier<PIPE_V>();
    // The root by the vector unit: the scalar unit has none.
    AscendC::Muls(sum, sum, 1.0f / static_cast<float>(width_), 1);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Adds(sum, sum, epsilon_, 1);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Sqrt(sum, sum, 1);
    const float factor = 1.0f / Scalar(sum);
    AscendC::Muls(row, row, factor, width_);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Mul(row, row, gammaBuffer_.Get<float>(), width_);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::LocalTensor<DTYPE_X> y = out_.template AllocTensor<DTYPE_X>();
    if constexpr (sizeof(DTYPE_X) == 4) {
      AscendC::Add(y.template ReinterpretCast<float>(), row, betaBuffer_.Get<float>(), width_);
    } else {
      AscendC::Add(row, row, betaBuffer_.Get<float>(), width_);
      AscendC::PipeBarrier<PIPE_V>();
      AscendC::Cast(y, row, AscendC::RoundMode::CAST_RINT, width_);
    }
    out_.template EnQue<DTYPE_X>(y);
  }
  __aicore__ inline void CopyOut(uint32_t r) {
    AscendC::LocalTensor<DTYPE_X> y = out_.template DeQue<DTYPE_X>();
    AscendC::DataCopyPad(y_[static_cast<uint64_t>(r) * width_], y, Bytes());
    out_.FreeTensor(y);
  }

  AscendC::TPipe pipe_;
  AscendC::TQue<AscendC::QuePosition::VECIN, 1> in_;
  AscendC::TQue<AscendC::QuePosition::VECOUT, 1> out_;
  AscendC::TBuf<AscendC::QuePosition::VECCALC> gammaBuffer_, betaBuffer_, rowBuffer_, workBuffer_, sumBuffer_;
  AscendC::GlobalTensor<DTYPE_X> x_, y_, gamma_, beta_;
  uint32_t width_ = 0;
  float epsilon_ = 0;
};
