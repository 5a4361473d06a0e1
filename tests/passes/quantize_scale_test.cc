#include "passes/quantize_scale.h"

#include <cmath>
#include <random>

#include "pass_testing.h"
#include "reference_run.h"

namespace atc::passes {
namespace {

using testing::HasSubstr;

// Scores of 8-bit queries and keys.
std::string scores(const std::string& a_scale, const std::string& b_scale,
                   const std::string& product = "MatMul@13(%5, %6) : f32[2,3,5]") {
  return air("%0 \"a\": u8[2,3,4], %1 \"b\": i8[2,4,5]", "%7",
             "  %2 \"as\" = const " + a_scale + "\n  %3 \"bs\" = const " + b_scale +
                 "\n  %4 \"az\" = const u8[] {100}\n"
                 "  %5 = DequantizeLinear@13(%0, %2, %4) : f32[2,3,4]\n"
                 "  %6 = DequantizeLinear@13(%1, %3) : f32[2,4,5]\n"
                 "  %7 \"y\" = " +
                 product + "\n");
}

TEST(QuantizeScale, OperandsKeepPowersOfTwoAndTheRestFollowsTheProduct) {
  const std::string after = run_pass(quantize_scale_pass(), scores("f32[] {0.75}", "f32[] {0.0625}"));
  EXPECT_THAT(after, HasSubstr("const f32[] {0.5}"));
  EXPECT_THAT(after, HasSubstr("const f32[] {0.0625}"));
  EXPECT_THAT(after, HasSubstr("const f32[] {1.5}"));
  EXPECT_THAT(after, HasSubstr(" \"y\" = Mul@"));
  EXPECT_THAT(after, HasSubstr("MatMul@13("));
}

TEST(QuantizeScale, ScalesBeyondFp16EndAtItsRange) {
  const std::string after = run_pass(quantize_scale_pass(), scores("f32[] {3000.0}", "f32[1] {1e-07}"));
  EXPECT_THAT(after, HasSubstr("const f32[] {128.0}"));
  EXPECT_THAT(after, HasSubstr("const f32[1] {6.1035156e-05}"));
}

TEST(QuantizeScale, LeavesAloneWhatGainsNothingOrIsNoSuchProduct) {
  expect_unchanged(quantize_scale_pass(), ir::print(*graph_of(scores("f32[] {0.5}", "f32[] {2.0}"))));
  expect_unchanged(quantize_scale_pass(),
                   ir::print(*graph_of(air("%0 \"a\": u8[3,4], %1 \"b\": f32[4,5]", "%4",
                                           "  %2 \"s\" = const f32[] {0.3}\n"
                                           "  %3 = DequantizeLinear@13(%0, %2) : f32[3,4]\n"
                                           "  %4 \"y\" = MatMul@13(%3, %1) : f32[3,5]\n"))));
  expect_unchanged(quantize_scale_pass(),
                   ir::print(*graph_of(air("%0 \"a\": u8[3,4], %1 \"b\": u8[4,5], %2 \"s\": f32[]", "%5",
                                           "  %3 = DequantizeLinear@13(%0, %2) : f32[3,4]\n"
                                           "  %4 = DequantizeLinear@13(%1, %2) : f32[4,5]\n"
                                           "  %5 \"y\" = MatMul@13(%3, %4) : f32[3,5]\n"))));
}

TEST(QuantizeScale, KeepsTheValuesAndMakesNarrowOperandsExact) {
  const auto graph = graph_of(scores("f32[] {0.0231}", "f32[] {0.117}"));
  std::mt19937 rng(7);
  const auto bytes = [&](DType dtype, const Dims& dims, int low) {
    std::vector<double> v(static_cast<std::size_t>(element_count(dims)));
    for (double& x : v) x = static_cast<double>(static_cast<int>(rng() % 256) + low);
    return from_doubles(dtype, dims, v);
  };
  const std::vector<Tensor> inputs = {bytes(DType::U8, {2, 3, 4}, 0), bytes(DType::I8, {2, 4, 5}, -128)};
  const std::vector<Tensor> before = reference_run(*graph, inputs);
  PassContext context;
  const auto changes = quantize_scale_pass().run(*graph, context);
  ASSERT_TRUE(changes.ok());
  ASSERT_EQ(*changes, 1);
  ASSERT_EQ(ir::verify(*graph), "");
  const std::vector<Tensor> after = reference_run(*graph, inputs);
  const auto b = to_doubles(before[0]), a = to_doubles(after[0]);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5 * (1 + std::abs(b[i])));
  for (const auto& n : graph->nodes()) {
    if (!n->is("DequantizeLinear")) continue;
    int exponent = 0;
    EXPECT_EQ(std::frexp(to_doubles(n->input(1)->constant())[0], &exponent), 0.5) << n->label();
  }
}

}  // namespace
}  // namespace atc::passes
