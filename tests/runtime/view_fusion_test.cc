// Vector programs that read parts of their operands, over the whole way: passes, plan, tasks, values.
#include <gtest/gtest.h>

#include "runtime/text_network.h"

namespace atc::runtime {
namespace {

TEST(ViewFusion, GatesOfACellAreOneTask) {
  EXPECT_EQ(
      tasks_of("(%0 \"x\": f32[5,48], %1 \"c\": f32[5,12]) -> (%9) {\n"
               "  %2, %3, %4, %5 = Split@11(%0) {axis=-1} : f32[5,12], f32[5,12], f32[5,12], f32[5,12]\n"
               "  %6 = Sigmoid@13(%2) : f32[5,12]\n"
               "  %7 = Tanh@13(%5) : f32[5,12]\n"
               "  %8 = Mul@14(%6, %7) : f32[5,12]\n"
               "  %10 = Mul@14(%3, %1) : f32[5,12]\n"
               "  %11 = Add@14(%8, %10) : f32[5,12]\n"
               "  %9 \"y\" = Mul@14(%11, %4) : f32[5,12]\n"
               "}\n")
          .size(),
      1U);
}

TEST(ViewFusion, PartsInTheMiddleOfManyAxesAndBroadcastParts) {
  // Channels 3 to 10 of 16, every second image; against one row that is itself a part.
  EXPECT_EQ(tasks_of("(%0 \"x\": f32[5,16,6,9], %1 \"z\": f32[3,9]) -> (%9) {\n"
                     "  %2 = const i64[2] {0,3}\n"
                     "  %3 = const i64[2] {5,11}\n"
                     "  %4 = const i64[2] {0,1}\n"
                     "  %5 = const i64[2] {2,1}\n"
                     "  %6 = Slice@13(%0, %2, %3, %4, %5) : f32[3,8,6,9]\n"
                     "  %7, %8 = Split@11(%1) {axis=0, split=[1,2]} : f32[1,9], f32[2,9]\n"
                     "  %9 \"y\" = Mul@14(%6, %7) : f32[3,8,6,9]\n"
                     "}\n")
                .size(),
            1U);
}

}  // namespace
}  // namespace atc::runtime
