// Products and convolutions whose shapes do not fill the cube by themselves.
#include "runtime/one_node.h"

namespace atc::runtime {
namespace {

// Sums in f32 of hundreds of products up to 9 that cancel out.
constexpr double kTolerance = 5e-5;

TEST(LowerMatMul, SingleRowsOfBatchesAreOneProduct) {
  // Sequence first: each position is a batch of one row.
  OneNode("MatMul", 13)
      .input(random_values(DType::F32, {37, 1, 48}, 1))
      .constant(random_values(DType::F32, {48, 40}, 2))
      .expect_on_ai_core(kTolerance);
  OneNode("MatMul", 13)
      .input(random_values(DType::F32, {3, 5, 1, 48}, 3))
      .constant(random_values(DType::F32, {48, 16}, 4))
      .expect_on_ai_core(kTolerance);
  // One row for many matrices: they stay apart.
  OneNode("MatMul", 13)
      .input(random_values(DType::F32, {1, 1, 48}, 5))
      .input(random_values(DType::F32, {7, 48, 16}, 6))
      .expect_on_ai_core(kTolerance);
}

TEST(LowerConv, GroupsThatFillBlocksButForTheLast) {
  struct Case {
    std::int64_t groups, in, out;
  };
  // Pairs of 8 and one of 8; threes of 16 over 3 blocks and the rest; fours and three; none that fits.
  for (const auto [groups, in, out] : {Case{7, 8, 8}, Case{3, 8, 24}, Case{7, 4, 4}, Case{5, 6, 6}})
    OneNode("Conv", 11)
        .input(random_values(DType::F32, {2, groups * in, 9, 7}, 1))
        .constant(random_values(DType::F32, {groups * out, in, 3, 3}, 2))
        .ints("pads", {1, 1, 1, 1})
        .attr("group", groups)
        .expect_on_ai_core(kTolerance);
}

TEST(LowerConv, TapsThatLieInThePaddingForWholeRows) {
  for (const std::int64_t dilation : {2, 5, 9})
    OneNode("Conv", 11)
        .input(random_values(DType::F32, {1, 20, 8, 8}, 1))
        .constant(random_values(DType::F32, {24, 20, 3, 3}, 2))
        .ints("pads", {dilation, dilation, dilation, dilation})
        .ints("dilations", {dilation, dilation})
        .expect_on_ai_core(kTolerance);
}

}  // namespace
}  // namespace atc::runtime
