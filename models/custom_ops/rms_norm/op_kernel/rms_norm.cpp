// y = x / sqrt(mean(x * x) + epsilon) * gamma over the last axis, summed in fp32. Each core takes whole rows.
#include "kernel_operator.h"
using namespace AscendC;

class KernelRmsNorm {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR gamma, GM_ADDR y, uint32_t rows, uint32_t rowsPerCore, uint32_t width,
                              float epsilon) {
    const uint32_t first = GetBlockIdx() * rowsPerCore;
    rows_ = rows - first < rowsPerCore ? rows - first : rowsPerCore;
    width_ = width;
    epsilon_ = epsilon;
    x_.SetGlobalBuffer((__gm__ DTYPE_X*)x + static_cast<uint64_t>(first) * width, static_cast<uint64_t>(rows_) * width);
    y_.SetGlobalBuffer((__gm__ DTYPE_X*)y + static_cast<uint64_t>(first) * width, static_cast<uint64_t>(rows_) * width);
    gamma_.SetGlobalBuffer((__gm__ DTYPE_X*)gamma, width);
    const uint32_t padded = (width + 63) / 64 * 64;
    pipe_.InitBuffer(in_, 1, padded * sizeof(DTYPE_X));
    pipe_.InitBuffer(out_, 1, padded * sizeof(DTYPE_X));
    pipe_.InitBuffer(gammaIn_, 1, padded * sizeof(DTYPE_X));
    pipe_.InitBuffer(gammaFloat_, padded * sizeof(float));
    pipe_.InitBuffer(row_, padded * sizeof(float));
    pipe_.InitBuffer(square_, padded * sizeof(float));
    pipe_.InitBuffer(sum_, 64 * sizeof(float));
  }
  __aicore__ inline void Process() {
    LocalTensor<DTYPE_X> gamma = gammaIn_.AllocTensor<DTYPE_X>();
    CopyRow(gamma, gamma_);
    gammaIn_.EnQue(gamma);
    gamma = gammaIn_.DeQue<DTYPE_X>();
    LocalTensor<float> scale = gammaFloat_.Get<float>();
    ToFloat(scale, gamma);
    gammaIn_.FreeTensor(gamma);
    for (uint32_t r = 0; r < rows_; ++r) {
      LocalTensor<DTYPE_X> x = in_.AllocTensor<DTYPE_X>();
      CopyRow(x, x_[static_cast<uint64_t>(r) * width_]);
      in_.EnQue(x);
      Compute(scale);
      LocalTensor<DTYPE_X> y = out_.DeQue<DTYPE_X>();
      DataCopyPad(y_[static_cast<uint64_t>(r) * width_], y, Bytes());
      out_.FreeTensor(y);
    }
  }

 private:
  __aicore__ inline DataCopyExtParams Bytes() const {
    return DataCopyExtParams{1, static_cast<uint32_t>(width_ * sizeof(DTYPE_X)), 0, 0, 0};
  }
  __aicore__ inline void CopyRow(const LocalTensor<DTYPE_X>& to, const GlobalTensor<DTYPE_X>& from) {
    constexpr uint32_t perBlock = 32 / sizeof(DTYPE_X);
    const uint8_t missing = static_cast<uint8_t>((perBlock - width_ % perBlock) % perBlock);
    DataCopyPad(to, from, Bytes(), DataCopyPadExtParams<DTYPE_X>{true, 0, missing, static_cast<DTYPE_X>(0)});
  }
  __aicore__ inline void ToFloat(const LocalTensor<float>& to, const LocalTensor<DTYPE_X>& from) {
    if constexpr (sizeof(DTYPE_X) == 4)
      Adds(to, from.template ReinterpretCast<float>(), 0.0f, width_);
    else
      Cast(to, from, RoundMode::CAST_NONE, width_);
  }
  __aicore__ inline void FromFloat(const LocalTensor<DTYPE_X>& to, const LocalTensor<float>& from) {
    if constexpr (sizeof(DTYPE_X) == 4)
      Adds(to.template ReinterpretCast<float>(), from, 0.0f, width_);
    else
      Cast(to, from, RoundMode::CAST_RINT, width_);
  }
  __aicore__ inline void Compute(const LocalTensor<float>& scale) {
    LocalTensor<DTYPE_X> x = in_.DeQue<DTYPE_X>();
    LocalTensor<float> row = row_.Get<float>(), square = square_.Get<float>(), sum = sum_.Get<float>();
    ToFloat(row, x);
    in_.FreeTensor(x);
    PipeBarrier<PIPE_V>();
    Mul(square, row, row, width_);
    PipeBarrier<PIPE_V>();
    ReduceSum<float>(sum, square, square, width_);
    const event_t ready = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::V_S));
    SetFlag<HardEvent::V_S>(ready);
    WaitFlag<HardEvent::V_S>(ready);
    const float mean = sum.GetValue(0) / static_cast<float>(width_);
    const event_t go = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::S_V));
    SetFlag<HardEvent::S_V>(go);
    WaitFlag<HardEvent::S_V>(go);
    // The root by the vector unit, on one element: the scalar unit has none.
    Duplicate(sum, mean + epsilon_, 8);
    PipeBarrier<PIPE_V>();
    Sqrt(sum, sum, 8);
    const event_t root = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::V_S));
    SetFlag<HardEvent::V_S>(root);
    WaitFlag<HardEvent::V_S>(root);
    const float factor = 1.0f / sum.GetValue(0);
    const event_t back = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::S_V));
    SetFlag<HardEvent::S_V>(back);
    WaitFlag<HardEvent::S_V>(back);
    Muls(row, row, factor, width_);
    PipeBarrier<PIPE_V>();
    Mul(row, row, scale, width_);
    PipeBarrier<PIPE_V>();
    LocalTensor<DTYPE_X> y = out_.AllocTensor<DTYPE_X>();
    FromFloat(y, row);
    out_.EnQue<DTYPE_X>(y);
  }

  TPipe pipe_;
  TQue<QuePosition::VECIN, 1> in_, gammaIn_;
  TQue<QuePosition::VECOUT, 1> out_;
  TBuf<QuePosition::VECCALC> gammaFloat_, row_, square_, sum_;
  GlobalTensor<DTYPE_X> x_, gamma_, y_;
  uint32_t rows_ = 0, width_ = 0;
  float epsilon_ = 0;
};

extern "C" __global__ __aicore__ void rms_norm(GM_ADDR x, GM_ADDR gamma, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
  GET_TILING_DATA(data, tiling);
  KernelRmsNorm kernel;
  kernel.Init(x, gamma, y, data.rows, data.rowsPerCore, data.width, data.epsilon);
  kernel.Process();
}
