#include "passes/pad_fusion.h"

#include "simplify_testing.h"

namespace atc::passes {
namespace {

struct Case {
  const char* name;
  const char* pad;     ///< statement that makes %3 from %0, or from %2 = Relu(%0)
  const char* reader;  ///< makes %4 of %3
  bool absorbed;
};

std::string model(const Case& c) {
  return air("%0 \"x\": f32[1,2,5,6]", "%4",
             "  %10 = const i64[8] {0,0,1,2,0,0,2,1}\n  %11 = const i64[8] {0,1,0,0,0,0,0,0}\n"
             "  %12 = const i64[8] {0,0,-1,0,0,0,0,0}\n  %13 = const i64[4] {1,2,2,1}\n"
             "  %14 = const i64[2] {2,-1}\n  %15 = const f32[] {-inf}\n  %16 = const f32[] {1.0}\n"
             "  %17 = const f32[] {0.0}\n  %18 = const f32[3,2,3,3] splat 0.5\n"
             "  %2 = Relu@14(%0) : f32[1,2,5,6]\n" +
                 std::string(c.pad) + c.reader);
}

class PadFusion : public testing::TestWithParam<Case> {};

TEST_P(PadFusion, AbsorbsWhatIsTheReadersOwnPad) {
  const Case& c = GetParam();
  const std::string before = model(c);
  // Constants and nodes that a case does not need go first.
  const auto graph = graph_of(before);
  graph->sweep();
  const std::string text = ir::print(*graph);
  if (c.absorbed)
    // Of -0 and the 0 of a Pad, MaxPool may give either.
    EXPECT_EQ(simplified(pad_fusion_pass(), text, 1e-9).find("Pad"), std::string::npos);
  else
    expect_kept(pad_fusion_pass(), text);
}

constexpr const char* kZero = "  %3 = Pad@13(%0, %10) : f32[1,2,8,9]\n";
constexpr const char* kZeroBehindRelu = "  %3 = Pad@13(%2, %10, %17) : f32[1,2,8,9]\n";
constexpr const char* kLowest = "  %3 = Pad@13(%0, %10, %15) : f32[1,2,8,9]\n";
constexpr const char* kConv = "  %4 \"y\" = Conv@11(%3, %18) {pads=[1,1,0,0]} : f32[1,3,7,8]\n";
constexpr const char* kMax =
    "  %4 \"y\" = MaxPool@12(%3) {kernel_shape=[3,3], strides=[2,2]} : f32[1,2,3,4]\n";
constexpr const char* kAverage = "  %4 \"y\" = AveragePool@11(%3) {kernel_shape=[3,3]} : f32[1,2,6,7]\n";

INSTANTIATE_TEST_SUITE_P(
    Rules, PadFusion,
    testing::Values(
        Case{"conv", kZero, kConv, true},
        Case{"conv_axes", "  %3 = Pad@18(%0, %13, _, %14) : f32[1,2,8,9]\n", kConv, true},
        Case{"conv_old", "  %3 = Pad@2(%0) {pads=[0,0,1,2,0,0,2,1]} : f32[1,2,8,9]\n", kConv, true},
        Case{"conv_same", kZero, "  %4 \"y\" = Conv@11(%3, %18) {auto_pad=\"SAME_UPPER\"} : f32[1,3,8,9]\n",
             true},
        Case{"conv_of_ones", "  %3 = Pad@13(%0, %10, %16) : f32[1,2,8,9]\n", kConv, false},
        Case{"conv_edge", "  %3 = Pad@13(%0, %10) {mode=\"edge\"} : f32[1,2,8,9]\n", kConv, false},
        Case{"conv_crop", "  %3 = Pad@13(%0, %12) : f32[1,2,4,6]\n",
             "  %4 \"y\" = Conv@11(%3, %18) : f32[1,3,2,4]\n", false},
        Case{"max_lowest", kLowest, kMax, true}, Case{"max_zero", kZero, kMax, false},
        Case{"max_zero_behind_relu", kZeroBehindRelu, kMax, true},
        Case{"max_zero_windows_of_pads", kZeroBehindRelu,
             "  %4 \"y\" = MaxPool@12(%3) {kernel_shape=[2,2]} : f32[1,2,7,8]\n", false},
        Case{"max_rounded_up", kLowest,
             "  %4 \"y\" = MaxPool@12(%3) {ceil_mode=1, kernel_shape=[3,3], strides=[2,2]} : f32[1,2,4,4]\n",
             false},
        Case{"average", kZero, kAverage, true},
        Case{"average_of_pads", kZero,
             "  %4 \"y\" = AveragePool@11(%3) {count_include_pad=1, kernel_shape=[4,4], pads=[1,1,1,1]} : "
             "f32[1,2,7,8]\n",
             true},
        Case{"average_without_pads", kZero,
             "  %4 \"y\" = AveragePool@11(%3) {kernel_shape=[3,3], pads=[1,1,1,1]} : f32[1,2,8,9]\n", false},
        Case{"average_rounded_up", kZero,
             "  %4 \"y\" = AveragePool@11(%3) {ceil_mode=1, kernel_shape=[2,2], strides=[2,2]} : "
             "f32[1,2,4,5]\n",
             false},
        Case{"average_of_lowest", kLowest, kAverage, false}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(PadFusion, ChannelsStay) {
  expect_kept(pad_fusion_pass(), air("%0 \"x\": f32[1,1,5,6], %1 \"w\": f32[3,2,3,3]", "%4",
                                     "  %2 = const i64[8] {0,1,0,0,0,0,0,0}\n"
                                     "  %3 = Pad@13(%0, %2) : f32[1,2,5,6]\n"
                                     "  %4 \"y\" = Conv@11(%3, %1) : f32[1,3,3,4]\n"));
}

TEST(PadFusion, CountsByTheNamesThatUsersKnow) {
  const auto graph = graph_of(model({"", kZero, kMax, false}));
  PassContext context;
  ASSERT_TRUE(pad_fusion_pass().run(*graph, context).ok());
  EXPECT_EQ(context.fusions.graph_fusion().at("PadMaxPoolFusionPass").match_times, 1);
  EXPECT_EQ(context.fusions.graph_fusion().at("PadMaxPoolFusionPass").effect_times, 0);
}

}  // namespace
}  // namespace atc::passes
