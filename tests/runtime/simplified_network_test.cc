// Networks as exporters write them, over the whole way: how many tasks are left of them, and their values.
#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/text_network.h"

namespace atc::runtime {
namespace {

TEST(SimplifiedNetwork, ARollReadsBothPartsInPlace) {
  EXPECT_EQ(tasks_of("(%0 \"x\": f32[1,8,6,16]) -> (%9) {\n"
                     "  %1 = const i64[1] {0}\n  %2 = const i64[1] {3}\n  %3 = const i64[1] {99}\n"
                     "  %4 = const i64[1] {1}\n"
                     "  %5 = Slice@13(%0, %2, %3, %4) : f32[1,5,6,16]\n"
                     "  %6 = Slice@13(%0, %1, %2, %4) : f32[1,3,6,16]\n"
                     "  %9 \"y\" = Concat@13(%5, %6) {axis=1} : f32[1,8,6,16]\n}\n"),
            Tasks({"Concat"}));
}

TEST(SimplifiedNetwork, PatchesThatAreMergedAreOneCopy) {
  EXPECT_EQ(tasks_of("(%0 \"x\": f32[1,4,6,16]) -> (%9) {\n"
                     "  %1 = const i64[2] {0,0}\n  %2 = const i64[2] {1,0}\n  %3 = const i64[2] {0,1}\n"
                     "  %10 = const i64[2] {1,1}\n  %4 = const i64[2] {99,99}\n  %5 = const i64[2] {1,2}\n"
                     "  %11 = const i64[2] {2,2}\n"
                     "  %6 = Slice@13(%0, %1, %4, %5, %11) : f32[1,2,3,16]\n"
                     "  %7 = Slice@13(%0, %2, %4, %5, %11) : f32[1,2,3,16]\n"
                     "  %8 = Slice@13(%0, %3, %4, %5, %11) : f32[1,2,3,16]\n"
                     "  %12 = Slice@13(%0, %10, %4, %5, %11) : f32[1,2,3,16]\n"
                     "  %9 \"y\" = Concat@13(%6, %7, %8, %12) {axis=-1} : f32[1,2,3,64]\n}\n"),
            Tasks({"Concat"}));
}

TEST(SimplifiedNetwork, APartThatOthersReadToo) {
  EXPECT_EQ(tasks_of("(%0 \"x\": f32[4,32]) -> (%9, %5) {\n"
                     "  %5 \"a\", %6 = Split@11(%0) {axis=1, split=[16,16]} : f32[4,16], f32[4,16]\n"
                     "  %9 \"y\" = Concat@13(%6, %5) {axis=1} : f32[4,32]\n}\n"),
            Tasks({"Split", "Concat"}));
}

TEST(SimplifiedNetwork, HeadsInFp32LeaveInFp16WithoutCopies) {
  // What becomes a cache of values: the rows of a product by heads, in the model's own type.
  const Tasks tasks = tasks_of(
      "(%0 \"x\": f32[1,16,64]) -> (%6) {\n"
      "  %1 = const f32[64,64] splat 0.03125\n  %2 = MatMul@13(%0, %1) : f32[1,16,64]\n"
      "  %3 = const i64[4] {1,16,2,32}\n  %4 = Reshape@13(%2, %3) : f32[1,16,2,32]\n"
      "  %6 \"y\" = Transpose@13(%4) {perm=[0,2,1,3]} : f32[1,2,16,32]\n}\n",
      passes::Precision::Fp16);
  EXPECT_EQ(tasks, Tasks({"Cast", "MatMul", "Cast"}));
}

TEST(SimplifiedNetwork, PadsGoIntoWindows) {
  const std::string weights =
      "  %1 = const f32[16,16,3,3] splat 0.0625\n  %2 = const i64[8] {0,0,1,1,0,0,1,1}\n";
  const std::string padded = "  %3 = Pad@13(%0, %2) : f32[1,16,8,9]\n";
  const auto count = [](const Tasks& tasks, const std::string& type) {
    return std::count(tasks.begin(), tasks.end(), type);
  };
  EXPECT_EQ(count(tasks_of("(%0 \"x\": f32[1,16,6,7]) -> (%4) {\n" + weights + padded +
                           "  %4 \"y\" = Conv@11(%3, %1) : f32[1,16,6,7]\n}\n"),
                  "Pad"),
            0);
  EXPECT_EQ(count(tasks_of("(%0 \"x\": f32[1,16,6,7]) -> (%4) {\n" + weights + padded +
                           "  %4 \"y\" = AveragePool@11(%3) {kernel_shape=[3,3], strides=[2,2]} : "
                           "f32[1,16,3,4]\n}\n"),
                  "Pad"),
            0);
  EXPECT_EQ(count(tasks_of("(%0 \"x\": f32[1,16,6,7]) -> (%4) {\n" + weights + padded +
                           "  %4 \"y\" = MaxPool@12(%3) {kernel_shape=[3,3], strides=[2,2]} : "
                           "f32[1,16,3,4]\n}\n"),
                  "Pad"),
            1);
}

TEST(SimplifiedNetwork, ChannelsLastInBetweenLeavesNoTranspose) {
  // Converted from a framework that keeps channels last: a Transpose before and behind each operator.
  const Tasks tasks = tasks_of(
      "(%0 \"x\": f32[1,6,7,16]) -> (%9) {\n"
      "  %1 = const f32[16,16,1,1] splat 0.0625\n  %2 = const f32[16] splat 0.5\n"
      "  %3 = Transpose@13(%0) {perm=[0,3,1,2]} : f32[1,16,6,7]\n"
      "  %4 = Conv@11(%3, %1) : f32[1,16,6,7]\n"
      "  %5 = Transpose@13(%4) {perm=[0,2,3,1]} : f32[1,6,7,16]\n"
      "  %6 = Mul@14(%5, %2) : f32[1,6,7,16]\n  %7 = Relu@14(%6) : f32[1,6,7,16]\n"
      "  %8 = Transpose@13(%7) {perm=[0,3,1,2]} : f32[1,16,6,7]\n"
      "  %10 = Conv@11(%8, %1) : f32[1,16,6,7]\n"
      "  %9 \"y\" = Transpose@13(%10) {perm=[0,2,3,1]} : f32[1,6,7,16]\n}\n");
  // The conversion to blocks reads what lies before, and the last convolution stores what comes behind.
  EXPECT_EQ(std::count(tasks.begin(), tasks.end(), "Transpose"), 0);
}

TEST(SimplifiedNetwork, AProductReadsKeysTransposed) {
  EXPECT_EQ(tasks_of("(%0 \"q\": f32[2,3,7,24], %1 \"k\": f32[2,3,9,24]) -> (%9) {\n"
                     "  %2 = Transpose@13(%1) {perm=[0,1,3,2]} : f32[2,3,24,9]\n"
                     "  %9 \"y\" = MatMul@13(%0, %2) : f32[2,3,7,9]\n}\n"),
            Tasks({"MatMul"}));
  EXPECT_EQ(tasks_of("(%0 \"q\": f32[2,3,7,24], %1 \"k\": f32[2,9,3,24]) -> (%9) {\n"
                     "  %2 = Transpose@13(%1) {perm=[0,2,3,1]} : f32[2,3,24,9]\n"
                     "  %9 \"y\" = MatMul@13(%0, %2) : f32[2,3,7,9]\n}\n",
                     passes::Precision::Fp16)
                .back(),
            "MatMul");
}

}  // namespace
}  // namespace atc::runtime
