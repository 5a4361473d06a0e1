// The Matmul object: against products in double precision.
#include "ascendc/harness.h"
#include "lib/matmul_intf.h"

using namespace AscendC;
using namespace matmul;

namespace {

using atc::ascendc::Outcome;
using atc::ascendc::testing::find;
using atc::ascendc::testing::launcher;
using atc::ascendc::testing::Launcher;
using atc::ascendc::testing::random;

constexpr int64_t kWorkspace = 1 << 20;

/// Shapes of a product and how it is cut.
struct Shape {
  int m, n, k;
  int single_m, single_n;
  int base_m, base_n, base_k;
  TCubeTiling tiling() const {
    TCubeTiling t{};
    t.usedCoreNum = 1;
    t.M = m;
    t.N = n;
    t.Ka = t.Kb = k;
    t.singleCoreM = single_m;
    t.singleCoreN = single_n;
    t.singleCoreK = k;
    t.baseM = base_m;
    t.baseN = base_n;
    t.baseK = base_k;
    t.depthA1 = t.depthB1 = 2;
    t.stepM = t.stepN = t.stepKa = t.stepKb = 1;
    return t;
  }
};

int up(int n, int to) { return (n + to - 1) / to * to; }

// The way that a matrix of rows x cols is stored.
template <class T>
struct Stored {
  CubeFormat format;
  bool transpose;
  std::vector<T> data;
  int rows, cols;  // stored
  Stored(const std::vector<T>& plain, int r, int c, CubeFormat f, bool t)
      : format(f), transpose(t), rows(t ? c : r), cols(t ? r : c) {
    const int c0 = 32 / static_cast<int>(sizeof(T)), rows16 = up(rows, 16);
    data.resize(f == CubeFormat::NZ ? static_cast<size_t>(up(cols, c0) * rows16) : plain.size());
    for (int i = 0; i < r; ++i)
      for (int j = 0; j < c; ++j) {
        const int y = t ? j : i, x = t ? i : j;
        data[static_cast<size_t>(f == CubeFormat::NZ ? x / c0 * rows16 * c0 + y * c0 + x % c0
                                                     : y * cols + x)] = plain[static_cast<size_t>(i * c + j)];
      }
  }
};

template <class T>
double number(T v) {
  return static_cast<double>(static_cast<float>(v));
}

template <class A, class B, class Bias>
std::vector<double> reference(const std::vector<A>& a, const std::vector<B>& b, const std::vector<Bias>& bias,
                              const Shape& s) {
  std::vector<double> c(static_cast<size_t>(s.m) * s.n);
  for (int i = 0; i < s.m; ++i)
    for (int j = 0; j < s.n; ++j) {
      double sum = bias.empty() ? 0.0 : number(bias[j]);
      for (int l = 0; l < s.k; ++l) sum += number(a[i * s.k + l]) * number(b[l * s.n + j]);
      c[static_cast<size_t>(i) * s.n + j] = sum;
    }
  return c;
}

// One single-core piece for each caller, ragged ones cut with SetTail.
template <class Mm>
bool place(Mm& mm, const TCubeTiling& t, bool ta, bool tb, GlobalTensor<typename Mm::AT>& a,
           GlobalTensor<typename Mm::BT>& b, int64_t& row, int64_t& col) {
  const int64_t down = (t.M + t.singleCoreM - 1) / t.singleCoreM, at = GetBlockIdx();
  row = at % down * t.singleCoreM;
  col = at / down * t.singleCoreN;
  if (col >= t.N) return false;
  if (t.M - row < t.singleCoreM) mm.SetTail(static_cast<int>(t.M - row));
  if (t.N - col < t.singleCoreN) mm.SetTail(-1, static_cast<int>(t.N - col));
  const int64_t ca = 32 / sizeof(typename Mm::AT), ma = up(ta ? t.Ka : t.M, 16), nb = up(tb ? t.N : t.Kb, 16);
  const bool nza = Mm::AType::format == CubeFormat::NZ, nzb = Mm::BType::format == CubeFormat::NZ;
  mm.SetTensorA(a[nza ? (ta ? row / ca * ma * ca : row * ca) : ta ? row : row * t.Ka], ta);
  mm.SetTensorB(b[nzb ? (tb ? col * ca : col / ca * nb * ca) : tb ? col * t.Kb : col], tb);
  return true;
}

template <class AT, class CT, class BiasT, CubeFormat fa = CubeFormat::ND, CubeFormat fb = CubeFormat::ND>
void check(const Shape& s, bool ta, bool tb, double tolerance, bool with_bias, int blocks,
           const char* chip = "Ascend910B3") {
  using Mm =
      Matmul<MatmulType<TPosition::GM, fa, AT, true>, MatmulType<TPosition::GM, fb, AT, true>,
             MatmulType<TPosition::GM, CubeFormat::ND, CT>, MatmulType<TPosition::GM, CubeFormat::ND, BiasT>>;
  constexpr bool whole = std::is_integral_v<AT>;
  auto plain_a = random<AT>(s.m * s.k, whole ? -9 : -1, whole ? 9 : 1, 1),
       plain_b = random<AT>(s.k * s.n, whole ? -9 : -1, whole ? 9 : 1, 2);
  auto bias = with_bias ? random<BiasT>(s.n, -3, 3, 3) : std::vector<BiasT>();
  const auto expected = reference(plain_a, plain_b, bias, s);
  Stored<AT> a(plain_a, s.m, s.k, fa, ta), b(plain_b, s.k, s.n, fb, tb);
  std::vector<BiasT> bias_data = bias;
  bias_data.resize(s.n);
  std::vector<CT> c(static_cast<size_t>(s.m) * s.n);
  std::vector<uint8_t> w(kWorkspace);
  TCubeTiling t = s.tiling();
  auto l = launcher(
      [&](void* const* args) {
        KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
        GET_TILING_DATA_WITH_STRUCT(TCubeTiling, tiling, args[5]);
        TPipe pipe;
        Mm mm;
        REGIST_MATMUL_OBJ(&pipe, (GM_ADDR)args[4], mm, &tiling);
        GlobalTensor<AT> ga, gb;
        GlobalTensor<BiasT> gbias;
        GlobalTensor<CT> gc;
        ga.SetGlobalBuffer((__gm__ AT*)args[0], a.data.size());
        gb.SetGlobalBuffer((__gm__ AT*)args[1], b.data.size());
        gbias.SetGlobalBuffer((__gm__ BiasT*)args[2], s.n);
        gc.SetGlobalBuffer((__gm__ CT*)args[3], s.m * s.n);
        int64_t row = 0, col = 0;
        if (!place(mm, tiling, ta, tb, ga, gb, row, col)) return;
        if (with_bias) mm.SetBias(gbias[col]);
        mm.IterateAll(gc[row * s.n + col]);
        mm.End();
      },
      chip);
  l.arg(a.data, "a")
      .arg(b.data, "b")
      .arg(bias_data, "bias")
      .output(c, "c")
      .arg(w, "workspace")
      .object(t, "tiling");
  const Outcome o = l.blocks(blocks).clean();
  for (size_t i = 0; i < c.size(); ++i) ASSERT_NEAR(number(c[i]), expected[i], tolerance) << i;
  EXPECT_GT(o.stats.busy[static_cast<size_t>(atc::aicore::Pipe::M)], 0);
}

TEST(MatmulObject, AllAtOnceOnEightVectorCores) {
  // 4 pieces of rows by 2 of columns; neither divides, nor does k by its tile.
  const Shape s{200, 150, 100, 50, 80, 32, 48, 64};
  check<half, float, float>(s, false, false, 1e-4, true, 4);
}

TEST(MatmulObject, Transposed) {
  const Shape s{72, 100, 88, 40, 100, 32, 64, 48};
  check<half, float, float>(s, true, false, 1e-4, false, 1);
  check<half, float, float>(s, false, true, 1e-4, true, 1);
  check<half, half, float>(s, true, true, 0.02, true, 1);
  check<bfloat16_t, float, float>(s, true, true, 1e-4, false, 1);
}

TEST(MatmulObject, FloatOperands) {
  const Shape s{40, 56, 44, 40, 56, 32, 32, 24};
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) check<float, float, float>(s, ta, tb, 1e-4, true, 1);
}

TEST(MatmulObject, BytesToInt32) {
  const Shape s{72, 80, 136, 72, 80, 48, 48, 64};
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) check<int8_t, int32_t, int32_t>(s, ta, tb, 0.0, true, 1);
}

TEST(MatmulObject, BlockedFormats) {
  const Shape s{64, 96, 80, 32, 96, 32, 48, 32};
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      check<half, float, float, CubeFormat::NZ, CubeFormat::NZ>(s, ta, tb, 1e-4, false, 1);
      check<half, float, float, CubeFormat::ND, CubeFormat::NZ>(s, ta, tb, 1e-4, true, 1);
    }
  const Shape bytes{64, 96, 96, 64, 96, 64, 96, 32};
  check<int8_t, int32_t, int32_t, CubeFormat::NZ, CubeFormat::NZ>(bytes, true, false, 0.0, false, 1);
  check<float, float, float, CubeFormat::NZ, CubeFormat::NZ>(bytes, true, false, 1e-4, false, 1);
}

TEST(MatmulObject, OneKindOfCore) {
  const Shape s{100, 96, 64, 50, 96, 32, 48, 32};
  check<half, float, float>(s, false, true, 1e-4, true, 2, "Ascend310P3");
}

/// The bias is in the core's own memory; the last tile of columns is a part of one.
void check_local_bias(const char* chip) {
  using Mm =
      Matmul<MatmulType<TPosition::GM, CubeFormat::ND, half>, MatmulType<TPosition::GM, CubeFormat::ND, half>,
             MatmulType<TPosition::GM, CubeFormat::ND, float>,
             MatmulType<TPosition::VECIN, CubeFormat::ND, float>>;
  const Shape s{48, 80, 64, 48, 80, 32, 48, 32};
  auto a = random<half>(s.m * s.k, -1, 1, 4), b = random<half>(s.k * s.n, -1, 1, 5);
  auto bias = random<float>(s.n, -3, 3, 6);
  const auto expected = reference(a, b, bias, s), plain = reference(a, b, std::vector<float>(), s);
  std::vector<float> c(static_cast<size_t>(s.m) * s.n), d(c.size());
  std::vector<uint8_t> w(kWorkspace);
  TCubeTiling t = s.tiling();
  auto l = launcher(
      [&](void* const* args) {
        KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
        GET_TILING_DATA_WITH_STRUCT(TCubeTiling, tiling, args[6]);
        TPipe pipe;
        Mm mm;
        REGIST_MATMUL_OBJ(&pipe, (GM_ADDR)args[5], mm, &tiling);
        if (GetBlockIdx() != 0) return;
        GlobalTensor<half> ga, gb;
        GlobalTensor<float> gbias, gc, gd;
        ga.SetGlobalBuffer((__gm__ half*)args[0], s.m * s.k);
        gb.SetGlobalBuffer((__gm__ half*)args[1], s.k * s.n);
        gbias.SetGlobalBuffer((__gm__ float*)args[2], s.n);
        gc.SetGlobalBuffer((__gm__ float*)args[3], s.m * s.n);
        gd.SetGlobalBuffer((__gm__ float*)args[4], s.m * s.n);
        TBuf<TPosition::VECIN> buffer;
        pipe.InitBuffer(buffer, s.n * 4);
        LocalTensor<float> local = buffer.Get<float>();
        DataCopy(local, gbias, s.n);
        PipeBarrier<PIPE_ALL>();
        mm.SetTensorA(ga);
        mm.SetTensorB(gb);
        mm.SetBias(local);
        mm.IterateAll(gc);
        mm.ClearBias();
        mm.IterateAll(gd);
        mm.End();
      },
      chip);
  l.arg(a, "a")
      .arg(b, "b")
      .arg(bias, "bias")
      .output(c, "c")
      .output(d, "d")
      .arg(w, "workspace")
      .object(t, "tiling");
  l.blocks(1).clean();
  for (size_t i = 0; i < c.size(); ++i) {
    ASSERT_NEAR(c[i], expected[i], 1e-4) << i;
    ASSERT_NEAR(d[i], plain[i], 1e-4) << i;
  }
}

TEST(MatmulObject, BiasOfTheCoresOwnMemory) {
  check_local_bias("Ascend910B3");
  check_local_bias("Ascend310P3");
}

// Tiles into the Unified Buffer, worked on there: the usual fusion with an activation.
struct Fused {
  template <bool sync>
  static void run(const Shape& s, const char* chip, bool a_in_ub) {
    using Mm = Matmul<MatmulType<TPosition::GM, CubeFormat::ND, half>,
                      MatmulType<TPosition::GM, CubeFormat::ND, half>,
                      MatmulType<TPosition::VECIN, CubeFormat::ND, float>>;
    auto a = random<half>(s.m * s.k, -1, 1, 4), b = random<half>(s.k * s.n, -1, 1, 5);
    const auto product = reference(a, b, std::vector<float>(), s);
    std::vector<float> c(static_cast<size_t>(s.m) * s.n);
    std::vector<uint8_t> w(kWorkspace);
    TCubeTiling t = s.tiling();
    auto l = launcher(
        [&](void* const* args) {
          GET_TILING_DATA_WITH_STRUCT(TCubeTiling, tiling, args[4]);
          TPipe pipe;
          Mm mm;
          REGIST_MATMUL_OBJ(&pipe, (GM_ADDR)args[3], mm, &tiling);
          GlobalTensor<half> ga, gb;
          GlobalTensor<float> gc;
          ga.SetGlobalBuffer((__gm__ half*)args[0], s.m * s.k);
          gb.SetGlobalBuffer((__gm__ half*)args[1], s.k * s.n);
          gc.SetGlobalBuffer((__gm__ float*)args[2], s.m * s.n);
          TQue<TPosition::VECIN, 1> rows;
          TQue<TPosition::VECOUT, 1> out;
          pipe.InitBuffer(out, 1, tiling.baseM * tiling.baseN * sizeof(float));
          int64_t row = 0, col = 0;
          if (!place(mm, tiling, false, false, ga, gb, row, col)) return;
          LocalTensor<half> panel;
          if (a_in_ub) {
            pipe.InitBuffer(rows, 1, tiling.singleCoreM * tiling.Ka * sizeof(half));
            panel = rows.AllocTensor<half>();
            DataCopy(panel, ga[row * tiling.Ka], tiling.singleCoreM * tiling.Ka);
            rows.EnQue(panel);
            panel = rows.DeQue<half>();
            mm.SetTensorA(panel);
          }
          const int down = tiling.singleCoreM / tiling.baseM;
          int count = 0;
          auto work = [&] {
            auto x = out.AllocTensor<float>();
            mm.template GetTensorC<sync>(x, false, true);
            LeakyRelu(x, x, 0.1f, tiling.baseM * tiling.baseN);
            out.EnQue(x);
            x = out.DeQue<float>();
            const DataCopyParams p(static_cast<uint16_t>(tiling.baseM),
                                   static_cast<uint16_t>(tiling.baseN / 8), 0,
                                   static_cast<uint16_t>((tiling.N - tiling.baseN) / 8));
            DataCopy(gc[(row + count % down * tiling.baseM) * tiling.N + col + count / down * tiling.baseN],
                     x, p);
            out.FreeTensor(x);
            ++count;
          };
          if constexpr (sync) {
            while (mm.template Iterate<true>()) work();
          } else {
            mm.template Iterate<false>();
            const int tiles = down * (tiling.singleCoreN / tiling.baseN);
            for (int i = 0; i < tiles; ++i) work();
          }
          mm.End();
          if (a_in_ub) rows.FreeTensor(panel);
        },
        chip);
    l.arg(a, "a").arg(b, "b").output(c, "c").arg(w, "workspace").object(t, "tiling");
    l.blocks(2).clean();
    for (size_t i = 0; i < c.size(); ++i)
      ASSERT_NEAR(c[i], product[i] > 0 ? product[i] : 0.1 * product[i], 1e-4) << i;
  }
};

TEST(MatmulObject, TilesIntoTheUnifiedBuffer) {
  // The kernel declares no type: the object makes it a mixed one.
  const Shape s{128, 64, 80, 64, 32, 32, 16, 48};
  Fused::run<true>(s, "Ascend910B3", false);
  Fused::run<false>(s, "Ascend910B3", false);
  Fused::run<true>(s, "Ascend910B3", true);
  const Shape two{128, 64, 80, 64, 64, 32, 16, 48};
  Fused::run<true>(two, "Ascend310P3", false);
  Fused::run<true>(two, "Ascend310P3", true);
}

TEST(MatmulObject, AddsToWhatIsThereAndScales) {
  const Shape s{32, 48, 64, 32, 48, 16, 32, 64};
  auto a = random<int8_t>(s.m * s.k, -9, 9, 6), b = random<int8_t>(s.k * s.n, -9, 9, 7);
  const auto product = reference(a, b, std::vector<int32_t>(), s);
  std::vector<half> c(s.m * s.n), d(s.m * s.n);
  std::vector<int32_t> sum(s.m * s.n, 5);
  std::vector<uint64_t> scales(s.n);
  for (int j = 0; j < s.n; ++j) scales[j] = detail::bits_of(0.01f * static_cast<float>(j + 1));
  std::vector<uint8_t> w(kWorkspace);
  TCubeTiling t = s.tiling();
  using Type = MatmulType<TPosition::GM, CubeFormat::ND, int8_t>;
  auto l = launcher([&](void* const* args) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
    TPipe pipe;
    Matmul<Type, Type, MatmulType<TPosition::GM, CubeFormat::ND, half>> scaled;
    Matmul<Type, Type, MatmulType<TPosition::GM, CubeFormat::ND, int32_t>> added;
    GET_TILING_DATA_WITH_STRUCT(TCubeTiling, tiling, args[7]);
    REGIST_MATMUL_OBJ(&pipe, (GM_ADDR)args[6], scaled, &tiling, added, &tiling);
    GlobalTensor<int8_t> ga, gb;
    GlobalTensor<half> gc, gd;
    GlobalTensor<int32_t> gs;
    GlobalTensor<uint64_t> gscales;
    ga.SetGlobalBuffer((__gm__ int8_t*)args[0]);
    gb.SetGlobalBuffer((__gm__ int8_t*)args[1]);
    gc.SetGlobalBuffer((__gm__ half*)args[2]);
    gd.SetGlobalBuffer((__gm__ half*)args[3]);
    gs.SetGlobalBuffer((__gm__ int32_t*)args[4]);
    gscales.SetGlobalBuffer((__gm__ uint64_t*)args[5]);
    scaled.SetTensorA(ga);
    scaled.SetTensorB(gb);
    scaled.SetQuantScalar(detail::bits_of(0.25f));
    scaled.IterateAll(gc);
    scaled.SetQuantVector(gscales);
    scaled.IterateAll(gd);
    added.SetTensorA(ga);
    added.SetTensorB(gb);
    added.IterateAll<false>(gs, 1);
    added.WaitIterateAll();
    added.End();
  });
  l.arg(a, "a").arg(b, "b").output(c, "c").output(d, "d").arg(sum, "sum").arg(scales, "scales");
  l.arg(w, "workspace").object(t, "tiling").clean();
  for (int i = 0; i < s.m * s.n; ++i) {
    ASSERT_NEAR(number(c[i]), product[i] * 0.25, std::abs(product[i]) * 0.25 / 1024 + 1e-3);
    const double scaled = product[i] * static_cast<double>(0.01f * static_cast<float>(i % s.n + 1));
    ASSERT_NEAR(number(d[i]), scaled, std::abs(scaled) / 1024 + 1e-3);
    ASSERT_EQ(sum[i], static_cast<int32_t>(product[i]) + 5);
  }
}

TEST(MatmulObject, Hf32LosesDigits) {
  const Shape s{16, 16, 16, 16, 16, 16, 16, 16};
  // 1 + 2^-12 is a tie between 1 and 1 + 2^-11 for 11 digits: it becomes the even one, 1.
  std::vector<float> a(256, 0.0f), b(256, 0.0f), c(256);
  for (int i = 0; i < 16; ++i) {
    a[i * 17] = 1.0f + 0x1p-12f;
    b[i * 17] = 1.0f + 0x3p-12f;
  }
  std::vector<uint8_t> w(kWorkspace);
  TCubeTiling t = s.tiling();
  using Type = MatmulType<TPosition::GM, CubeFormat::ND, float>;
  auto l = launcher([&](void* const* args) {
    TPipe pipe;
    Matmul<Type, Type, Type> mm;
    REGIST_MATMUL_OBJ(&pipe, (GM_ADDR)args[3], mm);
    GET_TILING_DATA_WITH_STRUCT(TCubeTiling, tiling, args[4]);
    mm.Init(&tiling);
    if (GetBlockIdx() != 0) return;
    GlobalTensor<float> ga, gb, gc;
    ga.SetGlobalBuffer((__gm__ float*)args[0]);
    gb.SetGlobalBuffer((__gm__ float*)args[1]);
    gc.SetGlobalBuffer((__gm__ float*)args[2]);
    mm.SetHF32(true);
    mm.SetTensorA(ga);
    mm.SetTensorB(gb);
    mm.IterateAll(gc);
  });
  l.arg(a, "a").arg(b, "b").output(c, "c").arg(w, "workspace").object(t, "tiling").clean();
  for (int i = 0; i < 256; ++i) ASSERT_EQ(c[i], i % 17 == 0 ? 1.0f + 0x1p-10f : 0.0f) << i;
}

TEST(MatmulObject, OneResultWhateverTheThreads) {
  const Shape s{128, 64, 96, 32, 32, 32, 32, 32};
  auto run = [&](int threads) {
    auto a = random<half>(s.m * s.k, -1, 1, 8), b = random<half>(s.k * s.n, -1, 1, 9);
    std::vector<float> c(s.m * s.n);
    std::vector<uint8_t> w(kWorkspace);
    TCubeTiling t = s.tiling();
    using Type = MatmulType<TPosition::GM, CubeFormat::ND, half>;
    auto l = launcher([&](void* const* args) {
      TPipe pipe;
      Matmul<Type, Type, MatmulType<TPosition::GM, CubeFormat::ND, float>> mm;
      GET_TILING_DATA_WITH_STRUCT(TCubeTiling, tiling, args[4]);
      REGIST_MATMUL_OBJ(&pipe, (GM_ADDR)args[3], mm, &tiling);
      GlobalTensor<half> ga, gb;
      GlobalTensor<float> gc;
      ga.SetGlobalBuffer((__gm__ half*)args[0]);
      gb.SetGlobalBuffer((__gm__ half*)args[1]);
      gc.SetGlobalBuffer((__gm__ float*)args[2]);
      int64_t row = 0, col = 0;
      if (!place(mm, tiling, false, false, ga, gb, row, col)) return;
      mm.IterateAll(gc[row * s.n + col], 1);
      mm.End();
    });
    l.arg(a, "a").arg(b, "b").arg(c, "c").arg(w, "workspace").object(t, "tiling").blocks(4);
    const Outcome o = l.run(threads);
    EXPECT_TRUE(o.ok()) << atc::ascendc::testing::text(o);
    return std::pair(c, o.stats.cycles);
  };
  const auto one = run(1), four = run(4);
  EXPECT_EQ(one.first, four.first);
  EXPECT_EQ(one.second, four.second);
}

TEST(MatmulObject, Refused) {
  const Shape s{32, 32, 32, 32, 32, 32, 32, 32};
  auto run = [&](TCubeTiling t, int type, int blocks, bool a_in_ub, bool serve) {
    std::vector<half> a(1024, half(1.0f)), b(1024, half(1.0f));
    std::vector<float> c(1024);
    using Type = MatmulType<TPosition::GM, CubeFormat::ND, half>;
    auto l = launcher([&](void* const* args) {
      TPipe pipe;
      Matmul<Type, Type, MatmulType<TPosition::GM, CubeFormat::ND, float>> mm;
      GET_TILING_DATA_WITH_STRUCT(TCubeTiling, tiling, args[3]);
      if ASCEND_IS_AIC {
        if (!serve) return;
      }
      REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &tiling);
      GlobalTensor<half> ga, gb;
      GlobalTensor<float> gc;
      ga.SetGlobalBuffer((__gm__ half*)args[0]);
      gb.SetGlobalBuffer((__gm__ half*)args[1]);
      gc.SetGlobalBuffer((__gm__ float*)args[2]);
      mm.SetTensorA(ga);
      if (a_in_ub) {
        TBuf<> buffer;
        pipe.InitBuffer(buffer, 2048);
        auto x = buffer.Get<half>();
        Duplicate(x, half(1.0f), 1024);
        mm.SetTensorA(x);
      }
      mm.SetTensorB(gb);
      if (GetBlockIdx() == 0) mm.IterateAll(gc);
    });
    l.arg(a, "a").arg(b, "b").arg(c, "c").object(t, "tiling").type(type).blocks(blocks);
    return l.run();
  };
  const int mix = KERNEL_TYPE_MIX_AIC_1_2;
  TCubeTiling t = s.tiling();
  EXPECT_TRUE(run(t, mix, 1, false, true).ok());
  find(run(t, KERNEL_TYPE_AIV_ONLY, 1, false, true), "unit", "needs a cube core");
  find(run(t, mix, 100, false, true), "sync-all", "the Matmul object would never return");
  find(run(t, mix, 1, true, true), "matmul-workspace", "REGIST_MATMUL_OBJ was given none");
  find(run(t, mix, 1, false, false), "deadlock", "a product of its cube core");
  TCubeTiling zero = t;
  zero.baseK = 0;
  find(run(zero, mix, 1, false, true), "matmul-tiling", "baseK 0");
  TCubeTiling large = t;
  large.M = large.N = large.singleCoreM = large.singleCoreN = large.baseM = large.baseN = 512;
  find(run(large, mix, 1, false, true), "buffer-overflow", "a tile of C is 1048576 bytes");
}

}  // namespace
