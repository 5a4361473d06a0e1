// The whole way from ONNX operators to values: passes, plan, tasks on the simulated AI Core.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "atc/ir/text.h"
#include "passes/pass_manager.h"
#include "passes/pipeline.h"
#include "plan/build.h"
#include "runtime/network_maker.h"
#include "runtime/session.h"

namespace atc::runtime {
namespace {

struct Target {
  std::string_view chip;
  passes::Precision precision;
  double tolerance;  ///< root mean square of the error, relative to the values'
};

Bytes join(const plan::BuiltPlan& built) {
  MutableBytes all(static_cast<std::size_t>(built.plan.weight_bytes));
  for (const plan::WeightPiece& piece : built.weights)
    if (!piece.bytes.empty())
      std::memcpy(all.data() + piece.offset, piece.bytes.data(), piece.bytes.size());
  return std::move(all).freeze();
}

StatusOr<std::vector<Tensor>> compile_and_run(ir::Graph& graph, const Target& target, const std::vector<Tensor>& inputs) {
  ATC_ASSIGN(const soc::Chip* chip, soc::find_chip(target.chip));
  passes::PassContext context;
  context.options.chip = chip;
  context.options.precision = target.precision;
  passes::PassManager manager(passes::pipeline(), {.verify_each = true});
  ATC_TRY(manager.run(graph, context));
  ATC_ASSIGN(plan::BuiltPlan built, plan::build_plan(graph, *chip));
  ATC_TRY(plan::validate(built.plan));
  const Bytes weights = join(built);
  ATC_ASSIGN(auto prepared, prepare(std::move(built.plan)));
  ATC_ASSIGN(auto session, Session::create(prepared, weights, {.threads = 1}));
  return session->run(inputs);
}

/// Error relative to the values, both as root mean squares; values below 0.05 count as that.
double relative_error(const Tensor& actual, const Tensor& expected) {
  const auto a = to_doubles(actual), e = to_doubles(expected);
  double error = 0, size = 0;
  for (std::size_t i = 0; i < e.size(); ++i) {
    error += (a[i] - e[i]) * (a[i] - e[i]);
    size += e[i] * e[i];
  }
  if (e.empty()) return 0;
  const double n = static_cast<double>(e.size());
  return std::sqrt(error / n) / std::max(0.05, std::sqrt(size / n));
}

void check(const RandomNetwork& net, const Target& target) {
  const std::unique_ptr<ir::Graph> graph = net.graph->clone();
  const auto run = [&]() -> StatusOr<std::vector<Tensor>> {
    try {
      return compile_and_run(*graph, target, net.inputs);
    } catch (const InternalError& error) {
      return Status::error("E19999", error.what());
    }
  };
  const auto actual = run();
  ASSERT_TRUE(actual.ok()) << actual.status().to_string() << ir::print(*net.graph, 8) << ir::print(*graph, 8);
  ASSERT_EQ(actual->size(), net.expected.size());
  for (std::size_t i = 0; i < actual->size(); ++i) {
    ASSERT_EQ((*actual)[i].dtype, net.expected[i].dtype);
    ASSERT_EQ((*actual)[i].shape, net.expected[i].shape);
    // Not EXPECT_LE: a nan has to fail.
    const double error = relative_error((*actual)[i], net.expected[i]);
    ASSERT_TRUE(error <= target.tolerance) << "output " << i << " (" << graph->outputs()[i]->name() << "): error " << error << "\n"
                                           << ir::print(*net.graph, 8) << ir::print(*graph, 8);
  }
}

/// Seeds [first, first + count), or the one that ATC_SEED names.
class RandomNetworks : public testing::TestWithParam<Target> {};

TEST_P(RandomNetworks, GiveWhatTheReferencesGive) {
  unsigned first = 0, last = 150;
  if (const char* seed = std::getenv("ATC_SEED")) {
    first = static_cast<unsigned>(std::strtoul(seed, nullptr, 10));
    last = first + 1;
  }
  if (const char* count = std::getenv("ATC_SEEDS")) last = first + static_cast<unsigned>(std::strtoul(count, nullptr, 10));
  for (unsigned seed = first; seed < last; ++seed) {
    SCOPED_TRACE("ATC_SEED=" + std::to_string(seed));
    check(random_network(seed), GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, RandomNetworks,
                         testing::Values(Target{"Ascend910B3", passes::Precision::Origin, 2e-5},
                                         Target{"Ascend310P3", passes::Precision::Origin, 2e-5},
                                         Target{"Ascend910B3", passes::Precision::Fp16, 0.02},
                                         Target{"Ascend310P3", passes::Precision::Fp16, 0.02}),
                         [](const auto& tested) {
                           return std::string(tested.param.chip) +
                                  (tested.param.precision == passes::Precision::Origin ? "_origin" : "_fp16");
                         });

}  // namespace
}  // namespace atc::runtime
