// Operators that read and write by index, and those that order or count elements, on the AI Core.
#include <gmock/gmock.h>

#include <limits>

#include "runtime/one_node.h"

namespace atc::runtime {
namespace {

using ::testing::HasSubstr;

Tensor ints(Dims shape, std::vector<std::int64_t> v) { return from_int64s(DType::I64, std::move(shape), v); }

TEST(LowerGatherElements, AxesAndTypes) {
  for (const DType dtype : {DType::F32, DType::F16, DType::I8, DType::I64, DType::Bool, DType::F64})
    for (const std::int64_t axis : {0, 1, -1}) {
      SCOPED_TRACE(axis);
      Dims index = {3, 4, 5};
      index[static_cast<std::size_t>((axis + 3) % 3)] = 7;
      OneNode("GatherElements", 13)
          .input(random_values(dtype, {3, 4, 5}, 1))
          .input(random_integers(DType::I64, index, -3, 2, 2))
          .attr("axis", axis)
          .expect_on_ai_core();
    }
}

TEST(LowerGatherElements, FewOfLongRows) {
  OneNode("GatherElements", 13)
      .input(random_values(DType::F32, {50, 3000}, 1))
      .input(random_integers(DType::I32, {50, 2}, -3000, 2999, 2))
      .attr("axis", 1)
      .expect_on_ai_core();
}

TEST(LowerGatherElements, IndicesThatCoverAPart) {
  OneNode("GatherElements", 13)
      .input(random_values(DType::F32, {6, 5, 8}, 1))
      .input(random_integers(DType::I64, {4, 9, 3}, -5, 4, 2))
      .attr("axis", 1)
      .expect_on_ai_core();
}

TEST(LowerGatherElements, RefusesIndicesBesideTheData) {
  OneNode n("GatherElements", 13);
  n.input(random_values(DType::F32, {2, 3}, 1))
      .input(random_integers(DType::I64, {3, 2}, 0, 1, 2))
      .attr("axis", 1);
  EXPECT_THAT(n.status(), HasSubstr("exceed data of shape [2,3] in axis 0"));
}

// 2^32 + 1 is out of range whatever its low half says: the AI Core reads zero there.
TEST(LowerGatherElements, IndicesBeyond32Bits) {
  OneNode n("GatherElements", 13);
  n.input(from_doubles(DType::F32, {3}, std::vector<double>{5, 6, 7}))
      .input(ints({3}, {(std::int64_t{1} << 32) + 1, 2, -(std::int64_t{1} << 32) - 1}));
  const auto run = n.compiled("Ascend910B3");
  ASSERT_TRUE(run.ok()) << run.status().to_string();
  EXPECT_EQ(to_doubles(run->outputs[0]), (std::vector<double>{0, 7, 0}));
}

TEST(LowerGatherND, TuplesAndBatches) {
  OneNode("GatherND", 13)
      .input(random_values(DType::F32, {5, 6, 7}, 1))
      .input(random_integers(DType::I64, {3, 4, 2}, -5, 4, 2))
      .expect_on_ai_core();
  OneNode("GatherND", 13)
      .input(random_values(DType::F16, {5, 6, 7}, 3))
      .input(random_integers(DType::I64, {11, 3}, -5, 4, 4))
      .expect_on_ai_core();
  OneNode("GatherND", 13)
      .input(random_values(DType::I32, {2, 3, 6, 7}, 5))
      .input(random_integers(DType::I64, {2, 3, 4, 1}, -6, 5, 6))
      .attr("batch_dims", 2)
      .expect_on_ai_core();
}

TEST(LowerScatterElements, ReductionsAndTypes) {
  for (const char* reduction : {"none", "add", "mul", "max", "min"})
    for (const DType dtype : {DType::F32, DType::I32, DType::I64, DType::U8})
      for (const std::int64_t axis : {0, 2}) {
        SCOPED_TRACE(reduction);
        OneNode("ScatterElements", 18)
            .input(random_integers(dtype, {4, 5, 6}, 0, 3, 1))
            .input(random_integers(DType::I64, {4, 5, 4}, -4, 3, 2))
            .input(random_integers(dtype, {4, 5, 4}, 0, 3, 3))
            .attr("axis", axis)
            .attr("reduction", reduction)
            .expect_on_ai_core();
      }
}

TEST(LowerScatterElements, MovesAnyType) {
  for (const DType dtype : {DType::Bool, DType::F64, DType::U64, DType::BF16})
    OneNode("ScatterElements", 16)
        .input(random_values(dtype, {6, 5}, 1))
        .input(random_integers(DType::I32, {3, 4}, -6, 5, 2))
        .input(random_values(dtype, {3, 4}, 3))
        .expect_on_ai_core();
}

TEST(LowerScatterElements, SumsOfDoublesRunOnTheAiCpu) {
  OneNode("ScatterElements", 16)
      .input(random_values(DType::F64, {6, 5}, 1))
      .input(random_integers(DType::I64, {3, 4}, -6, 5, 2))
      .input(random_values(DType::F64, {3, 4}, 3))
      .attr("reduction", "add")
      .expect_on_ai_cpu();
}

TEST(LowerScatterElements, RefusesUpdatesOfAnotherShape) {
  OneNode n("ScatterElements", 16);
  n.input(random_values(DType::F32, {6, 5}, 1))
      .input(random_integers(DType::I64, {3, 4}, 0, 3, 2))
      .input(random_values(DType::F32, {3, 5}, 3));
  EXPECT_THAT(n.status(), HasSubstr("indices of shape [3,4] and updates of shape [3,5]"));
}

TEST(LowerScatterND, SlicesAndElements) {
  OneNode("ScatterND", 18)
      .input(random_values(DType::F32, {8, 5, 6}, 1))
      .input(random_integers(DType::I64, {4, 1}, -8, 7, 2))
      .input(random_values(DType::F32, {4, 5, 6}, 3))
      .expect_on_ai_core();
  OneNode("ScatterND", 18)
      .input(random_values(DType::F16, {8, 5, 6}, 1))
      .input(random_integers(DType::I64, {4, 7, 3}, -5, 4, 2))
      .input(random_values(DType::F16, {4, 7}, 3))
      .attr("reduction", "max")
      .expect_on_ai_core();
  OneNode("ScatterND", 18)
      .input(random_integers(DType::I64, {8, 5}, -5, 5, 1))
      .input(random_integers(DType::I64, {9, 1}, 0, 7, 2))
      .input(random_integers(DType::I64, {9, 5}, std::int64_t{1} << 40, std::int64_t{1} << 41, 3))
      .attr("reduction", "add")
      .expect_on_ai_core();
}

TEST(LowerTensorScatter, LinearAndCircular) {
  for (const char* mode : {"linear", "circular"})
    OneNode("TensorScatter", 24)
        .input(random_values(DType::F16, {3, 2, 8, 5}, 1))
        .input(random_values(DType::F16, {3, 2, 3, 5}, 2))
        .input(ints({3}, {0, 5, mode[0] == 'c' ? 7 : 2}))
        .attr("mode", mode)
        .expect_on_ai_core();
  OneNode("TensorScatter", 24)
      .input(random_values(DType::F32, {2, 4, 5}, 1))
      .input(random_values(DType::F32, {2, 2, 5}, 2))
      .expect_on_ai_core();
}

TEST(LowerArgReduce, AxesTiesAndTypes) {
  for (const char* op : {"ArgMax", "ArgMin"})
    for (const DType dtype : {DType::F32, DType::F16, DType::I32, DType::U8, DType::I64})
      for (const std::int64_t axis : {0, 1, 2})
        for (const std::int64_t last : {0, 1})
          OneNode(op, 13)
              .input(random_integers(dtype, {5, 33, 7}, 0, 4, 1))
              .attr("axis", axis)
              .attr("keepdims", last)
              .attr("select_last_index", last)
              .expect_on_ai_core();
}

TEST(LowerArgReduce, LongAxesAndNan) {
  OneNode("ArgMax", 13).input(random_values(DType::F32, {2, 100000}, 1)).attr("axis", 1).expect_on_ai_core();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::int64_t last : {0, 1})
    OneNode("ArgMin", 13)
        .input(from_doubles(DType::F32, {2, 4}, std::vector<double>{1, nan, 0, nan, 3, 2, 2, 9}))
        .attr("axis", 1)
        .attr("select_last_index", last)
        .expect_on_ai_core();
}

TEST(LowerArgReduce, ValuesBeyond32Bits) {
  const std::int64_t high = std::int64_t{1} << 53;
  OneNode("ArgMax", 13).input(ints({4}, {high, high + 2, high + 3, high + 1})).expect_on_ai_core();
}

TEST(LowerArgReduce, DoublesRunOnTheAiCpu) {
  OneNode("ArgMax", 13).input(random_values(DType::F64, {4, 5}, 1)).attr("axis", 1).expect_on_ai_cpu();
}

TEST(LowerTopK, AxesAndTypes) {
  for (const DType dtype : {DType::F32, DType::F16, DType::I64, DType::I32, DType::U8})
    for (const std::int64_t axis : {0, 1, -1})
      for (const std::int64_t largest : {0, 1})
        OneNode("TopK", 11, 2)
            .input(random_integers(dtype, {5, 6, 7}, 0, 9, 1))
            .constant(ints({1}, {4}))
            .attr("axis", axis)
            .attr("largest", largest)
            .expect_on_ai_core();
}

TEST(LowerTopK, LongRowsAreSharedByTheCores) {
  OneNode("TopK", 11, 2)
      .input(random_integers(DType::F32, {1, 50000}, 0, 3000, 1))
      .constant(ints({1}, {300}))
      .expect_on_ai_core();
}

TEST(LowerTopK, MoreThanFitsRunsOnTheAiCpu) {
  OneNode("TopK", 11, 2)
      .input(random_values(DType::F32, {5000}, 1))
      .constant(ints({1}, {5000}))
      .expect_on_ai_cpu();
}

TEST(LowerCumSum, Forms) {
  for (const DType dtype : {DType::F32, DType::I32, DType::I64, DType::I8})
    for (const std::int64_t axis : {0, 1, -1})
      for (const std::int64_t form : {0, 1, 2, 3})
        OneNode("CumSum", 14)
            .input(random_integers(dtype, {3, 5, 40}, -9, 9, 1))
            .constant(from_int64s(DType::I32, {}, std::vector<std::int64_t>{axis}))
            .attr("exclusive", form & 1)
            .attr("reverse", form >> 1)
            .expect_on_ai_core();
}

TEST(LowerCumSum, AnAxisThatIsAnInputRunsOnTheAiCpu) {
  OneNode("CumSum", 14).input(random_values(DType::I32, {3, 5}, 1)).input(ints({}, {1})).expect_on_ai_cpu();
}

TEST(LowerOneHot, AxesAndIndices) {
  for (const std::int64_t axis : {0, 1, -1})
    OneNode("OneHot", 11)
        .input(random_integers(DType::I64, {4, 5}, -8, 8, 1))
        .constant(ints({}, {6}))
        .input(from_doubles(DType::F32, {2}, std::vector<double>{-1, 2.5}))
        .attr("axis", axis)
        .expect_on_ai_core();
  OneNode("OneHot", 11)
      .input(ints({3}, {(std::int64_t{1} << 32) + 1, 1, -1}))
      .constant(ints({}, {4}))
      .constant(from_int64s(DType::I8, {2}, std::vector<std::int64_t>{0, 1}))
      .expect_on_ai_core();
  OneNode("OneHot", 9)
      .input(from_doubles(DType::F32, {3}, std::vector<double>{-1, 1.9, 2}))
      .constant(ints({}, {4}))
      .constant(from_int64s(DType::Bool, {2}, std::vector<std::int64_t>{0, 1}))
      .expect_on_ai_core();
}

TEST(LowerTrilu, DiagonalsAndTypes) {
  for (const DType dtype : {DType::F32, DType::F16, DType::I64, DType::Bool})
    for (const std::int64_t upper : {0, 1})
      for (const std::int64_t k : {std::int64_t{0}, std::int64_t{2}, std::int64_t{-3}, std::int64_t{100},
                                   std::numeric_limits<std::int64_t>::min()}) {
        OneNode("Trilu", 14)
            .input(random_values(dtype, {2, 5, 7}, 1))
            .input(ints({}, {k}))
            .attr("upper", upper)
            .expect_on_ai_core();
      }
  OneNode("Trilu", 14).input(random_values(DType::F32, {6, 4}, 1)).expect_on_ai_core();
}

TEST(LowerPad, ModesThatRepeatElements) {
  for (const char* mode : {"reflect", "edge", "wrap"})
    for (const std::vector<std::int64_t>& pads : {std::vector<std::int64_t>{0, 0, 2, 3, 0, 0, 1, 4},
                                                  std::vector<std::int64_t>{0, 1, -1, 2, 1, 0, 3, -2}}) {
      SCOPED_TRACE(mode);
      OneNode("Pad", 19)
          .input(random_values(DType::F32, {2, 3, 6, 7}, 1))
          .constant(ints({8}, pads))
          .attr("mode", mode)
          .expect_on_ai_core();
    }
  OneNode("Pad", 19)
      .input(random_values(DType::F16, {3}, 1))
      .constant(ints({2}, {7, 8}))
      .attr("mode", "wrap")
      .expect_on_ai_core();
  OneNode("Pad", 2)
      .input(random_values(DType::I8, {2, 9}, 1))
      .attr("mode", "reflect")
      .ints("pads", {0, 8, 0, 8})
      .expect_on_ai_core();
}

TEST(LowerReverseSequence, BothOrdersOfAxes) {
  for (const std::int64_t time : {0, 1}) {
    const std::int64_t batch = time == 0 ? 4 : 5, steps = time == 0 ? 5 : 4;
    OneNode("ReverseSequence", 10)
        .input(random_values(DType::F16, {5, 4, 3}, 1))
        .input(random_integers(DType::I64, {batch}, 0, steps, 2))
        .attr("time_axis", time)
        .attr("batch_axis", 1 - time)
        .expect_on_ai_core();
  }
}

TEST(LowerGridSample, ModesAndPaddings) {
  for (const char* mode : {"linear", "nearest", "cubic"})
    for (const char* padding : {"zeros", "border", "reflection"})
      for (const std::int64_t align : {0, 1}) {
        SCOPED_TRACE(std::string(mode) + " " + padding + " " + std::to_string(align));
        OneNode("GridSample", 20)
            .input(random_values(DType::F32, {2, 3, 5, 6}, 1))
            .input(random_values(DType::F32, {2, 4, 7, 2}, 2, 1.7))
            .attr("mode", mode)
            .attr("padding_mode", padding)
            .attr("align_corners", align)
            .expect_on_ai_core(1e-4);
      }
}

TEST(LowerGridSample, Volumes) {
  OneNode("GridSample", 20)
      .input(random_values(DType::F32, {1, 2, 4, 5, 6}, 1))
      .input(random_values(DType::F32, {1, 3, 2, 4, 3}, 2, 1.3))
      .expect_on_ai_core(1e-4);
}

TEST(LowerGridSample, CubicVolumesRunOnTheAiCpu) {
  OneNode("GridSample", 20)
      .input(random_values(DType::F32, {1, 2, 4, 5, 6}, 1))
      .input(random_values(DType::F32, {1, 3, 2, 4, 3}, 2, 1.3))
      .attr("mode", "cubic")
      .expect_on_ai_cpu();
}

}  // namespace
}  // namespace atc::runtime
