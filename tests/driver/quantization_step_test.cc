#include "driver/quantization_step.h"

#include <gtest/gtest.h>

#include "atc/ir/text.h"

namespace atc::driver {
namespace {

double step_of(const std::string& body, const Tensor& expected) {
  const auto graph =
      ir::parse("air 1\ngraph \"g\"(%0 \"x\": u8[2,3], %1 \"f\": f32[2,3]) -> (%9) {\n" + body + "}\n");
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  return graph.ok() ? quantization_step((*graph)->outputs()[0], expected) : -1;
}

const Tensor kExpected = from_doubles(DType::F32, {2, 3}, std::vector<double>{-1, 0, 0.5, 3, 4, 2});

TEST(QuantizationStep, IsTheScaleOfWhatWasDequantizedLast) {
  EXPECT_EQ(step_of("  %2 = const f32[] {0.25}\n"
                    "  %3 = DequantizeLinear@13(%0, %2) : f32[2,3]\n"
                    "  %9 = Transpose@13(%3) : f32[3,2]\n",
                    kExpected),
            0.25);
  EXPECT_EQ(step_of("  %2 = const f32[3] {0.25,0.75,0.5}\n"
                    "  %9 = DequantizeLinear@13(%0, %2) {axis=1} : f32[2,3]\n",
                    kExpected),
            0.75);
}

TEST(QuantizationStep, IsA255thOfTheRangeOfWhatIsComputedInFloats) {
  EXPECT_DOUBLE_EQ(step_of("  %2 = const f32[] {0.25}\n"
                           "  %3 = DequantizeLinear@13(%0, %2) : f32[2,3]\n"
                           "  %9 = Relu@14(%3) : f32[2,3]\n",
                           kExpected),
                   5.0 / 255);
  EXPECT_DOUBLE_EQ(quantization_step(nullptr, kExpected), 5.0 / 255);
  // Zero belongs to the range.
  EXPECT_DOUBLE_EQ(quantization_step(nullptr, from_doubles(DType::F16, {2}, std::vector<double>{50, 51})),
                   0.2);
  EXPECT_GT(quantization_step(nullptr, from_doubles(DType::F32, {1}, std::vector<double>{0})), 0);
}

TEST(QuantizationStep, IsOneOfIntegers) {
  EXPECT_EQ(quantization_step(nullptr, from_int64s(DType::U8, {2}, std::vector<std::int64_t>{3, 200})), 1);
}

}  // namespace
}  // namespace atc::driver
