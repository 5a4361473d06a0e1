#include "passes/decompose.h"

#include "pass_testing.h"

namespace atc::passes {
namespace {

TEST(Decompose, AReductionKeepsItsAxesAndAReshapeDropsThem) {
  expect_rewrite(
      decompose_pass(),
      air("%0 \"x\": f32[2,3,4]", "%1",
          "  %1 \"y\" = ReduceMean@13(%0) {axes=[-1,1], keepdims=0} : f32[2] name \"r\" from \"r\"\n"),
      air("%0 \"x\": f32[2,3,4]", "%4",
          "  %3 \"r/drop_axes_shape\" = const i64[1] {2}\n"
          "  %2 = ReduceMean@13(%0) {axes=[-1,1], keepdims=1} : f32[2,1,1] name \"r/keepdims\" from \"r\"\n"
          "  %4 \"y\" = Reshape@17(%2, %3) {allowzero=1} : f32[2] name \"r/drop_axes\" from \"r\"\n"));
}

TEST(Decompose, CastLikeForgetsWhatItIsLike) {
  expect_rewrite(decompose_pass(),
                 air("%0 \"x\": f32[2], %1 \"like\": bf16[7]", "%2",
                     "  %2 \"y\" = CastLike@19(%0, %1) {saturate=0} : bf16[2] name \"c\" from \"c\"\n"),
                 air("%0 \"x\": f32[2], %1 \"like\": bf16[7]", "%3",
                     "  %3 \"y\" = Cast@19(%0) {saturate=0, to=16} : bf16[2] name \"c/Cast\" from \"c\"\n"));
}

TEST(Decompose, AReductionOfConstantAxesInput) {
  int changes = 0;
  const std::string after =
      run_pass(decompose_pass(),
               air("%0 \"x\": f32[2,3]", "%2",
                   "  %1 \"axes\" = const i64[1] {1}\n"
                   "  %2 \"y\" = ReduceSum@13(%0, %1) {keepdims=0} : f32[2] name \"r\" from \"r\"\n"),
               &changes);
  EXPECT_EQ(changes, 1);
  EXPECT_THAT(after, testing::HasSubstr("ReduceSum@13(%0, %1) {keepdims=1} : f32[2,1]"));
}

TEST(Decompose, GlobalPoolsReduceTheSpatialAxes) {
  expect_rewrite(decompose_pass(),
                 air("%0 \"x\": f32[1,3,4,5]", "%1, %2",
                     "  %1 \"a\" = GlobalAveragePool@1(%0) : f32[1,3,1,1] name \"p\" from \"p\"\n"
                     "  %2 \"b\" = GlobalMaxPool@1(%0) : f32[1,3,1,1] name \"q\" from \"q\"\n"),
                 air("%0 \"x\": f32[1,3,4,5]", "%3, %4",
                     "  %3 \"a\" = ReduceMean@17(%0) {axes=[2,3], keepdims=1} : f32[1,3,1,1] name "
                     "\"p/GlobalAveragePool\" from \"p\"\n"
                     "  %4 \"b\" = ReduceMax@17(%0) {axes=[2,3], keepdims=1} : f32[1,3,1,1] name "
                     "\"q/GlobalMaxPool\" from \"q\"\n"));
}

TEST(Decompose, PoolsOfTheWholePlaneReduceItToo) {
  expect_rewrite(
      decompose_pass(),
      air("%0 \"x\": f32[1,3,4,5]", "%1, %2",
          "  %1 \"a\" = AveragePool@11(%0) {kernel_shape=[4,5], strides=[3,2]} : f32[1,3,1,1] name \"p\" "
          "from \"p\"\n"
          "  %2 \"b\" = MaxPool@12(%0) {kernel_shape=[4,5]} : f32[1,3,1,1] name \"q\" from \"q\"\n"),
      air("%0 \"x\": f32[1,3,4,5]", "%3, %4",
          "  %3 \"a\" = ReduceMean@17(%0) {axes=[2,3], keepdims=1} : f32[1,3,1,1] name \"p/whole\" from "
          "\"p\"\n"
          "  %4 \"b\" = ReduceMax@17(%0) {axes=[2,3], keepdims=1} : f32[1,3,1,1] name \"q/whole\" from "
          "\"q\"\n"));
  // One window, but of a part of the plane, of padding too, or with gaps.
  for (const std::string attributes :
       {"kernel_shape=[4,4], strides=[1,2]", "kernel_shape=[4,5], pads=[0,0,1,0], strides=[9,9]",
        "dilations=[3,1], kernel_shape=[2,5]"})
    expect_unchanged(decompose_pass(),
                     air("%0 \"x\": f32[1,3,4,5]", "%1",
                         "  %1 \"y\" = AveragePool@19(%0) {" + attributes + "} : f32[1,3,1,1]\n"));
}

TEST(Decompose, AnLpPoolIsAnAverageOfPowers) {
  const std::string after =
      run_pass(decompose_pass(),
               air("%0 \"x\": f32[1,3,6,7]", "%1",
                   "  %1 \"y\" = LpPool@18(%0) {ceil_mode=1, kernel_shape=[3,2], strides=[2,2], p=2, "
                   "pads=[1,0,0,0]} : f32[1,3,3,4] name \"p\" from \"p\"\n"));
  // Padding up to the end of the last windows.
  EXPECT_THAT(after, testing::HasSubstr("AveragePool@19("));
  EXPECT_THAT(after, testing::HasSubstr("count_include_pad=1, dilations=[1,1], kernel_shape=[3,2], "
                                        "pads=[1,0,0,1], strides=[2,2]"));
  EXPECT_THAT(after, testing::HasSubstr("Sqrt@17("));
  EXPECT_THAT(after, testing::Not(testing::HasSubstr("LpPool")));
}

TEST(Decompose, PoolsThatStay) {
  for (const char* body : {"  %1 \"y\" = LpPool@18(%0) {kernel_shape=[2]} : f64[1,2,3]\n",
                           "  %1 \"y\" = GlobalLpPool@2(%0) : f64[1,2,1]\n"})
    expect_unchanged(decompose_pass(), air("%0 \"x\": f64[1,2,4]", "%1", body));
  expect_unchanged(
      decompose_pass(),
      air("%0 \"x\": u8[1,4,5]", "%9, %10",
          "  %9 \"y\", %10 \"i\" = MaxPool@12(%0) {kernel_shape=[2]} : u8[1,4,4], i64[1,4,4]\n"));
  expect_unchanged(decompose_pass(), air("%0 \"x\": f32[1,4,5]", "%9",
                                         "  %9 \"y\" = MaxPool@12(%0) {kernel_shape=[2]} : f32[1,4,4]\n"));
}

std::string batch_norm(const std::string& node, const std::string& more_outputs = "") {
  return air("%0 \"x\": f32[1,2,3]", "%9" + more_outputs,
             "  %1 \"s\" = const f32[2] {2.0,1.0}\n"
             "  %2 \"b\" = const f32[2] {0.5,0.0}\n"
             "  %3 \"m\" = const f32[2] {1.0,0.0}\n"
             "  %4 \"v\" = const f32[2] splat 0.0\n" +
                 node);
}

TEST(Decompose, BatchNormalizationIsOneMultiplyAndOneAddAChannel) {
  expect_rewrite(decompose_pass(),
                 batch_norm("  %9 \"y\" = BatchNormalization@15(%0, %1, %2, %3, %4) {epsilon=4.0} : "
                            "f32[1,2,3] name \"n\" from \"n\"\n"),
                 air("%0 \"x\": f32[1,2,3]", "%13",
                     "  %1 \"s\" = const f32[2] {2.0,1.0}\n"
                     "  %2 \"b\" = const f32[2] {0.5,0.0}\n"
                     "  %3 \"m\" = const f32[2] {1.0,0.0}\n"
                     "  %4 \"v\" = const f32[2] splat 0.0\n"
                     "  %10 \"n/scale\" = const f32[2,1] {1.0,0.5}\n"
                     "  %11 \"n/shift\" = const f32[2,1] {-0.5,0.0}\n"
                     "  %12 = Mul@17(%0, %10) : f32[1,2,3] name \"n/scaled\" from \"n\"\n"
                     "  %13 \"y\" = Add@17(%12, %11) : f32[1,2,3] name \"n/shifted\" from \"n\"\n"));
}

TEST(Decompose, BatchNormalizationInTrainingStays) {
  expect_unchanged(
      decompose_pass(),
      batch_norm("  %9 \"y\", %10 \"mean\", %11 \"var\" = BatchNormalization@15(%0, %1, %2, %3, %4) "
                 "{training_mode=1} : f32[1,2,3], f32[2], f32[2]\n"));
  // Before opset 14 the number of outputs said so, used or not; before 7 an attribute.
  expect_unchanged(
      decompose_pass(),
      batch_norm(
          "  %9 \"y\", %10 \"mean\" = BatchNormalization@9(%0, %1, %2, %3, %4) : f32[1,2,3], f32[2]\n"));
  expect_unchanged(decompose_pass(),
                   batch_norm("  %9 \"y\" = BatchNormalization@6(%0, %1, %2, %3, %4) : f32[1,2,3]\n"));
}

TEST(Decompose, BatchNormalizationOfEachActivationStays) {
  expect_unchanged(decompose_pass(),
                   air("%0 \"x\": f32[1,2,3]", "%9",
                       "  %1 \"s\" = const f32[2,3] splat 1.0\n"
                       "  %9 \"y\" = BatchNormalization@7(%0, %1, %1, %1, %1) {spatial=0} : f32[1,2,3]\n"));
}

TEST(Decompose, GemmIsAProductAndASum) {
  expect_rewrite(decompose_pass(),
                 air("%0 \"a\": f32[4,2], %1 \"b\": f32[3,4], %2 \"c\": f32[3]", "%3",
                     "  %3 \"y\" = Gemm@13(%0, %1, %2) {alpha=0.5, beta=2.0, transA=1, transB=1} : f32[2,3] "
                     "name \"g\" from \"g\"\n"),
                 air("%0 \"a\": f32[4,2], %1 \"b\": f32[3,4], %2 \"c\": f32[3]", "%11",
                     "  %7 \"g/alpha\" = const f32[] {0.5}\n"
                     "  %9 \"g/beta\" = const f32[] {2.0}\n"
                     "  %4 = Transpose@17(%0) {perm=[1,0]} : f32[2,4] name \"g/transA\" from \"g\"\n"
                     "  %5 = Transpose@17(%1) {perm=[1,0]} : f32[4,3] name \"g/transB\" from \"g\"\n"
                     "  %6 = MatMul@17(%4, %5) : f32[2,3] name \"g/product\" from \"g\"\n"
                     "  %8 = Mul@17(%6, %7) : f32[2,3] name \"g/alpha_scaled\" from \"g\"\n"
                     "  %10 = Mul@17(%2, %9) : f32[3] name \"g/beta_scaled\" from \"g\"\n"
                     "  %11 \"y\" = Add@17(%8, %10) : f32[2,3] name \"g/bias\" from \"g\"\n"));
}

TEST(Decompose, GemmWithBetaZeroDoesNotReadC) {
  expect_rewrite(decompose_pass(),
                 air("%0 \"a\": f32[2,4], %1 \"b\": f32[4,3], %2 \"c\": f32[3]", "%3",
                     "  %3 \"y\" = Gemm@13(%0, %1, %2) {beta=0.0} : f32[2,3] name \"g\" from \"g\"\n"),
                 air("%0 \"a\": f32[2,4], %1 \"b\": f32[4,3], %2 \"c\": f32[3]", "%4",
                     "  %4 \"y\" = MatMul@17(%0, %1) : f32[2,3] name \"g/product\" from \"g\"\n"));
}

TEST(Decompose, VectorsOfAProductBecomeMatrices) {
  expect_rewrite(
      decompose_pass(),
      air("%0 \"a\": f32[4], %1 \"b\": f32[2,4,3]", "%2",
          "  %2 \"y\" = MatMul@13(%0, %1) : f32[2,3] name \"m\" from \"m\"\n"),
      air("%0 \"a\": f32[4], %1 \"b\": f32[2,4,3]", "%7",
          "  %3 \"m/as_row_shape\" = const i64[2] {1,4}\n"
          "  %6 \"m/drop_unit_axes_shape\" = const i64[2] {2,3}\n"
          "  %4 = Reshape@17(%0, %3) {allowzero=1} : f32[1,4] name \"m/as_row\" from \"m\"\n"
          "  %5 = MatMul@17(%4, %1) : f32[2,1,3] name \"m/matrix\" from \"m\"\n"
          "  %7 \"y\" = Reshape@17(%5, %6) {allowzero=1} : f32[2,3] name \"m/drop_unit_axes\" from \"m\"\n"));
}

TEST(Decompose, TwoVectorsGiveAScalar) {
  const std::string after =
      run_pass(decompose_pass(), air("%0 \"a\": f32[4], %1 \"b\": f32[4]", "%2",
                                     "  %2 \"y\" = MatMul@13(%0, %1) : f32[] name \"m\" from \"m\"\n"));
  EXPECT_THAT(after, testing::HasSubstr(": f32[1,1] name \"m/matrix\""));
  EXPECT_THAT(after, testing::HasSubstr(" : f32[] name \"m/drop_unit_axes\""));
}

struct Kept {
  const char* name;
  const char* inputs;
  const char* body;  ///< %9 is the output
};

class DecomposeKeeps : public testing::TestWithParam<Kept> {};
TEST_P(DecomposeKeeps, AsItIs) {
  expect_unchanged(decompose_pass(), air(GetParam().inputs, "%9", GetParam().body));
}

INSTANTIATE_TEST_SUITE_P(
    Rules, DecomposeKeeps,
    testing::Values(
        Kept{"kept_axes", "%0 \"x\": f32[2,3]", "  %9 \"y\" = ReduceMean@13(%0) {axes=[1]} : f32[2,1]\n"},
        Kept{"axes_not_constant", "%0 \"x\": f32[2,3], %1 \"axes\": i64[1]",
             "  %9 \"y\" = ReduceSum@13(%0, %1) {keepdims=0} : f32[a]\n"},
        Kept{"open_shape", "%0 \"x\": f32[n,3]",
             "  %9 \"y\" = ReduceMean@13(%0) {axes=[1], keepdims=0} : f32[n]\n"},
        Kept{"open_gemm", "%0 \"x\": f32[n,3], %1 \"b\": f32[3,2]",
             "  %9 \"y\" = Gemm@13(%0, %1) : f32[n,2]\n"},
        Kept{"integer_gemm", "%0 \"x\": i32[2,3], %1 \"b\": i32[3,2]",
             "  %9 \"y\" = Gemm@13(%0, %1) : i32[2,2]\n"},
        Kept{"double_gemm", "%0 \"x\": f64[2,3], %1 \"b\": f64[3,2]",
             "  %9 \"y\" = Gemm@13(%0, %1) : f64[2,2]\n"},
        Kept{"matrices", "%0 \"x\": f32[2,3], %1 \"b\": f32[3,2]",
             "  %9 \"y\" = MatMul@13(%0, %1) : f32[2,2]\n"},
        Kept{"no_spatial_axes", "%0 \"x\": f32[2,3]", "  %9 \"y\" = GlobalMaxPool@1(%0) : f32[2,3]\n"},
        Kept{"batch_norm_of_wider_parameters", "%0 \"x\": f16[1,2,3], %1 \"s\": f32[2]",
             "  %9 \"y\" = BatchNormalization@15(%0, %1, %1, %1, %1) : f16[1,2,3]\n"},
        Kept{"other_domain", "%0 \"x\": f32[2,3]",
             "  %9 \"y\" = my::ReduceMean@1(%0) {keepdims=0} : f32[2,3]\n"}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(Decompose, BatchNormalizationOfVariablesDividesByTheDeviation) {
  const std::string after = run_pass(
      decompose_pass(),
      air("%0 \"x\": f32[1,2,3], %1 \"s\": f32[2], %2 \"b\": f32[2], %3 \"m\": f32[2], %4 \"v\": f32[2]",
          "%9",
          "  %9 \"y\" = BatchNormalization@15(%0, %1, %2, %3, %4) : f32[1,2,3] name \"n\" from \"n\"\n"));
  EXPECT_THAT(after, testing::ContainsRegex("Sqrt@17.*f32\\[2,1\\] name \"n/deviation\""));
  EXPECT_THAT(after, testing::ContainsRegex("Div@17.*f32\\[2,1\\] name \"n/factor\""));
  EXPECT_THAT(after, testing::ContainsRegex("Sub@17.*f32\\[1,2,3\\] name \"n/centered\""));
}

TEST(Decompose, InstanceNormalizationIsOneOverPlanes) {
  int changes = 0;
  const std::string after = run_pass(
      decompose_pass(),
      air("%0 \"x\": f32[2,3,4,5], %1 \"s\": f32[3], %2 \"b\": f32[3]", "%3",
          "  %3 \"y\" = InstanceNormalization@6(%0, %1, %2) {epsilon=0.5} : f32[2,3,4,5] name \"n\" from "
          "\"n\"\n"),
      &changes);
  EXPECT_EQ(changes, 1);
  EXPECT_THAT(after, testing::ContainsRegex(
                         "\"y\" = atc::InstanceNorm\\(%0, %[0-9]+, %[0-9]+\\) .axis=2, epsilon=0.5"));
  EXPECT_THAT(after, testing::ContainsRegex("Reshape@17\\(%1, %[0-9]+\\).*f32\\[3,1,1\\]"));
  EXPECT_THAT(after, testing::Not(testing::HasSubstr("InstanceNormalization")));
}

TEST(Decompose, NormalizationsOfDoublesStay) {
  expect_unchanged(decompose_pass(),
                   air("%0 \"x\": f64[2,3,4]", "%1",
                       "  %1 \"y\" = LRN@13(%0) {size=3} : f64[2,3,4] name \"n\" from \"n\"\n"));
}

TEST(Decompose, LrnOfNegativeAlphaStays) {
  expect_unchanged(decompose_pass(),
                   air("%0 \"x\": f32[2,3,4]", "%1",
                       "  %1 \"y\" = LRN@13(%0) {alpha=-1.0, size=3} : f32[2,3,4] name \"n\" from \"n\"\n"));
}

}  // namespace
}  // namespace atc::passes
