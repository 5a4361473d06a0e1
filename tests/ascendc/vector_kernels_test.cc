// Kernels of the programming guide's kinds, written as for the hardware, against formulas in double
// precision.
#include "ascendc/harness.h"
#include "kernel_operator.h"

using namespace AscendC;

namespace {

constexpr int32_t BUFFER_NUM = 2;

struct AddTiling {
  uint32_t totalLength;
  uint32_t tileNum;
};

template <class T>
class KernelAdd {
 public:
  __aicore__ inline KernelAdd() {}
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t totalLength, uint32_t tileNum) {
    this->blockLength = totalLength / GetBlockNum();
    this->tileNum = tileNum;
    this->tileLength = this->blockLength / tileNum / BUFFER_NUM;
    xGm.SetGlobalBuffer((__gm__ T*)x + this->blockLength * GetBlockIdx(), this->blockLength);
    yGm.SetGlobalBuffer((__gm__ T*)y + this->blockLength * GetBlockIdx(), this->blockLength);
    zGm.SetGlobalBuffer((__gm__ T*)z + this->blockLength * GetBlockIdx(), this->blockLength);
    pipe.InitBuffer(inQueueX, BUFFER_NUM, this->tileLength * sizeof(T));
    pipe.InitBuffer(inQueueY, BUFFER_NUM, this->tileLength * sizeof(T));
    pipe.InitBuffer(outQueueZ, BUFFER_NUM, this->tileLength * sizeof(T));
  }
  __aicore__ inline void Process() {
    int32_t loopCount = this->tileNum * BUFFER_NUM;
    for (int32_t i = 0; i < loopCount; i++) {
      CopyIn(i);
      Compute(i);
      CopyOut(i);
    }
  }

 private:
  __aicore__ inline void CopyIn(int32_t progress) {
    LocalTensor<T> xLocal = inQueueX.template AllocTensor<T>();
    LocalTensor<T> yLocal = inQueueY.template AllocTensor<T>();
    DataCopy(xLocal, xGm[progress * this->tileLength], this->tileLength);
    DataCopy(yLocal, yGm[progress * this->tileLength], this->tileLength);
    inQueueX.EnQue(xLocal);
    inQueueY.EnQue(yLocal);
  }
  __aicore__ inline void Compute(int32_t) {
    LocalTensor<T> xLocal = inQueueX.template DeQue<T>();
    LocalTensor<T> yLocal = inQueueY.template DeQue<T>();
    LocalTensor<T> zLocal = outQueueZ.template AllocTensor<T>();
    Add(zLocal, xLocal, yLocal, this->tileLength);
    outQueueZ.template EnQue<T>(zLocal);
    inQueueX.FreeTensor(xLocal);
    inQueueY.FreeTensor(yLocal);
  }
  __aicore__ inline void CopyOut(int32_t progress) {
    LocalTensor<T> zLocal = outQueueZ.template DeQue<T>();
    DataCopy(zGm[progress * this->tileLength], zLocal, this->tileLength);
    outQueueZ.FreeTensor(zLocal);
  }

  TPipe pipe;
  TQue<QuePosition::VECIN, BUFFER_NUM> inQueueX, inQueueY;
  TQue<QuePosition::VECOUT, BUFFER_NUM> outQueueZ;
  GlobalTensor<T> xGm, yGm, zGm;
  uint32_t blockLength;
  uint32_t tileNum;
  uint32_t tileLength;
};

extern "C" __global__ __aicore__ void add_custom(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace,
                                                 GM_ADDR tiling) {
  (void)workspace;
  REGISTER_TILING_DEFAULT(AddTiling);
  GET_TILING_DATA(tilingData, tiling);
  if (TILING_KEY_IS(1)) {
    KernelAdd<half> op;
    op.Init(x, y, z, tilingData.totalLength, tilingData.tileNum);
    op.Process();
  } else if (TILING_KEY_IS(2)) {
    KernelAdd<float> op;
    op.Init(x, y, z, tilingData.totalLength, tilingData.tileNum);
    op.Process();
  }
}

using atc::ascendc::Outcome;
using atc::ascendc::testing::Launcher;
using atc::ascendc::testing::random;

template <class T>
Outcome add(std::vector<T>& x, std::vector<T>& y, std::vector<T>& z, uint64_t key, int blocks,
            AddTiling tiling) {
  std::vector<uint8_t> workspace(32);
  return Launcher(detail::entry<add_custom>)
      .arg(x, "x")
      .arg(y, "y")
      .arg(z, "z")
      .arg(workspace, "workspace")
      .object(tiling, "tiling")
      .blocks(blocks)
      .key(key)
      .clean();
}

TEST(VectorKernels, AddOfHalfOnEightCores) {
  auto x = random<half>(8 * 2048, -100, 100, 1), y = random<half>(8 * 2048, -100, 100, 2);
  std::vector<half> z(x.size());
  const Outcome o = add(x, y, z, 1, 8, {8 * 2048, 8});
  for (size_t i = 0; i < z.size(); ++i) ASSERT_EQ(float(z[i]), float(half(float(x[i]) + float(y[i])))) << i;
  EXPECT_EQ(o.cores.size(), 8U);
  EXPECT_EQ(o.stats.gm_read, 2 * 8 * 2048 * 2 + 8 * 8);
  EXPECT_EQ(o.stats.gm_written, 8 * 2048 * 2);
  EXPECT_GT(o.stats.cycles, 0);
}

TEST(VectorKernels, TilingKeySelectsTheType) {
  auto x = random(4096, -1, 1, 1), y = random(4096, -1, 1, 2);
  std::vector<float> z(x.size());
  add(x, y, z, 2, 4, {4096, 2});
  for (size_t i = 0; i < z.size(); ++i) ASSERT_EQ(z[i], x[i] + y[i]);
}

// 64 blocks on 40 cores: the last 24 follow.
TEST(VectorKernels, MoreBlocksThanCores) {
  auto x = random(64 * 512, -1, 1, 1), y = random(64 * 512, -1, 1, 2);
  std::vector<float> z(x.size());
  const Outcome o = add(x, y, z, 2, 64, {64 * 512, 1});
  for (size_t i = 0; i < z.size(); ++i) ASSERT_EQ(z[i], x[i] + y[i]);
  EXPECT_EQ(o.cores[0].begin, 0);
  EXPECT_GE(o.cores[63].begin, o.cores[0].stats.cycles);
}

// A launch of its own argument list: scalars are passed by value. `buffers` of each queue; tiles of 1,024.
template <int buffers>
__global__ __aicore__ void scale(GM_ADDR x, GM_ADDR y, uint32_t tiles, float factor) {
  constexpr uint32_t TILE = 4096;
  GlobalTensor<float> xGm, yGm;
  xGm.SetGlobalBuffer((__gm__ float*)x + GetBlockIdx() * tiles * TILE, tiles * TILE);
  yGm.SetGlobalBuffer((__gm__ float*)y + GetBlockIdx() * tiles * TILE, tiles * TILE);
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  TQue<TPosition::VECOUT, 1> out;
  pipe.InitBuffer(in, buffers, TILE * sizeof(float));
  pipe.InitBuffer(out, buffers, TILE * sizeof(float));
  for (uint32_t i = 0; i < tiles; ++i) {
    auto a = in.AllocTensor<float>();
    DataCopy(a, xGm[i * TILE], TILE);
    in.EnQue(a);
    a = in.DeQue<float>();
    auto b = out.AllocTensor<float>();
    Muls(b, a, factor, TILE);
    for (int k = 0; k < 12; ++k) Adds(b, b, 1.0f, TILE);
    in.FreeTensor(a);
    out.EnQue(b);
    b = out.DeQue<float>();
    DataCopy(yGm[i * TILE], b, TILE);
    out.FreeTensor(b);
  }
}

TEST(VectorKernels, DoubleBufferingIsFaster) {
  auto x = random(2 * 16 * 4096, -1, 1, 1);
  std::vector<float> y(x.size());
  auto cycles = [&](AtcKernel kernel) {
    const Outcome o = Launcher(kernel).arg(x, "x").arg(y, "y").scalar(16u).scalar(3.0f).blocks(2).clean();
    for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], x[i] * 3 + 12, 1e-5);
    return o.stats;
  };
  const auto one = cycles(detail::entry<scale<1>>), two = cycles(detail::entry<scale<2>>);
  EXPECT_EQ(one.busy, two.busy);
  EXPECT_LT(two.cycles * 10, one.cycles * 7) << "copies and arithmetic overlap";
}

// With one more core at work for the same data, the same bits; checks and fast mode agree in time too.
TEST(VectorKernels, FastModeGivesTheSameValuesAndTimes) {
  auto x = random(16 * 4096, -1, 1, 1);
  std::vector<float> y(x.size()), z(x.size());
  const Outcome a =
      Launcher(detail::entry<scale<2>>).arg(x, "x").arg(y, "y").scalar(8u).scalar(3.0f).blocks(2).clean(1);
  const Outcome b = Launcher(detail::entry<scale<2>>)
                        .arg(x, "x")
                        .arg(z, "y")
                        .scalar(8u)
                        .scalar(3.0f)
                        .blocks(2)
                        .fast()
                        .clean(2);
  EXPECT_EQ(y, z);
  EXPECT_EQ(a.stats.cycles, b.stats.cycles);
}

// Chips with one kind of core, and smaller ones.
TEST(VectorKernels, OtherChips) {
  for (const char* chip : {"Ascend310P3", "Ascend910B4", "Ascend910A", "Ascend310B1"}) {
    if (!atc::soc::find_chip(chip).ok()) continue;
    auto x = random(2 * 4096, -1, 1, 1);
    std::vector<float> y(x.size());
    Launcher(detail::entry<scale<2>>, chip)
        .arg(x, "x")
        .output(y, "y")
        .scalar(2u)
        .scalar(3.0f)
        .blocks(1)
        .clean();
    for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], x[i] * 3 + 12, 1e-5) << chip;
  }
}

TEST(VectorKernels, TracesAndMarks) {
  std::vector<float> x(4096, 1.0f);
  auto launcher = atc::ascendc::testing::launcher([](void* const*) {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 4096);
    auto t = buffer.Get<float>();
    TRACE_START(7);
    Duplicate(t, 1.0f, 1024);
    PipeBarrier<PIPE_ALL>();
    TRACE_STOP(7);
    printf("%.1f of %d\n", t.GetValue(3), 1024);
  });
  launcher.launch().trace = true;
  const Outcome o = launcher.clean();
  ASSERT_EQ(o.cores.size(), 1U);
  ASSERT_EQ(o.cores[0].marks.size(), 2U);
  EXPECT_EQ(o.cores[0].marks[0].id, 7);
  EXPECT_LE(o.cores[0].marks[0].at, o.cores[0].marks[1].at);
  EXPECT_EQ(o.printed, "1.0 of 1024\n");
  bool found = false;
  for (const auto& e : o.cores[0].trace)
    if (e.name == "Duplicate") {
      found = true;
      EXPECT_EQ(e.end - e.start, 8 + 16);  // issue, and 4,096 bytes at 256 a cycle
    }
  EXPECT_TRUE(found);
}

}  // namespace
