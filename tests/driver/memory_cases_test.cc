// The memory plans of real and exported networks, followed byte by byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "frontend/onnx/importer.h"
#include "passes/pass_manager.h"
#include "passes/pipeline.h"
#include "plan/build.h"
#include "plan/memory_check.h"

namespace atc::driver {
namespace {

std::filesystem::path cases() {
  if (const char* named = std::getenv("ATC_CASES")) return named;
  return std::filesystem::path(ATC_SOURCE_DIR).parent_path() / "shared" / "cases";
}

/// Models of a folder whose inputs have no open dims, by name.
void check_folder(const std::string& folder) {
  const std::filesystem::path root = cases() / folder;
  if (!std::filesystem::exists(root)) GTEST_SKIP() << root << " is not there";
  std::vector<std::filesystem::path> models;
  for (const auto& entry : std::filesystem::directory_iterator(root))
    if (std::filesystem::exists(entry.path() / "model.onnx")) models.push_back(entry.path() / "model.onnx");
  std::sort(models.begin(), models.end());
  const soc::Chip& chip = **soc::find_chip("Ascend310P3");
  int checked = 0;
  for (const std::filesystem::path& path : models) {
    SCOPED_TRACE(path);
    auto model = frontend::import_model(path);
    if (!model.ok()) continue;
    ir::Graph& graph = *model->graph;
    const bool is_static = std::all_of(graph.inputs().begin(), graph.inputs().end(),
                                       [](const ir::Value* v) { return v->type.is_static(); });
    passes::PassContext context;
    context.options.chip = &chip;
    if (!is_static || !passes::PassManager(passes::pipeline(), {}).run(graph, context).ok()) continue;
    const auto copy = graph.clone();
    const auto reused = plan::build_plan(graph, chip);
    const auto apart = plan::build_plan(*copy, chip, {.reuse = false});
    ASSERT_TRUE(reused.ok() && apart.ok());
    EXPECT_EQ(plan::testing::check_memory(reused->plan, apart->plan), "");
    const plan::MemoryRecord& memory = reused->plan.memory;
    EXPECT_LE(memory.bound, memory.model_order_bound);
    EXPECT_GE(memory.bound, memory.task_bound);
    EXPECT_LE(static_cast<double>(memory.peak), 1.01 * static_cast<double>(memory.bound));
    ++checked;
  }
  EXPECT_GT(checked, 3);
}

TEST(MemoryCases, RealModels) { check_folder("models"); }
TEST(MemoryCases, ExportedModels) { check_folder("exported"); }

}  // namespace
}  // namespace atc::driver
