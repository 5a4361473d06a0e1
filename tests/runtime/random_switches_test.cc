// Results are right whatever optional passes are switched off.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <random>

#include "atc/ir/text.h"
#include "passes/pipeline.h"
#include "runtime/compile_run.h"
#include "runtime/network_maker.h"

namespace atc::runtime {
namespace {

constexpr const char* kFolding = "constant-folding";

struct Target : CompileTarget {
  double tolerance;  ///< root mean square of the error, relative to the values'
};

/// One choice of switches and what to call it.
struct Variant {
  std::string name;
  passes::Switches switches;
};

std::vector<std::string> optional_passes() {
  std::vector<std::string> out;
  for (const passes::Pass& pass : passes::pipeline())
    if (pass.optional) out.emplace_back(pass.name);
  out.emplace_back(kFolding);  // it runs, but keeps to what is needed
  return out;
}

passes::Switches without(const std::vector<std::string>& names) {
  passes::Switches s;
  for (const std::string& name : names) s.passes[name] = false;
  return s;
}

/// All on, all off, the basic ones alone, one off (by turns, or each of them), and random subsets off.
std::vector<Variant> variants(unsigned seed, bool each) {
  const std::vector<std::string> names = optional_passes();
  std::vector<Variant> out = {{"all on", {}}, {"all off", without(names)}, {"O1", {}}};
  out.back().switches.basic_only = true;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (each || i == seed % names.size()) out.push_back({names[i] + " off", without({names[i]})});
  std::mt19937 rng(seed);
  for (int k = 0; k < 2; ++k) {
    std::vector<std::string> off;
    for (const std::string& name : names)
      if (rng() % 2 == 0) off.push_back(name);
    const passes::Switches switches = without(off);
    out.push_back({"off: " + switches.to_text(), switches});
  }
  return out;
}

/// Constants computed of constants, for folding to find: -(-c).
void compute_constants(ir::Graph& graph) {
  ir::Node* first = graph.nodes().front().get();
  for (ir::Value* v : graph.values()) {
    if (!v->is_constant() || v->type.dtype != DType::F32 || v->constant().count() < 2 || !graph.is_used(v))
      continue;
    std::vector<double> values = to_doubles(v->constant());
    for (double& x : values) x = -x;
    ir::Value* negative =
        graph.add_constant(v->name() + "/negative", from_doubles(DType::F32, v->constant().shape, values));
    ir::Node* n = graph.add_node("Neg", {negative}, 1, first, {}, 13);
    n->output(0)->type = v->type;
    graph.replace_uses(v, n->output(0));
  }
}

/// Nodes that nothing reads, behind every third.
void add_dead_code(ir::Graph& graph) {
  int i = 0;
  for (const ir::Node* n : graph.node_list()) {
    ir::Value* v = n->output(0);
    if (++i % 3 != 0 || v == nullptr || v->type.dtype != DType::F32 || v->type.shape->empty()) continue;
    ir::Node* dead = graph.add_node(i % 2 == 0 ? "Exp" : "Softmax", {v}, 1, nullptr, {}, 13);
    dead->name = "dead_" + std::to_string(i);
    dead->output(0)->type = v->type;
  }
}

// The first output that is wrong, or what failed; "" when all is right.
std::string fault_of(const RandomNetwork& net, const Target& target, const passes::Switches& switches) {
  CompileTarget one = target;
  one.switches = switches;
  const auto graph = net.graph->clone();
  const auto folding = switches.passes.find(kFolding);
  if (folding != switches.passes.end() && !folding->second) compute_constants(*graph);
  // Half of the variants keep what nothing reads.
  one.keeps_dead_code = switches.passes.size() % 2 == 1;
  add_dead_code(*graph);
  try {
    const auto run = compile_and_run(*graph, one, net.inputs);
    if (!run.ok()) return run.status().to_string();
    for (std::size_t i = 0; i < net.expected.size(); ++i) {
      if (run->outputs[i].dtype != net.expected[i].dtype || run->outputs[i].shape != net.expected[i].shape)
        return "output " + std::to_string(i) + " has another type";
      const double error = relative_error(run->outputs[i], net.expected[i]);
      // Not >: a nan has to fail.
      if (!(error <= target.tolerance))
        return "output " + std::to_string(i) + ": error " + std::to_string(error);
    }
    return "";
  } catch (const InternalError& error) {
    return error.what();
  }
}

class RandomSwitches : public testing::TestWithParam<Target> {};

/// Seeds one after the other for ATC_SECONDS (default 12) seconds; ATC_SEED replays one with each pass off
/// alone, ATC_SEEDS runs so many from there on whatever time it takes.
TEST_P(RandomSwitches, ChangeNoResult) {
  const auto number = [](const char* name, unsigned otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
  };
  const bool replays = std::getenv("ATC_SEED") != nullptr, counts = std::getenv("ATC_SEEDS") != nullptr;
  const unsigned first = number("ATC_SEED", 0), last = first + number("ATC_SEEDS", replays ? 1 : 100000);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(number("ATC_SECONDS", 12));
  unsigned seed = first;
  for (; seed < last && !HasFailure(); ++seed) {
    if (!replays && !counts && std::chrono::steady_clock::now() > end) break;
    const RandomNetwork net = seed % 3 == 0 ? random_network(seed) : pattern_network(seed);
    for (const Variant& variant : variants(seed, replays)) {
      const std::string fault = fault_of(net, GetParam(), variant.switches);
      EXPECT_EQ(fault, "") << "ATC_SEED=" << seed << ", " << variant.name << "\n"
                           << ir::print(*net.graph, {.max_constant_elements = 8});
      if (!fault.empty()) break;
    }
  }
  RecordProperty("networks", static_cast<int>(seed - first));
  EXPECT_GT(seed, first);
}

INSTANTIATE_TEST_SUITE_P(Targets, RandomSwitches,
                         testing::Values(Target{{"Ascend910B3", passes::Precision::Origin}, 1e-4},
                                         Target{{"Ascend310P3", passes::Precision::Fp16}, 0.02}),
                         [](const auto& tested) {
                           return std::string(tested.param.chip) +
                                  (tested.param.precision == passes::Precision::Origin ? "_origin" : "_fp16");
                         });

}  // namespace
}  // namespace atc::runtime
