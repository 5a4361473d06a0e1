// Calls that few kernels use: pools of buffers, flags between blocks, lists of tensors, im2col to L0B, the
// HF32 mode, L0C to the Unified Buffer.
#include "ascendc/harness.h"
#include "lib/matmul_intf.h"

using namespace AscendC;

namespace {

using atc::ascendc::testing::find;
using atc::ascendc::testing::launcher;
using atc::ascendc::testing::random;
using atc::ascendc::testing::text;

double number(half v) { return static_cast<double>(static_cast<float>(v)); }

TEST(Forms, PoolsTakeTurnsInTheirMemory) {
  auto in = random<float>(128, -1, 1, 1);
  std::vector<float> out(128);
  auto l = launcher([](void* const* args) {
    GlobalTensor<float> gi, go;
    gi.SetGlobalBuffer((__gm__ float*)args[0], 128);
    go.SetGlobalBuffer((__gm__ float*)args[1], 128);
    TPipe pipe;
    TBufPool<TPosition::VECCALC> first;
    TBufPool<TPosition::VECCALC> second;
    pipe.InitBufPool(first, 512);
    pipe.InitBufPool(second, 512, first);
    std::uint64_t begin[2] = {0, 0};
    for (int i = 0; i < 2; ++i) {
      TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> q;
      TBuf<TPosition::VECCALC> scratch;
      auto& pool = i == 0 ? first : second;
      pool.InitBuffer(q, 1, 256);
      pool.InitBuffer(scratch, 256);
      auto x = q.AllocTensor<float>();
      begin[i] = reinterpret_cast<std::uint64_t>(x.GetPhyAddr());
      DataCopy(x, gi[i * 64], 64);
      q.EnQue(x);
      x = q.DeQue<float>();
      DataCopy(go[i * 64], x, 64);
      q.FreeTensor(x);
      pool.Reset();
    }
    ASCENDC_ASSERT(begin[0] == begin[1], {});
  });
  l.arg(in, "in").output(out, "out").clean();
  EXPECT_EQ(in, out);

  auto overflow = launcher([](void* const*) {
    TPipe pipe;
    TBufPool<TPosition::VECCALC> pool;
    TQue<TPosition::VECIN, 1> q;
    pipe.InitBufPool(pool, 512);
    pool.InitBuffer(q, 3, 256);
  });
  find(overflow.arg(in, "in").run(), "buffer-overflow",
       "768 bytes of UB are asked for, 512 of the pool's 512");
  auto larger = launcher([](void* const*) {
    TPipe pipe;
    TBufPool<TPosition::VECCALC> pool, other;
    pipe.InitBufPool(pool, 512);
    pipe.InitBufPool(other, 1024, pool);
  });
  find(larger.arg(in, "in").run(), "buffer-size", "InitBufPool of 1024 bytes over a pool of 512");
  auto unset = launcher([](void* const*) {
    TPipe pipe;
    TBufPool<TPosition::VECCALC> pool;
    TBuf<> b;
    pool.InitBuffer(b, 64);
  });
  find(unset.arg(in, "in").run(), "queue-state", "InitBufPool has not set up");
}

// Each block adds to what the one before has left.
atc::ascendc::Outcome chain(std::vector<float>& data, int event) {
  std::vector<int32_t> flags(1024, 0);
  auto l = launcher([event](void* const* args) {
    GlobalTensor<float> g;
    GlobalTensor<int32_t> sync;
    g.SetGlobalBuffer((__gm__ float*)args[0], 8);
    sync.SetGlobalBuffer((__gm__ int32_t*)args[1], 1024);
    TPipe pipe;
    TBuf<> a, b;
    pipe.InitBuffer(a, 32);
    pipe.InitBuffer(b, 32 * 8);
    auto x = a.Get<float>();
    const int i = static_cast<int>(GetBlockIdx());
    if (i != 0) IBWait(sync, b.Get<int32_t>(), i - 1, event);
    DataCopy(x, g, 8);
    PipeBarrier<PIPE_ALL>();
    Muls(x, x, 2.0f, 8);
    Adds(x, x, static_cast<float>(i), 8);
    PipeBarrier<PIPE_ALL>();
    DataCopy(g, x, 8);
    IBSet(sync, b.Get<int32_t>(), i, 0);
  });
  l.arg(data, "data").arg(flags, "flags").blocks(5);
  return l.run();
}

TEST(Forms, FlagsFromBlockToBlock) {
  std::vector<float> data(8, 1.0f);
  const auto o = chain(data, 0);
  EXPECT_TRUE(o.diagnostics.empty()) << text(o);
  // ((((1 * 2 + 0) * 2 + 1) * 2 + 2) * 2 + 3) * 2 + 4
  for (const float v : data) EXPECT_EQ(v, 58.0f);
  EXPECT_GT(o.cores[4].stats.cycles, o.cores[0].stats.cycles);
  find(chain(data, 1), "deadlock", "IBSet of block 0, event 1");
}

TEST(Forms, ListsOfTensors) {
  auto a = random<float>(32, -1, 1, 2), b = random<float>(16, -1, 1, 3);
  std::vector<float> out(16);
  // Offset of the addresses; dimensions of both; addresses.
  std::vector<uint64_t> list = {48,
                                2,
                                4,
                                8,
                                1 | std::uint64_t{1} << 32,
                                16,
                                reinterpret_cast<uint64_t>(a.data()),
                                reinterpret_cast<uint64_t>(b.data())};
  auto l = launcher([](void* const* args) {
    ListTensorDesc tensors(args[0]);
    ASCENDC_ASSERT(tensors.GetSize() == 2, {});
    uint64_t shape[4] = {};
    TensorDesc<float> desc;
    desc.SetShapeAddr(shape);
    tensors.GetDesc(desc, 0);
    ASCENDC_ASSERT(desc.GetDim() == 2 && desc.GetShape(0) == 4 && desc.GetShape(1) == 8, {});
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> q;
    pipe.InitBuffer(q, 1, 64);
    GlobalTensor<float> second, out;
    second.SetGlobalBuffer(tensors.GetDataPtr<float>(1), 16);
    out.SetGlobalBuffer((__gm__ float*)args[1], 16);
    auto x = q.AllocTensor<float>();
    DataCopy(x, second, 16);
    q.EnQue(x);
    x = q.DeQue<float>();
    DataCopy(out, x, 16);
    q.FreeTensor(x);
  });
  l.arg(list, "list").output(out, "out");
  l.launch().memory.push_back({reinterpret_cast<std::byte*>(a.data()), 128, "first"});
  l.launch().memory.push_back({reinterpret_cast<std::byte*>(b.data()), 64, "second"});
  l.clean();
  EXPECT_EQ(out, b);
}

// A (16 x 9 pixels) times the columns of a 2 x 2 filter over 4 x 4 pixels of 16 channels.
TEST(Forms, ColumnsToL0B) {
  auto a = random<half>(256, -1, 1, 4), image = random<half>(256, -1, 1, 5);
  std::vector<float> c(16 * 64);
  auto l = launcher([](void* const* args) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    GlobalTensor<half> ga, gi;
    GlobalTensor<float> gc;
    ga.SetGlobalBuffer((__gm__ half*)args[0], 256);
    gi.SetGlobalBuffer((__gm__ half*)args[1], 256);
    gc.SetGlobalBuffer((__gm__ float*)args[2], 1024);
    TPipe pipe;
    TBuf<TPosition::A1> a1;
    TBuf<TPosition::B1> b1;
    TBuf<TPosition::A2> a2;
    TBuf<TPosition::B2> b2;
    TBuf<TPosition::CO1> co1;
    pipe.InitBuffer(a1, 512);
    pipe.InitBuffer(b1, 512);
    pipe.InitBuffer(a2, 512);
    pipe.InitBuffer(b2, 2048);
    pipe.InitBuffer(co1, 4096);
    DataCopy(a1.Get<half>(), ga, 256);
    DataCopy(b1.Get<half>(), gi, 256);
    PipeBarrier<PIPE_ALL>();
    LoadData2DParams p;
    p.repeatTimes = 1;
    LoadData(a2.Get<half>(), a1.Get<half>(), p);
    LoadData3DParamsV2<half> columns;
    columns.l1H = columns.l1W = 4;
    columns.channelSize = 16;
    columns.kExtension = 64;
    columns.mExtension = 16;
    columns.filterW = columns.filterH = 2;
    LoadData(b2.Get<half>(), b1.Get<half>(), columns);
    PipeBarrier<PIPE_ALL>();
    MmadParams m;
    m.m = 16;
    m.n = 64;
    m.k = 9;
    Mmad(co1.Get<float>(), a2.Get<half>(), b2.Get<half>(), m);
    PipeBarrier<PIPE_ALL>();
    SetFixpipeNz2ndFlag(1, 0, 0);
    DataCopy(gc, co1.Get<float>(), DataCopyCO12DstParams(64, 16, 64, 16, NoQuant, 0, false, true));
  });
  l.arg(a, "a").arg(image, "image").output(c, "c").clean();
  for (int i = 0; i < 16; ++i)
    for (int tap = 0; tap < 4; ++tap)
      for (int ch = 0; ch < 16; ++ch) {
        double sum = 0;
        for (int pixel = 0; pixel < 9; ++pixel) {
          const int y = pixel / 3 + tap / 2, x = pixel % 3 + tap % 2;
          sum += number(a[i * 16 + pixel]) * number(image[(y * 4 + x) * 16 + ch]);
        }
        ASSERT_NEAR(c[i * 64 + tap * 16 + ch], sum, 1e-5);
      }
}

TEST(Forms, Hf32Mode) {
  // 1 + 2^-11 - 2^-13: to nearest 1 + 2^-11, toward zero 1.
  std::vector<float> a(256, 0.0f), b(256, 0.0f);
  for (int i = 0; i < 16; ++i) {
    a[i * 17] = 1.0f + 0x1p-11f - 0x1p-13f;
    b[i * 17] = 1.0f;
  }
  auto run = [&](bool on, bool toward_zero) {
    std::vector<float> c(256);
    TCubeTiling t{};
    t.M = t.N = t.Ka = t.Kb = t.singleCoreM = t.singleCoreN = t.singleCoreK = t.baseM = t.baseN = t.baseK =
        16;
    t.depthA1 = t.depthB1 = 1;
    using Type = MatmulType<TPosition::GM, CubeFormat::ND, float>;
    auto l = launcher([=](void* const* args) {
      KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
      GET_TILING_DATA_WITH_STRUCT(TCubeTiling, tiling, args[3]);
      TPipe pipe;
      Matmul<Type, Type, Type> mm;
      REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &tiling);
      SetHF32TransMode(toward_zero);
      SetHF32Mode(on);
      GlobalTensor<float> ga, gb, gc;
      ga.SetGlobalBuffer((__gm__ float*)args[0], 256);
      gb.SetGlobalBuffer((__gm__ float*)args[1], 256);
      gc.SetGlobalBuffer((__gm__ float*)args[2], 256);
      mm.SetTensorA(ga);
      mm.SetTensorB(gb);
      mm.IterateAll(gc);
      SetHF32Mode(false);
    });
    l.arg(a, "a").arg(b, "b").output(c, "c").object(t, "tiling").clean();
    return c[17];
  };
  EXPECT_EQ(run(false, false), 1.0f + 0x1p-11f - 0x1p-13f);
  EXPECT_EQ(run(true, false), 1.0f + 0x1p-11f);
  EXPECT_EQ(run(true, true), 1.0f);
}

void product_to_ub(void* const* args) {
  GlobalTensor<half> ga, gb, gc;
  ga.SetGlobalBuffer((__gm__ half*)args[0], 512);
  gb.SetGlobalBuffer((__gm__ half*)args[1], 256);
  gc.SetGlobalBuffer((__gm__ half*)args[2], 512);
  TPipe pipe;
  TBuf<TPosition::A1> a1;
  TBuf<TPosition::B1> b1;
  TBuf<TPosition::A2> a2;
  TBuf<TPosition::B2> b2;
  TBuf<TPosition::CO1> co1;
  TBuf<TPosition::CO2> co2;
  pipe.InitBuffer(a1, 1024);
  pipe.InitBuffer(b1, 512);
  pipe.InitBuffer(a2, 1024);
  pipe.InitBuffer(b2, 512);
  pipe.InitBuffer(co1, 2048);
  pipe.InitBuffer(co2, 1024);
  DataCopy(a1.Get<half>(), ga, 512);
  DataCopy(b1.Get<half>(), gb, 256);
  PipeBarrier<PIPE_ALL>();
  LoadData2DParams p;
  p.repeatTimes = 2;
  p.srcStride = 1;
  LoadData(a2.Get<half>(), a1.Get<half>(), p);
  p.repeatTimes = 1;
  p.ifTranspose = true;
  LoadData(b2.Get<half>(), b1.Get<half>(), p);
  PipeBarrier<PIPE_ALL>();
  MmadParams m;
  m.m = 32;
  m.n = m.k = 16;
  Mmad(co1.Get<float>(), a2.Get<half>(), b2.Get<half>(), m);
  PipeBarrier<PIPE_ALL>();
  // One column of two fractals, to half, negative ones to zero.
  DataCopyEnhancedParams enhanced;
  enhanced.blockMode = BlockMode::BLOCK_MODE_MATRIX;
  enhanced.isRelu = true;
  DataCopy(co2.Get<half>(), co1.Get<float>(), DataCopyParams(1, 2, 0, 0), enhanced);
  PipeBarrier<PIPE_ALL>();
  DataCopy(gc, co2.Get<half>(), 512);
}

TEST(Forms, ProductsToTheUnifiedBuffer) {
  auto a = random<half>(512, -1, 1, 6), b = random<half>(256, -1, 1, 7);
  std::vector<half> c(512);
  launcher(product_to_ub, "Ascend310P3").arg(a, "a").arg(b, "b").output(c, "c").clean();
  for (int i = 0; i < 32; ++i)
    for (int j = 0; j < 16; ++j) {
      double sum = 0;
      for (int l = 0; l < 16; ++l) sum += number(a[i * 16 + l]) * number(b[l * 16 + j]);
      ASSERT_NEAR(number(c[i * 16 + j]), std::max(sum, 0.0), 4e-3) << i << " " << j;
    }
  // Cores of their own have no way from one's L0C to the other's Unified Buffer.
  auto l = launcher(product_to_ub);
  find(l.type(KERNEL_TYPE_AIC_ONLY).arg(a, "a").arg(b, "b").arg(c, "c").run(), "unit",
       "has it on another core");
}

TEST(Forms, BitsOfBytes) {
  std::vector<uint8_t> a(64), b(64), c(128);
  for (int i = 0; i < 64; ++i) {
    a[i] = static_cast<uint8_t>(i * 37);
    b[i] = static_cast<uint8_t>(i * 91 + 5);
  }
  auto l = launcher([](void* const* args) {
    GlobalTensor<int8_t> ga, gb, gc;
    ga.SetGlobalBuffer((__gm__ int8_t*)args[0], 64);
    gb.SetGlobalBuffer((__gm__ int8_t*)args[1], 64);
    gc.SetGlobalBuffer((__gm__ int8_t*)args[2], 128);
    TPipe pipe;
    TBuf<> t;
    pipe.InitBuffer(t, 256);
    auto x = t.Get<int8_t>();
    DataCopy(x, ga, 64);
    DataCopy(x[64], gb, 64);
    PipeBarrier<PIPE_ALL>();
    And(x[128], x, x[64], 64);
    Or(x[192], x, x[64], 64);
    PipeBarrier<PIPE_ALL>();
    DataCopy(gc, x[128], 128);
  });
  l.arg(a, "a").arg(b, "b").output(c, "c").clean();
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(c[i], a[i] & b[i]);
    EXPECT_EQ(c[64 + i], a[i] | b[i]);
  }
}

}  // namespace
