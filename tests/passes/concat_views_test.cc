#include "passes/concat_views.h"

#include "simplify_testing.h"

namespace atc::passes {
namespace {

TEST(ConcatViews, PartsAreReadInPlace) {
  expect_rewrite(
      concat_views_pass(),
      air("%0 \"x\": f32[2,9], %4 \"z\": f32[2,3]", "%3",
          "  %1, %2 = Split@11(%0) {axis=1, split=[4,5]} : f32[2,4], f32[2,5] name \"s\" from \"s\"\n"
          "  %3 \"y\" = Concat@13(%2, %4, %1) {axis=1} : f32[2,12] name \"c\" from \"c\"\n"),
      air("%0 \"x\": f32[2,9], %4 \"z\": f32[2,3]", "%5",
          "  %5 \"y\" = atc::ConcatViews(%0, %4, %0) {axis=1, parts=[4,2,5,9,1,0,2,3,3,1,0,2,4,9,1]} : "
          "f32[2,12] name \"c\" from \"c\", \"s\"\n"));
}

TEST(ConcatViews, PartsThatTwoConcatsRead) {
  EXPECT_EQ(
      operators_of(*graph_of(run_pass(
          concat_views_pass(), air("%0 \"x\": f32[2,9]", "%3, %4",
                                   "  %1, %2 = Split@11(%0) {axis=1, split=[4,5]} : f32[2,4], f32[2,5]\n"
                                   "  %3 \"y\" = Concat@13(%2, %1) {axis=1} : f32[2,9]\n"
                                   "  %4 \"z\" = Concat@13(%1, %1) {axis=0} : f32[4,4]\n")))),
      "ConcatViews ConcatViews");
}

TEST(ConcatViews, CopiesThatOthersNeedStay) {
  const std::string split = "  %1, %2 = Split@11(%0) {axis=1, split=[4,5]} : f32[2,4], f32[2,5]\n";
  const std::string concat = "  %3 \"y\" = Concat@13(%2, %4) {axis=1} : f32[2,8]\n";
  // The other part is read by a Relu; the model returns the part; blocked channels.
  expect_kept(concat_views_pass(), air("%0 \"x\": f32[2,9], %4 \"z\": f32[2,3]", "%3, %5",
                                       split + concat + "  %5 \"r\" = Relu@14(%1) : f32[2,4]\n"));
  expect_kept(concat_views_pass(), air("%0 \"x\": f32[2,9], %4 \"z\": f32[2,3]", "%3, %2", split + concat));
  expect_kept(
      concat_views_pass(),
      air("%0 \"x\": f32[1,32,4] NC1HWC0, %4 \"z\": f32[1,16,4] NC1HWC0", "%3",
          "  %1, %2 = Split@11(%0) {axis=1, split=[16,16]} : f32[1,16,4] NC1HWC0, f32[1,16,4] NC1HWC0\n"
          "  %3 \"y\" = Concat@13(%2, %1, %4) {axis=1} : f32[1,48,4] NC1HWC0\n"));
  // Reshapes are no copies.
  expect_kept(concat_views_pass(), air("%0 \"x\": f32[2,9], %4 \"z\": f32[3,6]", "%3",
                                       "  %1 = const i64[2] {3,6}\n  %2 = Reshape@13(%0, %1) : f32[3,6]\n"
                                       "  %3 \"y\" = Concat@13(%2, %4) {axis=1} : f32[3,12]\n"));
}

}  // namespace
}  // namespace atc::passes
