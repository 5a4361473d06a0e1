// Outputs in blocks that are stored channels last, and programs on blocks that read transposed operands, over
// the whole way: passes, plan, tasks, values.
#include <gmock/gmock.h>

#include "runtime/text_network.h"

namespace atc::runtime {
namespace {

using testing::Contains;
using testing::Not;

/// A constant whose values differ from channel to channel.
std::string weights(const std::string& id, const Dims& dims) {
  std::string text = "  %" + id + " = const f32[" + to_string(dims) + "] {";
  for (std::int64_t i = 0; i < element_count(dims); ++i)
    text += (i == 0 ? "" : ",") + std::to_string(static_cast<double>(i * 37 % 64 - 32) / 128);
  return text + "}\n";
}

void expect_no_copies(const Tasks& tasks) {
  for (const char* copy : {"Transpose", "TransData", "StridedView"}) EXPECT_THAT(tasks, Not(Contains(copy)));
}

TEST(ChannelsLast, ConvolutionsOfEveryRank) {
  expect_no_copies(tasks_of("(%0 \"x\": f32[2,3,9,8]) -> (%4) {\n" + weights("1", {20, 3, 3, 3}) +
                                "  %2 = Conv@11(%0, %1) {pads=[1,1,1,1]} : f32[2,20,9,8]\n"
                                "  %3 = Relu@14(%2) : f32[2,20,9,8]\n"
                                "  %4 \"y\" = Transpose@13(%3) {perm=[0,2,3,1]} : f32[2,9,8,20]\n}\n",
                            passes::Precision::Fp16));
  expect_no_copies(tasks_of("(%0 \"x\": f32[2,4,19]) -> (%4) {\n" + weights("1", {7, 4, 3}) +
                                "  %2 = Conv@11(%0, %1) {strides=[2]} : f32[2,7,9]\n"
                                "  %4 \"y\" = Transpose@13(%2) {perm=[0,2,1]} : f32[2,9,7]\n}\n",
                            passes::Precision::Fp16));
  expect_no_copies(tasks_of("(%0 \"x\": f32[1,3,4,5,6]) -> (%4) {\n" + weights("1", {17, 3, 1, 2, 2}) +
                                "  %2 = Conv@11(%0, %1) : f32[1,17,4,4,5]\n"
                                "  %4 \"y\" = Transpose@13(%2) {perm=[0,2,3,4,1]} : f32[1,4,4,5,17]\n}\n",
                            passes::Precision::Fp16));
  const Tasks transposed =
      tasks_of("(%0 \"x\": f32[2,3,4,4]) -> (%4) {\n" + weights("1", {3, 18, 2, 2}) +
                   "  %2 = ConvTranspose@11(%0, %1) {strides=[3,3]} : f32[2,18,11,11]\n"
                   "  %4 \"y\" = Transpose@13(%2) {perm=[0,2,3,1]} : f32[2,11,11,18]\n}\n",
               passes::Precision::Fp16);
  // Its outputs lie apart, so it stores blocks; one copy turns them.
  EXPECT_THAT(transposed, Contains("StridedView").Times(1));
  EXPECT_THAT(transposed, Not(Contains("TransData")));
  EXPECT_THAT(transposed, Not(Contains("Transpose")));
}

TEST(ChannelsLast, PoolsAndDepthwiseConvolutionsWithAResidual) {
  expect_no_copies(tasks_of("(%0 \"x\": f32[2,32,9,8], %1 \"z\": f32[2,32,9,8]) -> (%5) {\n" +
                                weights("2", {32, 1, 3, 3}) +
                                "  %8 = Sigmoid@13(%0) : f32[2,32,9,8]\n"
                                "  %3 = Conv@11(%8, %2) {group=32, pads=[1,1,1,1]} : f32[2,32,9,8]\n"
                                "  %4 = Add@14(%3, %1) : f32[2,32,9,8]\n"
                                "  %6 = const i64[3] {2,32,72}\n"
                                "  %7 = Reshape@13(%4, %6) : f32[2,32,72]\n"
                                "  %5 \"y\" = Transpose@13(%7) {perm=[0,2,1]} : f32[2,72,32]\n}\n",
                            passes::Precision::Fp16));
  tasks_of(
      "(%0 \"x\": f32[1,5,9,8]) -> (%5) {\n"
      "  %3 = MaxPool@12(%0) {kernel_shape=[2,2]} : f32[1,5,8,7]\n"
      "  %5 \"y\" = Transpose@13(%3) {perm=[0,2,3,1]} : f32[1,8,7,5]\n}\n");
}

// A block as networks of convolutions and transformers mix them: the depthwise convolution stores rows of
// channels, the sum in blocks reads rows of channels, and what leaves is stored as rows of channels.
TEST(ChannelsLast, BlocksBesideTransposedRows) {
  for (const std::int64_t batch : {1, 2}) {
    const std::string n = std::to_string(batch), nchw = "f32[" + n + ",32,6,5]",
                      nhwc = "f32[" + n + ",6,5,32]";
    const Tasks tasks = tasks_of(
        "(%0 \"x\": f32[" + n + ",3,6,5]) -> (%13) {\n" + weights("1", {32, 3, 1, 1}) +
            weights("2", {32, 1, 3, 3}) + weights("3", {32, 32}) + "  %4 = Conv@11(%0, %1) : " + nchw + "\n" +
            "  %5 = Conv@11(%4, %2) {group=32, pads=[1,1,1,1]} : " + nchw + "\n" +
            "  %6 = Transpose@13(%5) {perm=[0,2,3,1]} : " + nhwc + "\n" +
            "  %7 = Softmax@13(%6) {axis=-1} : " + nhwc + "\n" + "  %8 = MatMul@13(%7, %3) : " + nhwc + "\n" +
            "  %9 = Transpose@13(%8) {perm=[0,3,1,2]} : " + nchw + "\n" + "  %10 = Add@14(%9, %4) : " + nchw +
            "\n" + "  %11 = Conv@11(%10, %2) {group=32, pads=[1,1,1,1]} : " + nchw + "\n" +
            "  %12 = Add@14(%10, %11) : " + nchw + "\n" +
            "  %13 \"y\" = Transpose@13(%12) {perm=[0,2,3,1]} : " + nhwc + "\n}\n",
        passes::Precision::Fp16);
    expect_no_copies(tasks);
  }
}

}  // namespace
}  // namespace atc::runtime
