#include "passes/infer_shapes.h"

#include "pass_testing.h"

namespace atc::passes {
namespace {

using testing::HasSubstr;

TEST(InferShapes, TypesFollowFromTheInputs) {
  expect_rewrite(infer_shapes_pass(),
                 air("%0 \"x\": f32[n,3], %1 \"y\": f32[3]", "%3",
                     "  %2 = Add@14(%0, %1) : ?[*]\n"
                     "  %3 \"z\" = Relu@14(%2) : ?[*]\n"),
                 air("%0 \"x\": f32[n,3], %1 \"y\": f32[3]", "%3",
                     "  %2 = Add@14(%0, %1) : f32[n,3]\n"
                     "  %3 \"z\" = Relu@14(%2) : f32[n,3]\n"));
}

TEST(InferShapes, StaleTypesDoNotMatterAndFormatsStay) {
  expect_rewrite(infer_shapes_pass(),
                 air("%0 \"x\": f32[1,3,8,8]", "%1", "  %1 = Relu@14(%0) : i64[7,7,7,7] NC1HWC0\n"),
                 air("%0 \"x\": f32[1,3,8,8]", "%1", "  %1 = Relu@14(%0) : f32[1,3,8,8] NC1HWC0\n"));
}

TEST(InferShapes, ShapeArithmeticOnOpenDims) {
  const std::string after = run_pass(infer_shapes_pass(), air("%0 \"x\": f32[n,3,4]", "%6",
                                                              "  %1 = const i64[] {0}\n"
                                                              "  %2 = const i64[1] {-1}\n"
                                                              "  %7 = const i64[1] {0}\n"
                                                              "  %3 = Shape@13(%0) : ?[*]\n"
                                                              "  %4 = Gather@13(%3, %1) : ?[*]\n"
                                                              "  %8 = Unsqueeze@13(%4, %7) : ?[*]\n"
                                                              "  %5 = Concat@13(%8, %2) {axis=0} : ?[*]\n"
                                                              "  %6 = Reshape@13(%0, %5) : ?[*]\n"));
  EXPECT_THAT(after, HasSubstr("%6 = Reshape@13(%0, %5) : f32[n,12]"));
}

TEST(InferShapes, FreshSymbolsAvoidThoseOfTheInputs) {
  const std::string after =
      run_pass(infer_shapes_pass(), air("%0 \"x\": f32[?0,?7]", "%1", "  %1 = NonZero@13(%0) : ?[*]\n"));
  EXPECT_THAT(after, HasSubstr("NonZero@13(%0) : i64[2,?8]"));
}

TEST(InferShapes, AllUnknownOperatorsAreReportedTogether) {
  const auto d = fault_of(infer_shapes_pass(), air("%0 \"x\": f32[1]", "%5",
                                                   "  %1 = ImageScaler@7(%0) : ?[*] name \"scale\"\n"
                                                   "  %2 = Affine@7(%1) : ?[*] name \"a\"\n"
                                                   "  %3 = Affine@7(%2) : ?[*] from \"#2\"\n"
                                                   "  %4 = com.x::Crop@1(%3) : ?[*] name \"c\"\n"
                                                   "  %5 = Relu@7(%4) : ?[*]\n"));
  EXPECT_EQ(d.code, "E16002");
  EXPECT_EQ(d.message,
            "No parser is registered for operator types: Affine (opset 7, 2 nodes: 'a', '#2'), ImageScaler "
            "(opset 7, 1 "
            "node: 'scale'), com.x.Crop (opset 1, 1 node: 'c')");
  EXPECT_EQ(
      d.solution,
      "Affine is no longer in the ONNX standard: replace it by Mul with alpha and Add with beta; "
      "ImageScaler is no longer in the ONNX standard: replace it by Mul with scale and Add with the bias "
      "of each channel; replace the others in the model, or give them by --custom_op.");
}

TEST(InferShapes, OperatorsOfLaterOpsetsAndOfTheHostSayWhatToDo) {
  const auto solution = [](const char* node) {
    return fault_of(infer_shapes_pass(), air("%0 \"x\": f32[1]", "%1", node)).solution;
  };
  EXPECT_EQ(solution("  %1 = Gelu@13(%0) : ?[*]\n"),
            "Gelu is an operator of opset 20: export the model with that opset or a later one.");
  EXPECT_EQ(solution("  %1 = StringNormalizer@13(%0) : ?[*]\n"),
            "StringNormalizer works on strings: leave it on the host.");
  EXPECT_THAT(solution("  %1 = SequenceAt@13(%0, %0) : ?[*]\n"), HasSubstr("rewrite that part with tensors"));
  EXPECT_THAT(solution("  %1 = ai.onnx.ml::Binarizer@1(%0) : ?[*]\n"), HasSubstr("leave it on the host"));
  EXPECT_EQ(solution("  %1 = FindMax@13(%0) : ?[*]\n"), "");  // the code's usual advice
}

TEST(InferShapes, ResultsBeyondAnyMemoryNameTheNode) {
  const auto d =
      fault_of(infer_shapes_pass(), air("%0 \"x\": f32[1073741824,1], %1 \"y\": f32[1,1073741824]", "%2",
                                        "  %2 \"z\" = Add@14(%0, %1) : ?[*] name \"sum\"\n"));
  EXPECT_EQ(d.code, "E16006");
  EXPECT_THAT(d.message, HasSubstr("'sum'"));
  EXPECT_THAT(d.message, HasSubstr("[1073741824,1073741824]"));
}

TEST(InferShapes, ConflictsNameTheNode) {
  const auto d = fault_of(infer_shapes_pass(), air("%0 \"x\": f32[2], %1 \"y\": f32[3]", "%2",
                                                   "  %2 = Add@14(%0, %1) : ?[*] name \"sum\"\n"));
  EXPECT_THAT(d.message, HasSubstr("'sum' (Add)"));
  EXPECT_THAT(d.message, HasSubstr("[2] and [3]"));
  EXPECT_THAT(fault_of(infer_shapes_pass(),
                       air("%0 \"x\": f32[2], %1 \"y\": f16[2]", "%2", "  %2 = Add@14(%0, %1) : ?[*]\n"))
                  .message,
              HasSubstr("'#0' (Add)"));
}

}  // namespace
}  // namespace atc::passes
