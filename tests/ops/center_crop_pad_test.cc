#include "ops/node_case.h"

namespace atc::ops {
namespace {

using ::testing::HasSubstr;

TEST(CenterCropPad, OddRestsGoToTheEnd) {
  const auto run = [](std::int64_t length) {
    NodeCase c("CenterCropPad", 18);
    return to_doubles(c.data(f32({5}, {1, 2, 3, 4, 5})).constant(i64({1}, {length})).run_one());
  };
  using V = std::vector<double>;
  EXPECT_EQ(run(5), (V{1, 2, 3, 4, 5}));
  EXPECT_EQ(run(4), (V{1, 2, 3, 4}));
  EXPECT_EQ(run(3), (V{2, 3, 4}));
  EXPECT_EQ(run(2), (V{2, 3}));
  EXPECT_EQ(run(0), (V{}));
  EXPECT_EQ(run(6), (V{1, 2, 3, 4, 5, 0}));
  EXPECT_EQ(run(8), (V{0, 1, 2, 3, 4, 5, 0, 0}));
}

TEST(CenterCropPad, CropsOneAxisAndPadsAnother) {
  NodeCase c("CenterCropPad", 18);
  c.data(i64({3, 2}, {1, 2, 3, 4, 5, 6})).constant(i64({2}, {4, 1})).ints("axes", {-1, 0});
  expect_near(c.run_one(), {1, 4}, {0, 3, 4, 0});
}

TEST(CenterCropPad, InfersAndRefuses) {
  NodeCase c("CenterCropPad", 18);
  c.typed(DType::U8, Dims{7, 5, 3}).shape_value({ir::Dim::named("h"), ir::Dim::of(9)}).ints("axes", {0, 1});
  EXPECT_EQ(c.inferred(), "u8[h,9,3]");
  EXPECT_EQ(NodeCase("CenterCropPad", 18).typed(DType::F32, Dims{7, 5}).typed(DType::I64, Dims{2}).inferred(),
            "f32[?0,?1]");
  EXPECT_THAT(NodeCase("CenterCropPad", 18).typed(DType::F32, Dims{7, 5}).constant(i64({1}, {2})).inferred(),
              HasSubstr("states 1 lengths for 2 axes"));
  EXPECT_THAT(NodeCase("CenterCropPad", 18)
                  .typed(DType::F32, Dims{7, 5})
                  .constant(i64({2}, {2, 2}))
                  .ints("axes", {0, -2})
                  .inferred(),
              HasSubstr("axes is [0,-2], expected different axes"));
  EXPECT_THAT(NodeCase("CenterCropPad", 18).typed(DType::F32, Dims{7}).constant(i64({1}, {-1})).inferred(),
              HasSubstr("negative length -1"));
}

}  // namespace
}  // namespace atc::ops
