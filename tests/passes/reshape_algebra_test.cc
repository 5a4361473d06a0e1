#include "passes/reshape_algebra.h"

#include "simplify_testing.h"

namespace atc::passes {
namespace {

std::string left(std::string_view inputs, std::string_view outputs, std::string_view body) {
  return simplified(reshape_algebra_pass(), air(inputs, outputs, body));
}
void stays(std::string_view inputs, std::string_view outputs, std::string_view body) {
  expect_kept(reshape_algebra_pass(), air(inputs, outputs, body));
}

TEST(ReshapeAlgebra, ChainsBecomeOne) {
  expect_rewrite(reshape_algebra_pass(),
                 air("%0 \"x\": f32[2,6]", "%4",
                     "  %1 = const i64[2] {3,4}\n"
                     "  %2 = Reshape@13(%0, %1) : f32[3,4] name \"r\" from \"r\"\n"
                     "  %3 = Flatten@13(%2) {axis=0} : f32[1,12] name \"f\" from \"f\"\n"
                     "  %4 \"y\" = Relu@14(%3) : f32[1,12]\n"),
                 air("%0 \"x\": f32[2,6]", "%4",
                     "  %5 \"f/shape\" = const i64[2] {1,12}\n"
                     "  %6 = Reshape@17(%0, %5) {allowzero=1} : f32[1,12] name \"f\" from \"f\", \"r\"\n"
                     "  %4 \"y\" = Relu@14(%6) : f32[1,12]\n"));
}

TEST(ReshapeAlgebra, InversesCancel) {
  EXPECT_EQ(left("%0 \"x\": f32[2,6]", "%4",
                 "  %1 = const i64[1] {1}\n"
                 "  %2 = Unsqueeze@13(%0, %1) : f32[2,1,6]\n"
                 "  %3 = Squeeze@13(%2, %1) : f32[2,6]\n"
                 "  %4 \"y\" = Relu@14(%3) : f32[2,6]\n"),
            "Relu");
}

TEST(ReshapeAlgebra, AnInputReturnedKeepsItsNodes) {
  stays("%0 \"x\": f32[2,6]", "%3",
        "  %1 = const i64[1] {1}\n"
        "  %2 = Unsqueeze@13(%0, %1) : f32[2,1,6]\n"
        "  %3 \"y\" = Squeeze@13(%2, %1) : f32[2,6]\n");
}

TEST(ReshapeAlgebra, TransposesOfUnitAxesAreReshapes) {
  EXPECT_EQ(left("%0 \"x\": f32[1,5,4]", "%2",
                 "  %1 = Transpose@13(%0) {perm=[1,0,2]} : f32[5,1,4]\n"
                 "  %2 \"y\" = Relu@14(%1) : f32[5,1,4]\n"),
            "Reshape Relu");
  stays("%0 \"x\": f32[2,5,1]", "%2",
        "  %1 = Transpose@13(%0) {perm=[1,0,2]} : f32[5,2,1]\n"
        "  %2 \"y\" = Relu@14(%1) : f32[5,2,1]\n");
}

TEST(ReshapeAlgebra, ExpandOfUnitAxes) {
  EXPECT_EQ(left("%0 \"x\": f32[4]", "%2",
                 "  %1 = const i64[3] {1,1,4}\n"
                 "  %2 \"y\" = Expand@13(%0, %1) : f32[1,1,4]\n"),
            "Reshape");
  stays("%0 \"x\": f32[4]", "%2",
        "  %1 = const i64[2] {2,4}\n"
        "  %2 \"y\" = Expand@13(%0, %1) : f32[2,4]\n");
}

constexpr const char* kShapes = "  %5 = const i64[2] {6,4}\n  %6 = const i64[3] {2,3,5}\n";

TEST(ReshapeAlgebra, ReshapeAroundAProduct) {
  // Gemm as exporters write a linear layer over a batch of rows.
  EXPECT_EQ(left("%0 \"x\": f32[2,3,4], %1 \"w\": f32[4,5], %2 \"b\": f32[5], %3 \"r\": f32[2,3,5]", "%10",
                 std::string(kShapes) + "  %7 = Reshape@13(%0, %5) : f32[6,4]\n"
                                        "  %8 = MatMul@13(%7, %1) : f32[6,5]\n"
                                        "  %9 = Add@14(%8, %2) : f32[6,5]\n"
                                        "  %11 = Relu@14(%9) : f32[6,5]\n"
                                        "  %12 = Reshape@13(%11, %6) : f32[2,3,5]\n"
                                        "  %10 \"y\" = Add@14(%12, %3) : f32[2,3,5]\n"),
            "MatMul Add Relu Add");
}

TEST(ReshapeAlgebra, ColumnsStayWhole) {
  stays("%0 \"x\": f32[6,4], %1 \"w\": f32[4,5]", "%4",
        "  %2 = MatMul@13(%0, %1) : f32[6,5]\n"
        "  %5 = const i64[2] {5,6}\n"
        "  %3 = Reshape@13(%2, %5) : f32[5,6]\n"
        "  %4 \"y\" = Relu@14(%3) : f32[5,6]\n");
}

TEST(ReshapeAlgebra, AConvolutionStaysBesideItsActivation) {
  stays("%0 \"x\": f32[1,4,5]", "%5",
        "  %1 = const f32[6,4,1] splat 0.5\n"
        "  %2 = Conv@11(%0, %1) : f32[1,6,5]\n"
        "  %3 = Relu@14(%2) : f32[1,6,5]\n"
        "  %4 = const i64[2] {6,5}\n"
        "  %5 \"y\" = Reshape@13(%3, %4) : f32[6,5]\n");
}

TEST(ReshapeAlgebra, WhatOthersReadIsNotMoved) {
  stays("%0 \"x\": f32[2,6], %7 \"w\": f32[6,5]", "%4, %5",
        "  %2 = MatMul@13(%0, %7) : f32[2,5]\n"
        "  %3 = const i64[3] {2,1,5}\n"
        "  %4 \"y\" = Reshape@13(%2, %3) : f32[2,1,5]\n"
        "  %5 \"z\" = Relu@14(%2) : f32[2,5]\n");
}

TEST(ReshapeAlgebra, RowsAndSinglesKeepTheirRank) {
  EXPECT_EQ(left("%0 \"x\": f32[2,3,4]", "%9",
                 "  %1 = const i64[1] {24}\n"
                 "  %2 = const f32[1,1,1] {2.0}\n"
                 "  %3 = Reshape@13(%0, %1) : f32[24]\n"
                 "  %4 = const i64[3] {6,2,2}\n"
                 "  %5 = Reshape@13(%0, %4) : f32[6,2,2]\n"
                 "  %6 = Mul@14(%5, %2) : f32[6,2,2]\n"
                 "  %8 = Reshape@13(%6, %1) : f32[24]\n"
                 "  %9 \"y\" = Add@14(%8, %3) : f32[24]\n"),
            "Reshape Reshape Reshape Mul Add");
}

}  // namespace
}  // namespace atc::passes
