// Vector programs that read parts of their operands, over the whole way: passes, plan, tasks, values.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "atc/ir/text.h"
#include "passes/pass_manager.h"
#include "passes/pipeline.h"
#include "plan/build.h"
#include "runtime/reference_graph.h"
#include "runtime/session.h"

namespace atc::runtime {
namespace {

/// Compiles and runs `text` on random inputs, expects the reference's values, and gives the number of tasks.
int tasks_of(const std::string& text, unsigned seed) {
  auto graph = ir::parse("air 1\n" + text);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  if (!graph.ok()) return -1;
  std::mt19937 rng(seed);
  std::uniform_real_distribution<double> dist(-2, 2);
  std::vector<Tensor> inputs;
  for (const ir::Value* v : (*graph)->inputs()) {
    std::vector<double> values(static_cast<std::size_t>(element_count(v->type.dims())));
    for (double& x : values) x = dist(rng);
    inputs.push_back(from_doubles(v->type.dtype, v->type.dims(), values));
  }
  const auto expected = evaluate_reference(**graph, inputs);
  EXPECT_TRUE(expected.ok()) << expected.status().to_string();
  int tasks = 0;
  std::vector<Tensor> outputs;
  const auto run = [&]() -> Status {
    ATC_ASSIGN(const soc::Chip* chip, soc::find_chip("Ascend910B3"));
    passes::PassContext context;
    context.options.chip = chip;
    context.options.precision = passes::Precision::Origin;
    passes::PassManager manager(passes::pipeline(), {.verify_each = true});
    ATC_TRY(manager.run(**graph, context));
    ATC_ASSIGN(plan::BuiltPlan built, plan::build_plan(**graph, *chip));
    ATC_TRY(plan::validate(built.plan));
    tasks = static_cast<int>(built.plan.tasks.size());
    MutableBytes weights(static_cast<std::size_t>(built.plan.weight_bytes));
    for (const plan::WeightPiece& piece : built.weights)
      if (!piece.bytes.empty())
        std::memcpy(weights.data() + piece.offset, piece.bytes.data(), piece.bytes.size());
    ATC_ASSIGN(auto prepared, prepare(std::move(built.plan)));
    ATC_ASSIGN(auto session, Session::create(prepared, std::move(weights).freeze(), {.threads = 1}));
    ATC_ASSIGN(outputs, session->run(inputs));
    return {};
  };
  const Status status = run();
  EXPECT_TRUE(status.ok()) << status.to_string();
  if (!status.ok() || !expected.ok()) return -1;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto a = to_doubles(outputs[i]), e = to_doubles((*expected)[i]);
    EXPECT_EQ(a.size(), e.size());
    for (std::size_t k = 0; k < std::min(a.size(), e.size()); ++k)
      EXPECT_NEAR(a[k], e[k], 1e-5) << "output " << i << " at " << k;
  }
  return tasks;
}

TEST(ViewFusion, GatesOfACellAreOneTask) {
  EXPECT_EQ(
      tasks_of("graph \"g\"(%0 \"x\": f32[5,48], %1 \"c\": f32[5,12]) -> (%9) {\n"
               "  %2, %3, %4, %5 = Split@11(%0) {axis=-1} : f32[5,12], f32[5,12], f32[5,12], f32[5,12]\n"
               "  %6 = Sigmoid@13(%2) : f32[5,12]\n"
               "  %7 = Tanh@13(%5) : f32[5,12]\n"
               "  %8 = Mul@14(%6, %7) : f32[5,12]\n"
               "  %10 = Mul@14(%3, %1) : f32[5,12]\n"
               "  %11 = Add@14(%8, %10) : f32[5,12]\n"
               "  %9 \"y\" = Mul@14(%11, %4) : f32[5,12]\n"
               "}\n",
               1),
      1);
}

TEST(ViewFusion, PartsInTheMiddleOfManyAxesAndBroadcastParts) {
  // Channels 3 to 10 of 16, every second image; against one row that is itself a part.
  EXPECT_EQ(tasks_of("graph \"g\"(%0 \"x\": f32[5,16,6,9], %1 \"z\": f32[3,9]) -> (%9) {\n"
                     "  %2 = const i64[2] {0,3}\n"
                     "  %3 = const i64[2] {5,11}\n"
                     "  %4 = const i64[2] {0,1}\n"
                     "  %5 = const i64[2] {2,1}\n"
                     "  %6 = Slice@13(%0, %2, %3, %4, %5) : f32[3,8,6,9]\n"
                     "  %7, %8 = Split@11(%1) {axis=0, split=[1,2]} : f32[1,9], f32[2,9]\n"
                     "  %9 \"y\" = Mul@14(%6, %7) : f32[3,8,6,9]\n"
                     "}\n",
                     2),
            1);
}

}  // namespace
}  // namespace atc::runtime
