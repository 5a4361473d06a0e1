#include "passes/pass_manager.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "atc/base/check.h"
#include "pass_testing.h"

namespace atc::passes {
namespace {

using testing::HasSubstr;

StatusOr<int> add_relu(ir::Graph& graph, PassContext& context) {
  ir::Node* node = graph.add_node("Relu", {graph.outputs()[0]}, 1);
  graph.set_output(0, node->output(0));
  context.fusions.matched(FusionKind::Graph, "ReluFusionPass");
  context.fusions.effected(FusionKind::Graph, "ReluFusionPass");
  return 1;
}
StatusOr<int> nothing(ir::Graph&, PassContext&) { return 0; }
StatusOr<int> break_order(ir::Graph& graph, PassContext&) {
  graph.nodes().front()->set_input(0, graph.outputs()[0]);
  return 1;
}
StatusOr<int> refuse(ir::Graph&, PassContext&) { return Status::error("E20007", "cannot"); }

std::vector<Pass> some_passes() {
  return {{.name = "add-relu", .run = add_relu},
          {.name = "nothing", .run = nothing},
          {.name = "again", .run = add_relu}};
}

const std::string kGraph = air("%0 \"x\": f32[2]", "%0", "");

TEST(PassManager, RunsInOrderAndRecords) {
  const auto g = graph_of(kGraph);
  PassManager manager(some_passes(), {.verify_each = true});
  PassContext context;
  ASSERT_TRUE(manager.run(*g, context).ok());
  EXPECT_EQ(g->node_count(), 2u);
  ASSERT_EQ(manager.records().size(), 3u);
  EXPECT_EQ(manager.records()[0].name, "add-relu");
  EXPECT_EQ(manager.records()[0].changes, 1);
  EXPECT_EQ(manager.records()[1].changes, 0);
  EXPECT_GE(manager.records()[2].milliseconds, 0);
  EXPECT_THAT(timing_table(manager.records()), HasSubstr("add-relu"));
  EXPECT_EQ(
      timing_json({{.name = "a", .changes = 1, .milliseconds = 0.5}, {.name = "b", .milliseconds = 0.25}}),
      "{\"passes\":[{\"name\":\"a\",\"changes\":1,\"ms\":0.500},"
      "{\"name\":\"b\",\"changes\":0,\"ms\":0.250}],\"total_ms\":0.750}\n");
  EXPECT_EQ(context.fusions.graph_fusion().at("ReluFusionPass").effect_times, 2);
  EXPECT_TRUE(context.fusions.ub_fusion().empty());
}

StatusOr<int> shorten(ir::Graph& graph, PassContext&) {
  if (graph.node_count() == 0) return 0;
  graph.set_output(0, graph.nodes().back()->input(0));
  graph.erase(graph.nodes().back().get());
  return 1;
}
StatusOr<int> always(ir::Graph&, PassContext&) { return 1; }

TEST(PassManager, RepeatsAGroupUntilItIsQuiet) {
  const auto g = graph_of(air("%0 \"x\": f32[2]", "%3",
                              "  %1 = Relu@14(%0) : f32[2]\n  %2 = Neg@13(%1) : f32[2]\n"
                              "  %3 = Relu@14(%2) : f32[2]\n"));
  PassManager manager({{.name = "first", .run = nothing},
                       {.name = "shorten", .run = shorten, .repeated = true},
                       {.name = "look", .run = nothing, .repeated = true},
                       {.name = "last", .run = nothing}});
  PassContext context;
  ASSERT_TRUE(manager.run(*g, context).ok());
  EXPECT_EQ(g->node_count(), 0u);
  std::string ran;
  for (const PassRecord& r : manager.records()) ran += std::string(r.name) + " ";
  // The last change is in the third round; each of the group has seen the graph since.
  EXPECT_EQ(ran, "first shorten look shorten look shorten look shorten last ");
}

TEST(PassManager, RoundsAreBounded) {
  const auto g = graph_of(kGraph);
  PassManager manager({{.name = "always", .run = always, .repeated = true}});
  PassContext context;
  ASSERT_TRUE(manager.run(*g, context).ok());
  EXPECT_EQ(manager.records().size(), 8u);
}

TEST(PassManager, PassLimitStopsEarly) {
  for (int limit = 0; limit <= 3; ++limit) {
    const auto g = graph_of(kGraph);
    PassManager manager(some_passes(), {.pass_limit = limit});
    PassContext context;
    ASSERT_TRUE(manager.run(*g, context).ok());
    EXPECT_EQ(manager.records().size(), static_cast<std::size_t>(limit));
  }
}

TEST(PassManager, NamesTheFailingPass) {
  const auto g = graph_of(kGraph);
  PassManager manager({{.name = "refuse", .run = refuse}});
  PassContext context;
  const Status status = manager.run(*g, context);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.diagnostic().code, "E20007");
  EXPECT_THAT(status.diagnostic().context, testing::ElementsAre("running pass 'refuse'"));
}

TEST(PassManager, NamesThePassThatBrokeTheGraph) {
  const std::vector<Pass> passes = {{.name = "add-relu", .run = add_relu},
                                    {.name = "break-order", .run = break_order},
                                    {.name = "nothing", .run = nothing}};
  for (const bool each : {true, false}) {
    const auto g = graph_of(kGraph);
    PassManager manager(passes, {.verify_each = each});
    PassContext context;
    try {
      (void)manager.run(*g, context);
      FAIL() << "a broken graph went unnoticed";
    } catch (const InternalError& e) {
      // The final check alone cannot tell which pass it was.
      EXPECT_THAT(std::string(e.what()), HasSubstr(each ? "pass 'break-order'" : "pass 'nothing'"));
    }
  }
}

TEST(PassManager, DumpsToThePrinter) {
  const auto dumps = [](std::string filter) {
    const auto g = graph_of(kGraph);
    std::string shown;
    PassManager manager(some_passes(), {.print_ir_after = std::move(filter),
                                        .print = [&shown](std::string_view text) { shown += text; }});
    PassContext context;
    EXPECT_TRUE(manager.run(*g, context).ok());
    return shown;
  };
  EXPECT_EQ(dumps(""), "");
  EXPECT_THAT(dumps("all"),
              testing::AllOf(HasSubstr("// after add-relu\nair 1\n"), HasSubstr("// after nothing\n")));
  EXPECT_THAT(dumps("changed"),
              testing::AllOf(HasSubstr("// after again\n"), testing::Not(HasSubstr("nothing"))));
  const std::string one = dumps("again");
  EXPECT_THAT(one, testing::StartsWith("// after again\n"));
  EXPECT_EQ(graph_of(one)->node_count(), 2u) << "a dump reads back";
}

TEST(PassManager, DumpsToAFolder) {
  const auto folder = std::filesystem::temp_directory_path() / "atc_pass_manager_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  const auto g = graph_of(kGraph);
  PassManager manager(some_passes(), {.dump_dir = folder.string()});
  PassContext context;
  ASSERT_TRUE(manager.run(*g, context).ok());
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files.push_back(entry.path().filename().string());
  EXPECT_THAT(files, testing::UnorderedElementsAre("000_input.air", "001_add-relu.air", "003_again.air"));
  std::ifstream in(folder / "003_again.air");
  std::stringstream text;
  text << in.rdbuf();
  EXPECT_EQ(text.str(), ir::print(*g));
  std::filesystem::remove_all(folder);
}

TEST(PassManager, RefusesAnUnknownDumpFilter) {
  const auto g = graph_of(kGraph);
  PassManager manager(some_passes(), {.print_ir_after = "add-rleu"});
  PassContext context;
  const Status status = manager.run(*g, context);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.diagnostic().code, "E10001");
  EXPECT_THAT(status.diagnostic().message, HasSubstr("did you mean add-relu?"));
  EXPECT_EQ(g->node_count(), 0u);
}

}  // namespace
}  // namespace atc::passes
