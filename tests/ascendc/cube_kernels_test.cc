// Cube kernels: LoadData, Mmad and Fixpipe by hand; vector and cube cores that wait for each other.
#include "ascendc/harness.h"
#include "kernel_operator.h"

using namespace AscendC;

namespace {

using atc::ascendc::Outcome;
using atc::ascendc::testing::launcher;
using atc::ascendc::testing::Launcher;
using atc::ascendc::testing::random;

struct MatmulTiling {
  uint32_t m, k, n;
};

// C = A x B, one product a core: rows of A are shared out. m, k, n are multiples of 16.
class KernelMatmul {
 public:
  __aicore__ inline void Init(GM_ADDR a, GM_ADDR b, GM_ADDR c, const MatmulTiling& tiling) {
    m = tiling.m / GetBlockNum();
    k = tiling.k;
    n = tiling.n;
    aGM.SetGlobalBuffer((__gm__ half*)a + GetBlockIdx() * m * k, m * k);
    bGM.SetGlobalBuffer((__gm__ half*)b, k * n);
    cGM.SetGlobalBuffer((__gm__ float*)c + GetBlockIdx() * m * n, m * n);
    pipe.InitBuffer(inQueueA1, 1, m * k * sizeof(half));
    pipe.InitBuffer(inQueueA2, 1, m * k * sizeof(half));
    pipe.InitBuffer(inQueueB1, 1, k * n * sizeof(half));
    pipe.InitBuffer(inQueueB2, 1, k * n * sizeof(half));
    pipe.InitBuffer(outQueueCO1, 1, m * n * sizeof(float));
  }
  __aicore__ inline void Process() {
    CopyIn();
    SplitA();
    SplitB();
    Compute();
    CopyOut();
  }

 private:
  __aicore__ inline void CopyIn() {
    LocalTensor<half> a1 = inQueueA1.AllocTensor<half>();
    LocalTensor<half> b1 = inQueueB1.AllocTensor<half>();
    Nd2NzParams p;
    p.ndNum = 1;
    p.nValue = m;
    p.dValue = k;
    p.srcNdMatrixStride = 0;
    p.srcDValue = k;
    p.dstNzC0Stride = m;
    p.dstNzNStride = 1;
    p.dstNzMatrixStride = 0;
    DataCopy(a1, aGM, p);
    p.nValue = k;
    p.dValue = n;
    p.srcDValue = n;
    p.dstNzC0Stride = k;
    DataCopy(b1, bGM, p);
    inQueueA1.EnQue(a1);
    inQueueB1.EnQue(b1);
  }
  // L1 is [k / 16][m][16], L0A [m / 16][k / 16][16][16].
  __aicore__ inline void SplitA() {
    LocalTensor<half> a1 = inQueueA1.DeQue<half>();
    LocalTensor<half> a2 = inQueueA2.AllocTensor<half>();
    for (uint32_t i = 0; i < m / 16; ++i) {
      LoadData2DParams p;
      p.startIndex = i;
      p.repeatTimes = k / 16;
      p.srcStride = m / 16;
      p.ifTranspose = false;
      LoadData(a2[i * 16 * k], a1, p);
    }
    inQueueA2.EnQue<half>(a2);
    inQueueA1.FreeTensor(a1);
  }
  // L1 is [n / 16][k][16], L0B [k / 16][n / 16][16 n][16 k]: each fractal is turned.
  __aicore__ inline void SplitB() {
    LocalTensor<half> b1 = inQueueB1.DeQue<half>();
    LocalTensor<half> b2 = inQueueB2.AllocTensor<half>();
    for (uint32_t i = 0; i < k / 16; ++i) {
      LoadData2DParams p;
      p.startIndex = i;
      p.repeatTimes = n / 16;
      p.srcStride = k / 16;
      p.ifTranspose = true;
      LoadData(b2[i * 16 * n], b1, p);
    }
    inQueueB2.EnQue<half>(b2);
    inQueueB1.FreeTensor(b1);
  }
  __aicore__ inline void Compute() {
    LocalTensor<half> a2 = inQueueA2.DeQue<half>();
    LocalTensor<half> b2 = inQueueB2.DeQue<half>();
    LocalTensor<float> c1 = outQueueCO1.AllocTensor<float>();
    MmadParams p;
    p.m = m;
    p.n = n;
    p.k = k;
    Mmad(c1, a2, b2, p);
    outQueueCO1.EnQue<float>(c1);
    inQueueA2.FreeTensor(a2);
    inQueueB2.FreeTensor(b2);
  }
  __aicore__ inline void CopyOut() {
    LocalTensor<float> c1 = outQueueCO1.DeQue<float>();
    FixpipeParamsV220 p;
    p.nSize = n;
    p.mSize = m;
    p.srcStride = m;
    p.dstStride = n;
    p.ndNum = 1;
    p.srcNdStride = 0;
    p.dstNdStride = 0;
    Fixpipe(cGM, c1, p);
    outQueueCO1.FreeTensor(c1);
  }

  TPipe pipe;
  TQue<QuePosition::A1, 1> inQueueA1;
  TQue<QuePosition::A2, 1> inQueueA2;
  TQue<QuePosition::B1, 1> inQueueB1;
  TQue<QuePosition::B2, 1> inQueueB2;
  TQue<QuePosition::CO1, 1> outQueueCO1;
  GlobalTensor<half> aGM, bGM;
  GlobalTensor<float> cGM;
  uint16_t m, k, n;
};

extern "C" __global__ __aicore__ void matmul_custom(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace,
                                                    GM_ADDR tiling) {
  (void)workspace;
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
  GET_TILING_DATA_WITH_STRUCT(MatmulTiling, t, tiling);
  KernelMatmul op;
  op.Init(a, b, c, t);
  op.Process();
}

std::vector<double> product(const std::vector<half>& a, const std::vector<half>& b, uint32_t m, uint32_t k,
                            uint32_t n) {
  std::vector<double> c(m * n, 0.0);
  for (uint32_t i = 0; i < m; ++i)
    for (uint32_t l = 0; l < k; ++l)
      for (uint32_t j = 0; j < n; ++j)
        c[i * n + j] += double(float(a[i * k + l])) * double(float(b[l * n + j]));
  return c;
}

TEST(CubeKernels, MatmulByHand) {
  MatmulTiling t{128, 64, 96};
  auto a = random<half>(t.m * t.k, -1, 1, 1), b = random<half>(t.k * t.n, -1, 1, 2);
  std::vector<float> c(t.m * t.n);
  std::vector<uint8_t> w(32);
  const Outcome o = Launcher(detail::entry<matmul_custom>)
                        .arg(a, "a")
                        .arg(b, "b")
                        .arg(c, "c")
                        .arg(w, "workspace")
                        .object(t, "tiling")
                        .blocks(4)
                        .clean();
  const auto expected = product(a, b, t.m, t.k, t.n);
  for (size_t i = 0; i < c.size(); ++i) ASSERT_NEAR(c[i], expected[i], 1e-5) << i;
  EXPECT_EQ(o.cores[3].name, "core3.cubecore0");
  // 32 x 64 x 96: 2 x 4 x 6 steps of 16 x 16 x 16 on each core, and the issue.
  EXPECT_EQ(o.stats.busy[static_cast<size_t>(atc::aicore::Pipe::M)], 4 * (2 * 4 * 6 + 8));
}

// Cube cores multiply, their two vector cores add one to a half each: flags in both directions, two rounds.
extern "C" __global__ __aicore__ void matmul_add(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR out,
                                                 GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
  GET_TILING_DATA_WITH_STRUCT(MatmulTiling, t, tiling);
  uint32_t rows = t.m / GetBlockNum();
  if ASCEND_IS_AIC {
    KernelMatmul op;
    op.Init(a, b, c, t);
    op.Process();
    CrossCoreSetFlag<2, PIPE_FIX>(3);
    CrossCoreWaitFlag(4);
  }
  if ASCEND_IS_AIV {
    CrossCoreWaitFlag(3);
    uint32_t half_rows = rows / GetSubBlockNum(), n = half_rows * t.n;
    GlobalTensor<float> cGM, oGM;
    cGM.SetGlobalBuffer((__gm__ float*)c + GetBlockIdx() * n, n);
    oGM.SetGlobalBuffer((__gm__ float*)out + GetBlockIdx() * n, n);
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
    pipe.InitBuffer(queue, 1, n * sizeof(float));
    auto x = queue.AllocTensor<float>();
    DataCopy(x, cGM, n);
    SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
    WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
    Adds(x, x, 1.0f, n);
    SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
    DataCopy(oGM, x, n);
    queue.FreeTensor(x);
    CrossCoreSetFlag<2, PIPE_MTE3>(4);
  }
}

TEST(CubeKernels, VectorCoresWaitForTheirCube) {
  MatmulTiling t{128, 32, 64};
  auto a = random<half>(t.m * t.k, -1, 1, 1), b = random<half>(t.k * t.n, -1, 1, 2);
  std::vector<float> c(t.m * t.n), out(t.m * t.n);
  const Outcome o = Launcher(detail::entry<matmul_add>)
                        .arg(a, "a")
                        .arg(b, "b")
                        .arg(c, "c")
                        .arg(out, "out")
                        .object(t, "tiling")
                        .blocks(4)
                        .clean();
  const auto expected = product(a, b, t.m, t.k, t.n);
  for (size_t i = 0; i < out.size(); ++i) ASSERT_NEAR(out[i], expected[i] + 1, 1e-5) << i;
  ASSERT_EQ(o.cores.size(), 12U);
  EXPECT_EQ(o.cores[5].name, "core1.veccore1");
  EXPECT_GT(o.cores[1].stats.cycles, 300);  // it waited for the product
}

// Each core adds its part to the total, all wait, then each reads the total.
extern "C" __global__ __aicore__ void sum_all(GM_ADDR x, GM_ADDR total, GM_ADDR y) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  GlobalTensor<float> xGm, totalGm, yGm;
  xGm.SetGlobalBuffer((__gm__ float*)x + GetBlockIdx() * 64, 64);
  totalGm.SetGlobalBuffer((__gm__ float*)total, 64);
  yGm.SetGlobalBuffer((__gm__ float*)y + GetBlockIdx() * 64, 64);
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 256);
  auto t = buffer.Get<float>();
  if (GetBlockIdx() == 0) InitOutput(totalGm, 64, 0.0f);
  SyncAll();
  DataCopy(t, xGm, 64);
  SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
  SetAtomicAdd<float>();
  DataCopy(totalGm, t, 64);
  SetAtomicNone();
  SyncAll();
  DataCopy(t, totalGm, 64);
  SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID1);
  WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID1);
  DataCopy(yGm, t, 64);
}

TEST(CubeKernels, SyncAllOrdersAtomics) {
  constexpr int kBlocks = 40;
  std::vector<float> x(kBlocks * 64), total(64, -1), y(kBlocks * 64);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 13);
  Launcher(detail::entry<sum_all>).arg(x, "x").arg(total, "total").arg(y, "y").blocks(kBlocks).clean();
  for (size_t i = 0; i < 64; ++i) {
    float sum = 0;
    for (size_t b = 0; b < kBlocks; ++b) sum += x[b * 64 + i];
    for (size_t b = 0; b < kBlocks; ++b) ASSERT_EQ(y[b * 64 + i], sum);
  }
}

// The same by flags in memory, which a plain vector kernel may use.
extern "C" __global__ __aicore__ void rotate(GM_ADDR x, GM_ADDR y, GM_ADDR workspace) {
  GlobalTensor<float> xGm, yGm;
  GlobalTensor<int32_t> flags;
  xGm.SetGlobalBuffer((__gm__ float*)x, GetBlockNum() * 8);
  yGm.SetGlobalBuffer((__gm__ float*)y, GetBlockNum() * 8);
  flags.SetGlobalBuffer((__gm__ int32_t*)workspace, GetBlockNum() * 8);
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer, sync;
  pipe.InitBuffer(buffer, 32);
  pipe.InitBuffer(sync, GetBlockNum() * 32);
  auto t = buffer.Get<float>();
  Duplicate(t, static_cast<float>(GetBlockIdx()), 8);
  PipeBarrier<PIPE_ALL>();
  DataCopy(xGm[GetBlockIdx() * 8], t, 8);
  PipeBarrier<PIPE_ALL>();
  SyncAll(flags, sync.Get<int32_t>());
  DataCopy(t, xGm[(GetBlockIdx() + 1) % GetBlockNum() * 8], 8);
  PipeBarrier<PIPE_ALL>();
  DataCopy(yGm[GetBlockIdx() * 8], t, 8);
}

TEST(CubeKernels, SyncAllByFlagsInMemory) {
  std::vector<float> x(64), y(64);
  std::vector<int32_t> w(64);
  Launcher(detail::entry<rotate>).arg(x, "x").arg(y, "y").arg(w, "workspace").blocks(8).clean();
  for (size_t i = 0; i < 64; ++i) ASSERT_EQ(y[i], static_cast<float>((i / 8 + 1) % 8));
}

// Without the wait a core reads what another one writes.
TEST(CubeKernels, ReadingWhatAnotherCoreWritesIsAConflict) {
  std::vector<float> x(16), y(16);
  const Outcome o = launcher([](void* const* a) {
                      GlobalTensor<float> xGm;
                      xGm.SetGlobalBuffer((__gm__ float*)a[0], 16);
                      TPipe pipe;
                      TBuf<TPosition::VECCALC> buffer;
                      pipe.InitBuffer(buffer, 64);
                      auto t = buffer.Get<float>();
                      Duplicate(t, 1.0f, 8);
                      PipeBarrier<PIPE_ALL>();
                      DataCopy(xGm[GetBlockIdx() * 8], t, 8);
                      DataCopy(t[8], xGm[8 - GetBlockIdx() * 8], 8);
                    })
                        .arg(x, "x")
                        .arg(y, "y")
                        .blocks(2)
                        .run();
  EXPECT_NE(atc::ascendc::testing::find(o, "core-conflict").text.find("read and write"), std::string::npos);
}

// Sums of floats by many cores: the same bits on any number of threads; a core sees what it has added itself.
TEST(CubeKernels, AtomicSumsDoNotDependOnTheThreads) {
  auto x = random(60 * 64, -1, 1, 5);
  const auto kernel = [](void* const* a) {
    GlobalTensor<float> xGm, sumGm;
    xGm.SetGlobalBuffer((__gm__ float*)a[0] + GetBlockIdx() * 64, 64);
    sumGm.SetGlobalBuffer((__gm__ float*)a[1], 64);
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 256);
    auto t = buffer.Get<float>();
    DataCopy(t, xGm, 64);
    PipeBarrier<PIPE_ALL>();
    SetAtomicAdd<float>();
    DataCopy(sumGm, t, 64);
    SetAtomicNone();
    PipeBarrier<PIPE_ALL>();
    if (GetBlockNum() == 1) ascendc_assert(sumGm.GetValue(7) == t.GetValue(7) * 2);
    if (GetBlockNum() == 1) sumGm.SetValue(7, 3.0f);
  };
  std::vector<float> one(64), two(64), waves(64), serial(64);
  launcher(kernel).arg(x, "x").arg(one, "sum").blocks(40).clean(1);
  launcher(kernel).arg(x, "x").arg(two, "sum").blocks(40).clean(3);
  launcher(kernel).arg(x, "x").arg(waves, "sum").blocks(60).clean(3);
  EXPECT_EQ(one, two);
  for (size_t b = 0; b < 60; ++b)
    for (size_t i = 0; i < 64; ++i) serial[i] += x[b * 64 + i];
  EXPECT_EQ(waves, serial);
  std::vector<float> own(x.begin(), x.begin() + 64);
  launcher(kernel).arg(x, "x").arg(own, "sum").blocks(1).clean();
  EXPECT_EQ(own[7], 3.0f);
  EXPECT_EQ(own[8], x[8] * 2);
}

// Bias from the bias table, accumulation, conversion to half with ReLU on the way out; the tail of k is a
// part of a fractal.
TEST(CubeKernels, BiasAccumulationAndConversion) {
  constexpr int M = 16, K = 20, N = 16;
  auto a = random<half>(M * K, -1, 1, 1), b = random<half>(K * N, -1, 1, 2);
  auto bias = random(N, -1, 1, 3);
  std::vector<half> c(M * N);
  launcher([](void* const* args) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    GlobalTensor<half> a, b, c;
    GlobalTensor<float> bias;
    a.SetGlobalBuffer((__gm__ half*)args[0], M * K);
    b.SetGlobalBuffer((__gm__ half*)args[1], K * N);
    bias.SetGlobalBuffer((__gm__ float*)args[2], N);
    c.SetGlobalBuffer((__gm__ half*)args[3], M * N);
    TPipe pipe;
    TBuf<TPosition::A1> a1Buf, b1Buf, biasBuf;
    TBuf<TPosition::A2> a2Buf;
    TBuf<TPosition::B2> b2Buf;
    TBuf<TPosition::C2> tableBuf;
    TBuf<TPosition::CO1> cBuf;
    pipe.InitBuffer(a1Buf, M * 32 * sizeof(half));
    pipe.InitBuffer(b1Buf, 32 * N * sizeof(half));
    pipe.InitBuffer(biasBuf, N * sizeof(float));
    pipe.InitBuffer(a2Buf, M * 32 * sizeof(half));
    pipe.InitBuffer(b2Buf, 32 * N * sizeof(half));
    pipe.InitBuffer(tableBuf, N * sizeof(float));
    pipe.InitBuffer(cBuf, M * N * sizeof(float));
    auto a1 = a1Buf.Get<half>(), b1 = b1Buf.Get<half>(), a2 = a2Buf.Get<half>(), b2 = b2Buf.Get<half>();
    auto table = tableBuf.Get<float>(), bias1 = biasBuf.Get<float>(), co1 = cBuf.Get<float>();
    DataCopy(a1, a, Nd2NzParams(1, M, K, 0, K, M, 1, 0));
    DataCopy(b1, b, Nd2NzParams(1, K, N, 0, N, 32, 1, 0));
    DataCopy(bias1, bias, N);
    PipeBarrier<PIPE_ALL>();
    LoadData(a2, a1, LoadData2DParams(0, 2, 1, 0, 0, false, 0));
    LoadData(b2, b1, LoadData2DParams(0, 2, 1, 0, 0, true, 0));
    DataCopy(table, bias1, N);
    PipeBarrier<PIPE_ALL>();
    Mmad(co1, a2, b2, table, MmadParams(M, N, K, 0, true, true));
    PipeBarrier<PIPE_M>();
    Mmad(co1, a2, b2, MmadParams(M, N, K, 0, false, false));
    PipeBarrier<PIPE_ALL>();
    FixpipeParamsV220 p(N, M, M, N, true);
    p.quantPre = F322F16;
    Fixpipe(c, co1, p);
  })
      .arg(a, "a")
      .arg(b, "b")
      .arg(bias, "bias")
      .output(c, "c")
      .clean();
  const auto expected = product(a, b, M, K, N);
  for (int i = 0; i < M * N; ++i)
    ASSERT_NEAR(float(c[i]), std::max(0.0, 2 * expected[i] + double(bias[i % N])), 0.01) << i;
}

// 3 x 3 windows of a 6 x 5 plane with padding: rows of L0A are output pixels.
TEST(CubeKernels, LoadOfConvolutionColumns) {
  constexpr int H = 6, W = 5, C0 = 16, PIXELS = 32, K = 9 * C0;
  auto x = random<half>(H * W * C0, -1, 1, 1);
  std::vector<half> eye(K * 16), y(PIXELS * 16);
  // The product with one column of each tap: column t of the result is channel 3 of tap t.
  for (int t = 0; t < 9; ++t) eye[(t * 16 + 3) * 16 + t] = half(1);
  launcher([](void* const* args) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    GlobalTensor<half> x, w, y;
    x.SetGlobalBuffer((__gm__ half*)args[0], H * W * C0);
    w.SetGlobalBuffer((__gm__ half*)args[1], K * 16);
    y.SetGlobalBuffer((__gm__ half*)args[2], PIXELS * 16);
    TPipe pipe;
    TBuf<TPosition::A1> x1Buf, w1Buf;
    TBuf<TPosition::A2> a2Buf;
    TBuf<TPosition::B2> b2Buf;
    TBuf<TPosition::CO1> cBuf;
    pipe.InitBuffer(x1Buf, H * W * 32);
    pipe.InitBuffer(w1Buf, K * 32);
    pipe.InitBuffer(a2Buf, PIXELS * K * 2);
    pipe.InitBuffer(b2Buf, K * 32);
    pipe.InitBuffer(cBuf, PIXELS * 16 * 4);
    DataCopy(x1Buf.Get<half>(), x, H * W * C0);
    DataCopy(w1Buf.Get<half>(), w, K * 16);
    PipeBarrier<PIPE_ALL>();
    LoadData3DParamsV2<half> p;
    for (int i = 0; i < 4; ++i) p.padList[i] = 1;
    p.l1H = H;
    p.l1W = W;
    p.channelSize = C0;
    p.kExtension = K;
    p.mExtension = PIXELS;
    p.filterW = p.filterH = 3;
    LoadData(a2Buf.Get<half>(), x1Buf.Get<half>(), p);
    LoadData(b2Buf.Get<half>(), w1Buf.Get<half>(), LoadData2DParams(0, 9, 1, 0, 0, true, 0));
    PipeBarrier<PIPE_ALL>();
    Mmad(cBuf.Get<float>(), a2Buf.Get<half>(), b2Buf.Get<half>(), MmadParams(PIXELS, 16, K, 0, false, true));
    PipeBarrier<PIPE_ALL>();
    FixpipeParamsV220 out(16, PIXELS, PIXELS, 16, false);
    out.quantPre = F322F16;
    Fixpipe(y, cBuf.Get<float>(), out);
  })
      .arg(x, "x")
      .arg(eye, "w")
      .output(y, "y")
      .clean();
  for (int pixel = 0; pixel < H * W; ++pixel)
    for (int t = 0; t < 9; ++t) {
      const int r = pixel / W + t / 3 - 1, c = pixel % W + t % 3 - 1;
      const float expected = r < 0 || r >= H || c < 0 || c >= W ? 0.0f : float(x[(r * W + c) * C0 + 3]);
      ASSERT_EQ(float(y[pixel * 16 + t]), expected) << pixel << " " << t;
    }
}

}  // namespace
