#include "atc/ir/text.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>

#include "atc/ir/verifier.h"
#include "random_graph.h"

namespace atc::ir {
namespace {

std::string fault_of(std::string_view text) {
  const auto g = parse(text);
  EXPECT_FALSE(g.ok()) << text;
  if (g.ok()) return {};
  EXPECT_EQ(g.status().diagnostic().code, "E13005");
  return g.status().diagnostic().message;
}

std::string round_trip(std::string_view text) {
  const auto g = parse(text);
  EXPECT_TRUE(g.ok()) << g.status().to_string();
  return g.ok() ? print(**g) : std::string();
}

TEST(Text, ExampleOfTheDocument) {
  const std::string text =
      "air 1\n"
      "graph \"main\"(%0 \"x\": f32[batch,3,8,8]) -> (%4) {\n"
      "  %1 \"w\" = const f32[4,3,3,3] splat 0.5\n"
      "  %2 \"b\" = const f32[4] {0.0,1.0,-2.5,nan}\n"
      "  %4 \"y\" = Conv@11(%0, %1, %2) {pads=[1,1,1,1]} : f32[batch,4,8,8] NC1HWC0 name \"Conv_0\" from "
      "\"Conv_0\", \"BN_1\"\n"
      "}\n";
  const auto g = parse(text);
  ASSERT_TRUE(g.ok()) << g.status().to_string();
  EXPECT_EQ(print(**g), text);
  const Node& conv = *(*g)->nodes().front();
  EXPECT_TRUE(conv.is("Conv"));
  EXPECT_EQ(conv.version, 11);
  EXPECT_EQ(conv.sources, (std::vector<std::string>{"Conv_0", "BN_1"}));
  EXPECT_EQ(conv.attrs.get_ints("pads"), (std::vector<std::int64_t>{1, 1, 1, 1}));
  EXPECT_EQ(conv.input(1)->constant().as<float>()[107], 0.5f);
  EXPECT_EQ(conv.output(0)->type.format, Format::NC1HWC0);
  EXPECT_EQ(conv.output(0)->id(), 4);
  EXPECT_EQ((*g)->add_input("z", {})->id(), 5) << "new ids follow the largest one read";
}

TEST(Text, NestedGraphsReadAndReturnOuterValues) {
  const std::string text =
      "air 1\n"
      "graph \"g\"(%0 \"c\": bool[], %1 \"x\": f32[2]) -> (%3) {\n"
      "  %3 = If@16(%0) {else_branch=graph \"e\"() -> (^%1) {\n"
      "  }, then_branch=graph \"t\"() -> (%0) {\n"
      "    %0 = Loop@16(_, ^%0) {body=graph \"l\"(%7: f32[2]) -> (%8) {\n"
      "      %8 = Add@14(^^%1, %7) : f32[2]\n"
      "    }} : f32[2]\n"
      "  }} : f32[2]\n"
      "}\n";
  const auto g = parse(text);
  ASSERT_TRUE(g.ok()) << g.status().to_string();
  EXPECT_EQ(print(**g), text);
  EXPECT_EQ((*g)->inputs()[1]->uses().size(), 1u);
}

TEST(Text, RandomGraphsRoundTrip) {
  for (unsigned seed = 0; seed < 150; ++seed) {
    std::mt19937 rng(seed);
    const auto g = random_graph(rng, 12);
    ASSERT_EQ(verify(*g), "") << "seed " << seed;
    const std::string text = print(*g);
    const auto back = parse(text);
    ASSERT_TRUE(back.ok()) << "seed " << seed << ": " << back.status().to_string() << "\n" << text;
    ASSERT_EQ(print(**back), text) << "seed " << seed;
    ASSERT_EQ(print(*g->clone()), text) << "seed " << seed;
  }
}

class TextDType : public testing::TestWithParam<int> {};

TEST_P(TextDType, ConstantsKeepEveryBit) {
  const auto dtype = static_cast<DType>(GetParam());
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 rng(seed);
    Graph g("g");
    const Tensor t = random_tensor(rng, dtype, {3, 7});
    g.add_constant("c", t);
    const auto back = parse(print(g));
    ASSERT_TRUE(back.ok()) << back.status().to_string();
    const Tensor& u = (*back)->values().at(0)->constant();
    ASSERT_EQ(u.dtype, t.dtype);
    ASSERT_EQ(u.shape, t.shape);
    ASSERT_EQ(u.strings, t.strings);
    ASSERT_EQ(u.data.size(), t.data.size());
    if (!t.data.empty()) {
      ASSERT_EQ(std::memcmp(u.data.data(), t.data.data(), t.data.size()), 0) << "seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, TextDType, testing::Range(1, kDTypeCount), [](const auto& param_info) {
  return std::string(name(static_cast<DType>(param_info.param)));
});

TEST(Text, SpecialFloats) {
  const std::string text =
      "air 1\ngraph \"g\"() -> () {\n"
      "  %0 = const f32[6] {nan,nan(0x7f800001),-inf,inf,-0.0,1e-45}\n"
      "  %1 = const f16[4] {nan,nan(0x7c01),65504.0,-inf}\n"
      "  %2 = const bf16[2] {nan,3.3895314e+38}\n"
      "  %3 = const f64[2] {nan(0xfff8000000000000),0.1}\n"
      "  () = Op() {a=nan(0xffc00000), b=1e+30, c=floats [], d=ints [], e=strings [], f=tensors []}\n"
      "}\n";
  EXPECT_EQ(round_trip(text), text);
}

TEST(Text, LongConstantsAsHashCannotBeRead) {
  Graph g("g");
  g.add_constant("c", scalar_tensor(DType::F32, 1));
  g.add_constant("d", from_doubles(DType::F32, {2}, std::vector<double>{1, 2}));
  const std::string text = print(g, {.max_constant_elements = 1});
  EXPECT_NE(text.find("f32[] {1.0}"), std::string::npos);
  EXPECT_NE(text.find("f32[2] hash 0x"), std::string::npos);
  EXPECT_NE(fault_of(text).find("only their hash"), std::string::npos);
}

TEST(Text, SplatsBeyondTheLimitAreListed) {
  // 48 MiB twice: the second no longer fits 64 MiB. One byte an element keeps the list affordable.
  const std::int64_t n = std::int64_t{48} << 20;
  EXPECT_NE(
      fault_of(
          "air 1 graph \"g\"() -> () { %0 = const u8[50331648] splat 1 %1 = const u8[50331648] splat 1 }")
          .find("splats of more than"),
      std::string::npos);
  Graph g("g");
  g.add_constant("a", MutableTensor(DType::U8, {n}).freeze());
  EXPECT_LT(print(g).size(), 100u);
}

TEST(Text, FaultsNameTheirPlace) {
  EXPECT_NE(fault_of("air 2").find("version 2"), std::string::npos);
  EXPECT_NE(fault_of("air 1\ngraph \"g\"() -> (%1) {\n}").find("line 2, column 17: %1 is not defined"),
            std::string::npos);
  EXPECT_NE(fault_of("air 1 graph \"g\"() -> () {\n %0 = Op(%1) : f32[]\n}").find("line 2, column 10"),
            std::string::npos);
  EXPECT_NE(fault_of("air 1 graph \"g\"() -> () {\n %0 = const f32[2] {1.0}\n}").find("expected \",\""),
            std::string::npos);
  EXPECT_NE(fault_of("air 1 graph \"g\"(%0: f32[], %0: f32[]) -> () {}").find("defined twice"),
            std::string::npos);
  EXPECT_NE(fault_of("air 1 graph \"g\"() -> () {%0 = const i8[1] {128}}").find("does not fit i8"),
            std::string::npos);
  EXPECT_NE(fault_of("air 1 graph \"g\"() -> () {%0 = Op() : f99[]}").find("no such element type"),
            std::string::npos);
  EXPECT_NE(fault_of("air 1 graph \"g\"() -> () {() = Op() {a=1, a=2}}").find("given twice"),
            std::string::npos);
  EXPECT_NE(fault_of("air 1 graph \"g\"() -> () {%0 = const f32[4611686018427387904,4] splat 1.0}")
                .find("too large"),
            std::string::npos);
  EXPECT_NE(fault_of("air 1 graph \"g\"(%0: f32[1] NC1HWC0) -> () {}").find("format NC1HWC0"),
            std::string::npos);
  EXPECT_NE(fault_of("air 1 graph \"g\"() -> () {} x").find("the end of the text"), std::string::npos);
}

TEST(Text, NestingIsBounded) {
  std::string text = "air 1 ";
  for (int i = 0; i < 100000; ++i) text += "graph \"g\"() -> () { () = Op() {g=";
  EXPECT_NE(fault_of(text).find("nested too deeply"), std::string::npos);
}

// Seeded mutations of valid texts: no crash, no hang, and what is accepted is a legal graph that prints.
TEST(Text, MutatedTextsAreRefusedOrLegal) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(700);
  std::mt19937 rng(7);
  std::vector<std::string> texts;
  for (int i = 0; i < 20; ++i) texts.push_back(print(*random_graph(rng, 5)));
  int tried = 0;
  for (; tried < 20000 && std::chrono::steady_clock::now() < deadline; ++tried) {
    std::string text = texts[rng() % texts.size()];
    for (auto k = rng() % 3 + 1; k > 0; --k) {
      const std::size_t at = rng() % text.size();
      switch (rng() % 4) {
        case 0:
          text[at] = static_cast<char>(rng() % 128);
          break;
        case 1:
          text.erase(at, rng() % 8 + 1);
          break;
        case 2:
          text.insert(at, text.substr(rng() % text.size(), rng() % 16));
          break;
        default:
          text.resize(at + 1);
      }
    }
    const auto g = parse(text);
    if (!g.ok()) continue;
    const std::string printed = print(**g);
    ASSERT_EQ(round_trip(printed), printed) << text;
  }
  EXPECT_GT(tried, 100);
}

}  // namespace
}  // namespace atc::ir
