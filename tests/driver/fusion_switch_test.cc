#include "driver/fusion_switch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "passes/pass.h"
#include "passes/pipeline.h"

namespace atc::driver {
namespace {

using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

passes::Switches read(std::string_view text) {
  auto switches = parse_fusion_switch(text, "f.cfg");
  EXPECT_TRUE(switches.ok()) << switches.status().to_string();
  return switches.ok() ? *switches : passes::Switches{};
}

std::string fault(std::string_view text) {
  const auto switches = parse_fusion_switch(text, "f.cfg");
  EXPECT_FALSE(switches.ok());
  if (switches.ok()) return {};
  EXPECT_EQ(switches.status().diagnostic().code, "E10001");
  return switches.status().diagnostic().message;
}

TEST(FusionSwitch, Json) {
  const passes::Switches s = read(
      R"({"Switch": {"GraphFusion": {"ALL": "off", "ConvBatchnormFusionPass": "on"}, "UBFusion": {"ALL": "on"}}})");
  EXPECT_EQ(s.all_graph, false);
  EXPECT_EQ(s.all_ub, true);
  EXPECT_THAT(s.passes, UnorderedElementsAre(Pair("ConvBatchnormFusionPass", true)));
}

TEST(FusionSwitch, Lines) {
  const passes::Switches s = read("ReshapeTransposeFusionPass:off\r\n\n  attention-fusion : on \n");
  EXPECT_THAT(s.passes, UnorderedElementsAre(Pair("ReshapeTransposeFusionPass", false),
                                             Pair("attention-fusion", true)));
  EXPECT_TRUE(read("").passes.empty());
}

TEST(FusionSwitch, Refusals) {
  EXPECT_THAT(fault("{"), HasSubstr("not valid JSON"));
  EXPECT_THAT(fault("{}"), HasSubstr("\"Switch\""));
  EXPECT_THAT(fault(R"({"Switch": {"GraphFusion": []}})"), HasSubstr("GraphFusion is no object"));
  EXPECT_THAT(fault(R"({"Switch": {"UBFusion": {"A": true}}})"), HasSubstr("'A' in UBFusion"));
  EXPECT_THAT(fault("A:maybe"), HasSubstr("'A:maybe'"));
  EXPECT_THAT(fault(":on"), HasSubstr("':on'"));
  EXPECT_THAT(parse_optimization_switch("A:on;B").status().to_string(), HasSubstr("optimization_switch"));
}

passes::Pass named(const char* name) {
  for (const passes::Pass& p : passes::pipeline())
    if (p.name == name && p.optional) return p;
  ADD_FAILURE() << name << " is no optional pass";
  return {};
}

TEST(FusionSwitch, DecidesByNameThenBySection) {
  passes::Switches s =
      read(R"({"Switch": {"GraphFusion": {"ALL": "off"}, "UBFusion": {"vector-fusion": "off"}}})");
  EXPECT_FALSE(s.is_on(named("conv-batch-norm")));
  EXPECT_FALSE(s.is_on(named("vector-fusion")));
  EXPECT_TRUE(s.is_on(named("epilogue-fusion")));
  const passes::Pass required = passes::pipeline().front();
  EXPECT_TRUE(s.is_on(required)) << required.name;
  s.override_with(*parse_optimization_switch("ConvBatchnormFusionPass:on; attention-fusion:on"));
  EXPECT_TRUE(s.is_on(named("conv-batch-norm")));
  EXPECT_TRUE(s.is_on(named("attention-fusion")));
  EXPECT_FALSE(s.is_on(named("decompose")));
}

// What users have.
TEST(FusionSwitch, RealFilesAreRead) {
  const char* cases = std::getenv("ATC_CASES");
  const auto folder =
      std::filesystem::path(cases != nullptr ? cases : ATC_SOURCE_DIR "/../shared/cases") / "fusion_switch";
  if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << "the folder of cases is not there";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".cfg") continue;
    std::ifstream in(entry.path());
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    const auto s = parse_fusion_switch(text, entry.path().string());
    ASSERT_TRUE(s.ok()) << s.status().to_string();
    EXPECT_TRUE(!s->passes.empty() || s->all_graph || s->all_ub) << entry.path();
    ++files;
  }
  EXPECT_GT(files, 10);
}

}  // namespace
}  // namespace atc::driver
