// The whole way from ONNX operators to values: passes, plan, tasks on the simulated AI Core.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "atc/ir/text.h"
#include "runtime/compile_run.h"
#include "runtime/network_maker.h"
#include "runtime/reference_graph.h"

namespace atc::runtime {
namespace {

struct Target : CompileTarget {
  double tolerance;  ///< root mean square of the error, relative to the values'
};

std::string text(const ir::Graph& graph) { return "\n" + ir::print(graph, {.max_constant_elements = 8}); }

// Constants of a model are views of its file, at any address.
void lay_off_alignment(ir::Graph& graph) {
  for (ir::Value* v : graph.values()) {
    if (!v->is_constant() || v->constant().data.empty()) continue;
    Tensor view = v->constant();
    MutableBytes file(view.data.size() + 1);
    std::copy_n(view.data.data(), view.data.size(), file.data() + 1);
    view.data = std::move(file).freeze().subspan(1, view.data.size());
    graph.replace_uses(v, graph.add_constant(v->name(), std::move(view)));
  }
}

void compare(const RandomNetwork& net, const ir::Graph& graph, const std::vector<Tensor>& outputs,
             double tolerance) {
  ASSERT_EQ(outputs.size(), net.expected.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    ASSERT_EQ(outputs[i].dtype, net.expected[i].dtype);
    ASSERT_EQ(outputs[i].shape, net.expected[i].shape);
    // Not EXPECT_LE: a nan has to fail.
    const double error = relative_error(outputs[i], net.expected[i]);
    ASSERT_TRUE(error <= tolerance) << "output " << i << " (" << graph.outputs()[i]->name() << "): error "
                                    << error << "\n"
                                    << text(*net.graph) << text(graph);
  }
}

/// Gives how many values lay in FRACTAL_NZ.
int check(const RandomNetwork& net, const Target& target) {
  const std::unique_ptr<ir::Graph> graph = net.graph->clone();
  lay_off_alignment(*graph);
  const auto run = [&]() -> StatusOr<CompiledRun> {
    try {
      return compile_and_run(*graph, target, net.inputs);
    } catch (const InternalError& error) {
      return Status::error("E19999", error.what());
    }
  };
  const auto actual = run();
  EXPECT_TRUE(actual.ok()) << actual.status().to_string() << text(*net.graph) << text(*graph);
  if (!actual.ok()) return 0;
  compare(net, *graph, actual->outputs, target.tolerance);
  const auto values = graph->values();
  return static_cast<int>(std::count_if(values.begin(), values.end(), [](const ir::Value* v) {
    return v->type.format == ir::Format::FRACTAL_NZ;
  }));
}

/// Seeds [first, first + count), or the one that ATC_SEED names.
class RandomNetworks : public testing::TestWithParam<Target> {};

/// Checks the networks that `make` gives for `count` seeds. Gives how many values lay in FRACTAL_NZ.
int check_seeds(RandomNetwork (*make)(unsigned), unsigned count, const Target& target) {
  int fractals = 0;
  unsigned first = 0, last = count;
  if (const char* seed = std::getenv("ATC_SEED")) {
    first = static_cast<unsigned>(std::strtoul(seed, nullptr, 10));
    last = first + 1;
  }
  if (const char* seeds = std::getenv("ATC_SEEDS"))
    last = first + static_cast<unsigned>(std::strtoul(seeds, nullptr, 10));
  for (unsigned seed = first; seed < last; ++seed) {
    SCOPED_TRACE("ATC_SEED=" + std::to_string(seed));
    try {
      fractals += check(make(seed), target);
    } catch (const InternalError& error) {
      ADD_FAILURE() << error.what();
    }
  }
  return fractals;
}

TEST_P(RandomNetworks, GiveWhatTheReferencesGive) { check_seeds(random_network, 300, GetParam()); }

TEST_P(RandomNetworks, OfImagesGiveWhatTheReferencesGive) {
  check_seeds(random_image_network, 100, GetParam());
}

// Padding of FRACTAL_NZ is never written: what reads it reads what was there before.
TEST_P(RandomNetworks, OfMatricesGiveWhatTheReferencesGive) {
  const int fractals = check_seeds(random_matrix_network, 200, GetParam());
  const bool fp16 = GetParam().precision == passes::Precision::Fp16;
  if (!fp16) {
    EXPECT_EQ(fractals, 0);
  } else if (GetParam().chip == "Ascend310P3" && std::getenv("ATC_SEED") == nullptr &&
             std::getenv("ATC_SEEDS") == nullptr) {
    EXPECT_GT(fractals, 200);
  }
}

// Where storage formats and shared constants are easy to get wrong.
constexpr const char* kHardCases[] = {
    // A single value in blocks of channels, spread over channels.
    R"(air 1
graph "single"(%0 "x": f32[1,4,3,3], %1 "z": f32[1,8,5,5]) -> (%4) {
  %2 "w" = const f32[1,4,3,3] splat 0.25
  %3 = Conv@11(%0, %2) : f32[1,1,1,1]
  %5 = MaxPool@12(%1) {kernel_shape=[2,2]} : f32[1,8,4,4]
  %4 "y" = Mul@14(%5, %3) : f32[1,8,4,4]
})",
    // One constant as the weights of convolutions with other groups.
    R"(air 1
graph "groups"(%0 "x": f32[1,4,5], %1 "z": f32[1,8,5]) -> (%3, %4) {
  %2 "w" = const f32[8,4,1] splat 0.5
  %3 "a" = Conv@11(%0, %2) : f32[1,8,5]
  %4 "b" = Conv@11(%1, %2) {group=2} : f32[1,8,5]
})",
    // One constant against blocks of rank 4 and of rank 5, and blocks of rank 3 against rank 4.
    R"(air 1
graph "ranks"(%0 "x": f32[1,4,5,5], %1 "z": f32[1,1,4,5,5], %8 "s": f32[4,2,5]) -> (%5, %6, %9) {
  %2 "k" = const f32[4,1,1] {0.5,1.0,1.5,2.0}
  %3 = MaxPool@12(%0) {kernel_shape=[1,1]} : f32[1,4,5,5]
  %4 = MaxPool@12(%1) {kernel_shape=[1,1,1]} : f32[1,1,4,5,5]
  %5 "a" = Add@14(%3, %2) : f32[1,4,5,5]
  %6 "b" = Add@14(%4, %2) : f32[1,1,4,5,5]
  %7 = MaxPool@12(%8) {kernel_shape=[2]} : f32[4,2,4]
  %10 = MaxPool@12(%0) {kernel_shape=[4,2]} : f32[1,4,2,4]
  %9 "c" = Add@14(%7, %10) : f32[1,4,2,4]
})",
    // Two programs read one accumulator, and the model returns it.
    R"(air 1
graph "readers"(%0 "x": f32[1,4,5]) -> (%3, %4, %2) {
  %1 "w" = const f32[6,4,1] splat 0.5
  %2 "acc" = Conv@11(%0, %1) : f32[1,6,5]
  %3 "a" = Relu@14(%2) : f32[1,6,5]
  %4 "b" = Tanh@13(%2) : f32[1,6,5]
})",
};

Tensor ramp(const Dims& dims) {
  std::vector<double> values(static_cast<std::size_t>(element_count(dims)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i * 37 % 101) / 50.0 - 1.0;
  return from_doubles(DType::F32, dims, values);
}

TEST_P(RandomNetworks, GiveWhatTheReferencesGiveInHardCases) {
  for (const char* air : kHardCases) {
    auto graph = ir::parse(air);
    ASSERT_TRUE(graph.ok()) << graph.status().to_string();
    RandomNetwork net;
    net.graph = std::move(*graph);
    SCOPED_TRACE(net.graph->name);
    for (const ir::Value* v : net.graph->inputs()) net.inputs.push_back(ramp(v->type.dims()));
    auto expected = evaluate_reference(*net.graph, net.inputs);
    ASSERT_TRUE(expected.ok()) << expected.status().to_string();
    net.expected = std::move(*expected);
    check(net, GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, RandomNetworks,
                         testing::Values(Target{{"Ascend910B3", passes::Precision::Origin}, 1e-4},
                                         Target{{"Ascend310P3", passes::Precision::Origin}, 1e-4},
                                         Target{{"Ascend910B3", passes::Precision::Fp16}, 0.02},
                                         Target{{"Ascend310P3", passes::Precision::Fp16}, 0.02}),
                         [](const auto& tested) {
                           return std::string(tested.param.chip) +
                                  (tested.param.precision == passes::Precision::Origin ? "_origin" : "_fp16");
                         });

}  // namespace
}  // namespace atc::runtime
