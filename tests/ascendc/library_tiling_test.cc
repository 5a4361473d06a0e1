// Tilings of the high-level library, as op_host asks for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tiling/tiling_api.h"

namespace {

using matmul_tiling::DataType;
using matmul_tiling::MatmulApiTiling;
using matmul_tiling::MultiCoreMatmulTiling;
using matmul_tiling::TPosition;

template <class Tiling>
Tiling made(int m, int n, int k, DataType in = DataType::DT_FLOAT16, DataType out = DataType::DT_FLOAT,
            TPosition c = TPosition::GM) {
  Tiling t;
  t.SetAType(TPosition::GM, CubeFormat::ND, in);
  t.SetBType(TPosition::GM, CubeFormat::ND, in);
  t.SetCType(c, CubeFormat::ND, out);
  t.SetBiasType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT);
  t.SetShape(m, n, k);
  t.SetOrgShape(m, n, k);
  t.EnableBias(true);
  t.SetBufferSpace(-1, -1, -1);
  return t;
}

TEST(LibraryTiling, TilesFitTheMemoriesOfACore) {
  for (const DataType type : {DataType::DT_FLOAT16, DataType::DT_FLOAT, DataType::DT_INT8})
    for (const int m : {1, 17, 200, 4096})
      for (const int n : {16, 100, 3000})
        for (const int k : {8, 64, 1000, 20000})
          for (const TPosition c : {TPosition::GM, TPosition::VECIN}) {
            auto t = made<MatmulApiTiling>(m, n, k, type, DataType::DT_FLOAT, c);
            AscendC::tiling::TCubeTiling out{};
            ASSERT_EQ(t.GetTiling(out), 0) << m << " " << n << " " << k;
            const int size = type == DataType::DT_FLOAT  ? 4
                             : type == DataType::DT_INT8 ? 1
                                                         : 2,
                      c0 = 32 / size;
            // Double buffers of L0A and L0B, a tile of floats in L0C, half of the UB for a tile of C.
            EXPECT_LE(out.baseM * out.baseK * size * 2, 65536);
            EXPECT_LE(out.baseN * out.baseK * size * 2, 65536);
            EXPECT_LE(out.baseM * out.baseN * 4, c == TPosition::GM ? 131072 : 98304);
            EXPECT_EQ(out.baseM % 16 + out.baseN % 16 + out.baseK % c0, 0);
            EXPECT_LE((out.depthA1 * out.baseM + out.depthB1 * out.baseN) * out.baseK * size, 512 << 10);
            EXPECT_GE(out.depthA1, 1);
            EXPECT_EQ(out.singleCoreM, m);
            EXPECT_EQ(out.isBias, 1);
          }
}

TEST(LibraryTiling, CoresShareAProduct) {
  for (const int cores : {1, 7, 20, 40})
    for (const int m : {64, 1000, 8192})
      for (const int n : {48, 1000, 4096}) {
        auto t = made<MultiCoreMatmulTiling>(m, n, 256);
        t.SetDim(cores);
        optiling::TCubeTiling out;
        ASSERT_EQ(t.GetTiling(out), 0);
        const int down = (m + out.get_singleCoreM() - 1) / out.get_singleCoreM(),
                  across = (n + out.get_singleCoreN() - 1) / out.get_singleCoreN();
        EXPECT_EQ(down * across, out.get_usedCoreNum());
        EXPECT_LE(out.get_usedCoreNum(), cores);
        if (m % 16 == 0 && n % 16 == 0 && cores == 20 && m > 1000 && n > 1000) {
          EXPECT_EQ(out.get_usedCoreNum(), 20);
        }
        std::int32_t dim = 0, dm = 0, dn = 0;
        t.GetCoreNum(dim, dm, dn);
        EXPECT_EQ(dim, down * across);
        EXPECT_EQ(dm, down);
      }
}

TEST(LibraryTiling, PiecesAreWholeTilesThatTheUserFixes) {
  for (const int cores : {4, 20, 40, 48}) {
    auto t = made<MultiCoreMatmulTiling>(1024, 640, 256, DataType::DT_FLOAT16, DataType::DT_FLOAT,
                                         TPosition::VECIN);
    t.SetDim(cores);
    t.SetFixSplit(-1, 160, -1);
    optiling::TCubeTiling out;
    ASSERT_EQ(t.GetTiling(out), 0) << cores;
    EXPECT_EQ(out.get_baseN(), 160) << cores;
    EXPECT_EQ(out.get_singleCoreN() % 160, 0) << cores;
    // Pieces of one shape where they cost little more than others.
    if (cores == 4 || cores == 40) {
      EXPECT_EQ(1024 % out.get_singleCoreM() + 640 % out.get_singleCoreN(), 0) << cores;
    }
    EXPECT_GE(out.get_usedCoreNum() * 10, cores * 7) << cores;
  }
}

TEST(LibraryTiling, RefusesWhatCannotBeCut) {
  AscendC::tiling::TCubeTiling out{};
  auto large = made<MatmulApiTiling>(512, 512, 64);
  large.SetFixSplit(512, 512, 64);
  testing::internal::CaptureStderr();
  EXPECT_EQ(large.GetTiling(out), -1);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("Matmul tiling of 512 x 64 x 512 failed: a tile of C (baseM x baseN)"));
  auto deep = made<MatmulApiTiling>(128, 128, 4096);
  deep.SetFixSplit(128, 128, 2048);
  testing::internal::CaptureStderr();
  EXPECT_EQ(deep.GetTiling(out), -1);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("do not fit L0A or L0B"));
  auto few = made<MultiCoreMatmulTiling>(1024, 1024, 64);
  few.SetDim(3);
  few.SetSingleShape(256, 1024, 64);
  testing::internal::CaptureStderr();
  EXPECT_EQ(few.GetTiling(out), -1);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("fewer cores"));
  MatmulApiTiling nothing;
  testing::internal::CaptureStderr();
  EXPECT_EQ(nothing.GetTiling(out), -1);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("SetShape"));
}

namespace my {
using namespace optiling;
BEGIN_TILING_DATA_DEF(MyTiling)
TILING_DATA_FIELD_DEF(std::uint32_t, rows);
TILING_DATA_FIELD_DEF_STRUCT(TCubeTiling, cube)
TILING_DATA_FIELD_DEF_STRUCT(SoftMaxTiling, softmax)
TILING_DATA_FIELD_DEF_STRUCT(LayerNormTiling, norm)
END_TILING_DATA_DEF;
}  // namespace my

// What a kernel has of them.
struct alignas(8) MyTilingOfKernel {
  std::uint32_t rows;
  AscendC::tiling::TCubeTiling cube;
  AscendC::tiling::SoftMaxTiling softmax;
  AscendC::tiling::LayerNormTiling norm;
};

TEST(LibraryTiling, KernelsReadWhatTheHostHasWritten) {
  my::MyTiling host;
  host.set_rows(7);
  auto t = made<MatmulApiTiling>(100, 200, 300);
  ASSERT_EQ(t.GetTiling(host.cube), 0);
  AscendC::SoftMaxTilingFunc(ge::Shape({12, 64}), 4, 2048, host.softmax);
  AscendC::GetLayerNormNDTilingInfo(ge::Shape({2, 3, 64}), 4096, 4, false, host.norm);
  MyTilingOfKernel kernel{};
  ASSERT_EQ(host.GetDataSize(), sizeof kernel);
  host.SaveToBuffer(&kernel, sizeof kernel);
  EXPECT_EQ(kernel.rows, 7u);
  EXPECT_EQ(kernel.cube.N, 200);
  EXPECT_EQ(kernel.cube.Kb, 300);
  EXPECT_EQ(kernel.cube.baseM, t.GetBaseM());
  EXPECT_EQ(kernel.softmax.srcM, 12u);
  EXPECT_EQ(kernel.softmax.srcK, 64u);
  EXPECT_EQ(kernel.softmax.rangeM * kernel.softmax.splitM + kernel.softmax.tailM, 12u);
  EXPECT_EQ(kernel.norm.sLength, 3u);
  EXPECT_EQ(kernel.norm.hLength, 64u);
  EXPECT_FLOAT_EQ(kernel.norm.lastDimValueBack, 1.0f / 64);
  // The kernel's compiler gets the library's structures from their header, once.
  std::map<std::string, bool> known;
  std::string text;
  host.print(known, text);
  EXPECT_THAT(text, testing::HasSubstr("  TCubeTiling cube;\n  SoftMaxTiling softmax;"));
  EXPECT_EQ(text.find("#include"), text.rfind("#include"));
  EXPECT_EQ(text.find("struct alignas(8) TCubeTiling"), std::string::npos);
}

TEST(LibraryTiling, TemporariesGrowWithTheShape) {
  std::uint32_t most = 0, least = 0;
  AscendC::GetTanhMaxMinTmpSize(ge::Shape({4, 1024}), 4, false, most, least);
  EXPECT_EQ(most, 16384u);
  EXPECT_EQ(least, 256u);
  EXPECT_EQ(AscendC::GetSoftMaxMaxTmpSize(ge::Shape({8, 64}), 4, false),
            8 * AscendC::GetSoftMaxMinTmpSize(ge::Shape({8, 64}), 4, false));
  AscendC::GetSumMaxMinTmpSize(1000, 4, false, most, least);
  EXPECT_EQ(most, 64u);  // 16 repeats of 64
}

TEST(LibraryTiling, TopK) {
  const platform_ascendc::PlatformAscendC platform{nullptr};
  using AscendC::TopKMode;
  AscendC::tiling::TopkTiling plain{};
  optiling::TopkTiling host;
  ASSERT_TRUE(AscendC::TopKTilingFunc(platform, 128, 3, 20, 2, false, TopKMode::TOPK_NORMAL, true, plain));
  ASSERT_TRUE(AscendC::TopKTilingFunc(platform, 128, 3, 20, 2, false, TopKMode::TOPK_NORMAL, true, host));
  EXPECT_EQ(plain.allDataSize, 384);
  EXPECT_EQ(plain.kAlignFourBytes, 24);
  EXPECT_EQ(plain.kAlignTwoBytes, 32);
  AscendC::tiling::TopkTiling read{};
  ASSERT_EQ(host.GetDataSize(), sizeof read);
  host.SaveToBuffer(&read, sizeof read);
  EXPECT_EQ(read.tmpLocalSize, plain.tmpLocalSize);
  EXPECT_EQ(read.sortRepeat, 4u);
  EXPECT_EQ(read.kAlignTwoBytes, 32);
  std::uint32_t most = 0, least = 0;
  ASSERT_TRUE(AscendC::GetTopKMaxMinTmpSize(platform, 32, 5, false, true, TopKMode::TOPK_NSMALL, true, 4,
                                            most, least));
  EXPECT_EQ(least, 5u * 32 * 16);
  EXPECT_GE(most, least);
  testing::internal::CaptureStderr();
  EXPECT_FALSE(AscendC::TopKTilingFunc(platform, 40, 3, 20, 2, false, TopKMode::TOPK_NORMAL, true, plain));
  EXPECT_FALSE(AscendC::TopKTilingFunc(platform, 64, 3, 20, 2, false, TopKMode::TOPK_NSMALL, true, plain));
  EXPECT_FALSE(AscendC::TopKTilingFunc(platform, 64, 3, 65, 2, false, TopKMode::TOPK_NORMAL, true, host));
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, testing::HasSubstr("inner is a multiple of 32"));
  EXPECT_THAT(text, testing::HasSubstr("inner is 32 in small mode"));
  EXPECT_THAT(text, testing::HasSubstr("k is from 1 to inner"));
}

}  // namespace
