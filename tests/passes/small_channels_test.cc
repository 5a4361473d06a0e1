// Convolutions of up to four channels: which read NC1HWC0_C04, what stores it, and how their weights are
// packed.
#include "pass_testing.h"
#include "passes/layout.h"
#include "passes/pack_weights.h"

namespace atc::passes {
namespace {

/// %id = atc::`op` of "operands", whose epilogue returns the accumulator.
std::string window(const std::string& op, const std::string& id, const std::string& operands,
                   const std::string& type, const std::string& attrs = "group=1") {
  return "  %" + id + " = atc::" + op + "(" + operands +
         ") {epilogue=graph \"epilogue\"(%0 \"acc\": " + type + ") -> (%0) {\n  }" +
         (attrs.empty() ? "" : ", " + attrs) + "} : " + type + "\n";
}

/// %id = atc::Fused of one operator that reads "operand".
std::string program(const std::string& op, const std::string& id, const std::string& operand,
                    const std::string& from, const std::string& to) {
  return "  %" + id + " = atc::Fused(" + operand + ") {body=graph \"body\"(%0: " + from +
         ") -> (%1) {\n    %1 = " + op + "(%0) : " + to + "\n  }} : " + to + "\n";
}

std::string weights(const std::string& id, const std::string& dims, const std::string& dtype = "f16") {
  return "  %" + id + " = const " + dtype + "[" + dims + "] splat " + (dtype == "i8" ? "1" : "1.0") + "\n";
}

const std::string kX = "%0 \"x\": f16[2,3,6,6]";
const std::string kY = "f16[2,20,6,6]";

struct Formats {
  int conversions = 0;
  std::string read;  ///< by the convolution whose output is "%3", or the last node
};

Formats laid_out(const std::string& inputs, const std::string& outputs, const std::string& body) {
  const auto graph = graph_of(run_pass(layout_pass(), air(inputs, outputs, body)));
  Formats f;
  for (const auto& n : graph->nodes()) {
    if (n->is_internal("TransData")) ++f.conversions;
    if (n->is_internal("Conv")) f.read = name(n->input(0)->type.format);
  }
  return f;
}

TEST(SmallChannels, AModelsInputIsConvertedOnceForAllReaders) {
  const auto one = laid_out(kX, "%2", weights("1", "20,3,1,1") + window("Conv", "2", "%0, %1", kY));
  EXPECT_EQ(one.read, "NC1HWC0_C04");
  EXPECT_EQ(one.conversions, 1);
  const auto two = laid_out(
      kX, "%2, %3",
      weights("1", "20,3,1,1") + window("Conv", "2", "%0, %1", kY) + window("Conv", "3", "%0, %1", kY));
  EXPECT_EQ(two.read, "NC1HWC0_C04");
  EXPECT_EQ(two.conversions, 1);
}

TEST(SmallChannels, ProgramsAndEpiloguesStoreThem) {
  const std::string conv = weights("1", "20,3,1,1") + window("Conv", "3", "%2, %1", kY);
  const auto cast = laid_out("%0 \"x\": f32[2,3,6,6]", "%3",
                             program("Cast@13", "2", "%0", "f32[2,3,6,6]", "f16[2,3,6,6]") + conv);
  EXPECT_EQ(cast.read, "NC1HWC0_C04");
  EXPECT_EQ(cast.conversions, 0);
  const auto pool =
      laid_out("%0 \"x\": f16[2,3,6,6]", "%3", window("MaxPool", "2", "%0", "f16[2,3,6,6]", "") + conv);
  EXPECT_EQ(pool.read, "NC1HWC0_C04");
  EXPECT_EQ(pool.conversions, 1);  // of the model's input for the pool
  const auto chain =
      laid_out("%0 \"x\": f16[2,20,6,6]", "%3",
               weights("5", "3,20,1,1") + window("Conv", "2", "%0, %5", "f16[2,3,6,6]") + conv);
  EXPECT_EQ(chain.read, "NC1HWC0_C04");
  EXPECT_EQ(chain.conversions, 1);
  // What another node reads too keeps its format.
  const auto shared = laid_out("%0 \"x\": f32[2,3,6,6]", "%3, %4",
                               program("Cast@13", "2", "%0", "f32[2,3,6,6]", "f16[2,3,6,6]") + conv +
                                   "  %4 = Transpose@13(%2) {perm=[0,2,3,1]} : f16[2,6,6,3]\n");
  EXPECT_EQ(shared.read, "NC1HWC0_C04");
  EXPECT_EQ(shared.conversions, 1);
}

// Blocks of int8 have 32 lanes and those of its f32 source 16, but small blocks are of four.
TEST(SmallChannels, QuantizingProgramsStoreThem) {
  const auto f =
      laid_out("%0 \"x\": f32[1,3,6,6]", "%3",
               weights("1", "20,3,1,1", "i8") + program("Cast@13", "2", "%0", "f32[1,3,6,6]", "i8[1,3,6,6]") +
                   window("Conv", "3", "%2, %1", "i32[1,20,6,6]"));
  EXPECT_EQ(f.read, "NC1HWC0_C04");
  EXPECT_EQ(f.conversions, 0);
}

TEST(SmallChannels, APoolOfTheSameValueKeepsItInBlocks) {
  const auto f = laid_out(kX, "%2, %3",
                          weights("1", "20,3,1,1") + window("MaxPool", "3", "%0", "f16[2,3,6,6]", "") +
                              window("Conv", "2", "%0, %1", kY));
  EXPECT_EQ(f.read, "NC1HWC0");
  EXPECT_EQ(f.conversions, 1);
}

TEST(SmallChannels, NotOfMoreChannelsGroupsOrComputedWeights) {
  const auto five =
      laid_out("%0 \"x\": f16[2,5,6,6]", "%2", weights("1", "20,5,1,1") + window("Conv", "2", "%0, %1", kY));
  EXPECT_EQ(five.read, "NC1HWC0");
  const auto groups = laid_out("%0 \"x\": f16[2,4,6,6]", "%2",
                               weights("1", "20,2,1,1") + window("Conv", "2", "%0, %1", kY, "group=2"));
  EXPECT_EQ(groups.read, "NC1HWC0");
  const auto computed = laid_out(kX + ", %1 \"w\": f16[20,3,1,1]", "%2", window("Conv", "2", "%0, %1", kY));
  EXPECT_EQ(computed.read, "NC1HWC0");
}

// Weights that a program computes stay in rows, whatever the program could carry.
TEST(SmallChannels, ComputedWeightsAreReadInRows) {
  const auto graph =
      graph_of(run_pass(layout_pass(), air("%0 \"x\": f16[2,32,6,6], %1 \"w\": f16[20,32,1,1]", "%3",
                                           program("Relu@14", "2", "%1", "f16[20,32,1,1]", "f16[20,32,1,1]") +
                                               window("Conv", "3", "%0, %2", kY))));
  const ir::Node* conv = graph->outputs().front()->producer();
  EXPECT_EQ(conv->input(1)->type.format, ir::Format::ND);
}

/// The packed weights of a convolution that reads `x` in NC1HWC0_C04.
Tensor packed(const std::string& x, const Tensor& w, const std::string& out) {
  std::string text = "  %1 \"w\" = const " + std::string(name(w.dtype)) + "[" + to_string(w.shape) + "] {";
  for (const double v : to_doubles(w))
    text += (text.back() == '{' ? "" : ",") + std::to_string(static_cast<int>(v)) +
            (w.dtype == DType::I8 ? "" : ".0");
  const auto graph =
      graph_of(run_pass(pack_weights_pass(), air("%0 \"x\": " + x + " NC1HWC0_C04", "%2",
                                                 text + "}\n" + window("Conv", "2", "%0, %1", out))));
  const ir::Value* v = graph->nodes().front()->input(1);
  EXPECT_EQ(v->type.format, ir::Format::FRACTAL_Z_C04);
  EXPECT_EQ(v->type.dims(), w.shape);
  return v->constant();
}

Tensor counted(DType dtype, const Dims& dims) {
  std::vector<double> v(static_cast<std::size_t>(element_count(dims)));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<double>(i + 1);
  return from_doubles(dtype, dims, v);
}

TEST(SmallChannels, TapsLieSideBySideInFractals) {
  const Tensor t = packed("f32[1,3,5,5]", counted(DType::F32, {17, 3, 2, 3}), "f32[1,17,4,3]");
  EXPECT_EQ(t.shape, (Dims{2, 2, 16, 16}));
  const auto v = to_doubles(t);
  const auto at = [&](std::size_t panel, std::size_t fractal, std::size_t k, std::size_t n) {
    return v[((panel * 2 + fractal) * 16 + k) * 16 + n];
  };
  EXPECT_EQ(at(0, 0, 0, 0), 1);
  EXPECT_EQ(at(0, 0, 4 * 3 + 2, 1), (1 * 3 + 2) * 6 + 3 + 1);  // output 1, input 2, tap 3
  EXPECT_EQ(at(0, 1, 4, 2), 2 * 18 + 5 + 1);                   // output 2, input 0, tap 5
  EXPECT_EQ(at(1, 0, 4, 0), 16 * 18 + 1 + 1);                  // output 16, tap 1
  EXPECT_EQ(at(0, 0, 3, 0), 0);                                // no fourth input
  EXPECT_EQ(at(0, 1, 8, 0), 0);                                // no seventh tap
  EXPECT_EQ(at(1, 0, 0, 1), 0);                                // no output 17
}

TEST(SmallChannels, TapsOfEachDepthBeginAFractal) {
  const Tensor t = packed("f32[1,2,5,5,5]", counted(DType::F32, {1, 2, 2, 1, 5}), "f32[1,1,4,5,1]");
  EXPECT_EQ(t.shape, (Dims{1, 4, 16, 16}));
  const auto v = to_doubles(t);
  EXPECT_EQ(v[(1 * 16 + 0) * 16], 5);           // depth 0, tap 4
  EXPECT_EQ(v[(2 * 16 + 1) * 16], 10 + 5 + 1);  // depth 1, tap 0, input 1
}

TEST(SmallChannels, FractalsOfInt8HaveEightTapsInPairsOfLanes) {
  const Tensor t = packed("i8[1,3,5,5]", counted(DType::I8, {2, 3, 1, 9}), "i32[1,2,5,1]");
  EXPECT_EQ(t.shape, (Dims{1, 2, 16, 32}));
  const auto v = t.as<std::int8_t>();
  EXPECT_EQ(v[(4 * 7 + 2) / 2 * 32 + 1 * 2], 27 + 2 * 9 + 7 + 1);  // output 1, input 2, tap 7
  EXPECT_EQ(v[512 + 1], 9 + 8 + 1);                                // output 0, input 1, tap 8
}

}  // namespace
}  // namespace atc::passes
