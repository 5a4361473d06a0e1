#include "passes/switches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "passes/pipeline.h"

namespace atc::passes {
namespace {

Pass named(std::string_view name) {
  for (const Pass& p : pipeline())
    if (p.name == name) return p;
  ADD_FAILURE() << name << " is no pass";
  return {};
}

Switches with(std::map<std::string, bool, std::less<>> passes) {
  Switches s;
  s.passes = std::move(passes);
  return s;
}

TEST(Switches, ByOwnNameAndByAtcName) {
  for (const char* name : {"attention-fusion", "ZAttentionScoreFusionPass"}) {
    EXPECT_FALSE(with({{name, false}}).is_on(named("attention-fusion"))) << name;
    EXPECT_TRUE(with({{name, false}}).is_on(named("rope-fusion"))) << name;
  }
  // Results depend on it.
  EXPECT_TRUE(with({{"precision", false}}).is_on(named("precision")));
}

TEST(Switches, EveryOptionalPassCanBeTurnedOff) {
  int optional = 0;
  for (const Pass& p : pipeline()) {
    if (!p.optional) continue;
    ++optional;
    EXPECT_FALSE(with({{std::string(p.name), false}}).is_on(p)) << p.name;
    if (!p.atc_name.empty()) {
      EXPECT_FALSE(with({{std::string(p.atc_name), false}}).is_on(p)) << p.atc_name;
    }
  }
  EXPECT_GT(optional, 10);
}

TEST(Switches, BasicOnlyLeavesFormsAndNoFusions) {
  Switches s;
  s.basic_only = true;
  EXPECT_TRUE(s.is_on(named("decompose")));
  EXPECT_FALSE(s.is_on(named("vector-fusion")));
  EXPECT_FALSE(s.is_on(named("conv-batch-norm")));
  // What is named beats the level.
  s.passes["ConvBatchnormFusionPass"] = true;
  s.passes["decompose"] = false;
  EXPECT_TRUE(s.is_on(named("conv-batch-norm")));
  EXPECT_FALSE(s.is_on(named("decompose")));
}

TEST(Switches, PartsOfAPass) {
  const Pass epilogues = named("epilogue-fusion");
  constexpr const char *kConv = "TbeConv2DElemwiseFusionPass", *kMatMul = "ATbeMatmulElemwiseFusionPass";
  const Switches conv_off = with({{kConv, false}});
  EXPECT_TRUE(conv_off.is_on(epilogues));
  EXPECT_FALSE(conv_off.is_part_on(epilogues, kConv));
  EXPECT_TRUE(conv_off.is_part_on(epilogues, kMatMul));
  Switches only_conv = with({{kConv, true}});
  only_conv.all_ub = false;
  EXPECT_TRUE(only_conv.is_on(epilogues));
  EXPECT_TRUE(only_conv.is_part_on(epilogues, kConv));
  EXPECT_FALSE(only_conv.is_part_on(epilogues, kMatMul));
  EXPECT_FALSE(with({{kConv, true}, {"epilogue-fusion", false}}).is_on(epilogues));
}

TEST(Switches, AsTextAndBack) {
  EXPECT_EQ(Switches().to_text(), "");
  Switches s =
      with({{"attention-fusion", false}, {"ConvBatchnormFusionPass", true}, {"NoPassOfOurs", false}});
  s.all_ub = false;
  s.basic_only = true;
  EXPECT_EQ(s.to_text(), "UBFusion.ALL:off;basic-only:on;ConvBatchnormFusionPass:on;attention-fusion:off");
  const auto back = Switches::from_text(s.to_text());
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->to_text(), s.to_text());
  EXPECT_FALSE(back->all_graph.has_value());
  for (const char* text : {"x", "x:", ":on", "x:maybe", "x:on;", ";"})
    EXPECT_FALSE(Switches::from_text(text).has_value()) << text;
}

}  // namespace
}  // namespace atc::passes
