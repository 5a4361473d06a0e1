#include "ops/node_case.h"

namespace atc::ops {
namespace {

using ::testing::HasSubstr;

/// A plane whose value is its column plus ten times its row: bilinear sampling returns the coordinate.
Tensor ramp(std::int64_t height, std::int64_t width) {
  std::vector<double> v;
  for (std::int64_t i = 0; i < height; ++i)
    for (std::int64_t j = 0; j < width; ++j) v.push_back(static_cast<double>(10 * i + j));
  return f32({1, 1, height, width}, v);
}

TEST(RoiAlign, InfersAndRefuses) {
  const auto roi = [](Dims rois, const char* mode) {
    NodeCase c("RoiAlign", 16);
    c.typed(DType::F32, Dims{2, 8, 14, 14}).typed(DType::F32, rois).typed(DType::I64, Dims{5});
    return c.attr("output_height", 7).attr("output_width", 3).attr("mode", mode).inferred();
  };
  EXPECT_EQ(roi({5, 4}, "avg"), "f32[5,8,7,3]");
  EXPECT_THAT(roi({5, 5}, "avg"), HasSubstr("must have shape [regions,4]"));
  EXPECT_THAT(roi({4, 4}, "avg"), HasSubstr("has 5 elements, expected 4"));
  EXPECT_THAT(roi({5, 4}, "min"), HasSubstr("expected avg or max"));
}

TEST(RoiAlign, AveragesARampToItsMiddle) {
  const auto run = [](int version, int ratio) {
    NodeCase c("RoiAlign", version);
    c.data(ramp(8, 8)).constant(f32({1, 4}, {1, 2, 5, 6})).constant(i64({1}, {0}));
    return c.attr("output_height", 2).attr("output_width", 1).attr("sampling_ratio", ratio).run_one();
  };
  // Version 10 takes coordinates as they are: columns 1 to 5, rows 2 to 4 and 4 to 6.
  for (int ratio : {0, 1, 3}) {
    expect_near(run(10, ratio), {1, 1, 2, 1}, {33, 53});
    expect_near(run(16, ratio), {1, 1, 2, 1}, {27.5, 47.5});  // half a pixel less on each axis
  }
}

TEST(RoiAlign, RefusesABatchElementThatIsNotThere) {
  NodeCase c("RoiAlign", 16);
  c.data(ramp(4, 4)).constant(f32({1, 4}, {0, 0, 1, 1})).constant(i64({1}, {1}));
  ASSERT_TRUE(c.infer().ok());
  const Tensor x = ramp(4, 4);
  const Tensor rois = f32({1, 4}, {0, 0, 1, 1});
  const Tensor batch = i64({1}, {1});
  EvalContext ctx(c.node(), {&x, &rois, &batch});
  EXPECT_THAT(Registry::instance().find(c.node())->reference(ctx).to_string(),
              HasSubstr("a region names batch element 1, the data has 1"));
}

TEST(MaxRoiPool, LargestOfEachBin) {
  NodeCase c("MaxRoiPool", 1);
  c.data(ramp(6, 6)).constant(f32({2, 5}, {0, 0, 0, 3, 3, 0, 4, 4, 12, 12})).ints("pooled_shape", {2, 2});
  expect_near(c.run_one(), {2, 1, 2, 2}, {11, 13, 31, 33, 55, 0, 0, 0});
  EXPECT_THAT(NodeCase("MaxRoiPool", 1)
                  .typed(DType::F32, Dims{1, 1, 6, 6})
                  .typed(DType::F32, Dims{2, 5})
                  .ints("pooled_shape", {2})
                  .inferred(),
              HasSubstr("expected two values >= 1"));
}

}  // namespace
}  // namespace atc::ops
