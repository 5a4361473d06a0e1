#include "passes/node_precision.h"

#include "pass_testing.h"
#include "passes/plan_info.h"
#include "passes/precision.h"

namespace atc::passes {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(NodePrecisions, AsTextAndBack) {
  NodePrecisions p;
  p.nodes["Mul_1"].storage = Storage::Keep;
  p.nodes["two words\nand \\ lines"] = {
      Storage::Mode, {DType::F16, DType::Undefined}, {DType::F32}, true, "--customize_dtypes"};
  const auto back = NodePrecisions::from_text(p.to_text());
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->nodes, p.nodes);
  EXPECT_TRUE(NodePrecisions::from_text("")->empty());
  for (const char* text : {"keep", "none     x\n", "keep 99    x\n", "keep x    x\n", "keep   slow  x\n"})
    EXPECT_FALSE(NodePrecisions::from_text(text).has_value()) << text;
}

TEST(PlanInfo, CarriesWhatRegionsAreCompiledWith) {
  PassOptions options;
  options.precision = Precision::MixedFloat16;
  options.switches.passes["attention-fusion"] = false;
  options.node_precisions.nodes["a"].storage = Storage::Keep;
  std::map<std::string, std::string> info;
  write_plan_info(options, info);
  PassOptions back;
  ASSERT_TRUE(read_plan_info(info, back).ok());
  EXPECT_EQ(back.precision, Precision::MixedFloat16);
  EXPECT_EQ(back.switches.passes, options.switches.passes);
  EXPECT_EQ(back.node_precisions.nodes, options.node_precisions.nodes);
  info["switches"] = "nonsense";
  EXPECT_EQ(read_plan_info(info, back).diagnostic().code, "E10041");
}

/// The printed graph after the precision pass in a mode, with what is asked for single nodes.
std::string narrowed(Precision mode, std::map<std::string, NodePrecision, std::less<>> asked,
                     std::string_view text, PrecisionRecord* record = nullptr) {
  const auto graph = graph_of(text);
  PassContext context;
  context.options.precision = mode;
  context.options.node_precisions.nodes = std::move(asked);
  const auto changes = precision_pass().run(*graph, context);
  EXPECT_TRUE(changes.ok()) << changes.status().to_string();
  EXPECT_EQ(ir::verify(*graph), "");
  if (record != nullptr) *record = context.precision;
  return ir::print(*graph);
}

// Relu (a) -> product (m) -> Tanh (t) -> Sigmoid (s), each task of its own.
const std::string kChain =
    air("%0 \"x\": f32[2,4]", "%4",
        "  %5 \"w\" = const f32[4,4] splat 0.5\n"
        "  %1 \"va\" = atc::Fused(%0) {body=graph \"body\"(%0 \"x\": f32[2,4]) -> (%1) {\n"
        "    %1 = Relu@14(%0) : f32[2,4] from \"a\"\n  }} : f32[2,4] from \"a\"\n"
        "  %2 \"vm\" = atc::MatMul(%1, %5) {epilogue=graph \"epilogue\"(%0 \"acc\": f32[2,4]) -> (%0) {\n"
        "  }} : f32[2,4] from \"m\"\n"
        "  %3 \"vt\" = atc::Fused(%2) {body=graph \"body\"(%0 \"x\": f32[2,4]) -> (%1) {\n"
        "    %1 = Tanh@13(%0) : f32[2,4] from \"t\"\n  }} : f32[2,4] from \"t\"\n"
        "  %4 \"y\" = atc::Fused(%3) {body=graph \"body\"(%0 \"x\": f32[2,4]) -> (%1) {\n"
        "    %1 = Sigmoid@13(%0) : f32[2,4] from \"s\"\n  }} : f32[2,4] from \"s\"\n");

NodePrecision asked(Storage storage) { return {storage, {}, {}, false, "--test"}; }

// The line of the task that makes the value.
std::string type_of(const std::string& graph, const std::string& value) {
  const std::size_t at = graph.find("\"" + value + "\" = ");
  if (at == std::string::npos) return "none";
  const std::size_t type = graph.find("}} : ", at);
  return graph.substr(type + 5, 3);
}

TEST(NodePrecisions, NothingIsAskedFor) {
  const std::string text = narrowed(Precision::Fp16, {}, kChain);
  for (const char* value : {"va", "vm", "vt"}) EXPECT_EQ(type_of(text, value), "f16") << value << text;
  EXPECT_EQ(narrowed(Precision::Origin, {}, kChain), kChain);
}

TEST(NodePrecisions, AKeptProgramStoresAndReadsFp32) {
  PrecisionRecord record;
  const std::string text = narrowed(Precision::Fp16, {{"t", asked(Storage::Keep)}}, kChain, &record);
  EXPECT_EQ(type_of(text, "va"), "f16");
  // Its only reader keeps its type: rounding it before would be for nothing.
  EXPECT_EQ(type_of(text, "vm"), "f32") << text;
  EXPECT_EQ(type_of(text, "vt"), "f32") << text;
  ASSERT_EQ(record.changes.size(), 1u);
  EXPECT_EQ(record.changes[0].kind, PrecisionChange::Kind::Asked);
  EXPECT_THAT(record.changes[0].reason, HasSubstr("--test"));
}

TEST(NodePrecisions, AKeptProductTakesFp32Operands) {
  const std::string text = narrowed(Precision::Fp16, {{"m", asked(Storage::Keep)}}, kChain);
  EXPECT_THAT(text, Not(HasSubstr("const f16")));
  EXPECT_EQ(type_of(text, "va"), "f32") << text;
  EXPECT_EQ(type_of(text, "vm"), "f32") << text;
  EXPECT_EQ(type_of(text, "vt"), "f16") << text;
}

TEST(NodePrecisions, SingleNodesAreNarrowWhereTheModeIsNot) {
  const NodePrecision half = {
      Storage::Mode, {DType::F16, DType::F16}, {DType::F16}, false, "--customize_dtypes"};
  const std::string text = narrowed(Precision::Origin, {{"m", half}}, kChain);
  EXPECT_THAT(text, HasSubstr("const f16[4,4]"));
  EXPECT_THAT(text, HasSubstr("Cast@13"));
  EXPECT_EQ(type_of(text, "va"), "f32") << text;
  EXPECT_EQ(type_of(text, "vm"), "f16") << text;
  EXPECT_EQ(type_of(text, "vt"), "f32") << text;
}

TEST(NodePrecisions, CustomTypesBeatKeepDtype) {
  const NodePrecision both = {Storage::Keep, {}, {DType::F16}, false, "--customize_dtypes"};
  EXPECT_EQ(type_of(narrowed(Precision::Fp16, {{"t", both}}, kChain), "vt"), "f16");
}

// Exp stays fp32 by itself; a white list narrows it, a black list keeps what the mode would narrow.
TEST(NodePrecisions, ListsOfTheMixedModes) {
  std::string chain = kChain;
  chain.replace(chain.find("Tanh@13"), 7, "Exp@13");
  EXPECT_EQ(type_of(narrowed(Precision::MixedFloat16, {}, chain), "vt"), "f32");
  EXPECT_EQ(type_of(narrowed(Precision::MixedFloat16, {{"t", asked(Storage::Narrow)}}, chain), "vt"), "f16");
  EXPECT_EQ(type_of(narrowed(Precision::MixedFloat16, {{"t", asked(Storage::Follow)}}, chain), "vt"), "f32")
      << "what breaks in fp16 is not lowered for a gray list";
  EXPECT_EQ(type_of(narrowed(Precision::MixedFloat16, {}, kChain), "vt"), "f16");
  EXPECT_EQ(type_of(narrowed(Precision::MixedFloat16, {{"t", asked(Storage::Keep)}}, kChain), "vt"), "f32");
  // The report tells of what a list keeps, with the operator of the list in its program, and of nothing else.
  PrecisionRecord record;
  narrowed(Precision::MixedFloat16, {{"t", asked(Storage::Keep)}}, kChain, &record);
  ASSERT_EQ(record.changes.size(), 1u);
  EXPECT_EQ(record.changes[0].kind, PrecisionChange::Kind::Asked);
  EXPECT_EQ(record.changes[0].value, "vt");
  EXPECT_THAT(record.changes[0].reason, HasSubstr("--test"));
  std::string mixed = kChain;  // a reduction, which the mode's own list keeps, and what follows it
  mixed.replace(mixed.find("    %1 = Tanh@13(%0) : f32[2,4] from \"t\"\n"), 41,
                "    %1 = ReduceMax@13(%0) {axes=[1]} : f32[2,1] from \"r\"\n"
                "    %2 = Sub@13(%0, %1) : f32[2,4] from \"t\"\n");
  mixed.replace(mixed.find("-> (%1) {\n    %1 = ReduceMax"), 7, "-> (%2)");
  narrowed(Precision::MixedFloat16, {}, mixed, &record);
  ASSERT_EQ(record.changes.size(), 1u);
  EXPECT_EQ(record.changes[0].kind, PrecisionChange::Kind::KeptF32);
  EXPECT_EQ(record.changes[0].value, "vt");
  EXPECT_THAT(record.changes[0].reason, HasSubstr("ReduceMax is on the black list"));
  // Nothing is narrow in front of "va": the mode leaves it alone without any list.
  narrowed(Precision::MixedFloat16, {{"a", asked(Storage::Keep)}}, kChain, &record);
  EXPECT_TRUE(record.changes.empty());
  // A gray product follows its operands, which nothing narrowed.
  const std::string gray = narrowed(Precision::MixedFloat16, {{"m", asked(Storage::Follow)}}, kChain);
  EXPECT_THAT(gray, Not(HasSubstr("f16")));
}

}  // namespace
}  // namespace atc::passes
