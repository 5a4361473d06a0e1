// First convolutions over the whole way: layout, packed weights, plan, tasks, values.
#include <gmock/gmock.h>

#include "runtime/one_node.h"
#include "runtime/text_network.h"

namespace atc::runtime {
namespace {

constexpr double kRounding = 2e-5;

TEST(SmallChannelConv, EveryFormInTwoDimensions) {
  for (const std::int64_t channels : {1, 2, 3, 4})
    for (const std::int64_t stride : {1, 2})
      for (const std::int64_t dilation : {1, 2})
        OneNode("Conv", 11)
            .input(random_values(DType::F32, {2, channels, 13, 12}, 1))
            .constant(random_values(DType::F32, {21, channels, 3, 2}, 2))
            .constant(random_values(DType::F32, {21}, 3))
            .ints("strides", {stride, 3 - stride})
            .ints("dilations", {dilation, 1})
            .ints("pads", {1, 0, 2, 1})
            .expect_on_ai_core(kRounding);
}

TEST(SmallChannelConv, OneAndThreeDimensions) {
  OneNode("Conv", 11)
      .input(random_values(DType::F32, {3, 2, 61}, 1))
      .constant(random_values(DType::F32, {5, 2, 9}, 2))
      .ints("strides", {4})
      .ints("pads", {4, 4})
      .expect_on_ai_core(kRounding);
  OneNode("Conv", 11)
      .input(random_values(DType::F32, {1, 3, 6, 9, 8}, 1))
      .constant(random_values(DType::F32, {18, 3, 3, 3, 3}, 2))
      .ints("strides", {1, 2, 2})
      .ints("pads", {1, 1, 1, 1, 1, 1})
      .expect_on_ai_core(kRounding);
}

TEST(SmallChannelConv, IntegersWithAZeroPoint) {
  OneNode("ConvInteger", 10)
      .input(random_integers(DType::U8, {1, 3, 9, 9}, 0, 255, 1))
      .constant(random_integers(DType::I8, {20, 3, 3, 3}, -128, 127, 2))
      .constant(from_int64s(DType::U8, {}, std::vector<std::int64_t>{7}))
      .ints("pads", {1, 1, 1, 1})
      .expect_on_ai_core();
}

std::string constant(const std::string& id, const std::string& dims, double value) {
  return "  %" + id + " = const f32[" + dims + "] splat " + std::to_string(value) + "\n";
}

// The Cast to fp16 stores small blocks: no conversion, and none behind a convolution of few outputs.
TEST(SmallChannelConv, NothingConvertsBetweenCastAndConvolutions) {
  const Tasks tasks = tasks_of("(%0 \"x\": f32[2,3,16,14]) -> (%5) {\n" + constant("1", "4,3,3,3", 0.125) +
                                   constant("2", "24,4,3,3", 0.0625) +
                                   "  %3 = Conv@11(%0, %1) {pads=[1,1,1,1]} : f32[2,4,16,14]\n"
                                   "  %4 = Relu@14(%3) : f32[2,4,16,14]\n"
                                   "  %5 \"y\" = Conv@11(%4, %2) {strides=[2,2]} : f32[2,24,7,6]\n}\n",
                               passes::Precision::Fp16);
  EXPECT_THAT(tasks, testing::Not(testing::Contains(testing::HasSubstr("TransData"))));
}

// A pool of the same image, a program between two convolutions, and a sum that reads small and other blocks.
TEST(SmallChannelConv, ValuesThatOthersReadToo) {
  for (const passes::Precision precision : {passes::Precision::Origin, passes::Precision::Fp16}) {
    tasks_of("(%0 \"x\": f32[2,3,16,14]) -> (%4, %5) {\n" + constant("1", "20,3,3,3", 0.125) +
                 "  %2 = Relu@14(%0) : f32[2,3,16,14]\n"
                 "  %4 \"p\" = AveragePool@11(%2) {kernel_shape=[2,2]} : f32[2,3,15,13]\n"
                 "  %5 \"y\" = Conv@11(%2, %1) : f32[2,20,14,12]\n}\n",
             precision);
    tasks_of("(%0 \"x\": f32[1,20,16,14], %9 \"z\": f32[1,3,16,14]) -> (%8, %6) {\n" +
                 constant("1", "3,20,1,1", 0.125) + constant("2", "20,3,3,3", 0.0625) +
                 "  %3 = Conv@11(%0, %1) : f32[1,3,16,14]\n"
                 "  %4 = Sigmoid@13(%3) : f32[1,3,16,14]\n"
                 "  %5 = Mul@14(%4, %9) : f32[1,3,16,14]\n"
                 "  %6 \"p\" = MaxPool@12(%3) {kernel_shape=[2,2]} : f32[1,3,15,13]\n"
                 "  %7 = Softmax@13(%5) {axis=-1} : f32[1,3,16,14]\n"
                 "  %8 \"y\" = Conv@11(%7, %2) : f32[1,20,14,12]\n}\n",
             precision);
  }
}

}  // namespace
}  // namespace atc::runtime
