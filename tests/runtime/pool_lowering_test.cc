// Pools and convolutions of every form, whole on the AI Core.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "runtime/one_node.h"

namespace atc::runtime {
namespace {

using ::testing::HasSubstr;

constexpr double kRounding = 2e-5;

TEST(LowerPool, LargeWindows) {
  for (const char* op : {"MaxPool", "AveragePool"})
    OneNode(op, 19)
        .input(random_values(DType::F32, {1, 3, 48, 55}, 1))
        .ints("kernel_shape", {45, 50})
        .ints("pads", {2, 3, 2, 3})
        .expect_on_ai_core(kRounding);
}

TEST(LowerPool, AveragesOfEveryForm) {
  for (const std::int64_t include_pad : {0, 1})
    for (const std::int64_t ceil_mode : {0, 1})
      for (const std::int64_t dilation : {1, 2})
        OneNode("AveragePool", 19)
            .input(random_values(DType::F32, {2, 5, 13, 12}, 1))
            .ints("kernel_shape", {3, 2})
            .ints("strides", {2, 3})
            .ints("pads", {1, 0, 1, 1})
            .ints("dilations", {dilation, 1})
            .attr("ceil_mode", ceil_mode)
            .attr("count_include_pad", include_pad)
            .expect_on_ai_core(kRounding);
}

TEST(LowerPool, DepthwiseConvolutionWithALargeKernel) {
  OneNode("Conv", 11)
      .input(random_values(DType::F32, {1, 4, 24, 20}, 1))
      .constant(random_values(DType::F32, {4, 1, 31, 31}, 2))
      .ints("pads", {15, 15, 15, 15})
      .attr("group", std::int64_t{4})
      .expect_on_ai_core(1e-4);
}

TEST(LowerPool, MaxPoolTellsWhere) {
  for (const std::int64_t storage_order : {0, 1})
    for (const std::int64_t ceil_mode : {0, 1})
      OneNode("MaxPool", 12, 2)
          .input(random_values(DType::F32, {2, 3, 9, 8}, 1))
          .ints("kernel_shape", {3, 2})
          .ints("strides", {2, 1})
          .ints("pads", {1, 1, 1, 0})
          .ints("dilations", {1, 2})
          .attr("ceil_mode", ceil_mode)
          .attr("storage_order", storage_order)
          .expect_on_ai_core(0);
  // Equal values, infinities and NaN: the first of the greatest, and a NaN is greater than all.
  const double inf = std::numeric_limits<double>::infinity();
  OneNode("MaxPool", 12, 2)
      .input(from_doubles(
          DType::F32, {1, 1, 12},
          std::vector<double>{1, 1, -inf, -inf, -inf, 2, std::nan(""), 3, std::nan(""), 0, 5, 5}))
      .ints("kernel_shape", {3})
      .ints("pads", {1, 1})
      .expect_on_ai_core(0);
}

TEST(LowerPool, LpPoolOfEveryOrder) {
  for (const std::int64_t p : {1, 2, 3})
    for (const std::int64_t ceil_mode : {0, 1}) {
      SCOPED_TRACE(p);
      OneNode("LpPool", 18)
          .input(random_values(DType::F32, {2, 3, 14, 11}, 1))
          .ints("kernel_shape", {3, 2})
          .ints("strides", {2, 2})
          .ints("pads", {1, 1, 0, 1})
          .ints("dilations", {2, 1})
          .attr("ceil_mode", ceil_mode)
          .attr("p", p)
          .expect_on_ai_core(1e-4);
    }
}

TEST(LowerPool, LpPoolOfOneAndThreeAxes) {
  OneNode("LpPool", 11)
      .input(random_values(DType::F32, {1, 2, 20}, 1))
      .ints("kernel_shape", {4})
      .attr("auto_pad", "SAME_UPPER")
      .expect_on_ai_core(1e-4);
  OneNode("LpPool", 11)
      .input(random_values(DType::F32, {1, 2, 5, 6, 7}, 1))
      .ints("kernel_shape", {2, 3, 2})
      .expect_on_ai_core(1e-4);
}

TEST(LowerPool, LpPoolRefusesItsOrder) {
  OneNode n("LpPool", 11);
  n.input(random_values(DType::F32, {1, 2, 20}, 1)).ints("kernel_shape", {4}).attr("p", std::int64_t{0});
  EXPECT_THAT(n.status(), HasSubstr("attribute p must be > 0"));
}

TEST(LowerPool, GlobalLpPool) {
  for (const std::int64_t p : {1, 2, 3})
    OneNode("GlobalLpPool", 2)
        .input(random_values(DType::F32, {2, 5, 9, 7}, 1))
        .attr("p", p)
        .expect_on_ai_core(1e-4);
}

TEST(LowerPool, MaxPoolOfBytes) {
  for (const DType dtype : {DType::U8, DType::I8})
    for (const std::int64_t ceil_mode : {0, 1})
      OneNode("MaxPool", 12)
          .input(random_values(dtype, {1, 20, 9, 12}, 1))
          .ints("kernel_shape", {3, 3})
          .ints("strides", {2, 2})
          .ints("pads", {1, 1, 1, 1})
          .attr("ceil_mode", ceil_mode)
          .expect_on_ai_core();
}

// Weights and biases that the model takes as inputs.
TEST(LowerConv, ComputedWeights) {
  for (const std::int64_t channels : {1, 16, 20, 35})
    OneNode("Conv", 11)
        .input(random_values(DType::F32, {2, channels, 9, 8}, 1))
        .input(random_values(DType::F32, {channels + 3, channels, 3, 2}, 2))
        .input(random_values(DType::F32, {channels + 3}, 3))
        .ints("pads", {1, 0, 1, 1})
        .expect_on_ai_core(1e-4);
  OneNode("Conv", 11)
      .input(random_values(DType::F32, {1, 32, 9, 8}, 1))
      .input(random_values(DType::F32, {64, 16, 3, 3}, 2))
      .attr("group", std::int64_t{2})
      .expect_on_ai_core(1e-4);
  OneNode("Conv", 11)
      .input(random_values(DType::F32, {1, 18, 9}, 1))
      .input(random_values(DType::F32, {18, 1, 3}, 2))
      .attr("group", std::int64_t{18})
      .expect_on_ai_core(1e-4);
}

TEST(LowerConv, ComputedWeightsOfNarrowGroups) {
  OneNode("Conv", 11)
      .input(random_values(DType::F32, {1, 8, 9}, 1))
      .input(random_values(DType::F32, {8, 4, 3}, 2))
      .attr("group", std::int64_t{2})
      .expect_on_ai_cpu();
}

TEST(LowerConv, ComputedWeightsOfTransposedConvolutions) {
  OneNode("ConvTranspose", 11)
      .input(random_values(DType::F32, {1, 20, 5, 6}, 1))
      .input(random_values(DType::F32, {20, 7, 3, 3}, 2))
      .input(random_values(DType::F32, {7}, 3))
      .ints("strides", {2, 2})
      .expect_on_ai_core(1e-4);
  OneNode("ConvTranspose", 11)
      .input(random_values(DType::F32, {1, 32, 5, 6}, 1))
      .input(random_values(DType::F32, {32, 16, 2, 2}, 2))
      .attr("group", std::int64_t{2})
      .expect_on_ai_core(1e-4);
}

}  // namespace
}  // namespace atc::runtime
