#include "passes/window_reshape.h"

#include "simplify_testing.h"

namespace atc::passes {
namespace {

const std::string kConv =
    "  %1 = const f32[3,2,1,2] {1.0,2.0,3.0,4.0,5.0,6.0,1.0,2.0,3.0,4.0,5.0,6.0}\n"
    "  %2 = const f32[3,1] {1.0,2.0,3.0}\n  %3 = const i64[1] {2}\n"
    "  %8 = const f32[4,3,3] splat 0.5\n"
    "  %4 = Conv@11(%0, %1) : f32[1,3,1,7]\n  %5 = Squeeze@13(%4, %3) : f32[1,3,7]\n";

std::string left(const std::string& body, const std::string& outputs = "%9") {
  const auto graph = graph_of(air("%0 \"x\": f32[1,2,1,8]", outputs, kConv + body));
  graph->sweep();
  return simplified(window_reshape_pass(), ir::print(*graph), 1e-6);
}

TEST(WindowReshape, ElementwiseOperatorsStayBesideTheConvolution) {
  EXPECT_EQ(left("  %6 = Relu@14(%5) : f32[1,3,7]\n  %7 = Mul@14(%6, %2) : f32[1,3,7]\n"
                 "  %9 \"y\" = Tanh@13(%7) : f32[1,3,7]\n"),
            "Conv Relu Reshape Mul Tanh Reshape");
}

TEST(WindowReshape, WindowsGetTheAxisToo) {
  EXPECT_EQ(left("  %6 = Relu@14(%5) : f32[1,3,7]\n"
                 "  %9 \"y\" = MaxPool@12(%6) {kernel_shape=[3], pads=[1,0], strides=[2]} : f32[1,3,3]\n"),
            "Conv Relu MaxPool Reshape");
  EXPECT_EQ(
      left("  %9 \"y\" = AveragePool@11(%5) {auto_pad=\"SAME_LOWER\", kernel_shape=[2]} : f32[1,3,7]\n"),
      "Conv AveragePool Reshape");
  EXPECT_EQ(left("  %9 \"y\" = Conv@11(%5, %8) {dilations=[2], pads=[1,2]} : f32[1,4,6]\n"),
            "Conv Reshape Conv Reshape");
}

TEST(WindowReshape, OthersStay) {
  // Read twice; of no window; along the width.
  EXPECT_EQ(left("  %9 \"y\" = Relu@14(%5) : f32[1,3,7]\n", "%9, %5"), "Conv Squeeze Relu");
  expect_kept(window_reshape_pass(), air("%0 \"x\": f32[1,3,1,7]", "%9",
                                         "  %3 = const i64[1] {2}\n  %5 = Squeeze@13(%0, %3) : f32[1,3,7]\n"
                                         "  %9 \"y\" = Relu@14(%5) : f32[1,3,7]\n"));
  EXPECT_EQ(left("  %7 = const f32[7] splat 2.0\n  %9 \"y\" = Mul@14(%5, %7) : f32[1,3,7]\n"),
            "Conv Squeeze Mul");
  // The channels go.
  expect_kept(window_reshape_pass(), air("%0 \"x\": f32[1,2,8]", "%9",
                                         "  %1 = const f32[1,2,2] splat 1.0\n  %3 = const i64[1] {1}\n"
                                         "  %4 = Conv@11(%0, %1) : f32[1,1,7]\n"
                                         "  %5 = Squeeze@13(%4, %3) : f32[1,7]\n"
                                         "  %9 \"y\" = Relu@14(%5) : f32[1,7]\n"));
}

}  // namespace
}  // namespace atc::passes
