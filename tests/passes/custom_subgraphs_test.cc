#include "passes/custom_subgraphs.h"

#include "custom_testing.h"

namespace atc::passes {
namespace {

using custom_test::LibrarySource;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const Pass kPass = custom_subgraphs_pass();

LibrarySource op(const std::string& type, std::vector<std::string> inputs,
                 std::vector<std::string> attrs = {}) {
  LibrarySource source;
  source.type = type;
  source.inputs = std::move(inputs);
  source.more_attrs = std::move(attrs);
  return source;
}

// RoPE ------------------------------------------------------------------------------------------------

const LibrarySource kRope = op("RoPE", {"x", "cos", "sin"}, {"ATC_ATTR_INT mode"});

std::string halves(const std::string& neg, const std::string& concat) {
  return air("%0 \"x\": f32[2,6,8], %1 \"cos\": f32[6,8], %2 \"sin\": f32[6,8]", "%9",
             "  %3, %4 = Split@11(%0) {axis=-1, split=[4,4]} : f32[2,6,4], f32[2,6,4]\n  %5 = Neg@13(" + neg +
                 ") : f32[2,6,4]\n  %6 = Concat@13(" + concat +
                 ") {axis=-1} : f32[2,6,8]\n"
                 "  %7 = Mul@14(%0, %1) : f32[2,6,8]\n"
                 "  %8 = Mul@14(%6, %2) : f32[2,6,8]\n"
                 "  %9 \"y\" = Add@14(%7, %8) : f32[2,6,8]\n");
}

TEST(CustomRope, TakesRotatedHalves) {
  CustomLibraries custom({kRope});
  EXPECT_THAT(custom.run(kPass, halves("%4", "%5, %3")),
              AllOf(HasSubstr("atc::Custom(%0, %1, %2)"), HasSubstr("mode=0"), Not(HasSubstr("Neg"))));
  EXPECT_EQ(custom.takeover.taken.at(0).pattern, "RoPE");
  EXPECT_THAT(custom.run(kPass, halves("%3", "%5, %4")), Not(HasSubstr("Custom")));
  EXPECT_THAT(custom.run(kPass, halves("%3", "%4, %5")), Not(HasSubstr("Custom")));
}

/// Concat(a * cos - b * sin, b * cos + a * sin), or the same element by element; tables of half a head.
std::string of_parts(bool interleaved) {
  const std::string part = "f32[2,6,4]";
  std::string text;
  if (interleaved)
    text =
        "  %20 \"pairs\" = const i64[4] {2,6,4,2}\n"
        "  %21 = Reshape@14(%0, %20) : f32[2,6,4,2]\n"
        "  %22 \"i0\" = const i64[] splat 0\n  %23 \"i1\" = const i64[] splat 1\n"
        "  %3 = Gather@13(%21, %22) {axis=3} : " +
        part + "\n  %4 = Gather@13(%21, %23) {axis=3} : " + part + "\n";
  else
    text = "  %3, %4 = Split@11(%0) {axis=-1, split=[4,4]} : " + part + ", " + part + "\n";
  text += "  %5 = Mul@14(%3, %1) : " + part + "\n  %6 = Mul@14(%4, %2) : " + part +
          "\n  %7 = Sub@14(%5, %6) : " + part + "\n  %8 = Mul@14(%4, %1) : " + part +
          "\n  %9 = Mul@14(%3, %2) : " + part + "\n  %10 = Add@14(%8, %9) : " + part + "\n";
  if (interleaved)
    text +=
        "  %24 \"last\" = const i64[1] {-1}\n"
        "  %25 = Unsqueeze@13(%7, %24) : f32[2,6,4,1]\n"
        "  %26 = Unsqueeze@13(%10, %24) : f32[2,6,4,1]\n"
        "  %27 = Concat@13(%25, %26) {axis=-1} : f32[2,6,4,2]\n"
        "  %28 \"heads\" = const i64[3] {2,6,8}\n"
        "  %11 \"y\" = Reshape@14(%27, %28) : f32[2,6,8]\n";
  else
    text += "  %11 \"y\" = Concat@13(%7, %10) {axis=-1} : f32[2,6,8]\n";
  return air("%0 \"x\": f32[2,6,8], %1 \"cos\": f32[6,4], %2 \"sin\": f32[6,4]", "%11", text);
}

TEST(CustomRope, GivesTablesOfHalfAHeadTwice) {
  CustomLibraries custom({kRope});
  EXPECT_THAT(custom.run(kPass, of_parts(false)),
              AllOf(HasSubstr("Concat@17(%1, %1) {axis=-1} : f32[6,8]"), HasSubstr("atc::Custom(%0, "),
                    HasSubstr("mode=0"), Not(HasSubstr("Split"))));
}

TEST(CustomRope, InterleavedPartsNeedTheAttribute) {
  CustomLibraries custom({kRope});
  EXPECT_THAT(custom.run(kPass, of_parts(true)),
              AllOf(HasSubstr("Concat@17("), HasSubstr("f32[6,4,2]"), HasSubstr("atc::Custom(%0, "),
                    HasSubstr("mode=1"), Not(HasSubstr("Gather"))));
  CustomLibraries plain({op("RoPE", {"x", "cos", "sin"})});
  EXPECT_THAT(plain.run(kPass, of_parts(true)), Not(HasSubstr("Custom")));
  EXPECT_THAT(plain.reasons(), HasSubstr("RoPE has no attribute mode"));
}

// SwiGlu ----------------------------------------------------------------------------------------------

/// An operator of one input that halves the last axis.
LibrarySource halving(std::vector<std::string> attrs = {}) {
  LibrarySource source = op("SwiGlu", {"x"}, std::move(attrs));
  source.infer =
      "outputs[0] = call->inputs[0]; outputs[0].data = NULL; outputs[0].dtype = ATC_DT_FLOAT;"
      "outputs[0].dims[call->inputs[0].rank - 1] /= 2; return 0;";
  return source;
}

std::string gated(const std::string& parts, const std::string& outputs = "%9") {
  return air("%0 \"x\": f32[5,8], %1 \"z\": f32[5,4]", outputs,
             parts +
                 "  %6 = Sigmoid@13(%3) : f32[5,4]\n"
                 "  %7 = Mul@14(%6, %3) : f32[5,4]\n"
                 "  %9 \"y\" = Mul@14(%4, %7) : f32[5,4]\n");
}
const std::string kSplit = "  %3, %4 = Split@11(%0) {axis=1, split=[4,4]} : f32[5,4], f32[5,4]\n";
const std::string kStrided =
    "  %10 \"from0\" = const i64[1] {0}\n  %11 \"from1\" = const i64[1] {1}\n"
    "  %12 \"to\" = const i64[1] {8}\n  %13 \"axis\" = const i64[1] {1}\n"
    "  %14 \"step\" = const i64[1] {2}\n"
    "  %3 = Slice@13(%0, %10, %12, %13, %14) : f32[5,4]\n"
    "  %4 = Slice@13(%0, %11, %12, %13, %14) : f32[5,4]\n";

TEST(CustomSwiGlu, TakesAGatedUnitWhereItsHalvesLie) {
  CustomLibraries custom({halving()});
  EXPECT_THAT(custom.run(kPass, gated(kSplit)),
              AllOf(HasSubstr("atc::Custom(%0)"), HasSubstr("atc_op=\"SwiGlu\""), Not(HasSubstr("Split")),
                    Not(HasSubstr("Sigmoid"))));
  ASSERT_EQ(custom.takeover.taken.size(), 1U);
  EXPECT_EQ(custom.takeover.taken[0].pattern, "SwiGlu");
  EXPECT_EQ(custom.takeover.taken[0].library, "twice.so");
}

TEST(CustomSwiGlu, TakesStridedPartsInPlaceWhereTheOperatorKnowsThem) {
  CustomLibraries knows({halving({"ATC_ATTR_INT interleaved"})});
  EXPECT_THAT(knows.run(kPass, gated(kStrided)),
              AllOf(HasSubstr("atc::Custom(%0)"), HasSubstr("interleaved=1"), Not(HasSubstr("Slice"))));
  EXPECT_THAT(knows.run(kPass, gated(kSplit)), HasSubstr("interleaved=0"));
  CustomLibraries plain({halving()});
  EXPECT_THAT(plain.run(kPass, gated(kStrided)),
              AllOf(HasSubstr("Concat@17(%3, %4)"), Not(HasSubstr("interleaved"))));
}

TEST(CustomSwiGlu, JoinsPartsThatLieApart) {
  CustomLibraries custom({halving()});
  EXPECT_THAT(custom.run(kPass, air("%3 \"g\": f32[5,4], %4 \"u\": f32[5,4]", "%9",
                                    "  %7 = Swish@24(%3) : f32[5,4]\n"
                                    "  %9 \"y\" = Mul@14(%4, %7) : f32[5,4]\n")),
              AllOf(HasSubstr("Concat@17(%3, %4)"), HasSubstr("atc::Custom(")));
}

TEST(CustomSwiGlu, LeavesWhatTheModelShowsAndOtherGates) {
  CustomLibraries custom({halving()});
  EXPECT_THAT(custom.run(kPass, gated(kSplit, "%9, %7")), Not(HasSubstr("Custom")));
  EXPECT_THAT(custom.run(kPass, air("%3 \"g\": f32[5,4], %4 \"u\": f32[5,4]", "%9",
                                    "  %7 = Swish@24(%3) {alpha=2.0} : f32[5,4]\n"
                                    "  %9 \"y\" = Mul@14(%4, %7) : f32[5,4]\n")),
              Not(HasSubstr("Custom")));
  EXPECT_THAT(custom.run(kPass, air("%3 \"g\": f32[5,4], %4 \"u\": f32[5,4]", "%9",
                                    "  %7 = Relu@14(%3) : f32[5,4]\n"
                                    "  %9 \"y\" = Mul@14(%4, %7) : f32[5,4]\n")),
              Not(HasSubstr("Custom")));
}

TEST(CustomSwiGlu, RefusesAnOperatorThatGivesAnotherShape) {
  CustomLibraries custom({op("SwiGlu", {"x"})});
  EXPECT_THAT(custom.run(kPass, gated(kSplit)),
              AllOf(HasSubstr("E89999"), HasSubstr("gives [5,8]"), HasSubstr("[5,4]")));
}

// Attention -------------------------------------------------------------------------------------------

LibrarySource attention(std::vector<std::string> inputs) {
  LibrarySource source = op("Attention", std::move(inputs), {"ATC_ATTR_FLOAT scale"});
  source.infer =
      "outputs[0] = call->inputs[0]; outputs[0].data = NULL; outputs[0].dtype = ATC_DT_FLOAT;"
      "outputs[0].dims[3] = call->inputs[2].dims[3]; return 0;";
  return source;
}

std::string scores(const std::string& masked, const std::string& extra = {}) {
  return air(
      "%0 \"q\": f32[3,5,8], %1 \"k\": f32[3,6,8], %2 \"v\": f32[3,6,4], %3 \"m\": f32[5,6], %4 \"c\": "
      "bool[5,6]",
      "%12" + extra,
      "  %5 = Transpose@13(%1) {perm=[0,2,1]} : f32[3,8,6]\n"
      "  %6 = MatMul@13(%0, %5) : f32[3,5,6]\n"
      "  %7 \"s\" = const f32[] splat 0.5\n"
      "  %8 = Mul@14(%6, %7) : f32[3,5,6]\n" +
          masked +
          "  %11 = Softmax@13(%10) {axis=-1} : f32[3,5,6]\n"
          "  %12 \"y\" = MatMul@13(%11, %2) : f32[3,5,4]\n");
}

TEST(CustomAttention, GetsHeadsOnAxisOne) {
  CustomLibraries custom({attention({"q", "k", "v", "mask"})});
  EXPECT_THAT(custom.run(kPass, scores("  %10 = Add@14(%8, %3) : f32[3,5,6]\n")),
              AllOf(HasSubstr("f32[1,3,5,8]"), HasSubstr("f32[1,3,6,8]"), HasSubstr("scale=0.5"),
                    Not(HasSubstr("Softmax")), Not(HasSubstr("Transpose"))));
}

TEST(CustomAttention, ACommonConditionIsAMask) {
  CustomLibraries custom({attention({"q", "k", "v", "mask"})});
  const auto where = [](const std::string& fill) {
    return scores("  %9 \"f\" = const f32[] splat " + fill + "\n  %10 = Where@16(%4, %8, %9) : f32[3,5,6]\n");
  };
  EXPECT_THAT(custom.run(kPass, where("-inf")), AllOf(HasSubstr("Where@17(%4, "), HasSubstr("atc::Custom(")));
  EXPECT_THAT(custom.run(kPass, where("-1.0")), Not(HasSubstr("Custom")));
  EXPECT_THAT(custom.reasons(), HasSubstr("another number than -infinity"));
}

TEST(CustomAttention, LeavesWhatItHasNoInputFor) {
  CustomLibraries unmasked({attention({"q", "k", "v"})});
  EXPECT_THAT(unmasked.run(kPass, scores("  %10 = Add@14(%8, %3) : f32[3,5,6]\n")), Not(HasSubstr("Custom")));
  EXPECT_THAT(unmasked.reasons(), HasSubstr("has 3 inputs, the subgraph gives 4"));
  CustomLibraries masked({attention({"q", "k", "v", "mask"})});
  EXPECT_THAT(masked.run(kPass, scores("  %10 = Add@14(%8, %3) : f32[3,5,6]\n", ", %11")),
              Not(HasSubstr("Custom")));
}

// SoftmaxMulReduceSum ---------------------------------------------------------------------------------

LibrarySource pooling(std::vector<std::string> attrs = {"ATC_ATTR_INT axis"}) {
  LibrarySource source = op("SoftmaxMulReduceSum", {"scores", "x"}, std::move(attrs));
  source.infer =
      "outputs[0] = call->inputs[1]; outputs[0].data = NULL; outputs[0].dtype = ATC_DT_FLOAT;"
      "outputs[0].dims[1] = 1; return 0;";
  return source;
}

std::string pooled(const std::string& scores, const std::string& outputs = "%6") {
  return air("%0 \"s\": f32[" + scores + "], %1 \"x\": f32[2,7,4]", outputs,
             "  %3 = Softmax@13(%0) {axis=1} : f32[" + scores +
                 "]\n  %4 = Mul@14(%3, %1) : f32[2,7,4]\n"
                 "  %6 \"y\" = ReduceSum@11(%4) {axes=[1]} : f32[2,1,4]\n");
}

TEST(CustomPooling, TakesWeightsOfEitherShape) {
  for (const char* shape : {"2,7,1", "2,7,4"}) {
    CustomLibraries custom({pooling()});
    EXPECT_THAT(custom.run(kPass, pooled(shape)),
                AllOf(HasSubstr("atc::Custom(%0, %1)"), HasSubstr("axis=1"), Not(HasSubstr("Softmax@13"))))
        << shape;
  }
}

TEST(CustomPooling, LeavesWhatTheModelShows) {
  CustomLibraries custom({pooling()});
  EXPECT_THAT(custom.run(kPass, pooled("2,7,1", "%6, %3")), Not(HasSubstr("Custom")));
  EXPECT_THAT(custom.reasons(), HasSubstr("something else reads the weights"));
  CustomLibraries fixed({pooling({})});
  EXPECT_THAT(fixed.run(kPass, pooled("2,7,1")), Not(HasSubstr("Custom")));
}

TEST(CustomSubgraphs, WithoutOperatorsNothingHappens) {
  expect_unchanged(kPass, halves("%4", "%5, %3"));
  CustomLibraries other({LibrarySource{}});
  EXPECT_THAT(other.run(kPass, halves("%4", "%5, %3")), Not(HasSubstr("Custom")));
}

}  // namespace
}  // namespace atc::passes
