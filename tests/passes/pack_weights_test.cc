#include "passes/pack_weights.h"

#include "pass_testing.h"

namespace atc::passes {
namespace {

/// A node of domain "atc" whose epilogue returns the accumulator of type `out`.
std::string node(const std::string& id, const std::string& type, const std::string& operands,
                 const std::string& out, const std::string& before_epilogue = "",
                 const std::string& after_epilogue = "") {
  return "  %" + id + " \"y" + id + "\" = atc::" + type + "(" + operands + ") {" + before_epilogue +
         "epilogue=graph \"epilogue\"(%0 \"acc\": " + out + ") -> (%0) {\n  }" + after_epilogue +
         "} : " + out + "\n";
}

std::unique_ptr<ir::Graph> packed(std::string_view text) {
  return graph_of(run_pass(pack_weights_pass(), text));
}

/// Element of a FRACTAL_Z constant [groups * n1, k1 * taps, 16 (k), 16 (n)]. Tap within a block of channels.
double at(const Tensor& t, std::int64_t panel, std::int64_t step, std::int64_t k, std::int64_t n) {
  return to_doubles(t)[static_cast<std::size_t>(((panel * t.shape[1] + step) * 16 + k) * 16 + n)];
}

Tensor counted(const Dims& dims) {
  std::vector<double> v(static_cast<std::size_t>(element_count(dims)));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<double>(i + 1);
  return from_doubles(DType::F32, dims, v);
}

std::string literal(const Tensor& t) {
  std::string out = "f32[" + to_string(t.shape) + "] {";
  for (const double v : to_doubles(t))
    out += (out.back() == '{' ? "" : ",") + std::to_string(static_cast<int>(v)) + ".0";
  return out + "}";
}

TEST(PackWeights, AConvolutionsAreInBlocksOfChannels) {
  const auto g = packed(air("%0 \"x\": f32[1,17,5]", "%2",
                            "  %1 \"w\" = const " + literal(counted({2, 17, 3})) + "\n" +
                                node("2", "Conv", "%0, %1", "f32[1,2,3]", "", ", group=1")));
  const ir::Value* w = g->nodes().front()->input(1);
  EXPECT_EQ(to_string(w->type), "f32[2,17,3] FRACTAL_Z");
  const Tensor& t = w->constant();
  EXPECT_EQ(t.shape, (Dims{1, 6, 16, 16}));
  // Output 1, input 16 (block 1, lane 0), tap 2 is element (1 * 17 + 16) * 3 + 2 of the ONNX weight.
  EXPECT_EQ(at(t, 0, 1 * 3 + 2, 0, 1), 102);
  EXPECT_EQ(at(t, 0, 2, 15, 0), 15 * 3 + 2 + 1);
  EXPECT_EQ(at(t, 0, 2, 15, 2), 0);  // no such output
  EXPECT_EQ(at(t, 0, 5, 1, 0), 0);   // no such input
}

TEST(PackWeights, ATransposedConvolutionsHaveTheirInputsFirst) {
  const auto g = packed(air("%0 \"x\": f32[1,3,5]", "%2",
                            "  %1 \"w\" = const " + literal(counted({3, 2, 2})) + "\n" +
                                node("2", "ConvTranspose", "%0, %1", "f32[1,2,6]", "", ", group=1")));
  const ir::Value* w = g->nodes().front()->input(1);
  EXPECT_EQ(to_string(w->type), "f32[2,3,2] FRACTAL_Z");
  EXPECT_EQ(at(w->constant(), 0, 1, 2, 1), 12);  // input 2, output 1, tap 1: the last element
  EXPECT_EQ(at(w->constant(), 0, 0, 2, 1), 11);
}

TEST(PackWeights, NarrowGroupsAreJoinedWithZerosBetween) {
  // Two groups of 8 inputs and 8 outputs fill one block; four of them make two joined groups.
  const auto g = packed(air("%0 \"x\": f32[1,32,5]", "%2",
                            "  %1 \"w\" = const " + literal(counted({32, 8, 1})) + "\n" +
                                node("2", "Conv", "%0, %1", "f32[1,32,5]", "", ", group=4")));
  const ir::Node& conv = *g->nodes().front();
  EXPECT_EQ(conv.attrs.get_int("group", 0), 2);
  EXPECT_EQ(to_string(conv.input(1)->type), "f32[32,16,1] FRACTAL_Z");
  const Tensor& t = conv.input(1)->constant();
  EXPECT_EQ(t.shape, (Dims{2, 1, 16, 16}));
  EXPECT_EQ(at(t, 0, 0, 7, 7), 64);  // group 0: its last weight
  EXPECT_EQ(at(t, 0, 0, 8, 8), 65);  // group 1: its first
  EXPECT_EQ(at(t, 0, 0, 8, 7), 0);   // an output of group 0 does not see group 1
  EXPECT_EQ(at(t, 1, 0, 15, 15), 256);
}

TEST(PackWeights, LastOfTheJoinedGroupsMayBeNarrow) {
  // Of three groups two fill a block; the third one has a block of its own, half of it zeros.
  const auto g = packed(air("%0 \"x\": f32[1,24,5]", "%2",
                            "  %1 \"w\" = const " + literal(counted({24, 8, 1})) + "\n" +
                                node("2", "Conv", "%0, %1", "f32[1,24,5]", "", ", group=3")));
  const ir::Node& conv = *g->nodes().front();
  EXPECT_EQ(conv.attrs.get_int("group", 0), 2);
  EXPECT_EQ(to_string(conv.input(1)->type), "f32[24,16,1] FRACTAL_Z");
  const Tensor& t = conv.input(1)->constant();
  EXPECT_EQ(t.shape, (Dims{2, 1, 16, 16}));
  EXPECT_EQ(at(t, 0, 0, 15, 15), 128);  // group 1: its last weight
  EXPECT_EQ(at(t, 1, 0, 7, 7), 192);    // group 2: its last weight
  EXPECT_EQ(at(t, 1, 0, 8, 8), 0);
}

TEST(PackWeights, GroupsThatNeverFillBlocksBecomeOne) {
  const auto g = packed(air("%0 \"x\": f32[1,6,5]", "%2",
                            "  %1 \"w\" = const " + literal(counted({9, 2, 1})) + "\n" +
                                node("2", "Conv", "%0, %1", "f32[1,9,5]", "", ", group=3")));
  EXPECT_EQ(g->nodes().front()->attrs.get_int("group", 0), 1);
  EXPECT_EQ(to_string(g->nodes().front()->input(1)->type), "f32[9,6,1] FRACTAL_Z");
}

TEST(PackWeights, WholeBlocksOfGroupsStayApart) {
  const auto g = packed(air("%0 \"x\": f32[1,32,5]", "%2",
                            "  %1 \"w\" = const f32[32,16,1] splat 0.5\n" +
                                node("2", "Conv", "%0, %1", "f32[1,32,5]", "", ", group=2")));
  EXPECT_EQ(g->nodes().front()->attrs.get_int("group", 0), 2);
}

TEST(PackWeights, TheRightSideOfAProduct) {
  const auto plain = packed(air(
      "%0 \"a\": f32[2,3]", "%2",
      "  %1 \"b\" = const " + literal(counted({3, 5})) + "\n" + node("2", "MatMul", "%0, %1", "f32[2,5]")));
  const ir::Value* b = plain->nodes().front()->input(1);
  EXPECT_EQ(to_string(b->type), "f32[5,3] FRACTAL_Z");
  EXPECT_EQ(at(b->constant(), 0, 0, 2, 1), 12);  // row 2, column 1
  const auto turned = packed(air("%0 \"a\": f32[2,3]", "%2",
                                 "  %1 \"b\" = const " + literal(counted({5, 3})) + "\n" +
                                     node("2", "MatMul", "%0, %1", "f32[2,5]", "", ", trans_b=1")));
  const ir::Node& product = *turned->nodes().front();
  EXPECT_FALSE(product.attrs.has("trans_b"));
  EXPECT_EQ(to_string(product.input(1)->type), "f32[5,3] FRACTAL_Z");
  EXPECT_EQ(at(product.input(1)->constant(), 0, 0, 2, 1), 6);  // row 1, column 2 of the transpose
}

TEST(PackWeights, DepthwiseTapsHaveSixteenChannels) {
  const auto g = packed(air("%0 \"x\": f32[1,17,5]", "%2",
                            "  %1 \"w\" = const " + literal(counted({17, 1, 3})) + "\n" +
                                node("2", "DepthwiseConv", "%0, %1", "f32[1,17,3]", "", ", group=17")));
  const ir::Node& conv = *g->nodes().front();
  EXPECT_EQ(conv.attrs.get_ints("kernel_shape"), Dims{3});
  EXPECT_EQ(to_string(conv.input(1)->type), "f32[2,3,16]");
  const auto w = to_doubles(conv.input(1)->constant());
  EXPECT_EQ(w[1 * 16 + 15], 15 * 3 + 1 + 1);  // channel 15, tap 1
  EXPECT_EQ(w[(3 + 2) * 16], 51);             // channel 16, tap 2
  EXPECT_EQ(w[(3 + 2) * 16 + 1], 0);
}

TEST(PackWeights, EqualFormsAreStoredOnce) {
  const auto g = packed(air("%0 \"x\": f32[1,4,5], %9 \"z\": f32[1,8,5]", "%2, %3, %4",
                            "  %1 \"w\" = const f32[8,4,1] splat 0.5\n" +
                                node("2", "Conv", "%0, %1", "f32[1,8,5]", "", ", group=1") +
                                node("3", "Conv", "%0, %1", "f32[1,8,5]", "", ", group=1") +
                                node("4", "Conv", "%9, %1", "f32[1,8,5]", "", ", group=2")));
  const std::vector<ir::Node*> n = g->node_list();
  EXPECT_EQ(n[0]->input(1), n[1]->input(1));
  // The same constant with two groups is another weight.
  EXPECT_NE(n[0]->input(1), n[2]->input(1));
  EXPECT_EQ(to_string(n[2]->input(1)->type), "f32[8,8,1] FRACTAL_Z");
}

TEST(PackWeights, OperandsOfRuntimeAndBatchesOfThemStay) {
  expect_unchanged(pack_weights_pass(), air("%0 \"a\": f32[2,3], %1 \"b\": f32[3,5]", "%2",
                                            node("2", "MatMul", "%0, %1", "f32[2,5]")));
  expect_unchanged(pack_weights_pass(), air("%0 \"a\": f32[2,2,3]", "%2",
                                            "  %1 \"b\" = const f32[2,3,5] splat 0.5\n" +
                                                node("2", "MatMul", "%0, %1", "f32[2,2,5]")));
  expect_unchanged(pack_weights_pass(),
                   air("%0 \"a\": f32[2,3]", "%2",
                       "  %1 \"b\" = const f32[3,5] splat 0.5\n  %2 \"y\" = MatMul@13(%0, %1) : f32[2,5]\n"));
}

}  // namespace
}  // namespace atc::passes
