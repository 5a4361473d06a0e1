#include "ops/node_case.h"
#include "ops/pad_geometry.h"
#include "ops/shape_value.h"

namespace atc::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<double> padded(const char* mode, std::int64_t before, std::int64_t after) {
  NodeCase c("Pad", 19);
  c.data(f32({3}, {1, 2, 3})).constant(i64({2}, {before, after})).attr("mode", mode);
  return to_doubles(c.run_one());
}

TEST(Pad, Modes) {
  EXPECT_THAT(padded("constant", 1, 2), ElementsAre(0, 1, 2, 3, 0, 0));
  EXPECT_THAT(padded("edge", 2, 1), ElementsAre(1, 1, 1, 2, 3, 3));
  EXPECT_THAT(padded("reflect", 2, 2), ElementsAre(3, 2, 1, 2, 3, 2, 1));
  EXPECT_THAT(padded("wrap", 2, 4), ElementsAre(2, 3, 1, 2, 3, 1, 2, 3, 1));
  EXPECT_THAT(padded("reflect", 5, 0), ElementsAre(2, 1, 2, 3, 2, 1, 2, 3));
  EXPECT_THAT(padded("constant", -1, 1), ElementsAre(2, 3, 0));
}

TEST(Pad, ValueAndAxes) {
  NodeCase c("Pad", 18);
  c.data(i64({2, 2}, {1, 2, 3, 4})).constant(i64({2}, {1, 0})).data(i64({}, {9})).constant(i64({1}, {-1}));
  const Tensor y = c.run_one();
  EXPECT_EQ(y.shape, (Dims{2, 3}));
  EXPECT_THAT(to_int64s(y), ElementsAre(9, 1, 2, 9, 3, 4));
}

TEST(Pad, OldAttributes) {
  NodeCase first("Pad", 1);
  first.data(f32({1}, {1})).ints("paddings", {1, 0}).attr("value", 5.0F);
  expect_near(first.run_one(), {2}, {5, 1});
  NodeCase second("Pad", 2);
  second.data(f32({1}, {1})).ints("pads", {0, 1});
  expect_near(second.run_one(), {2}, {1, 0});
}

TEST(Pad, InfersAroundSymbols) {
  const ir::Shape shape = {ir::Dim::named("n"), literal(4)};
  EXPECT_EQ(NodeCase("Pad", 13).typed(DType::F32, shape).constant(i64({4}, {0, 1, 0, 2})).inferred(),
            "f32[n,7]");
  EXPECT_EQ(NodeCase("Pad", 13).typed(DType::F32, shape).constant(i64({4}, {1, 0, 0, 0})).inferred(),
            "f32[?0,4]");
  EXPECT_EQ(NodeCase("Pad", 13).typed(DType::F32, shape).typed(DType::I64, Dims{4}).inferred(), "f32[?0,?1]");
}

TEST(Pad, Refusals) {
  auto pad = [](int version, const char* mode, std::vector<std::int64_t> pads) {
    NodeCase c("Pad", version);
    c.typed(DType::F32, Dims{3})
        .constant(i64({static_cast<std::int64_t>(pads.size())}, pads))
        .attr("mode", mode);
    return c.inferred();
  };
  EXPECT_THAT(pad(18, "wrap", {1, 1}), HasSubstr("mode must be constant, reflect or edge, found 'wrap'"));
  EXPECT_THAT(pad(18, "edge", {1, 1, 1}), HasSubstr("pads [1,1,1] and axes do not fit an input of rank 1"));
  EXPECT_THAT(pad(18, "constant", {-2, -2}), HasSubstr("remove more than there is"));
  EXPECT_THAT(NodeCase("Pad", 13)
                  .typed(DType::F32, Dims{0})
                  .constant(i64({2}, {1, 0}))
                  .attr("mode", "edge")
                  .inferred(),
              HasSubstr("no element to repeat"));
}

}  // namespace
}  // namespace atc::ops
