#include "passes/decompose_index.h"

#include "pass_testing.h"
#include "passes/decompose.h"

namespace atc::passes {
namespace {

TEST(DecomposeIndex, HardmaxMarksTheLargestElement) {
  const std::string after = run_pass(
      decompose_pass(), air("%0 \"x\": f32[2,3,4]", "%1",
                            "  %1 \"y\" = Hardmax@13(%0) {axis=1} : f32[2,3,4] name \"h\" from \"h\"\n"));
  EXPECT_THAT(after, testing::HasSubstr("ArgMax@17(%0) {axis=1, keepdims=0} : i64[2,4]"));
  EXPECT_THAT(after, testing::ContainsRegex("OneHot@11.*axis=1.*f32\\[2,3,4\\]"));
}

TEST(DecomposeIndex, HardmaxBeforeOpset13SeesRows) {
  const std::string after = run_pass(
      decompose_pass(),
      air("%0 \"x\": f32[2,3,4]", "%1", "  %1 \"y\" = Hardmax@11(%0) : f32[2,3,4] name \"h\" from \"h\"\n"));
  EXPECT_THAT(after, testing::ContainsRegex("ArgMax@17.*axis=1, keepdims=0} : i64\\[2\\]"));
  EXPECT_THAT(after, testing::ContainsRegex("OneHot@11.*f32\\[2,12\\]"));
}

TEST(DecomposeIndex, EyeLikeForgetsItsInput) {
  expect_rewrite(
      decompose_pass(),
      air("%0 \"x\": i32[3,2]", "%1",
          "  %1 \"y\" = EyeLike@9(%0) {dtype=1, k=-1} : f32[3,2] name \"e\" from \"e\"\n"),
      air("%0 \"x\": i32[3,2]", "%5",
          "  %2 \"e/positions\" = const i64[3] {-1,0,1}\n"
          "  %3 \"e/values\" = const f32[2] {0.0,1.0}\n"
          "  %4 \"e/depth\" = const i64[1] {2}\n"
          "  %5 \"y\" = OneHot@9(%2, %4, %3) {axis=1} : f32[3,2] name \"e/one_hot\" from \"e\"\n"));
}

TEST(DecomposeIndex, CenterCropPadIsASliceAndAPad) {
  const std::string after = run_pass(
      decompose_pass(), air("%0 \"x\": f32[5,4]", "%2",
                            "  %1 \"n\" = const i64[2] {2,7}\n"
                            "  %2 \"y\" = CenterCropPad@18(%0, %1) : f32[2,7] name \"c\" from \"c\"\n"));
  EXPECT_THAT(after, testing::HasSubstr("\"c/starts\" = const i64[2] {1,0}"));
  EXPECT_THAT(after, testing::HasSubstr("\"c/ends\" = const i64[2] {3,4}"));
  EXPECT_THAT(after, testing::HasSubstr("\"c/pads\" = const i64[4] {0,1,0,2}"));
}

TEST(DecomposeIndex, WhatItCannotWriteStays) {
  expect_unchanged(decompose_pass(), air("%0 \"x\": f64[2,3]", "%1",
                                         "  %1 \"y\" = Hardmax@13(%0) : f64[2,3] name \"h\" from \"h\"\n"));
  // An axis behind the last one was allowed before opset 11.
  expect_unchanged(decompose_pass(),
                   air("%0 \"x\": f32[2,3]", "%1",
                       "  %1 \"y\" = Hardmax@1(%0) {axis=2} : f32[2,3] name \"h\" from \"h\"\n"));
  expect_unchanged(decompose_pass(),
                   air("%0 \"x\": f32[5,4], %1 \"n\": i64[2]", "%2",
                       "  %2 \"y\" = CenterCropPad@18(%0, %1) : f32[2,7] name \"c\" from \"c\"\n"));
  // The batch of the size is not that of theta: the evaluation says so.
  expect_unchanged(decompose_pass(),
                   air("%0 \"t\": f32[1,2,3]", "%2",
                       "  %1 \"size\" = const i64[4] {2,1,4,4}\n"
                       "  %2 \"y\" = AffineGrid@20(%0, %1) : f32[2,4,4,2] name \"a\" from \"a\"\n"));
}

}  // namespace
}  // namespace atc::passes
