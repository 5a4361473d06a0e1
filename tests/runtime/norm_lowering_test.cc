// Normalizations on the AI Core, whether they are vector programs themselves or are written in others.
#include "runtime/one_node.h"

namespace atc::runtime {
namespace {

constexpr double kTolerance = 2e-5;

TEST(LowerInstanceNormalization, PlanesRowsAndVolumes) {
  for (const Dims& dims : {Dims{2, 3, 5, 7}, Dims{1, 4, 300}, Dims{2, 2, 3, 4, 5}})
    for (const bool constant : {true, false}) {
      OneNode n("InstanceNormalization", 6);
      n.input(random_values(DType::F32, dims, 1));
      for (const unsigned seed : {2U, 3U}) {
        Tensor p = random_values(DType::F32, {dims[1]}, seed);
        constant ? n.constant(std::move(p)) : n.input(std::move(p));
      }
      n.expect_on_ai_core(kTolerance);
    }
}

TEST(LowerGroupNormalization, ParametersOfGroupsAndOfChannels) {
  for (const int version : {18, 21}) {
    const std::int64_t parameters = version < 21 ? 2 : 6;
    OneNode("GroupNormalization", version)
        .input(random_values(DType::F32, {2, 6, 4, 5}, 1))
        .constant(random_values(DType::F32, {parameters}, 2))
        .constant(random_values(DType::F32, {parameters}, 3))
        .attr("num_groups", 2)
        .expect_on_ai_core(kTolerance);
  }
}

TEST(LowerMeanVarianceNormalization, NeighbouringAndOtherAxes) {
  OneNode("MeanVarianceNormalization", 13)
      .input(random_values(DType::F32, {3, 4, 5, 6}, 1))
      .expect_on_ai_core(kTolerance);
  OneNode("MeanVarianceNormalization", 13)
      .input(random_values(DType::F32, {3, 4, 5, 6}, 1))
      .ints("axes", {2, -1})
      .expect_on_ai_core(kTolerance);
}

TEST(LowerLpNormalization, NormsAndZeroVectors) {
  for (const std::int64_t p : {1, 2})
    for (const std::int64_t axis : {0, 1, -1})
      OneNode("LpNormalization", 22)
          .input(random_values(DType::F32, {4, 5, 6}, 1))
          .attr("p", p)
          .attr("axis", axis)
          .expect_on_ai_core(kTolerance);
  OneNode("LpNormalization", 22)
      .input(from_doubles(DType::F32, {2, 2}, std::vector<double>{0, 0, 3, 4}))
      .expect_on_ai_core(kTolerance);
}

TEST(LowerLrn, OddAndEvenWindows) {
  for (const std::int64_t size : {1, 3, 4, 5})
    OneNode("LRN", 13)
        .input(random_values(DType::F32, {2, 7, 3, 4}, 1, 30))
        .attr("size", size)
        .expect_on_ai_core(kTolerance);
}

TEST(LowerNormalizations, DoublesRunOnTheAiCpu) {
  OneNode("InstanceNormalization", 6)
      .input(random_values(DType::F64, {2, 3, 4}, 1))
      .constant(random_values(DType::F64, {3}, 2))
      .constant(random_values(DType::F64, {3}, 3))
      .expect_on_ai_cpu();
  OneNode("LpNormalization", 22).input(random_values(DType::F64, {2, 3}, 1)).expect_on_ai_cpu();
  OneNode("LRN", 13).input(random_values(DType::F64, {2, 5, 3}, 1)).attr("size", 3).expect_on_ai_cpu();
}

TEST(LowerNormalizations, WideWindowsOfLrnRunOnTheAiCpu) {
  OneNode("LRN", 13).input(random_values(DType::F32, {1, 40, 3}, 1)).attr("size", 17).expect_on_ai_cpu();
}

}  // namespace
}  // namespace atc::runtime
