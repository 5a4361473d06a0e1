#include "passes/layout.h"

#include "pass_testing.h"
#include "passes/blocked_channels.h"

namespace atc::passes {
namespace {

/// %id = MaxPool with a window of one position: what reads and gives NC1HWC0. `type` is of input and output.
std::string window(const std::string& id, const std::string& operand, const std::string& type,
                   const std::string& value_name = "") {
  return "  %" + id + (value_name.empty() ? "" : " \"" + value_name + "\"") + " = atc::MaxPool(" + operand +
         ") {epilogue=graph \"epilogue\"(%0 \"acc\": " + type + ") -> (%0) {\n  }} : " + type + "\n";
}

/// %id = Fused sum of two operands.
std::string sum(const std::string& id, const std::string& a, const std::string& a_type, const std::string& b,
                const std::string& b_type, const std::string& out) {
  return "  %" + id + " = atc::Fused(" + a + ", " + b + ") {body=graph \"body\"(%0: " + a_type +
         ", %1: " + b_type + ") -> (%2) {\n    %2 = Add@14(%0, %1) : " + out + "\n  }} : " + out + "\n";
}

TEST(Layout, AWindowReadsBlocksAndStoresRows) {
  expect_rewrite(layout_pass(), air("%0 \"x\": f32[1,4,5]", "%1", window("1", "%0", "f32[1,4,5]", "y")),
                 air("%0 \"x\": f32[1,4,5]", "%1",
                     "  %2 = atc::TransData(%0) : f32[1,4,5] NC1HWC0 name \"x/trans_data\"\n"
                     "  %1 \"y\" = atc::MaxPool(%2) {epilogue=graph \"epilogue\"(%0 \"acc\": "
                     "f32[1,4,5]) -> (%0) {\n"
                     "  }} : f32[1,4,5]\n"));
}

/// How many conversions the graph gets, constants apart.
int conversions(const std::string& text) {
  const auto graph = graph_of(run_pass(layout_pass(), text));
  int count = 0;
  for (const auto& n : graph->nodes()) count += n->is_internal("TransData") ? 1 : 0;
  return count;
}

struct Conversions {
  const char* name;
  std::string inputs, outputs, body;
  int expected;
};

class LayoutConversions : public testing::TestWithParam<Conversions> {};
TEST_P(LayoutConversions, Count) {
  const Conversions& c = GetParam();
  EXPECT_EQ(conversions(air(c.inputs, c.outputs, c.body)), c.expected);
}

const std::string kX = "%0 \"x\": f32[1,4,5]", kT = "f32[1,4,5]";
INSTANTIATE_TEST_SUITE_P(
    Rules, LayoutConversions,
    testing::Values(
        Conversions{"nothing_blocked", kX, "%1", sum("1", "%0", kT, "%0", kT, kT), 0},
        Conversions{"chain", kX, "%2", window("1", "%0", kT) + window("2", "%1", kT), 1},
        Conversions{"program_between", kX, "%3",
                    window("1", "%0", kT) + sum("2", "%1", kT, "%1", kT, kT) + window("3", "%2", kT), 1},
        // The model's input is converted once for both readers.
        Conversions{"program_takes_the_other_operand", kX, "%3",
                    window("1", "%0", kT) + sum("2", "%1", kT, "%0", kT, kT) + window("3", "%2", kT), 1},
        // The sum is as well made in rows: the window stores them.
        Conversions{"program_behind", kX, "%2", window("1", "%0", kT) + sum("2", "%1", kT, "%0", kT, kT), 1},
        Conversions{"two_outputs", kX, "%1, %2", window("1", "%0", kT) + window("2", "%0", kT), 1},
        Conversions{"output_twice", kX, "%1, %1", window("1", "%0", kT), 1},
        Conversions{"output_that_a_window_reads", kX, "%1, %2", window("1", "%0", kT) + window("2", "%1", kT),
                    2},
        Conversions{"other_operator", kX, "%3",
                    window("1", "%0", kT) + "  %2 = Transpose@13(%1) {perm=[0,2,1]} : f32[1,5,4]\n" +
                        window("3", "%2", "f32[1,5,4]"),
                    2},
        // Channels of one operand are spread over those of the other: not in blocks.
        Conversions{"spread_channels", "%0 \"x\": f32[1,1,5], %9 \"z\": f32[1,4,1]", "%2",
                    window("1", "%0", "f32[1,1,5]") + sum("2", "%1", "f32[1,1,5]", "%9", "f32[1,4,1]", kT),
                    1},
        Conversions{"concat_of_parts_of_blocks", kX, "%2",
                    window("1", "%0", kT) + "  %2 = Concat@13(%1, %1) {axis=1} : f32[1,8,5]\n", 1},
        Conversions{"concat_of_whole_blocks", "%0 \"x\": f32[1,16,5]", "%3",
                    window("1", "%0", "f32[1,16,5]") + "  %2 = Concat@13(%1, %1) {axis=1} : f32[1,32,5]\n" +
                        window("3", "%2", "f32[1,32,5]"),
                    1},
        Conversions{"concat_along_space", kX, "%3",
                    window("1", "%0", kT) + "  %2 = Concat@13(%1, %0) {axis=-1} : f32[1,4,10]\n" +
                        window("3", "%2", "f32[1,4,10]"),
                    1},
        Conversions{"split_without_its_first_output", kX, "%3",
                    window("1", "%0", kT) +
                        "  %9 = const i64[2] {2,3}\n  _, %2 = Split@13(%1, %9) {axis=2} : _, f32[1,4,3]\n" +
                        window("3", "%2", "f32[1,4,3]"),
                    1}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(Layout, ProgramsTakeConversionsOver) {
  // In front of a window and behind one; not of channels that are several blocks and not whole.
  EXPECT_EQ(conversions(air(kX, "%2", sum("1", "%0", kT, "%0", kT, kT) + window("2", "%1", kT))), 0);
  const std::string wide = "f32[1,20,5]";
  EXPECT_EQ(conversions(air("%0 \"x\": " + wide, "%2",
                            sum("1", "%0", wide, "%0", wide, wide) + window("2", "%1", wide))),
            1);
  // What others read too is converted.
  EXPECT_EQ(conversions(air(kX, "%2, %3",
                            sum("1", "%0", kT, "%0", kT, kT) + window("2", "%1", kT) +
                                "  %3 = Transpose@13(%1) {perm=[0,2,1]} : f32[1,5,4]\n")),
            1);
}

// Stretches of programs between windows are in blocks, or in rows where a value is returned; the program at
// the end of those stores blocks. Only the model's input is converted.
TEST(Layout, LongChains) {
  constexpr int kNodes = 20000;
  std::string body, outputs = "%" + std::to_string(kNodes);
  for (int i = 1; i <= kNodes; ++i) {
    const std::string id = std::to_string(i), before = "%" + std::to_string(i - 1);
    body += i == 1 || i % 1000 == 0 ? window(id, before, kT) : sum(id, before, kT, before, kT, kT);
    if (i % 2000 == 500) outputs += ", %" + id;
  }
  EXPECT_EQ(conversions(air(kX, outputs, body)), 1);
}

TEST(Layout, ConstantsAreConvertedHere) {
  const std::string wide = "f32[1,18,5]";
  std::string values = "1.0";
  for (int i = 2; i <= 18; ++i) values += "," + std::to_string(i) + ".0";
  std::string zeros;
  for (int i = 18; i < 32; ++i) zeros += ",0.0";
  const std::string text = run_pass(
      layout_pass(), air("%0 \"x\": " + wide, "%3",
                         "  %9 \"k\" = const f32[18,1] {" + values + "}\n" + window("1", "%0", wide) +
                             sum("2", "%1", wide, "%9", "f32[18,1]", wide) + window("3", "%2", wide)));
  EXPECT_THAT(
      text, testing::HasSubstr("\"k\" = const f32[1,2,1,16] {" + values + zeros + "} : f32[1,18,1] NC1HWC0"));
}

TEST(Layout, OneConstantInTwoFormsIsTwo) {
  // [20,1,1] is channels against rank 4, and against rank 5 (of one channel, in rows) an axis of space.
  const std::string plane = "f32[1,20,5,5]", volume = "f32[1,1,20,5,5]";
  const auto graph = graph_of(run_pass(
      layout_pass(), air("%0 \"x\": " + plane + ", %1 \"z\": " + volume, "%2, %3",
                         "  %9 \"k\" = const f32[20,1,1] splat 1.0\n" + window("4", "%0", plane) +
                             window("5", "%1", volume) + sum("6", "%4", plane, "%9", "f32[20,1,1]", plane) +
                             sum("7", "%5", volume, "%9", "f32[20,1,1]", volume) + window("2", "%6", plane) +
                             window("3", "%7", volume))));
  std::vector<std::string> constants;
  for (const auto& n : graph->nodes())
    if (n->is_internal("Fused")) constants.push_back(to_string(n->input(1)->type));
  EXPECT_THAT(constants, testing::ElementsAre("f32[1,20,1,1] NC1HWC0", "f32[20,1,1]"));
}

TEST(Layout, SingleValuesAreReadFromND) {
  // In a block the single value stands in lane 0; the other channels need it too.
  const std::string text =
      run_pass(layout_pass(), air("%0 \"x\": f32[1,1,1], %8 \"z\": f32[1,4,5]", "%4",
                                  window("1", "%0", "f32[1,1,1]") + window("2", "%8", kT) +
                                      sum("3", "%1", "f32[1,1,1]", "%2", kT, kT) + window("4", "%3", kT)));
  const auto graph = graph_of(text);
  for (const auto& n : graph->nodes())
    if (n->is_internal("Fused")) {
      EXPECT_EQ(n->input(0)->type.format, ir::Format::ND) << text;
      EXPECT_EQ(n->output(0)->type.format, ir::Format::NC1HWC0) << text;
    }
}

TEST(Layout, ABlockedOperandOfLowerRankGoesThroughND) {
  // [8,2,3] in blocks has two channels; as [1,8,2,3] it has eight.
  const auto graph = graph_of(
      run_pass(layout_pass(), air("%0 \"x\": f32[8,2,3], %8 \"z\": f32[1,8,2,3]", "%4",
                                  window("1", "%0", "f32[8,2,3]") + window("2", "%8", "f32[1,8,2,3]") +
                                      sum("3", "%1", "f32[8,2,3]", "%2", "f32[1,8,2,3]", "f32[1,8,2,3]") +
                                      window("4", "%3", "f32[1,8,2,3]"))));
  for (const auto& n : graph->nodes()) {
    if (n->is_internal("TransData")) {
      EXPECT_NE(n->input(0)->type.format, n->output(0)->type.format);
    }
    if (n->is_internal("Fused")) {
      EXPECT_EQ(to_string(n->input(0)->type), "f32[1,8,2,3] NC1HWC0");
    }
  }
}

TEST(BlockedChannels, ProgramsReduceSpaceOnly) {
  const auto reduces = [](const std::string& axes, const std::string& out) {
    const auto graph = graph_of(air(
        "%0 \"x\": f32[2,4,5,6]", "%1",
        "  %1 = atc::Fused(%0) {body=graph \"body\"(%0: f32[2,4,5,6]) -> (%1) {\n    %1 = ReduceMax@13(%0) "
        "{axes=" +
            axes + "} : " + out + "\n  }, reduce_axes=" + axes + "} : " + out + "\n"));
    return carries_blocked_channels(*graph->nodes().front());
  };
  EXPECT_TRUE(reduces("[2,3]", "f32[2,4,1,1]"));
  EXPECT_TRUE(reduces("[3]", "f32[2,4,5,1]"));
  EXPECT_FALSE(reduces("[1]", "f32[2,1,5,6]"));
  EXPECT_FALSE(reduces("[0]", "f32[1,4,5,6]"));
}

TEST(BlockedChannels, BlocksOfBytesHaveOtherLanes) {
  const auto casts_to = [](const std::string& to, const std::string& out) {
    const auto graph = graph_of(air(
        "%0 \"x\": f32[1,4,5]", "%1",
        "  %1 = atc::Fused(%0) {body=graph \"body\"(%0: f32[1,4,5]) -> (%1) {\n    %1 = Cast@13(%0) {to=" +
            to + "} : " + out + "\n  }} : " + out + "\n"));
    return carries_blocked_channels(*graph->nodes().front());
  };
  EXPECT_FALSE(casts_to("2", "u8[1,4,5]"));
  EXPECT_TRUE(casts_to("9", "bool[1,4,5]"));
}

TEST(BlockedChannels, RanksWithoutSpaceAreND) {
  const auto graph =
      graph_of(air("%0 \"x\": f32[2,16]", "%1", sum("1", "%0", "f32[2,16]", "%0", "f32[2,16]", "f32[2,16]")));
  EXPECT_FALSE(carries_blocked_channels(*graph->nodes().front()));
}

TEST(BlockedChannels, ParametersAreNotData) {
  const auto graph =
      graph_of(air("%0 \"x\": f32[4,5]", "%2, %3",
                   "  %1 = const i64[2] {2,2}\n  %2, %4 = Split@13(%0, %1) {axis=0} : f32[2,5], f32[2,5]\n"
                   "  %3 = Concat@13(%0, %0) {axis=0} : f32[8,5]\n"));
  const auto nodes = graph->node_list();
  EXPECT_FALSE(is_parameter(*nodes[0], 0));
  EXPECT_TRUE(is_parameter(*nodes[0], 1));
  EXPECT_FALSE(is_parameter(*nodes[1], 1));
}

}  // namespace
}  // namespace atc::passes
