#include "passes/cube_form.h"

#include "pass_testing.h"

namespace atc::passes {
namespace {

constexpr const char* kX = "%0 \"x\": f32[1,4,5,5]";

TEST(CubeForm, AConvolutionCarriesItsBiasInTheEpilogue) {
  expect_rewrite(
      cube_form_pass(),
      air(kX, "%3",
          "  %1 \"w\" = const f32[6,4,3,3] splat 0.5\n"
          "  %2 \"b\" = const f32[6] splat 1.0\n"
          "  %3 \"y\" = Conv@11(%0, %1, %2) {auto_pad=\"SAME_UPPER\", strides=[2,2]} : f32[1,6,3,3] name "
          "\"c\" from \"c\"\n"),
      air(kX, "%5",
          "  %1 \"w\" = const f32[6,4,3,3] splat 0.5\n"
          "  %2 \"b\" = const f32[6] splat 1.0\n"
          "  %4 \"b\" = const f32[1,6,1,1] splat 1.0\n"
          "  %5 \"y\" = atc::Conv(%0, %1, %4) {dilations=[1,1], epilogue=graph \"epilogue\"(%0 \"acc\": "
          "f32[1,6,3,3], "
          "%1 \"bias\": f32[1,6,1,1]) -> (%2) {\n"
          "    %2 = Add@14(%0, %1) : f32[1,6,3,3]\n"
          "  }, group=1, macs=1944, pads=[1,1,1,1], strides=[2,2]} : f32[1,6,3,3] name \"c\" from \"c\"\n"));
}

TEST(CubeForm, AProductReturnsItsAccumulator) {
  expect_rewrite(
      cube_form_pass(),
      air("%0 \"a\": f32[2,3,4], %1 \"b\": f32[4,5]", "%2",
          "  %2 \"y\" = MatMul@13(%0, %1) : f32[2,3,5] name \"m\" from \"m\"\n"),
      air("%0 \"a\": f32[2,3,4], %1 \"b\": f32[4,5]", "%3",
          "  %3 \"y\" = atc::MatMul(%0, %1) {epilogue=graph \"epilogue\"(%0 \"acc\": f32[2,3,5]) -> (%0) {\n"
          "  }} : f32[2,3,5] name \"m\" from \"m\"\n"));
}

TEST(CubeForm, APoolTakesItsGeometry) {
  expect_rewrite(
      cube_form_pass(),
      air(kX, "%1",
          "  %1 \"y\" = AveragePool@11(%0) {ceil_mode=1, kernel_shape=[2,2], strides=[2,2]} : f32[1,4,3,3] "
          "name \"p\" from \"p\"\n"),
      air(kX, "%2",
          "  %2 \"y\" = atc::AveragePool(%0) {count_include_pad=0, dilations=[1,1], epilogue=graph "
          "\"epilogue\"(%0 \"acc\": "
          "f32[1,4,3,3]) -> (%0) {\n"
          "  }, kernel_shape=[2,2], pads=[0,0,0,0], strides=[2,2]} : f32[1,4,3,3] name \"p\" from \"p\"\n"));
}

/// What becomes of `%9 = node`, `%1` being the constant weight.
std::string form_of(const std::string& weight, const std::string& node) {
  return run_pass(cube_form_pass(),
                  air(kX, "%9", "  %1 \"w\" = const " + weight + " splat 0.5\n  %9 \"y\" = " + node + "\n"));
}

TEST(CubeForm, OneChannelAGroupIsDepthwise) {
  EXPECT_THAT(form_of("f32[4,1,3,3]", "Conv@11(%0, %1) {group=4} : f32[1,4,3,3]"),
              testing::HasSubstr("atc::DepthwiseConv("));
  // Several outputs or inputs a group are not.
  EXPECT_THAT(form_of("f32[8,1,3,3]", "Conv@11(%0, %1) {group=4} : f32[1,8,3,3]"),
              testing::HasSubstr("atc::Conv("));
  EXPECT_THAT(form_of("f32[4,2,3,3]", "Conv@11(%0, %1) {group=2} : f32[1,4,3,3]"),
              testing::HasSubstr("atc::Conv("));
  EXPECT_THAT(form_of("f32[4,1,3,3]", "ConvTranspose@11(%0, %1) {group=4} : f32[1,4,7,7]"),
              testing::HasSubstr("atc::ConvTranspose("));
}

TEST(CubeForm, ATransposedConvolutionIsCroppedByItsPads) {
  EXPECT_THAT(
      form_of(
          "f32[4,6,3,3]",
          "ConvTranspose@11(%0, %1) {output_padding=[1,1], pads=[1,1,1,1], strides=[2,2]} : f32[1,6,10,10]"),
      testing::AllOf(testing::HasSubstr("pads=[1,1,"), testing::HasSubstr("macs=5400")));
}

TEST(CubeForm, WeightsAndBiasMayBeComputed) {
  const std::string after =
      run_pass(cube_form_pass(), air("%0 \"x\": f32[1,4,5,5], %1 \"w\": f32[6,4,3,3], %2 \"b\": f32[6]", "%9",
                                     "  %9 \"y\" = Conv@11(%0, %1, %2) : f32[1,6,3,3]\n"));
  EXPECT_THAT(after, testing::HasSubstr("atc::Conv("));
  EXPECT_THAT(after, testing::HasSubstr("f32[1,6,1,1]"));
}

struct Kept {
  const char* name;
  const char* inputs;
  const char* outputs;
  const char* body;
};

class CubeFormKeeps : public testing::TestWithParam<Kept> {};
TEST_P(CubeFormKeeps, AsItIs) {
  expect_unchanged(cube_form_pass(), air(GetParam().inputs, GetParam().outputs, GetParam().body));
}

INSTANTIATE_TEST_SUITE_P(
    Rules, CubeFormKeeps,
    testing::Values(
        Kept{"computed_weights_of_narrow_groups", "%0 \"x\": f32[1,8,5,5], %1 \"w\": f32[6,4,3,3]", "%9",
             "  %9 \"y\" = Conv@11(%0, %1) {group=2} : f32[1,6,3,3]\n"},
        Kept{"open_batch", "%0 \"x\": f32[n,4,5,5]", "%9",
             "  %1 \"w\" = const f32[6,4,3,3] splat 0.5\n  %9 \"y\" = Conv@11(%0, %1) : f32[n,6,3,3]\n"},
        Kept{"four_spatial_axes", "%0 \"x\": f32[1,4,2,2,2,2]", "%9",
             "  %1 \"w\" = const f32[6,4,1,1,1,1] splat 0.5\n  %9 \"y\" = Conv@11(%0, %1) : "
             "f32[1,6,2,2,2,2]\n"},
        Kept{"double", "%0 \"x\": f64[1,4,5]", "%9",
             "  %1 \"w\" = const f64[6,4,3] splat 0.5\n  %9 \"y\" = Conv@11(%0, %1) : f64[1,6,3]\n"},
        Kept{"integer_product", "%0 \"a\": i32[3,4], %1 \"b\": i32[4,5]", "%9",
             "  %9 \"y\" = MatMul@13(%0, %1) : i32[3,5]\n"},
        Kept{"empty_sum", "%0 \"a\": f32[3,0], %1 \"b\": f32[0,5]", "%9",
             "  %9 \"y\" = MatMul@13(%0, %1) : f32[3,5]\n"},
        Kept{"empty_result", "%0 \"a\": f32[0,4], %1 \"b\": f32[4,5]", "%9",
             "  %9 \"y\" = MatMul@13(%0, %1) : f32[0,5]\n"},
        Kept{"vector", "%0 \"a\": f32[4], %1 \"b\": f32[4,5]", "%9",
             "  %9 \"y\" = MatMul@13(%0, %1) : f32[5]\n"},
        Kept{"indices_of_the_maxima", "%0 \"x\": f32[1,4,5]", "%9, %10",
             "  %9 \"y\", %10 \"i\" = MaxPool@12(%0) {kernel_shape=[2]} : f32[1,4,4], i64[1,4,4]\n"},
        Kept{"bytes", "%0 \"x\": u8[1,4,5]", "%9",
             "  %9 \"y\" = MaxPool@12(%0) {kernel_shape=[2]} : u8[1,4,4]\n"}),
    [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace atc::passes
