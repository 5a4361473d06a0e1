#include "passes/in_place_parts.h"

#include "pass_testing.h"

namespace atc::passes {
namespace {

const std::string kTwo = "  %2 = Neg@13(%0) : f32[1,2,5]\n  %3 = Abs@13(%1) : f32[1,3,5]\n";
const std::string kInputs = "%0 \"a\": f32[1,2,5], %1 \"b\": f32[1,3,5]";

TEST(InPlaceParts, ConcatIsWrittenByItsProducers) {
  const std::string concat = "  %4 \"y\" = Concat@13(%2, %3) {axis=1";
  expect_rewrite(in_place_parts_pass(), air(kInputs, "%4", kTwo + concat + "} : f32[1,5,5]\n"),
                 air(kInputs, "%4", kTwo + concat + ", in_place=[0,1]} : f32[1,5,5]\n"));
}

TEST(InPlaceParts, ThroughReshape) {
  const std::string body =
      "  %5 = const i64[1] {-1}\n  %2 = Neg@13(%0) : f32[1,2,5]\n"
      "  %3 = Reshape@13(%2, %5) : f32[10]\n  %4 \"y\" = Concat@13(%1, %3) {axis=0";
  const std::string inputs = "%0 \"a\": f32[1,2,5], %1 \"b\": f32[4]";
  expect_rewrite(in_place_parts_pass(), air(inputs, "%4", body + "} : f32[14]\n"),
                 air(inputs, "%4", body + ", in_place=[1]} : f32[14]\n"));
}

TEST(InPlaceParts, PartsOfSplitAndSlice) {
  const std::string split = "  %1, %2 = Split@11(%0) {axis=0";
  const std::string rest = "  %3 = const i64[1] {1}\n  %4 = const i64[1] {2}\n";
  const std::string slice = "  %5 = Slice@13(%0, %3, %4)";
  const std::string uses =
      "  %6 \"p\" = Neg@13(%1) : f32[2,3]\n  %7 \"q\" = Neg@13(%2) : f32[2,3]\n"
      "  %8 \"r\" = Neg@13(%5) : f32[1,3]\n";
  expect_rewrite(in_place_parts_pass(),
                 air("%0 \"x\": f32[4,3]", "%6, %7, %8",
                     rest + split + "} : f32[2,3], f32[2,3]\n" + slice + " : f32[1,3]\n" + uses),
                 air("%0 \"x\": f32[4,3]", "%6, %7, %8",
                     rest + split + ", in_place=[0,1]} : f32[2,3], f32[2,3]\n" + slice +
                         " {in_place=[0]} : f32[1,3]\n" + uses));
}

TEST(InPlaceParts, NotWhatIsNoStretch) {
  // A batch of two; columns.
  expect_unchanged(
      in_place_parts_pass(),
      air("%0 \"a\": f32[2,2,5]", "%2",
          "  %1 = Neg@13(%0) : f32[2,2,5]\n  %2 \"y\" = Concat@13(%1, %0) {axis=1} : f32[2,4,5]\n"));
  expect_unchanged(in_place_parts_pass(), air("%0 \"x\": f32[4,6]", "%3",
                                              "  %1, %2 = Split@11(%0) {axis=1} : f32[4,3], f32[4,3]\n"
                                              "  %3 \"y\" = Add@14(%1, %2) : f32[4,3]\n"));
}

// Items of the batch lie as far apart as those of the whole.
const std::string kHalf = "f16[3,32,4,4] NC1HWC0", kWhole = "f16[3,64,4,4] NC1HWC0";

std::string absolute(const std::string& to, const std::string& from) {
  return "  " + to + " = atc::Fused(" + from +
         ") {body=graph \"body\"(%0 \"x\": f16[3,32,4,4]) -> (%1) {\n"
         "    %1 \"y\" = Abs@13(%0) : f16[3,32,4,4]\n  }} : " +
         kHalf + "\n";
}

TEST(InPlaceParts, OfABatchWhereWritersAndReadersTakeStrides) {
  const std::string body = absolute("%1", "%0") + absolute("%2", "%1") +
                           "  %3 \"y\" = Concat@13(%1, %2) {axis=1} : " + kWhole + "\n";
  const std::string after = run_pass(in_place_parts_pass(), air("%0 \"a\": " + kHalf, "%3", body));
  EXPECT_THAT(after, testing::HasSubstr("in_place=[0,1]"));
}

TEST(InPlaceParts, OfABatchNotWhereAReaderTakesNone) {
  const std::string body = absolute("%1", "%0") + absolute("%2", "%1") +
                           "  %3 \"y\" = Concat@13(%1, %2) {axis=1} : " + kWhole + "\n" +
                           "  %4 \"z\" = atc::TransData(%1) : f16[3,32,4,4]\n";
  const std::string after = run_pass(in_place_parts_pass(), air("%0 \"a\": " + kHalf, "%3, %4", body));
  EXPECT_THAT(after, testing::HasSubstr("in_place=[1]"));
}

TEST(InPlaceParts, NotWhatHasAnotherPlace) {
  // Inputs, outputs and constants of the graph.
  expect_unchanged(in_place_parts_pass(), air("%0 \"a\": f32[2]", "%1, %2",
                                              "  %3 = const f32[1] {1.0}\n  %1 \"p\" = Neg@13(%0) : f32[2]\n"
                                              "  %2 \"y\" = Concat@13(%1, %0, %3) {axis=0} : f32[5]\n"));
  expect_unchanged(
      in_place_parts_pass(),
      air("%0 \"x\": f32[4]", "%1, %2", "  %1 \"p\", %2 \"q\" = Split@11(%0) {axis=0} : f32[2], f32[2]\n"));
}

TEST(InPlaceParts, AValueIsAPartOnce) {
  const std::string neg = "  %1 = Neg@13(%0) : f32[2]\n";
  expect_rewrite(in_place_parts_pass(),
                 air("%0 \"a\": f32[2]", "%2, %3",
                     neg + "  %2 \"y\" = Concat@13(%1, %1) {axis=0} : f32[4]\n"
                           "  %3 \"z\" = Concat@13(%0, %1) {axis=0} : f32[4]\n"),
                 air("%0 \"a\": f32[2]", "%2, %3",
                     neg + "  %2 \"y\" = Concat@13(%1, %1) {axis=0, in_place=[0]} : f32[4]\n"
                           "  %3 \"z\" = Concat@13(%0, %1) {axis=0} : f32[4]\n"));
}

TEST(InPlaceParts, AConcatGrowsInPlace) {
  const std::string makers =
      "  %1 = Neg@13(%0) : f32[2]\n  %2 = Abs@13(%0) : f32[2]\n  %3 = Exp@13(%0) : f32[2]\n";
  expect_rewrite(in_place_parts_pass(),
                 air("%0 \"a\": f32[2]", "%6, %7",
                     makers + "  %4 = Concat@13(%1, %2) {axis=0} : f32[4]\n  %6 \"p\" = Neg@13(%4) : f32[4]\n"
                              "  %7 \"q\" = Concat@13(%1, %2, %3) {axis=0} : f32[6]\n"),
                 air("%0 \"a\": f32[2]", "%6, %7",
                     makers + "  %4 = Concat@13(%1, %2) {axis=0, in_place=[0,1]} : f32[4]\n"
                              "  %6 \"p\" = Neg@13(%4) : f32[4]\n"
                              "  %7 \"q\" = Concat@13(%4, %3) {axis=0, in_place=[0,1]} : f32[6]\n"));
}

}  // namespace
}  // namespace atc::passes
