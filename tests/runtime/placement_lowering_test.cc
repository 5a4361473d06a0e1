// Operators that are written in index operators and copies, and Resize of what the vector unit does not add
// up.
#include "runtime/one_node.h"

namespace atc::runtime {
namespace {

TEST(LowerHardmax, AnAxisAndTheFlattenedRows) {
  for (const int version : {11, 13})
    for (const std::int64_t axis : {0, 1, 2, -1})
      OneNode("Hardmax", version)
          .input(random_values(DType::F32, {3, 4, 5}, 1))
          .attr("axis", axis)
          .expect_on_ai_core();
  // The first of several largest ones.
  OneNode("Hardmax", 13)
      .input(from_doubles(DType::F32, {2, 3}, std::vector<double>{3, 3, 1, 2, 5, 5}))
      .expect_on_ai_core();
  OneNode("Hardmax", 13).input(random_values(DType::F64, {3, 4}, 1)).expect_on_ai_cpu();
}

TEST(LowerEyeLike, DiagonalsInsideAndOutside) {
  for (const std::int64_t k : {0, 2, -1, -3, 9, -9})
    for (const std::int64_t dtype : {1, 7, 9, 10})
      OneNode("EyeLike", 9)
          .input(random_values(DType::I32, {4, 6}, 1))
          .attr("k", k)
          .attr("dtype", dtype)
          .expect_on_ai_core();
}

TEST(LowerCenterCropPad, CropsPadsAndBoth) {
  for (const DType dtype : {DType::F32, DType::U8, DType::I64, DType::Bool})
    for (const Dims& lengths : {Dims{3, 4, 2}, Dims{8, 9, 7}, Dims{3, 9, 5}, Dims{5, 6, 5}})
      OneNode("CenterCropPad", 18)
          .input(random_integers(dtype, {5, 6, 5}, 0, dtype == DType::Bool ? 1 : 100, 1))
          .constant(from_int64s(DType::I64, {3}, lengths))
          .expect_on_ai_core();
  OneNode("CenterCropPad", 18)
      .input(random_values(DType::F32, {5, 6, 3}, 1))
      .constant(from_int64s(DType::I64, {2}, std::vector<std::int64_t>{9, 2}))
      .ints("axes", {-1, 0})
      .expect_on_ai_core();
}

TEST(LowerAffineGrid, PlanesAndVolumes) {
  for (const std::int64_t align : {0, 1}) {
    OneNode("AffineGrid", 20)
        .input(random_values(DType::F32, {2, 2, 3}, 1))
        .constant(from_int64s(DType::I64, {4}, std::vector<std::int64_t>{2, 3, 5, 6}))
        .attr("align_corners", align)
        .expect_on_ai_core(1e-5);
    OneNode("AffineGrid", 20)
        .input(random_values(DType::F32, {1, 3, 4}, 1))
        .constant(from_int64s(DType::I64, {5}, std::vector<std::int64_t>{1, 3, 4, 1, 6}))
        .attr("align_corners", align)
        .expect_on_ai_core(1e-5);
  }
}

TEST(LowerBatchNormalization, ParametersThatAreInputs) {
  for (const Dims& dims : {Dims{2, 3, 4, 5}, Dims{4, 3}}) {
    OneNode n("BatchNormalization", 15);
    n.input(random_values(DType::F32, dims, 1));
    for (const unsigned seed : {2U, 3U, 4U}) n.input(random_values(DType::F32, {3}, seed));
    n.input(from_doubles(DType::F32, {3}, std::vector<double>{0.5, 2, 0})).expect_on_ai_core(2e-5);
  }
}

TEST(LowerBitCast, TheSameBytesUnderAnotherType) {
  for (const auto& [from, to] : {std::pair{DType::F32, DType::I32},
                                 {DType::I32, DType::F32},
                                 {DType::F64, DType::I64},
                                 {DType::U16, DType::BF16},
                                 {DType::I8, DType::U8}})
    OneNode("BitCast", 26)
        .input(random_values(from, {3, 5}, 1))
        .attr("to", static_cast<std::int64_t>(to))
        .expect_on_ai_core();
}

void expect_resized(DType dtype, const char* nearest, const std::vector<double>& scales,
                    const char* transform) {
  SCOPED_TRACE(std::string(name(dtype)) + " " + nearest + " " + transform);
  OneNode n("Resize", 19);
  n.input(random_integers(dtype, {2, 3, 5, 7}, 0, dtype == DType::Bool ? 1 : 100, 1))
      .absent()
      .constant(from_doubles(DType::F32, {4}, scales))
      .attr("nearest_mode", nearest)
      .attr("coordinate_transformation_mode", transform)
      .expect_on_ai_core();
}

TEST(LowerResize, NearestNeighboursOfEveryType) {
  for (const DType dtype :
       {DType::U8, DType::I8, DType::Bool, DType::I16, DType::I32, DType::I64, DType::U64, DType::F64})
    expect_resized(dtype, "floor", {1, 1, 2, 2}, "asymmetric");
  for (const char* nearest : {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"})
    for (const char* transform : {"half_pixel", "align_corners", "asymmetric"})
      expect_resized(DType::U8, nearest, {1, 2, 0.6, 1.7}, transform);
}

TEST(LowerResize, InterpolatedIntegersAreTheAiCpus) {
  OneNode("Resize", 13)
      .input(random_integers(DType::U8, {1, 1, 5, 7}, 0, 255, 1))
      .absent()
      .constant(from_doubles(DType::F32, {4}, std::vector<double>{1, 1, 2, 2}))
      .attr("mode", "linear")
      .expect_on_ai_cpu();
}

}  // namespace
}  // namespace atc::runtime
