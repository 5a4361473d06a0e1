#include "ops/node_case.h"
#include "ops/shape_value.h"

namespace atc::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Transpose, InfersPermutedOrReversed) {
  EXPECT_EQ(NodeCase("Transpose", 13).typed(DType::F32, Dims{2, 3, 4}).inferred(), "f32[4,3,2]");
  EXPECT_EQ(NodeCase("Transpose", 13).typed(DType::F32, Dims{2, 3, 4}).ints("perm", {1, 2, 0}).inferred(),
            "f32[3,4,2]");
  EXPECT_EQ(NodeCase("Transpose", 13).typed(DType::F32, std::nullopt).ints("perm", {1, 0}).inferred(),
            "f32[?0,?1]");
  EXPECT_THAT(NodeCase("Transpose", 13).typed(DType::F32, Dims{2, 3}).ints("perm", {0, 0}).inferred(),
              HasSubstr("perm [0,0] is not a permutation of the 2 axes"));
  EXPECT_THAT(NodeCase("Transpose", 13).typed(DType::F32, Dims{2, 3}).ints("perm", {0}).inferred(),
              HasSubstr("is not a permutation"));
}

TEST(Transpose, MovesElementsOfEveryWidth) {
  for (DType t : {DType::I4, DType::U8, DType::F16, DType::F32, DType::I64}) {
    NodeCase c("Transpose", 21);
    c.data(from_int64s(t, {2, 3}, std::vector<std::int64_t>{1, 2, 3, 4, 5, 6}));
    EXPECT_THAT(to_int64s(c.run_one()), ElementsAre(1, 4, 2, 5, 3, 6)) << name(t);
  }
  Tensor text;
  text.dtype = DType::String;
  text.shape = {1, 2};
  text.strings = {"a", "b"};
  NodeCase c("Transpose", 13);
  c.data(text);
  EXPECT_THAT(c.run_one().strings, ElementsAre("a", "b"));
}

TEST(DepthToSpace, BothModesAndItsInverse) {
  const Tensor x = f32({1, 8, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7});
  NodeCase dcr("DepthToSpace", 13);
  dcr.data(x).attr("blocksize", 2);
  const Tensor y = dcr.run_one();
  expect_near(y, {1, 2, 2, 2}, {0, 2, 4, 6, 1, 3, 5, 7});
  NodeCase crd("DepthToSpace", 13);
  crd.data(x).attr("blocksize", 2).attr("mode", "CRD");
  expect_near(crd.run_one(), {1, 2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  NodeCase back("SpaceToDepth", 13);
  back.data(y).attr("blocksize", 2);
  expect_near(back.run_one(), x.shape, to_doubles(x));
}

TEST(DepthToSpace, Refusals) {
  EXPECT_THAT(
      NodeCase("DepthToSpace", 13).typed(DType::F32, Dims{1, 6, 2, 2}).attr("blocksize", 2).inferred(),
      HasSubstr("axis 1 of length 6, which blocksize asks to be a multiple of 4"));
  EXPECT_THAT(
      NodeCase("SpaceToDepth", 13).typed(DType::F32, Dims{1, 6, 3, 2}).attr("blocksize", 2).inferred(),
      HasSubstr("axis 2 of length 3"));
  EXPECT_THAT(
      NodeCase("DepthToSpace", 13).typed(DType::F32, Dims{1, 4, 2, 2}).attr("blocksize", 0).inferred(),
      HasSubstr("blocksize is 0"));
  EXPECT_THAT(NodeCase("DepthToSpace", 13).typed(DType::F32, Dims{4, 2, 2}).attr("blocksize", 2).inferred(),
              HasSubstr("rank"));
  EXPECT_THAT(NodeCase("DepthToSpace", 13)
                  .typed(DType::F32, Dims{1, 4, 2, 2})
                  .attr("blocksize", 2)
                  .attr("mode", "RCD")
                  .inferred(),
              HasSubstr("mode must be DCR or CRD, found 'RCD'"));
}

}  // namespace
}  // namespace atc::ops
