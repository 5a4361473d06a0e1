#include "passes/transpose_motion.h"

#include "simplify_testing.h"

namespace atc::passes {
namespace {

std::string left(std::string_view inputs, std::string_view outputs, std::string_view body) {
  return simplified(transpose_motion_pass(), air(inputs, outputs, body));
}
void stays(std::string_view inputs, std::string_view outputs, std::string_view body) {
  expect_kept(transpose_motion_pass(), air(inputs, outputs, body));
}

TEST(TransposeMotion, PairsMerge) {
  expect_rewrite(transpose_motion_pass(),
                 air("%0 \"x\": f32[2,3,4]", "%3",
                     "  %1 = Transpose@13(%0) {perm=[1,2,0]} : f32[3,4,2] name \"a\" from \"a\"\n"
                     "  %2 = Transpose@13(%1) : f32[2,4,3] name \"b\" from \"b\"\n"
                     "  %3 \"y\" = Relu@14(%2) : f32[2,4,3]\n"),
                 air("%0 \"x\": f32[2,3,4]", "%3",
                     "  %4 = Transpose@17(%0) {perm=[0,2,1]} : f32[2,4,3] name \"b\" from \"b\", \"a\"\n"
                     "  %3 \"y\" = Relu@14(%4) : f32[2,4,3]\n"));
}

TEST(TransposeMotion, InversesCancel) {
  EXPECT_EQ(left("%0 \"x\": f32[2,3,4]", "%3",
                 "  %1 = Transpose@13(%0) {perm=[1,2,0]} : f32[3,4,2]\n"
                 "  %2 = Transpose@13(%1) {perm=[2,0,1]} : f32[2,3,4]\n"
                 "  %3 \"y\" = Relu@14(%2) : f32[2,3,4]\n"),
            "Relu");
}

TEST(TransposeMotion, AnInputReturnedKeepsThem) {
  stays("%0 \"x\": f32[2,3]", "%2",
        "  %1 = Transpose@13(%0) {perm=[1,0]} : f32[3,2]\n"
        "  %2 \"y\" = Transpose@13(%1) {perm=[1,0]} : f32[2,3]\n");
}

TEST(TransposeMotion, SoftmaxOverAnInnerAxis) {
  // As exporters before opset 13 write Softmax over axis 1.
  const std::string after =
      run_pass(transpose_motion_pass(), air("%0 \"x\": f32[2,3,4]", "%3",
                                            "  %1 = Transpose@11(%0) {perm=[0,2,1]} : f32[2,4,3]\n"
                                            "  %2 = Softmax@11(%1) {axis=2} : f32[2,4,3]\n"
                                            "  %3 \"y\" = Transpose@11(%2) {perm=[0,2,1]} : f32[2,3,4]\n"));
  EXPECT_THAT(after, testing::HasSubstr("Softmax@13(%0) {axis=1} : f32[2,3,4]"));
  EXPECT_THAT(after, testing::Not(testing::HasSubstr("Transpose")));
  EXPECT_EQ(left("%0 \"x\": f32[2,3,4]", "%3",
                 "  %1 = Transpose@13(%0) {perm=[0,2,1]} : f32[2,4,3]\n"
                 "  %2 = Softmax@13(%1) {axis=1} : f32[2,4,3]\n"
                 "  %3 \"y\" = Transpose@13(%2) {perm=[0,2,1]} : f32[2,3,4]\n"),
            "Softmax");
  // All axes from 1 on together are no single axis.
  stays("%0 \"x\": f32[2,3,4]", "%3",
        "  %1 = Transpose@11(%0) {perm=[0,2,1]} : f32[2,4,3]\n"
        "  %2 = Softmax@11(%1) {axis=1} : f32[2,4,3]\n"
        "  %3 \"y\" = Transpose@11(%2) {perm=[0,2,1]} : f32[2,3,4]\n");
}

TEST(TransposeMotion, AcrossConstantsReductionsAndConcat) {
  EXPECT_EQ(left("%0 \"x\": f32[2,3,4]", "%9",
                 "  %1 = Transpose@13(%0) {perm=[1,2,0]} : f32[3,4,2]\n"
                 "  %2 = const f32[4,2] {1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0}\n"
                 "  %3 = Mul@14(%1, %2) : f32[3,4,2]\n"
                 "  %4 = ReduceMax@13(%3) {axes=[0,1], keepdims=1} : f32[1,1,2]\n"
                 "  %5 = Sub@14(%3, %4) : f32[3,4,2]\n"
                 "  %6 = Concat@13(%5, %3) {axis=1} : f32[3,8,2]\n"
                 "  %7 = Transpose@13(%6) {perm=[2,0,1]} : f32[2,3,8]\n"
                 "  %9 \"y\" = Relu@14(%7) : f32[2,3,8]\n")
                .find("Transpose"),
            std::string::npos);
}

TEST(TransposeMotion, ReductionsStayAlongNeighbours) {
  // Axes 0 and 2 of x: no vector program reduces those.
  stays("%0 \"x\": f32[2,3,4]", "%4",
        "  %1 = Transpose@13(%0) {perm=[1,2,0]} : f32[3,4,2]\n"
        "  %2 = ReduceMax@13(%1) {axes=[1,2], keepdims=1} : f32[3,1,1]\n"
        "  %3 = Transpose@13(%2) {perm=[2,0,1]} : f32[1,3,1]\n"
        "  %4 \"y\" = Relu@14(%3) : f32[1,3,1]\n");
}

TEST(TransposeMotion, TwoBecomeOne) {
  EXPECT_EQ(left("%0 \"a\": f32[2,3], %1 \"b\": f32[2,3]", "%5",
                 "  %2 = Transpose@13(%0) {perm=[1,0]} : f32[3,2]\n"
                 "  %3 = Transpose@13(%1) {perm=[1,0]} : f32[3,2]\n"
                 "  %4 = Add@14(%2, %3) : f32[3,2]\n"
                 "  %5 \"y\" = Softmax@13(%4) {axis=-1} : f32[3,2]\n"),
            "Add Softmax Transpose");
}

TEST(TransposeMotion, AcrossProductsWithConstantMatrices) {
  // Mixing along the tokens: both products multiply from the left, biases become columns.
  const std::string weights =
      "  %1 = const f32[3,2] {1.0,2.0,3.0,4.0,5.0,6.0}\n  %2 = const f32[2] {1.0,-1.0}\n"
      "  %3 = const f32[2,3] {1.0,0.0,2.0,1.0,1.0,3.0}\n";
  const std::string mixer =
      weights +
      "  %4 = Transpose@13(%0) {perm=[0,2,1]} : f32[2,4,3]\n  %5 = MatMul@13(%4, %1) : f32[2,4,2]\n"
      "  %6 = Add@14(%5, %2) : f32[2,4,2]\n  %7 = Relu@14(%6) : f32[2,4,2]\n"
      "  %8 = MatMul@13(%7, %3) : f32[2,4,3]\n";
  EXPECT_EQ(left("%0 \"x\": f32[2,3,4]", "%10",
                 mixer + "  %9 = Transpose@13(%8) {perm=[0,2,1]} : f32[2,3,4]\n"
                         "  %10 \"y\" = Add@14(%9, %0) : f32[2,3,4]\n"),
            "MatMul Add Relu MatMul Add");
  // From the left, too; and matrices of one row.
  EXPECT_EQ(left("%0 \"x\": f32[4,3]", "%9",
                 "  %1 = const f32[1,3] {1.0,2.0,3.0}\n  %4 = Transpose@13(%0) {perm=[1,0]} : f32[3,4]\n"
                 "  %5 = MatMul@13(%1, %4) : f32[1,4]\n  %6 = Transpose@13(%5) {perm=[1,0]} : f32[4,1]\n"
                 "  %9 \"y\" = Relu@14(%6) : f32[4,1]\n"),
            "MatMul Relu");
  // Nothing takes the transposition back; another matrix; axes other than the last two.
  stays("%0 \"x\": f32[2,3,4]", "%9", mixer + "  %9 \"y\" = Relu@14(%8) : f32[2,4,3]\n");
  stays("%0 \"x\": f32[2,3,4], %1 \"w\": f32[3,2]", "%6",
        "  %4 = Transpose@13(%0) {perm=[0,2,1]} : f32[2,4,3]\n  %5 = MatMul@13(%4, %1) : f32[2,4,2]\n"
        "  %6 \"y\" = Transpose@13(%5) {perm=[0,2,1]} : f32[2,2,4]\n");
  stays("%0 \"x\": f32[2,3,4]", "%6",
        "  %1 = const f32[4,2] splat 1.0\n"
        "  %4 = Transpose@13(%0) {perm=[1,0,2]} : f32[3,2,4]\n  %5 = MatMul@13(%4, %1) : f32[3,2,2]\n"
        "  %6 \"y\" = Transpose@13(%5) {perm=[1,0,2]} : f32[2,3,2]\n");
}

TEST(TransposeMotion, DoesNotMoveForNothing) {
  const std::string one = "  %2 = Transpose@13(%0) {perm=[1,0]} : f32[3,2]\n";
  // Nothing cancels.
  stays("%0 \"a\": f32[2,3]", "%3", one + "  %3 \"y\" = Relu@14(%2) : f32[3,2]\n");
  // Two go, one comes for b, one for the other reader of the sum.
  stays("%0 \"a\": f32[2,3], %1 \"b\": f32[3,2]", "%5, %6",
        one +
            "  %4 = Add@14(%2, %1) : f32[3,2]\n"
            "  %5 \"y\" = Transpose@13(%4) {perm=[1,0]} : f32[2,3]\n"
            "  %6 \"z\" = MatMul@13(%4, %0) : f32[3,3]\n");
}

TEST(TransposeMotion, AForeignOperandIsTurnedWhereItPays) {
  // Two go, one comes for %1.
  EXPECT_EQ(left("%0 \"a\": f32[2,3], %1 \"b\": f32[3,2]", "%7, %8",
                 "  %2 = Transpose@13(%0) {perm=[1,0]} : f32[3,2]\n"
                 "  %3 = Add@14(%2, %1) : f32[3,2]\n"
                 "  %4 = Transpose@13(%3) {perm=[1,0]} : f32[2,3]\n"
                 "  %5 = Relu@14(%3) : f32[3,2]\n"
                 "  %6 = Transpose@13(%5) {perm=[1,0]} : f32[2,3]\n"
                 "  %7 \"y\" = Neg@13(%4) : f32[2,3]\n  %8 \"z\" = Neg@13(%6) : f32[2,3]\n"),
            "Transpose Add Relu Neg Neg");
}

TEST(TransposeMotion, OperandsOfLowerRankStayInPlace) {
  stays("%0 \"x\": f32[2,3,4], %1 \"r\": f32[2]", "%4",
        "  %2 = Transpose@13(%0) {perm=[1,2,0]} : f32[3,4,2]\n"
        "  %3 = Add@14(%2, %1) : f32[3,4,2]\n"
        "  %4 \"y\" = Transpose@13(%3) {perm=[2,0,1]} : f32[2,3,4]\n");
}

}  // namespace
}  // namespace atc::passes
