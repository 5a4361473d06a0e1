#include "passes/strided_view.h"

#include "pass_testing.h"

namespace atc::passes {
namespace {

TEST(StridedView, ReshapesWhatStridesCanExpress) {
  const StridedView rows{nullptr, 5, {4, 6}, {12, 1}};  // half of each row of 12
  const auto split = reshaped(rows, {2, 2, 1, 3, 2});
  ASSERT_TRUE(split.has_value());
  EXPECT_EQ(split->strides, (Dims{24, 12, 0, 2, 1}));
  EXPECT_EQ(split->offset, 5);
  EXPECT_FALSE(reshaped(rows, {24}).has_value()) << "rows are not neighbours";
  EXPECT_FALSE(reshaped(rows, {3, 8}).has_value());
  EXPECT_FALSE(reshaped(rows, {5, 5}).has_value());
  const auto back = reshaped(*split, {4, 6});
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->strides, rows.strides);
}

// What output 0 of the graph is a view of.
StridedView traced(ir::Graph& g) { return trace_view(g.outputs()[0]); }

TEST(StridedView, LooksThroughHeadSplitsAndSlices) {
  const auto g = graph_of(air("%0 \"x\": f32[2,5,24]", "%5",
                              "  %1 \"s\" = const i64[4] {2,5,4,6}\n"
                              "  %2 \"i\" = const i64[] {-1}\n"
                              "  %3 = Reshape@14(%0, %1) : f32[2,5,4,6]\n"
                              "  %4 = Transpose@13(%3) {perm=[0,2,1,3]} : f32[2,4,5,6]\n"
                              "  %5 = Gather@13(%4, %2) {axis=1} : f32[2,5,6]\n"));
  const StridedView v = traced(*g);
  EXPECT_EQ(v.base, g->inputs()[0]);
  EXPECT_EQ(v.offset, 18);
  EXPECT_EQ(v.dims, (Dims{2, 5, 6}));
  EXPECT_EQ(v.strides, (Dims{120, 24, 1}));
}

TEST(StridedView, SplitsAndRepeats) {
  const auto g = graph_of(air("%0 \"x\": f32[2,6]", "%6",
                              "  %1 \"s\" = const i64[3] {2,4,3}\n"
                              "  %2 \"a\" = const i64[1] {1}\n"
                              "  %3, %4 = Split@11(%0) {axis=1, split=[3,3]} : f32[2,3], f32[2,3]\n"
                              "  %5 = Unsqueeze@13(%4, %2) : f32[2,1,3]\n"
                              "  %6 = Expand@13(%5, %1) : f32[2,4,3]\n"));
  const StridedView v = traced(*g);
  EXPECT_EQ(v.base, g->inputs()[0]);
  EXPECT_EQ(v.offset, 3);
  EXPECT_EQ(v.strides, (Dims{6, 0, 1}));
}

TEST(StridedView, StopsWhereStridesEnd) {
  const auto g = graph_of(air("%0 \"x\": f32[2,3]", "%3",
                              "  %1 \"s\" = const i64[1] {6}\n"
                              "  %2 = Transpose@13(%0) {perm=[1,0]} : f32[3,2]\n"
                              "  %3 = Reshape@14(%2, %1) : f32[6]\n"));
  const StridedView v = traced(*g);
  EXPECT_EQ(v.base, g->outputs()[0]);
  EXPECT_EQ(v.strides, Dims{1});
}

}  // namespace
}  // namespace atc::passes
