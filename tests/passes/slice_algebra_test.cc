#include "passes/slice_algebra.h"

#include "simplify_testing.h"

namespace atc::passes {
namespace {

std::string left(std::string_view inputs, std::string_view outputs, std::string_view body) {
  return simplified(slice_algebra_pass(), air(inputs, outputs, body));
}
void stays(std::string_view inputs, std::string_view outputs, std::string_view body) {
  expect_kept(slice_algebra_pass(), air(inputs, outputs, body));
}

/// Constants of one element each: %20 is {0}, ..., %29 is {9}; %30 is {-1}, %31 the lowest int64.
std::string digits() {
  std::string out;
  for (int i = 0; i < 10; ++i)
    out += "  %" + std::to_string(20 + i) + " = const i64[1] {" + std::to_string(i) + "}\n";
  return out + "  %30 = const i64[1] {-1}\n  %31 = const i64[1] {-9223372036854775808}\n";
}
std::string with_digits(const std::string& body) { return digits() + body; }

TEST(SliceAlgebra, SliceOfSlice) {
  // x[:, 1:9:2][:, 1:3] is x[:, 3:6:2].
  expect_rewrite(slice_algebra_pass(),
                 air("%0 \"x\": f32[2,9]", "%7",
                     "  %1 = const i64[1] {1}\n  %2 = const i64[1] {9}\n  %3 = const i64[1] {2}\n"
                     "  %4 = const i64[1] {3}\n"
                     "  %5 = Slice@13(%0, %1, %2, %1, %3) : f32[2,4] name \"a\" from \"a\"\n"
                     "  %6 = Slice@13(%5, %1, %4, %1) : f32[2,2] name \"b\" from \"b\"\n"
                     "  %7 \"y\" = Relu@14(%6) : f32[2,2]\n"),
                 air("%0 \"x\": f32[2,9]", "%7",
                     "  %8 \"b/starts\" = const i64[1] {3}\n  %9 \"b/ends\" = const i64[1] {6}\n"
                     "  %10 \"b/axes\" = const i64[1] {1}\n  %11 \"b/steps\" = const i64[1] {2}\n"
                     "  %12 = Slice@13(%0, %8, %9, %10, %11) : f32[2,2] name \"b\" from \"b\", \"a\"\n"
                     "  %7 \"y\" = Relu@14(%12) : f32[2,2]\n"));
}

TEST(SliceAlgebra, BackwardSlicesCompose) {
  // Backwards twice is forwards; backwards once reaches the first element.
  EXPECT_EQ(left("%0 \"x\": f32[2,6]", "%3",
                 with_digits("  %1 = Slice@13(%0, %30, %31, %21, %30) : f32[2,6]\n"
                             "  %2 = Slice@13(%1, %30, %31, %21, %30) : f32[2,6]\n"
                             "  %3 \"y\" = Relu@14(%2) : f32[2,6]\n")),
            "Relu");
  EXPECT_EQ(left("%0 \"x\": f32[2,6]", "%3",
                 with_digits("  %1 = Slice@13(%0, %30, %31, %21, %30) : f32[2,6]\n"
                             "  %2 = Slice@13(%1, %22, %29, %21) : f32[2,4]\n"
                             "  %3 \"y\" = Relu@14(%2) : f32[2,4]\n")),
            "Slice Relu");
}

TEST(SliceAlgebra, SliceOfAPart) {
  EXPECT_EQ(left("%0 \"x\": f32[2,9]", "%4, %5",
                 with_digits("  %1, %2 = Split@11(%0) {axis=1, split=[4,5]} : f32[2,4], f32[2,5]\n"
                             "  %3 = Slice@13(%2, %21, %23, %21) : f32[2,2]\n"
                             "  %4 \"y\" = Relu@14(%3) : f32[2,2]\n  %5 \"z\" = Relu@14(%1) : f32[2,4]\n")),
            "Slice Slice Relu Relu");
}

TEST(SliceAlgebra, SliceOfConcat) {
  const std::string concat = "  %2 = Concat@13(%0, %1) {axis=1} : f32[2,9]\n";
  EXPECT_EQ(left("%0 \"a\": f32[2,4], %1 \"b\": f32[2,5]", "%4",
                 with_digits(concat + "  %3 = Slice@13(%2, %25, %28, %21) : f32[2,3]\n"
                                      "  %4 \"y\" = Relu@14(%3) : f32[2,3]\n")),
            "Slice Relu");
  EXPECT_EQ(left("%0 \"a\": f32[2,4], %1 \"b\": f32[2,5]", "%4",
                 with_digits(concat + "  %3 = Slice@13(%2, %24, %29, %21) : f32[2,5]\n"
                                      "  %4 \"y\" = Relu@14(%3) : f32[2,5]\n")),
            "Relu");
  // Of both.
  EXPECT_EQ(left("%0 \"a\": f32[2,4], %1 \"b\": f32[2,5]", "%4",
                 with_digits(concat + "  %3 = Slice@13(%2, %23, %28, %21) : f32[2,5]\n"
                                      "  %4 \"y\" = Relu@14(%3) : f32[2,5]\n")),
            "Concat Slice Relu");
}

TEST(SliceAlgebra, SplitOfConcat) {
  EXPECT_EQ(left("%0 \"a\": f32[2,4], %1 \"b\": f32[2,5]", "%5, %6",
                 "  %2 = Concat@13(%0, %1) {axis=1} : f32[2,9]\n"
                 "  %3, %4 = Split@11(%2) {axis=1, split=[4,5]} : f32[2,4], f32[2,5]\n"
                 "  %5 \"y\" = Relu@14(%3) : f32[2,4]\n  %6 \"z\" = Relu@14(%4) : f32[2,5]\n"),
            "Relu Relu");
  // Cut elsewhere.
  EXPECT_EQ(left("%0 \"a\": f32[2,4], %1 \"b\": f32[2,5]", "%5, %6",
                 "  %2 = Concat@13(%0, %1) {axis=1} : f32[2,9]\n"
                 "  %3, %4 = Split@11(%2) {axis=1, split=[3,6]} : f32[2,3], f32[2,6]\n"
                 "  %5 \"y\" = Relu@14(%3) : f32[2,3]\n  %6 \"z\" = Relu@14(%4) : f32[2,6]\n"),
            "Concat Split Relu Relu");
}

TEST(SliceAlgebra, PartsJoinedAgain) {
  EXPECT_EQ(left("%0 \"x\": f32[2,9]", "%4",
                 "  %1, %2 = Split@11(%0) {axis=1, split=[4,5]} : f32[2,4], f32[2,5]\n"
                 "  %3 = Concat@13(%1, %2) {axis=1} : f32[2,9]\n"
                 "  %4 \"y\" = Relu@14(%3) : f32[2,9]\n"),
            "Concat Relu");  // of x alone: identity-removal takes it
  EXPECT_EQ(left("%0 \"x\": f32[2,9]", "%5",
                 "  %1, %2, %3 = Split@11(%0) {axis=1, split=[4,3,2]} : f32[2,4], f32[2,3], f32[2,2]\n"
                 "  %4 = Concat@13(%1, %2, %1) {axis=1} : f32[2,11]\n"
                 "  %5 \"y\" = Relu@14(%4) : f32[2,11]\n"),
            "Slice Slice Concat Relu");
}

TEST(SliceAlgebra, PartsInAnotherOrderStay) {
  stays("%0 \"x\": f32[2,9]", "%4",
        "  %1, %2 = Split@11(%0) {axis=1, split=[4,5]} : f32[2,4], f32[2,5]\n"
        "  %3 = Concat@13(%2, %1) {axis=1} : f32[2,9]\n"
        "  %4 \"y\" = Relu@14(%3) : f32[2,9]\n");
  // Along another axis.
  stays("%0 \"x\": f32[2,8]", "%4",
        "  %1, %2 = Split@11(%0) {axis=1, split=[4,4]} : f32[2,4], f32[2,4]\n"
        "  %3 = Concat@13(%1, %2) {axis=0} : f32[4,4]\n"
        "  %4 \"y\" = Relu@14(%3) : f32[4,4]\n");
}

TEST(SliceAlgebra, ConcatOfConcatAndOfNothing) {
  const std::string inner = "  %3 = Concat@13(%0, %1) {axis=1} : f32[2,7]\n";
  EXPECT_EQ(left("%0 \"a\": f32[2,4], %1 \"b\": f32[2,3], %2 \"n\": f32[2,0]", "%5",
                 inner + "  %4 = Concat@13(%2, %3, %0) {axis=1} : f32[2,11]\n"
                         "  %5 \"y\" = Relu@14(%4) : f32[2,11]\n"),
            "Concat Relu");
  // Read elsewhere too: it would be copied twice.
  stays("%0 \"a\": f32[2,4], %1 \"b\": f32[2,3]", "%5, %6",
        inner +
            "  %4 = Concat@13(%3, %0) {axis=1} : f32[2,11]\n"
            "  %5 \"y\" = Relu@14(%4) : f32[2,11]\n  %6 \"z\" = Relu@14(%3) : f32[2,7]\n");
}

TEST(SliceAlgebra, GatherOfNeighbours) {
  EXPECT_EQ(left("%0 \"x\": f32[2,5]", "%3",
                 "  %1 = const i64[3] {1,2,-2}\n"
                 "  %2 = Gather@13(%0, %1) {axis=1} : f32[2,3]\n"
                 "  %3 \"y\" = Relu@14(%2) : f32[2,3]\n"),
            "Slice Relu");
  EXPECT_EQ(left("%0 \"x\": f32[2,5]", "%3",
                 "  %1 = const i64[] {-1}\n"
                 "  %2 = Gather@13(%0, %1) {axis=1} : f32[2]\n"
                 "  %3 \"y\" = Relu@14(%2) : f32[2]\n"),
            "Slice Reshape Relu");
  EXPECT_EQ(left("%0 \"x\": f32[2,5]", "%3",
                 "  %1 = const i64[3] {0,2,4}\n"
                 "  %2 = Gather@13(%0, %1) {axis=1} : f32[2,3]\n"
                 "  %3 \"y\" = Relu@14(%2) : f32[2,3]\n"),
            "Slice Relu");
}

TEST(SliceAlgebra, OtherGathersStay) {
  for (const char* indices : {"{0,1,3}", "{2,1,0}", "{1,1,1}"})
    stays("%0 \"x\": f32[2,5]", "%3",
          "  %1 = const i64[3] " + std::string(indices) +
              "\n  %2 = Gather@13(%0, %1) {axis=1} : f32[2,3]\n"
              "  %3 \"y\" = Relu@14(%2) : f32[2,3]\n");
}

TEST(SliceAlgebra, GathersThatMakeUpAValueBecomeASplit) {
  EXPECT_EQ(left("%0 \"x\": f32[3,5]", "%8, %9, %10",
                 "  %1 = const i64[] {0}\n  %2 = const i64[] {1}\n  %3 = const i64[] {2}\n"
                 "  %5 = Gather@13(%0, %1) {axis=0} : f32[5]\n"
                 "  %6 = Gather@13(%0, %2) {axis=0} : f32[5]\n"
                 "  %7 = Gather@13(%0, %3) {axis=0} : f32[5]\n"
                 "  %8 \"a\" = Relu@14(%5) : f32[5]\n  %9 \"b\" = Relu@14(%7) : f32[5]\n"
                 "  %10 \"c\" = Relu@14(%6) : f32[5]\n"),
            "Split Reshape Reshape Reshape Relu Relu Relu");
}

TEST(SliceAlgebra, SlicesThatLeaveAPartOverStay) {
  stays("%0 \"x\": f32[2,9]", "%3, %4",
        "  %5 = const i64[1] {0}\n  %6 = const i64[1] {4}\n  %7 = const i64[1] {5}\n  %8 = const i64[1] {9}\n"
        "  %9 = const i64[1] {1}\n"
        "  %1 = Slice@13(%0, %5, %6, %9) : f32[2,4]\n"
        "  %2 = Slice@13(%0, %7, %8, %9) : f32[2,4]\n"
        "  %3 \"y\" = Relu@14(%1) : f32[2,4]\n  %4 \"z\" = Relu@14(%2) : f32[2,4]\n");
}

TEST(SliceAlgebra, ExpandOfExpand) {
  EXPECT_EQ(left("%0 \"x\": f32[1,1,4]", "%4",
                 "  %1 = const i64[3] {1,3,4}\n  %2 = const i64[3] {2,3,4}\n"
                 "  %3 = Expand@13(%0, %1) : f32[1,3,4]\n"
                 "  %4 \"y\" = Expand@13(%3, %2) : f32[2,3,4]\n"),
            "Expand");
}

TEST(SliceAlgebra, ASplitOfWhichOnePartIsRead) {
  EXPECT_EQ(left("%0 \"x\": f32[2,9]", "%4",
                 "  %1, %2, %3 = Split@11(%0) {axis=1, split=[4,3,2]} : f32[2,4], f32[2,3], f32[2,2]\n"
                 "  %4 \"y\" = Relu@14(%2) : f32[2,3]\n"),
            "Slice Relu");
}

TEST(SliceAlgebra, OpenBoundsStay) {
  stays("%0 \"x\": f32[2,9], %1 \"n\": i64[1]", "%5",
        "  %2 = const i64[1] {0}\n  %3 = const i64[1] {1}\n"
        "  %4 = Slice@13(%0, %2, %1, %3) : f32[2,?0]\n"
        "  %5 \"y\" = Slice@13(%4, %2, %3, %3) : f32[2,?1]\n");
}

}  // namespace
}  // namespace atc::passes
