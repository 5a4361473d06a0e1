#include "passes/conv_batch_norm.h"

#include "pass_testing.h"

namespace atc::passes {
namespace {

constexpr const char* kParameters =
    "  %1 \"s\" = const f32[2] {2.0,1.0}\n"
    "  %2 \"b\" = const f32[2] {0.5,0.0}\n"
    "  %3 \"m\" = const f32[2] {1.0,0.0}\n"
    "  %4 \"v\" = const f32[2] splat 0.0\n";
constexpr const char* kNorm =
    "  %9 \"y\" = BatchNormalization@15(%8, %1, %2, %3, %4) {epsilon=4.0} : f32[1,2,3] name \"n\" from "
    "\"n\"\n";

std::string with(const std::string& constants, const std::string& nodes,
                 const std::string& inputs = "%0 \"x\": f32[1,2,3]", const std::string& outputs = "%9") {
  return air(inputs, outputs, kParameters + constants + nodes);
}

TEST(ConvBatchNorm, ScalesTheWeightsAndMakesABias) {
  expect_rewrite(
      conv_batch_norm_pass(),
      with("  %5 \"w\" = const f32[2,2,1] {1.0,2.0,3.0,4.0}\n",
           std::string("  %8 \"t\" = Conv@11(%0, %5) : f32[1,2,3] name \"c\" from \"c\"\n") + kNorm),
      with("  %5 \"w\" = const f32[2,2,1] {1.0,2.0,3.0,4.0}\n"
           "  %10 \"w\" = const f32[2,2,1] {1.0,2.0,1.5,2.0}\n"
           "  %11 \"c/bias\" = const f32[2] {-0.5,0.0}\n",
           "  %8 \"y\" = Conv@11(%0, %10, %11) : f32[1,2,3] name \"c\" from \"c\", \"n\"\n",
           "%0 \"x\": f32[1,2,3]", "%8"));
}

TEST(ConvBatchNorm, CarriesTheOldBias) {
  const std::string after =
      run_pass(conv_batch_norm_pass(),
               with("  %5 \"w\" = const f32[2,2,1] splat 1.0\n  %6 \"cb\" = const f32[2] {3.0,4.0}\n",
                    std::string("  %8 = Conv@11(%0, %5, %6) : f32[1,2,3] name \"c\" from \"c\"\n") + kNorm));
  EXPECT_THAT(after, testing::HasSubstr("\"cb\" = const f32[2] {2.5,2.0}"));
}

TEST(ConvBatchNorm, TransposedWeightsHaveTheirOutputChannelsSecondWithinAGroup) {
  // Weights [inputs, outputs of a group, taps]: with two groups, rows 0 and 1 make channels 0 and 1.
  const std::string grouped = run_pass(
      conv_batch_norm_pass(),
      with("  %5 \"w\" = const f32[2,1,1] {2.0,2.0}\n",
           std::string("  %8 = ConvTranspose@11(%0, %5) {group=2} : f32[1,2,3] name \"c\" from \"c\"\n") +
               kNorm));
  EXPECT_THAT(grouped, testing::HasSubstr("\"w\" = const f32[2,1,1] {2.0,1.0}"));
  const std::string whole = run_pass(
      conv_batch_norm_pass(),
      with("  %5 \"w\" = const f32[2,2,1] {2.0,2.0,4.0,4.0}\n",
           std::string("  %8 = ConvTranspose@11(%0, %5) : f32[1,2,3] name \"c\" from \"c\"\n") + kNorm));
  EXPECT_THAT(whole, testing::HasSubstr("\"w\" = const f32[2,2,1] {2.0,1.0,4.0,2.0}"));
}

TEST(ConvBatchNorm, LeavesWeightsThatOthersReadAlone) {
  const std::string after =
      run_pass(conv_batch_norm_pass(),
               with("  %5 \"w\" = const f32[2,2,1] {1.0,2.0,3.0,4.0}\n",
                    std::string("  %7 \"z\" = Conv@11(%0, %5) : f32[1,2,3] name \"d\" from \"d\"\n"
                                "  %8 = Conv@11(%0, %5) : f32[1,2,3] name \"c\" from \"c\"\n") +
                        kNorm,
                    "%0 \"x\": f32[1,2,3]", "%9, %7"));
  EXPECT_THAT(after, testing::HasSubstr("\"z\" = Conv@11(%0, %5)"));
  EXPECT_THAT(after, testing::HasSubstr("Conv@11(%0, %10, %11)"));
}

TEST(ConvBatchNorm, CountsByTheNameThatUsersKnow) {
  const auto graph = graph_of(with("  %5 \"w\" = const f32[2,2,1] splat 1.0\n",
                                   std::string("  %8 = Conv@11(%0, %5) : f32[1,2,3]\n") + kNorm));
  PassContext context;
  ASSERT_TRUE(conv_batch_norm_pass().run(*graph, context).ok());
  EXPECT_EQ(context.fusions.graph_fusion().at("ConvBatchnormFusionPass").effect_times, 1);
}

struct Kept {
  const char* name;
  const char* inputs;
  const char* outputs;
  const char* constants;
  const char* conv;
  const char* norm;
};

class ConvBatchNormKeeps : public testing::TestWithParam<Kept> {};
TEST_P(ConvBatchNormKeeps, Both) {
  const Kept& k = GetParam();
  expect_unchanged(conv_batch_norm_pass(),
                   with(k.constants, std::string(k.conv) + k.norm, k.inputs, k.outputs));
}

constexpr const char* kX = "%0 \"x\": f32[1,2,3]";
constexpr const char* kW = "  %5 \"w\" = const f32[2,2,1] splat 1.0\n";
constexpr const char* kConv = "  %8 \"t\" = Conv@11(%0, %5) : f32[1,2,3]\n";
INSTANTIATE_TEST_SUITE_P(
    Rules, ConvBatchNormKeeps,
    testing::Values(
        Kept{"two_readers", kX, "%9, %10", kW, kConv,
             "  %9 \"y\" = BatchNormalization@15(%8, %1, %2, %3, %4) : f32[1,2,3]\n  %10 \"z\" = Relu@14(%8) "
             ": f32[1,2,3]\n"},
        Kept{"graph_output", kX, "%9, %8", kW, kConv, kNorm},
        Kept{"weights_not_constant", "%0 \"x\": f32[1,2,3], %5 \"w\": f32[2,2,1]", "%9", "", kConv, kNorm},
        Kept{"bias_not_constant", "%0 \"x\": f32[1,2,3], %6 \"cb\": f32[2]", "%9", kW,
             "  %8 \"t\" = Conv@11(%0, %5, %6) : f32[1,2,3]\n", kNorm},
        Kept{"scale_not_constant", "%0 \"x\": f32[1,2,3], %6 \"q\": f32[2]", "%9", kW, kConv,
             "  %9 \"y\" = BatchNormalization@15(%8, %6, %2, %3, %4) : f32[1,2,3]\n"},
        Kept{"training", kX, "%9, %10", kW, kConv,
             "  %9 \"y\", %10 \"mean\" = BatchNormalization@9(%8, %1, %2, %3, %4) : f32[1,2,3], f32[2]\n"},
        Kept{"not_a_convolution", kX, "%9", "", "  %8 = Relu@14(%0) : f32[1,2,3]\n", kNorm}),
    [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace atc::passes
