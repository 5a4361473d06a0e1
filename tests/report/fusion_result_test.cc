#include "report/fusion_result.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "report/snapshot.h"

namespace atc::report {
namespace {

using passes::FusionKind;

std::filesystem::path file() {
  return std::filesystem::temp_directory_path() / ("fusion_result_" + std::to_string(::getpid()) + ".json");
}

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

passes::FusionCounts counts() {
  passes::FusionCounts c;
  c.matched(FusionKind::Graph, "ConvBatchnormFusionPass");
  c.matched(FusionKind::Graph, "ConvBatchnormFusionPass");
  c.effected(FusionKind::Graph, "ConvBatchnormFusionPass");
  c.matched(FusionKind::Graph, "AReduceMeanFusionPass");
  c.matched(FusionKind::Ub, "AutomaticUbFusion");
  c.effected(FusionKind::Ub, "AutomaticUbFusion");
  return c;
}

TEST(FusionResult, HasAtcsForm) {
  const auto path = file();
  ASSERT_TRUE(write_fusion_result({{0, 0, counts()}}, path).ok());
  EXPECT_EQ(read(path), R"({
    "session_and_graph_id_0_0": {
        "graph_fusion": {
            "AReduceMeanFusionPass": {
                "effect_times": "0",
                "match_times": "1"
            },
            "ConvBatchnormFusionPass": {
                "effect_times": "1",
                "match_times": "2"
            }
        },
        "ub_fusion": {
            "AutomaticUbFusion": {
                "effect_times": "1",
                "match_times": "1",
                "repository_hit_times": "0"
            }
        }
    }
}
)");
  std::filesystem::remove(path);
}

TEST(FusionResult, OneObjectHasAllGraphs) {
  const auto path = file();
  passes::FusionCounts ub;
  ub.matched(FusionKind::Ub, "AutomaticUbFusion");
  ASSERT_TRUE(write_fusion_result({{0, 0, counts()}, {0, 1, {}}, {0, 2, ub}}, path).ok());
  const std::string text = read(path);
  EXPECT_NE(text.find("session_and_graph_id_0_0"), std::string::npos);
  EXPECT_EQ(text.find("session_and_graph_id_0_1"), std::string::npos) << "nothing matched in it";
  EXPECT_NE(text.find("\"session_and_graph_id_0_2\": {\n        \"ub_fusion\""), std::string::npos) << text;
  const auto snapshot = read_report(text);
  ASSERT_TRUE(snapshot.ok()) << snapshot.status().to_string();
  EXPECT_EQ(snapshot->fusions->at("ConvBatchnormFusionPass"), 1);
  std::filesystem::remove(path);
}

TEST(FusionResult, WithoutFusionsThereIsNoFile) {
  const auto path = file();
  ASSERT_TRUE(write_fusion_result({{0, 0, counts()}}, path).ok());
  ASSERT_TRUE(write_fusion_result({{0, 0, {}}}, path).ok());
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(write_fusion_result({{0, 0, counts()}}, "/proc/none/x.json").ok());
}

// What older versions of ATC write.
TEST(FusionResult, OlderFormsAreRead) {
  const auto effects = [](std::string_view text) {
    const auto s = read_report(text);
    EXPECT_TRUE(s.ok()) << s.status().to_string();
    return s.ok() ? s->fusions->at("P") : -1;
  };
  const std::string fusion = R"("graph_fusion": {"P": {"effect_times": "2", "match_times": "3"}})";
  EXPECT_EQ(effects("{\"graphId\": \"0\", \"sessionId\": \"1\", " + fusion + "}"), 2);
  EXPECT_EQ(effects("{" + fusion + ", \"session_and_graph_id\": \"0_0\"}\n{" + fusion +
                    ", \"session_and_graph_id\": \"0_1\"}"),
            4);
  EXPECT_EQ(effects("{" + fusion + ", \"session_and_graph_id\": \"0_0\"}{" + fusion +
                    ", \"session_and_graph_id\": \"0_1\"}  \n"),
            4);
}

}  // namespace
}  // namespace atc::report
