// How many tasks, and how many format conversions, networks of the cases take.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "frontend/onnx/importer.h"
#include "passes/bind_shapes.h"
#include "passes/pass_manager.h"
#include "passes/pipeline.h"
#include "passes/precision.h"
#include "plan/build.h"

namespace atc::driver {
namespace {

struct Network {
  const char* name;
  std::ptrdiff_t most_tasks;
  std::ptrdiff_t most_conversions;
};

class CaseTasks : public testing::TestWithParam<std::tuple<Network, passes::Precision>> {};

StatusOr<plan::BuiltPlan> plan_of(const std::filesystem::path& file, passes::Precision precision) {
  ATC_ASSIGN(ir::Model model, frontend::import_model(file));
  ATC_ASSIGN(const soc::Chip* chip, soc::find_chip("Ascend910B3"));
  ATC_TRY(passes::bind_input_shapes(*model.graph, {}, "input_shape"));
  passes::PassContext context;
  context.options.chip = chip;
  context.options.precision = precision;
  passes::PassManager manager(passes::pipeline(), {});
  ATC_TRY(manager.run(*model.graph, context));
  return plan::build_plan(*model.graph, *chip);
}

TEST_P(CaseTasks, AreFew) {
  const auto& [network, precision] = GetParam();
  const char* cases = std::getenv("ATC_CASES");
  const auto folder =
      std::filesystem::path(cases != nullptr ? cases : ATC_SOURCE_DIR "/../shared/cases") / "exported";
  if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << "the folder of cases is not there";
  const auto built = plan_of(folder / network.name / "model.onnx", precision);
  ASSERT_TRUE(built.ok()) << built.status().to_string();
  const std::vector<plan::PlanTask>& tasks = built->plan.tasks;
  EXPECT_LE(std::ssize(tasks), network.most_tasks);
  EXPECT_LE(std::ranges::count(tasks, "TransData", &plan::PlanTask::op_type), network.most_conversions);
}

constexpr Network kNetworks[] = {
    {"bert_small", 38, 0},   {"llama_prefill", 36, 0}, {"mobilenet_v3_small", 78, 1},
    {"resnet18_qdq", 26, 1}, {"squeezenet1_1", 34, 1}, {"unet_small", 25, 1},
    {"yolov5n_like", 85, 1},
};

INSTANTIATE_TEST_SUITE_P(Networks, CaseTasks,
                         testing::Combine(testing::ValuesIn(kNetworks),
                                          testing::Values(passes::Precision::Fp16,
                                                          passes::Precision::Origin)),
                         [](const auto& tested) {
                           return std::string(std::get<0>(tested.param).name) + "_" +
                                  std::string(passes::precision_name(std::get<1>(tested.param)));
                         });

}  // namespace
}  // namespace atc::driver
