#include "passes/decompose_reduce.h"

#include "pass_testing.h"
#include "passes/decompose.h"

namespace atc::passes {
namespace {

TEST(DecomposeReduce, GroupsOfAxesAreReducedOneAfterTheOtherTheLastFirst) {
  expect_rewrite(
      decompose_pass(),
      air("%0 \"x\": f32[2,3,4,5]", "%1",
          "  %1 \"y\" = ReduceMean@13(%0) {axes=[0,2,3], keepdims=1} : f32[1,3,1,1] name \"r\" from \"r\"\n"),
      air("%0 \"x\": f32[2,3,4,5]", "%3",
          "  %2 = ReduceMean@13(%0) {axes=[2,3], keepdims=1} : f32[2,3,1,1] name \"r/axes1\" from \"r\"\n"
          "  %3 \"y\" = ReduceMean@13(%2) {axes=[0], keepdims=1} : f32[1,3,1,1] name \"r/axes0\" from "
          "\"r\"\n"));
}

TEST(DecomposeReduce, LaterStepsAddWhatTheFirstOneMade) {
  const std::string after =
      run_pass(decompose_pass(),
               air("%0 \"x\": f32[2,3,4,5,6]", "%2",
                   "  %1 \"axes\" = const i64[3] {0,2,4}\n"
                   "  %2 \"y\" = ReduceSumSquare@18(%0, %1) : f32[1,3,1,5,1] name \"r\" from \"r\"\n"));
  EXPECT_THAT(after, testing::ContainsRegex("ReduceSumSquare@18.*f32\\[2,3,4,5,1\\]"));
  EXPECT_THAT(after, testing::ContainsRegex("ReduceSum@18.*f32\\[2,3,1,5,1\\]"));
  EXPECT_THAT(after, testing::ContainsRegex("ReduceSum@18.*f32\\[1,3,1,5,1\\]"));
}

TEST(DecomposeReduce, AnAxisOfOneElementJoinsItsNeighbours) {
  expect_rewrite(
      decompose_pass(),
      air("%0 \"x\": f32[2,1,4]", "%1",
          "  %1 \"y\" = ReduceL2@13(%0) {axes=[0,2], keepdims=1} : f32[1,1,1] name \"r\" from \"r\"\n"),
      air("%0 \"x\": f32[2,1,4]", "%2",
          "  %2 \"y\" = ReduceL2@13(%0) {axes=[0,1,2], keepdims=1} : f32[1,1,1] name \"r/axes0\" from "
          "\"r\"\n"));
}

TEST(DecomposeReduce, WhatStepsWouldChangeStays) {
  for (const char* node : {"ReduceMean@13(%0) {axes=[0,2], keepdims=1} : i32[1,3,1]",
                           "ReduceL2@13(%0) {axes=[0,2], keepdims=1} : i32[1,3,1]",
                           "ReduceSum@11(%0) {axes=[0,1], keepdims=1} : i32[1,1,4]"})
    expect_unchanged(decompose_pass(), air("%0 \"x\": i32[2,3,4]", "%1",
                                           std::string("  %1 \"y\" = ") + node + " name \"r\" from \"r\"\n"));
  // Doubles have no vector program that wants them.
  expect_unchanged(
      decompose_pass(),
      air("%0 \"x\": f64[2,3,4]", "%1",
          "  %1 \"y\" = ReduceSum@11(%0) {axes=[0,2], keepdims=1} : f64[1,3,1] name \"r\" from \"r\"\n"));
}

}  // namespace
}  // namespace atc::passes
