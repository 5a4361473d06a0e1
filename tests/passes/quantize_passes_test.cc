// What each pass on quantized graphs writes, and what it leaves alone.
#include <cmath>
#include <random>

#include "pass_testing.h"
#include "passes/dequantize_per_reader.h"
#include "passes/integer_form.h"
#include "passes/quantize_expand.h"
#include "passes/quantize_fusion.h"
#include "passes/quantize_motion.h"
#include "passes/quantize_sign.h"
#include "reference_run.h"

namespace atc::passes {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The pass changes nothing in the graph of `text`, whatever the order in which that lists constants.
void expect_left_alone(const Pass& pass, std::string_view text) {
  expect_unchanged(pass, ir::print(*graph_of(text)));
}

constexpr const char* kBytes = "%0 \"q\": u8[1,4,5,5]";

// DQ(q) as %3, DQ(weight) as %7, and the product of them as `product`, then what is behind it.
std::string product(const std::string& rest, const std::string& weight = "i8[6,4,3,3] splat 2",
                    const std::string& scale = "f32[6] splat 0.25", const std::string& zero = "i8[6] splat 0",
                    const std::string& x_zero = "u8[] {100}") {
  return air(kBytes, "%9",
             "  %1 \"xs\" = const f32[] {0.5}\n"
             "  %2 \"xz\" = const " +
                 x_zero +
                 "\n"
                 "  %3 = DequantizeLinear@13(%0, %1, %2) : f32[1,4,5,5]\n"
                 "  %4 \"w\" = const " +
                 weight +
                 "\n"
                 "  %5 \"ws\" = const " +
                 scale +
                 "\n"
                 "  %6 \"wz\" = const " +
                 zero +
                 "\n"
                 "  %7 = DequantizeLinear@13(%4, %5, %6) {axis=0} : f32[6,4,3,3]\n" +
                 rest);
}

constexpr const char* kConv =
    "  %9 \"y\" = Conv@11(%3, %7) {pads=[1,1,1,1]} : f32[1,6,5,5] name \"c\" from \"c\"\n";

TEST(QuantizeFusion, AConvolutionMultipliesIntegers) {
  const std::string after = run_pass(quantize_fusion_pass(), product(kConv));
  EXPECT_THAT(after, HasSubstr("ConvInteger@17(%0, %4, %"));
  EXPECT_THAT(after, HasSubstr("{pads=[1,1,1,1]} : i32[1,6,5,5] name \"c/ConvInteger\" from \"c\""));
  EXPECT_THAT(after, HasSubstr("f32[6,1,1] splat 0.125"));  // 0.5 * 0.25
  EXPECT_THAT(after, Not(HasSubstr("DequantizeLinear")));
}

TEST(QuantizeFusion, ABiasOfTheProductsScaleJoinsTheSum) {
  const std::string bias =
      "  %8 \"b\" = const i32[6] splat 40\n"
      "  %10 \"bs\" = const f32[6] splat 0.125\n"
      "  %11 = DequantizeLinear@13(%8, %10) {axis=0} : f32[6]\n"
      "  %9 \"y\" = Conv@11(%3, %7, %11) {pads=[1,1,1,1]} : f32[1,6,5,5] name \"c\" from \"c\"\n";
  const std::string after = run_pass(quantize_fusion_pass(), product(bias));
  EXPECT_THAT(after, HasSubstr("i32[6,1,1] splat 40"));
  // One that would leave int32 with the sum is added in fp32.
  std::string large = bias;
  large.replace(large.find("splat 40"), 8, "splat 2147480000");
  const std::string floating = run_pass(quantize_fusion_pass(), product(large));
  EXPECT_THAT(floating, HasSubstr("f32[6,1,1] splat 268435008.0"));
  EXPECT_THAT(floating, Not(HasSubstr("i32[6,1,1]")));
}

TEST(QuantizeFusion, ARequantizationIsOneFactor) {
  const std::string after =
      run_pass(quantize_fusion_pass(),
               product("  %8 = Conv@11(%3, %7) {pads=[1,1,1,1]} : f32[1,6,5,5] name \"c\" from \"c\"\n"
                       "  %10 = Relu@14(%8) : f32[1,6,5,5]\n"
                       "  %11 \"ys\" = const f32[] {0.0625}\n"
                       "  %9 \"y\" = QuantizeLinear@13(%10, %11, %2) : u8[1,6,5,5]\n"));
  EXPECT_THAT(after, HasSubstr("f32[6,1,1] splat 2.0"));  // 0.125 / 0.0625
  EXPECT_THAT(after, HasSubstr("const f32[] {1.0}"));
}

TEST(QuantizeFusion, LeavesWhatItCannotMultiplyExactly) {
  // A weight that does not fit int8 without its zero point.
  expect_left_alone(quantize_fusion_pass(),
                    product(kConv, "i8[6,4,3,3] splat 100", "f32[6] splat 0.25", "i8[6] splat -100"));
  // Scales along another axis than the output channels.
  std::string by_input = product(kConv, "i8[6,4,3,3] splat 2", "f32[4] splat 0.25", "i8[4] splat 0");
  by_input.replace(by_input.find("{axis=0}"), 8, "{axis=1}");
  expect_left_alone(quantize_fusion_pass(), by_input);
  // Depthwise: a window.
  expect_left_alone(quantize_fusion_pass(), air(kBytes, "%6",
                                                "  %1 \"s\" = const f32[] {0.5}\n"
                                                "  %2 = DequantizeLinear@13(%0, %1) : f32[1,4,5,5]\n"
                                                "  %3 \"w\" = const i8[4,1,3,3] splat 2\n"
                                                "  %4 = DequantizeLinear@13(%3, %1) : f32[4,1,3,3]\n"
                                                "  %6 \"y\" = Conv@11(%2, %4) {group=4} : f32[1,4,3,3]\n"));
  // A scale that the run knows.
  expect_left_alone(quantize_fusion_pass(), air("%0 \"q\": u8[2,4], %1 \"s\": f32[]", "%5",
                                                "  %2 = DequantizeLinear@13(%0, %1) : f32[2,4]\n"
                                                "  %3 \"w\" = const i8[4,3] splat 2\n"
                                                "  %6 \"ws\" = const f32[] {0.5}\n"
                                                "  %4 = DequantizeLinear@13(%3, %6) : f32[4,3]\n"
                                                "  %5 \"y\" = MatMul@13(%2, %4) : f32[2,3]\n"));
}

TEST(QuantizeFusion, AGemmsWeightIsTransposedAndScaledByAlpha) {
  const std::string after =
      run_pass(quantize_fusion_pass(),
               air("%0 \"q\": i8[2,4]", "%5",
                   "  %1 \"s\" = const f32[] {0.5}\n"
                   "  %2 = DequantizeLinear@13(%0, %1) : f32[2,4]\n"
                   "  %3 \"w\" = const i8[3,4] {1,2,3,4,5,6,7,8,9,10,11,12}\n"
                   "  %4 = DequantizeLinear@13(%3, %1) : f32[3,4]\n"
                   "  %5 \"y\" = Gemm@13(%2, %4) {alpha=2.0, transB=1} : f32[2,3] name \"g\" from \"g\"\n"));
  EXPECT_THAT(after, HasSubstr("i8[4,3] {1,5,9,2,6,10,3,7,11,4,8,12}"));
  EXPECT_THAT(after, HasSubstr("const f32[] {0.5}\n"));  // 0.5 * 0.5 * 2
  EXPECT_THAT(after, HasSubstr("MatMulInteger@17(%0, %"));
}

TEST(QuantizeMotion, MovesEightBits) {
  const std::string after =
      run_pass(quantize_motion_pass(), air("%0 \"q\": u8[2,3], %1 \"x\": f32[3,2]", "%6",
                                           "  %2 \"s\" = const f32[] {0.5}\n"
                                           "  %3 = DequantizeLinear@13(%0, %2) : f32[2,3] name \"d\"\n"
                                           "  %4 = Transpose@13(%3) {perm=[1,0]} : f32[3,2] name \"t\"\n"
                                           "  %5 = Concat@13(%4, %1) {axis=0} : f32[6,2] name \"cc\"\n"
                                           "  %6 \"y\" = QuantizeLinear@13(%5, %2) : u8[6,2] name \"qq\"\n"));
  EXPECT_THAT(after, HasSubstr("Transpose@13(%0) {perm=[1,0]} : u8[3,2]"));
  EXPECT_THAT(after, HasSubstr("QuantizeLinear@13(%1, %2) : u8[3,2]"));
  EXPECT_THAT(after, HasSubstr("{axis=0} : u8[6,2] name \"cc\""));
}

TEST(QuantizeMotion, LeavesValuesThatOthersRead) {
  expect_left_alone(quantize_motion_pass(), air("%0 \"x\": f32[2,3]", "%2, %3",
                                                "  %1 \"s\" = const f32[] {0.5}\n"
                                                "  %2 \"t\" = Transpose@13(%0) {perm=[1,0]} : f32[3,2]\n"
                                                "  %3 \"y\" = QuantizeLinear@13(%2, %1) : u8[3,2]\n"));
  expect_left_alone(quantize_motion_pass(), air("%0 \"a\": u8[2,3], %1 \"b\": u8[2,3]", "%6",
                                                "  %2 \"s\" = const f32[] {0.5}\n"
                                                "  %3 \"s2\" = const f32[] {0.25}\n"
                                                "  %4 = DequantizeLinear@13(%0, %2) : f32[2,3]\n"
                                                "  %5 = DequantizeLinear@13(%1, %3) : f32[2,3]\n"
                                                "  %6 \"y\" = Concat@13(%4, %5) {axis=0} : f32[4,3]\n"));
}

std::string sign_case(const std::string& product, const std::string& outputs = "%5") {
  return air("%0 \"x\": f32[2,4]", outputs,
             "  %1 \"s\" = const f32[] {0.5}\n"
             "  %2 \"z\" = const u8[] {100}\n"
             "  %3 \"w\" = const i8[4,3] splat 2\n"
             "  %4 \"q\" = QuantizeLinear@13(%0, %1, %2) : u8[2,4]\n" +
                 product);
}

TEST(QuantizeSign, OperandsOfProductsBecomeSigned) {
  const std::string after =
      run_pass(quantize_sign_pass(), sign_case("  %5 \"y\" = MatMulInteger@10(%4, %3, %2) : i32[2,3]\n"));
  EXPECT_THAT(after, HasSubstr(": i8[2,4]"));
  EXPECT_THAT(after, HasSubstr("const i8[] {-28}"));
}

TEST(QuantizeSign, LeavesWhatTheModelReturnsAndWhatNoProductReads) {
  expect_left_alone(quantize_sign_pass(),
                    sign_case("  %5 \"y\" = MatMulInteger@10(%4, %3, %2) : i32[2,3]\n", "%5, %4"));
  expect_left_alone(quantize_sign_pass(), air("%0 \"x\": f32[2,4]", "%3",
                                              "  %1 \"s\" = const f32[] {0.5}\n"
                                              "  %2 = QuantizeLinear@13(%0, %1) : u8[2,4]\n"
                                              "  %3 \"y\" = DequantizeLinear@13(%2, %1) : f32[2,4]\n"));
}

TEST(DequantizePerReader, CopiesForEachReader) {
  int changes = 0;
  run_pass(dequantize_per_reader_pass(),
           air("%0 \"q\": u8[2,4]", "%4",
               "  %1 \"s\" = const f32[] {0.5}\n"
               "  %2 = DequantizeLinear@13(%0, %1) : f32[2,4]\n"
               "  %3 = Relu@14(%2) : f32[2,4]\n"
               "  %4 \"y\" = Add@14(%2, %3) : f32[2,4]\n"),
           &changes);
  EXPECT_EQ(changes, 1);
}

TEST(IntegerForm, TheZeroPointIsPaddingAndCorrection) {
  const std::string after =
      run_pass(integer_form_pass(),
               air("%0 \"q\": i8[1,4,5,5]", "%3",
                   "  %1 \"w\" = const i8[6,4,3,3] splat 2\n"
                   "  %2 \"z\" = const i8[] {-28}\n"
                   "  %3 \"y\" = ConvInteger@10(%0, %1, %2) {pads=[1,1,1,1]} : i32[1,6,5,5] name \"c\"\n"));
  EXPECT_THAT(after, HasSubstr("atc::Conv(%0, %1, %"));
  EXPECT_THAT(after, HasSubstr("pad_value=-28"));
  EXPECT_THAT(after, HasSubstr("i32[1,6,1,1] splat 2016"));  // 28 * 2 * 36
}

TEST(IntegerForm, WeightsThatDoNotFitStay) {
  expect_left_alone(integer_form_pass(), air("%0 \"q\": i8[2,4]", "%3",
                                             "  %1 \"w\" = const u8[4,3] splat 255\n"
                                             "  %2 \"z\" = const i8[] {3}\n"
                                             "  %3 \"y\" = MatMulInteger@10(%0, %1, %2) : i32[2,3]\n"));
  // 255 less a zero point of 128 fits.
  EXPECT_THAT(
      run_pass(integer_form_pass(), air("%0 \"q\": i8[2,4]", "%4",
                                        "  %1 \"w\" = const u8[4,3] splat 255\n"
                                        "  %2 \"z\" = const i8[] {3}\n"
                                        "  %3 \"wz\" = const u8[] {128}\n"
                                        "  %4 \"y\" = MatMulInteger@10(%0, %1, %2, %3) : i32[2,3]\n")),
      HasSubstr("const i8[4,3] splat 127"));
}

TEST(IntegerForm, UnknownZeroPointsAreTakenOffBehindAMatMul) {
  const std::string after =
      run_pass(integer_form_pass(), air("%0 \"q\": u8[2,4], %1 \"z\": u8[]", "%3",
                                        "  %2 \"w\" = const i8[4,3] splat 2\n"
                                        "  %3 \"y\" = MatMulInteger@10(%0, %2, %1) : i32[2,3] name \"m\"\n"));
  EXPECT_THAT(after, HasSubstr("const i32[3] splat 8"));
  EXPECT_THAT(after, HasSubstr("atc::MatMul("));
  // A convolution would pad with it.
  expect_left_alone(integer_form_pass(),
                    air("%0 \"q\": i8[1,4,5,5], %1 \"z\": i8[]", "%3",
                        "  %2 \"w\" = const i8[6,4,3,3] splat 2\n"
                        "  %3 \"y\" = ConvInteger@10(%0, %2, %1) {pads=[1,1,1,1]} : i32[1,6,5,5]\n"));
}

// Numbers: what the operators' references give before and after.
void expect_same_values(const Pass& pass, std::string_view text, const std::vector<Tensor>& inputs,
                        double most) {
  const auto graph = graph_of(text);
  const auto before = reference_run(*graph, inputs);
  PassContext context;
  const auto changes = pass.run(*graph, context);
  ASSERT_TRUE(changes.ok());
  EXPECT_GT(*changes, 0);
  ASSERT_EQ(ir::verify(*graph), "");
  const auto after = reference_run(*graph, inputs);
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    ASSERT_EQ(before[i].dtype, after[i].dtype);
    ASSERT_EQ(before[i].shape, after[i].shape);
    const auto b = to_doubles(before[i]), a = to_doubles(after[i]);
    for (std::size_t k = 0; k < b.size(); ++k) ASSERT_NEAR(a[k], b[k], most * (1 + std::abs(b[k]))) << k;
  }
}

Tensor random_bytes(DType dtype, const Dims& dims, unsigned seed) {
  std::mt19937 rng(seed);
  std::vector<double> v(static_cast<std::size_t>(element_count(dims)));
  for (double& x : v) x = static_cast<double>(rng() % 256) - (dtype == DType::I8 ? 128 : 0);
  return from_doubles(dtype, dims, v);
}

TEST(QuantizeFusion, KeepsTheValues) {
  expect_same_values(quantize_fusion_pass(), product(kConv), {random_bytes(DType::U8, {1, 4, 5, 5}, 1)},
                     1e-6);
  expect_same_values(quantize_fusion_pass(),
                     product(kConv, "u8[6,4,3,3] splat 3", "f32[] {0.25}", "u8[] {90}"),
                     {random_bytes(DType::U8, {1, 4, 5, 5}, 2)}, 1e-6);
}

TEST(QuantizeMotion, KeepsTheValues) {
  expect_same_values(quantize_motion_pass(),
                     air("%0 \"q\": i8[2,3]", "%4",
                         "  %1 \"s\" = const f32[] {0.5}\n"
                         "  %2 \"z\" = const i8[] {-7}\n"
                         "  %3 = DequantizeLinear@13(%0, %1, %2) : f32[2,3]\n"
                         "  %4 \"y\" = Transpose@13(%3) {perm=[1,0]} : f32[3,2]\n"),
                     {random_bytes(DType::I8, {2, 3}, 3)}, 0);
}

TEST(QuantizeSign, KeepsTheValues) {
  const Tensor x = from_doubles(DType::F32, {2, 4}, std::vector<double>{-60, -1, 0, 0.25, 0.75, 3, 70, 90});
  expect_same_values(quantize_sign_pass(),
                     sign_case("  %5 \"y\" = MatMulInteger@10(%4, %3, %2) : i32[2,3]\n"), {x}, 0);
}

TEST(QuantizeExpand, KeepsTheValues) {
  expect_same_values(quantize_expand_pass(),
                     air("%0 \"q\": u8[1,2,4,4]", "%9",
                         "  %1 \"xs\" = const f32[] {0.5}\n"
                         "  %2 \"xz\" = const u8[] {100}\n"
                         "  %3 \"w\" = const i8[3,2,3,3] splat 5\n"
                         "  %4 \"ws\" = const f32[3] {0.25,0.5,0.125}\n"
                         "  %5 \"wz\" = const i8[3] splat 1\n"
                         "  %6 \"ys\" = const f32[] {8.0}\n"
                         "  %7 \"yz\" = const u8[] {128}\n"
                         "  %8 \"b\" = const i32[3] {100,-200,300}\n"
                         "  %9 \"y\" = QLinearConv@10(%0, %1, %2, %3, %4, %5, %6, %7, %8) {pads=[1,1,1,1]} : "
                         "u8[1,3,4,4]\n"),
                     {random_bytes(DType::U8, {1, 2, 4, 4}, 4)}, 0);
  const std::vector<double> values = {-3, -1, 0, 0.25, 0.75, 3, 7, 9};
  for (const std::vector<double>& x : {values, std::vector<double>(8, 0.0), std::vector<double>(8, 5.0)})
    expect_same_values(
        quantize_expand_pass(),
        air("%0 \"x\": f32[2,4]", "%1, %2, %3",
            "  %1 \"y\", %2 \"s\", %3 \"z\" = DynamicQuantizeLinear@11(%0) : u8[2,4], f32[], u8[]\n"),
        {from_doubles(DType::F32, {2, 4}, x)}, 0);
  expect_same_values(quantize_expand_pass(),
                     air("%0 \"q\": i8[2,3,2]", "%4",
                         "  %1 \"s\" = const f32[3] {0.5,0.25,2.0}\n"
                         "  %2 \"z\" = const i8[3] {1,-2,3}\n"
                         "  %3 = DequantizeLinear@13(%0, %1, %2) : f32[2,3,2]\n"
                         "  %4 \"y\" = QuantizeLinear@13(%3, %1, %2) : i8[2,3,2]\n"),
                     {random_bytes(DType::I8, {2, 3, 2}, 5)}, 0);
}

}  // namespace
}  // namespace atc::passes
