// Row-wise kernels: leaky ReLU, RMS norm and softmax with tails, as written for the hardware.
#include "ascendc/harness.h"
#include "kernel_operator.h"

using namespace AscendC;

namespace {

struct RowTiling {
  uint32_t rows;
  uint32_t cols;
  float value;
};

__aicore__ inline uint32_t AlignUp(uint32_t n, uint32_t to) { return (n + to - 1) / to * to; }

class KernelLeakyRelu {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t total, float slope) {
    this->slope = slope;
    length = total / GetBlockNum();
    xGm.SetGlobalBuffer((__gm__ half*)x + length * GetBlockIdx(), length);
    yGm.SetGlobalBuffer((__gm__ half*)y + length * GetBlockIdx(), length);
    pipe.InitBuffer(inQueue, 2, TILE * sizeof(half));
    pipe.InitBuffer(outQueue, 2, TILE * sizeof(half));
  }
  __aicore__ inline void Process() {
    for (uint32_t at = 0; at < length; at += TILE) {
      uint32_t n = length - at < TILE ? length - at : TILE;
      LocalTensor<half> x = inQueue.AllocTensor<half>();
      DataCopyExtParams copy{1, static_cast<uint32_t>(n * sizeof(half)), 0, 0, 0};
      DataCopyPadExtParams<half> pad{true, 0, 0, half(0)};
      DataCopyPad(x, xGm[at], copy, pad);
      inQueue.EnQue(x);
      x = inQueue.DeQue<half>();
      LocalTensor<half> y = outQueue.AllocTensor<half>();
      LeakyRelu(y, x, static_cast<half>(slope), static_cast<int32_t>(n));
      outQueue.EnQue(y);
      inQueue.FreeTensor(x);
      y = outQueue.DeQue<half>();
      DataCopyPad(yGm[at], y, copy);
      outQueue.FreeTensor(y);
    }
  }

 private:
  static constexpr uint32_t TILE = 1024;
  TPipe pipe;
  TQue<TPosition::VECIN, 1> inQueue;
  TQue<TPosition::VECOUT, 1> outQueue;
  GlobalTensor<half> xGm, yGm;
  uint32_t length;
  float slope;
};

extern "C" __global__ __aicore__ void leaky_relu(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
  (void)workspace;
  GET_TILING_DATA_WITH_STRUCT(RowTiling, t, tiling);
  KernelLeakyRelu op;
  op.Init(x, y, t.rows * t.cols, t.value);
  op.Process();
}

// y = x / sqrt(mean(x^2) + eps) * gamma, rows of any length.
class KernelRmsNorm {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR gamma, GM_ADDR y, const RowTiling& tiling) {
    t = tiling;
    padded = AlignUp(t.cols, 8);
    xGm.SetGlobalBuffer((__gm__ float*)x);
    gammaGm.SetGlobalBuffer((__gm__ float*)gamma, t.cols);
    yGm.SetGlobalBuffer((__gm__ float*)y);
    pipe.InitBuffer(inQueue, 2, padded * sizeof(float));
    pipe.InitBuffer(gammaQueue, 1, padded * sizeof(float));
    pipe.InitBuffer(outQueue, 2, padded * sizeof(float));
    pipe.InitBuffer(squareBuf, padded * sizeof(float));
    pipe.InitBuffer(workBuf, AlignUp(padded, 64) * sizeof(float));
    pipe.InitBuffer(sumBuf, 32);
  }
  __aicore__ inline void Process() {
    DataCopyExtParams copy{1, static_cast<uint32_t>(t.cols * sizeof(float)), 0, 0, 0};
    DataCopyPadExtParams<float> pad{true, 0, 0, 0.0f};
    LocalTensor<float> gamma = gammaQueue.AllocTensor<float>();
    DataCopyPad(gamma, gammaGm, copy, pad);
    gammaQueue.EnQue(gamma);
    gamma = gammaQueue.DeQue<float>();
    for (uint32_t row = GetBlockIdx(); row < t.rows; row += GetBlockNum()) {
      LocalTensor<float> x = inQueue.AllocTensor<float>();
      DataCopyPad(x, xGm[row * t.cols], copy, pad);
      inQueue.EnQue(x);
      x = inQueue.DeQue<float>();
      LocalTensor<float> square = squareBuf.Get<float>();
      LocalTensor<float> sum = sumBuf.Get<float>();
      LocalTensor<float> y = outQueue.AllocTensor<float>();
      Mul(square, x, x, static_cast<int32_t>(t.cols));
      PipeBarrier<PIPE_V>();
      ReduceSum(sum, square, workBuf.Get<float>(), static_cast<int32_t>(t.cols));
      Muls(sum, sum, 1.0f / t.cols, 1);
      Adds(sum, sum, t.value, 1);
      Sqrt(sum, sum, 1);
      event_t done = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::V_S));
      SetFlag<HardEvent::V_S>(done);
      WaitFlag<HardEvent::V_S>(done);
      float scale = 1.0f / sum.GetValue(0);
      Muls(y, x, scale, static_cast<int32_t>(t.cols));
      Mul(y, y, gamma, static_cast<int32_t>(t.cols));
      outQueue.EnQue(y);
      inQueue.FreeTensor(x);
      y = outQueue.DeQue<float>();
      DataCopyPad(yGm[row * t.cols], y, copy);
      outQueue.FreeTensor(y);
    }
    gammaQueue.FreeTensor(gamma);
  }

 private:
  TPipe pipe;
  TQue<TPosition::VECIN, 1> inQueue, gammaQueue;
  TQue<TPosition::VECOUT, 1> outQueue;
  TBuf<TPosition::VECCALC> squareBuf, workBuf, sumBuf;
  GlobalTensor<float> xGm, gammaGm, yGm;
  RowTiling t;
  uint32_t padded;
};

extern "C" __global__ __aicore__ void rms_norm(GM_ADDR x, GM_ADDR gamma, GM_ADDR y, GM_ADDR workspace,
                                               GM_ADDR tiling) {
  (void)workspace;
  GET_TILING_DATA_WITH_STRUCT(RowTiling, t, tiling);
  KernelRmsNorm op;
  op.Init(x, gamma, y, t);
  op.Process();
}

// Softmax over rows, the maximum and the sum by WholeReduce and Brcb without a scalar detour.
extern "C" __global__ __aicore__ void softmax_rows(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
  (void)workspace;
  GET_TILING_DATA_WITH_STRUCT(RowTiling, t, tiling);
  constexpr uint32_t COLS = 64, ROWS = 8;
  TPipe pipe;
  TQue<TPosition::VECIN, 1> inQueue;
  TQue<TPosition::VECOUT, 1> outQueue;
  TBuf<TPosition::VECCALC> rowBuf, wideBuf;
  pipe.InitBuffer(inQueue, 2, ROWS * COLS * sizeof(float));
  pipe.InitBuffer(outQueue, 2, ROWS * COLS * sizeof(float));
  pipe.InitBuffer(rowBuf, ROWS * sizeof(float));
  pipe.InitBuffer(wideBuf, ROWS * 32);
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer((__gm__ float*)x, t.rows * COLS);
  yGm.SetGlobalBuffer((__gm__ float*)y, t.rows * COLS);
  for (uint32_t row = GetBlockIdx() * ROWS; row < t.rows; row += GetBlockNum() * ROWS) {
    auto in = inQueue.AllocTensor<float>();
    DataCopy(in, xGm[row * COLS], ROWS * COLS);
    inQueue.EnQue(in);
    in = inQueue.DeQue<float>();
    auto out = outQueue.AllocTensor<float>();
    auto scalar = rowBuf.Get<float>();
    auto wide = wideBuf.Get<float>();
    BinaryRepeatParams byRow(1, 1, 0, 8, 8, 1);
    WholeReduceMax<float>(scalar, in, 64, ROWS, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);
    PipeBarrier<PIPE_V>();
    Brcb(wide, scalar, 1, {1, 8});
    PipeBarrier<PIPE_V>();
    Sub(out, in, wide, 64, ROWS, byRow);
    PipeBarrier<PIPE_V>();
    Exp(out, out, ROWS * COLS);
    PipeBarrier<PIPE_V>();
    WholeReduceSum(scalar, out, 64, ROWS, 1, 1, 8);
    PipeBarrier<PIPE_V>();
    Brcb(wide, scalar, 1, {1, 8});
    PipeBarrier<PIPE_V>();
    Div(out, out, wide, 64, ROWS, byRow);
    inQueue.FreeTensor(in);
    outQueue.EnQue(out);
    out = outQueue.DeQue<float>();
    DataCopy(yGm[row * COLS], out, ROWS * COLS);
    outQueue.FreeTensor(out);
  }
}

using atc::ascendc::testing::Launcher;
using atc::ascendc::testing::random;

TEST(NormKernels, LeakyReluWithATail) {
  RowTiling t{1, 8 * 1500, 0.125f};
  auto x = random<half>(t.cols, -4, 4, 3);
  std::vector<half> y(x.size());
  std::vector<uint8_t> w(32);
  Launcher(detail::entry<leaky_relu>)
      .arg(x, "x")
      .arg(y, "y")
      .arg(w, "workspace")
      .object(t, "tiling")
      .blocks(8)
      .clean();
  for (size_t i = 0; i < y.size(); ++i)
    ASSERT_EQ(float(y[i]), float(half(float(x[i]) < 0 ? float(x[i]) * 0.125f : float(x[i])))) << i;
}

TEST(NormKernels, RmsNormOfRowsThatFillNoBlocks) {
  for (uint32_t cols : {8u, 37u, 64u, 1001u}) {
    RowTiling t{19, cols, 1e-5f};
    auto x = random(19 * cols, -3, 3, cols), gamma = random(cols, 0.5f, 2, 7);
    std::vector<float> y(x.size());
    std::vector<uint8_t> w(32);
    Launcher(detail::entry<rms_norm>)
        .arg(x, "x")
        .arg(gamma, "gamma")
        .arg(y, "y")
        .arg(w, "workspace")
        .object(t, "tiling")
        .blocks(4)
        .clean();
    for (size_t r = 0; r < 19; ++r) {
      double sum = 0;
      for (size_t c = 0; c < cols; ++c) sum += double(x[r * cols + c]) * double(x[r * cols + c]);
      const double scale = 1.0 / std::sqrt(sum / cols + double(t.value));
      for (size_t c = 0; c < cols; ++c)
        ASSERT_NEAR(y[r * cols + c], double(x[r * cols + c]) * scale * double(gamma[c]), 2e-6)
            << r << " " << c;
    }
  }
}

TEST(NormKernels, SoftmaxByRepeats) {
  RowTiling t{32, 64, 0};
  auto x = random(32 * 64, -8, 8, 5);
  std::vector<float> y(x.size());
  std::vector<uint8_t> w(32);
  Launcher(detail::entry<softmax_rows>)
      .arg(x, "x")
      .arg(y, "y")
      .arg(w, "workspace")
      .object(t, "tiling")
      .blocks(2)
      .clean();
  for (size_t r = 0; r < 32; ++r) {
    double sum = 0, high = -1e30;
    for (size_t c = 0; c < 64; ++c) high = std::max(high, double(x[r * 64 + c]));
    for (size_t c = 0; c < 64; ++c) sum += std::exp(double(x[r * 64 + c]) - high);
    for (size_t c = 0; c < 64; ++c)
      ASSERT_NEAR(y[r * 64 + c], std::exp(double(x[r * 64 + c]) - high) / sum, 1e-6);
  }
}

}  // namespace
