#include "ops/window_geometry.h"

#include "ops/node_case.h"

namespace atc::ops {
namespace {

using ::testing::HasSubstr;

TEST(WindowGeometry, ConvPadsStridesAndDilations) {
  NodeCase c("Conv", 11);
  c.ints("pads", {1, 2, 3, 4}).ints("strides", {2, 3}).ints("dilations", {1, 2});
  const auto g = conv_geometry(c.node(), {10, 20}, {3, 3});
  ASSERT_TRUE(g.ok());
  EXPECT_EQ(g->pads_begin, (Dims{1, 2}));
  EXPECT_EQ(g->pads_end, (Dims{3, 4}));
  // (10 + 4 - 3) / 2 + 1, (20 + 6 - 5) / 3 + 1
  EXPECT_EQ(g->output, (Dims{6, 8}));
}

TEST(WindowGeometry, SamePutsTheOddPadAtTheNamedSide) {
  for (const bool upper : {true, false}) {
    NodeCase c("Conv", 11);
    c.attr("auto_pad", upper ? "SAME_UPPER" : "SAME_LOWER").ints("strides", {2});
    const auto g = conv_geometry(c.node(), {6}, {3});
    ASSERT_TRUE(g.ok());
    EXPECT_EQ(g->output, Dims{3});
    EXPECT_EQ(g->pads_begin, Dims{upper ? 0 : 1});
    EXPECT_EQ(g->pads_end, Dims{upper ? 1 : 0});
  }
}

TEST(WindowGeometry, SameKnowsThePadsOnlyWithTheSize) {
  NodeCase c("Conv", 11);
  c.attr("auto_pad", "SAME_UPPER");
  const auto g = conv_geometry(c.node(), {-1}, {3});
  ASSERT_TRUE(g.ok());
  EXPECT_EQ(g->output, Dims{-1});
  EXPECT_EQ(g->pads_begin, Dims{-1});
}

TEST(WindowGeometry, ValidIgnoresPads) {
  NodeCase c("Conv", 11);
  c.attr("auto_pad", "VALID").ints("pads", {5, 5});
  const auto g = conv_geometry(c.node(), {6}, {3});
  ASSERT_TRUE(g.ok());
  EXPECT_EQ(g->output, Dims{4});
  EXPECT_EQ(g->pads_begin, Dims{0});
}

TEST(WindowGeometry, CeilModeDropsAWindowThatStartsInTheRightPadding) {
  NodeCase keeps("MaxPool", 12);
  keeps.ints("kernel_shape", {3}).ints("strides", {2}).attr("ceil_mode", 1);
  EXPECT_EQ(pool_geometry(keeps.node(), {4})->output, Dims{2});  // the second window starts at 2 of 4

  // ceil((2 + 1 - 1) / 2) + 1 = 2 windows, but the second would start at 2, in the padding.
  NodeCase drops("MaxPool", 12);
  drops.ints("kernel_shape", {1}).ints("strides", {2}).ints("pads", {0, 1}).attr("ceil_mode", 1);
  EXPECT_EQ(pool_geometry(drops.node(), {2})->output, Dims{1});
}

TEST(WindowGeometry, TransposeSizes) {
  NodeCase c("ConvTranspose", 11);
  c.ints("strides", {3, 2}).ints("pads", {1, 2, 1, 2}).ints("output_padding", {1, 0});
  EXPECT_EQ(conv_transpose_geometry(c.node(), {3, 3}, {3, 3})->output, (Dims{8, 3}));
}

TEST(WindowGeometry, TransposeOutputShapeSplitsThePadding) {
  const auto pads = [](int version, const char* auto_pad) {
    NodeCase c("ConvTranspose", version);
    c.ints("strides", {2}).ints("output_shape", {6}).attr("auto_pad", auto_pad);
    const auto g = conv_transpose_geometry(c.node(), {3}, {3});  // full size 7: one to crop
    EXPECT_EQ(g->output, Dims{6});
    return std::pair(g->pads_begin[0], g->pads_end[0]);
  };
  EXPECT_EQ(pads(11, "SAME_UPPER"), std::pair(0L, 1L));
  EXPECT_EQ(pads(11, "NOTSET"), std::pair(1L, 0L));
  EXPECT_EQ(pads(1, "SAME_UPPER"), std::pair(1L, 0L));
  EXPECT_EQ(pads(1, "NOTSET"), std::pair(0L, 1L));
}

TEST(WindowGeometry, TransposeSameMultipliesTheSize) {
  NodeCase c("ConvTranspose", 11);
  c.ints("strides", {2, 2}).attr("auto_pad", "SAME_UPPER");
  const auto g = conv_transpose_geometry(c.node(), {3, 3}, {3, 3});
  EXPECT_EQ(g->output, (Dims{6, 6}));
  EXPECT_EQ(g->pads_begin, (Dims{0, 0}));
  EXPECT_EQ(g->pads_end, (Dims{1, 1}));
}

TEST(WindowGeometry, Refusals) {
  const auto message = [](NodeCase& c, Dims spatial, Dims kernel) {
    return conv_geometry(c.node(), spatial, kernel).status().to_string();
  };
  NodeCase auto_pad("Conv", 11);
  auto_pad.attr("auto_pad", "SAME");
  EXPECT_THAT(message(auto_pad, {4}, {3}), HasSubstr("attribute auto_pad is \"SAME\""));
  NodeCase strides("Conv", 11);
  strides.ints("strides", {1, 0});
  EXPECT_THAT(message(strides, {4, 4}, {3, 3}),
              HasSubstr("attribute strides is [1,0], every value must be >= 1"));
  NodeCase pads("Conv", 11);
  pads.ints("pads", {1, 1});
  EXPECT_THAT(message(pads, {4, 4}, {3, 3}), HasSubstr("attribute pads has 2 values [1,1], expected 4"));
  NodeCase kernel("Conv", 11);
  kernel.ints("kernel_shape", {5});
  EXPECT_THAT(message(kernel, {4}, {3}),
              HasSubstr("kernel_shape is [5], but the weight's spatial dims are [3]"));
  NodeCase small("Conv", 11);
  small.ints("pads", {1, 0});
  EXPECT_THAT(message(small, {2}, {5}), HasSubstr("size 2 (padded 3), smaller than the window of extent 5"));
  NodeCase huge("Conv", 11);
  huge.ints("dilations", {INT64_MAX});
  EXPECT_THAT(message(huge, {2}, {5}), HasSubstr("attribute dilations"));
}

}  // namespace
}  // namespace atc::ops
