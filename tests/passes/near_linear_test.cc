// Passes take a time in proportion to the graph: four times the nodes take about four times as long.
#include <algorithm>
#include <ctime>

#include "pass_testing.h"
#include "passes/pass_manager.h"
#include "passes/pipeline.h"
#include "soc/chip.h"

namespace atc::passes {
namespace {

struct Chain {
  const char* name;
  std::vector<std::string> operators;  ///< repeated
};

std::unique_ptr<ir::Graph> chain_of(const Chain& chain, int nodes) {
  auto graph = std::make_unique<ir::Graph>("chain");
  const ir::TensorType type = ir::tensor_type(DType::F32, {1, 16, 4, 4});
  ir::Value* x = graph->add_input("x", type);
  for (int i = 0; i < nodes; ++i) {
    const std::string& op = chain.operators[static_cast<std::size_t>(i) % chain.operators.size()];
    std::vector<ir::Value*> inputs = {x};
    const double value = 1 + 0.5 / (1 + i);  // no two are the same
    if (op == "Conv")
      inputs.push_back(graph->add_constant(
          "w", from_doubles(DType::F32, {16, 16, 1, 1}, std::vector<double>(256, value))));
    else if (op == "MatMul")
      inputs.push_back(
          graph->add_constant("w", from_doubles(DType::F32, {4, 4}, std::vector<double>(16, value))));
    else if (op == "Add" || op == "Mul")
      inputs.push_back(graph->add_constant("c", scalar_tensor(DType::F32, value)));
    else if (op == "Residual")
      inputs.push_back(graph->inputs()[0]);
    ir::Node* n = graph->add_node(op == "Residual" ? "Add" : op, inputs, 1, nullptr, "", 13);
    n->name = "n" + std::to_string(i);
    n->sources = {n->name};
    if (op == "Transpose") n->attrs.set("perm", Dims{0, 1, 3, 2});
    n->output(0)->type = type;
    x = n->output(0);
  }
  x->set_name("y");
  graph->add_output(x);
  return graph;
}

/// Processor seconds for all passes; the best of some runs, which others on the machine disturb least.
double seconds(const Chain& chain, int nodes) {
  double best = 1e9;
  for (int run = 0; run < 2; ++run) {
    const auto graph = chain_of(chain, nodes);
    PassContext context;
    context.options.chip = *soc::find_chip("Ascend910B3");
    PassManager manager(pipeline());
    const std::clock_t start = std::clock();
    const Status status = manager.run(*graph, context);
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    EXPECT_TRUE(status.ok()) << status.to_string();
  }
  return best;
}

class NearLinear : public testing::TestWithParam<Chain> {};

TEST_P(NearLinear, FourTimesTheNodes) {
  const double few = seconds(GetParam(), 1500), many = seconds(GetParam(), 6000);
  // Sixteen times would be quadratic.
  EXPECT_LT(many, 10 * few + 0.1);
}

INSTANTIATE_TEST_SUITE_P(Chains, NearLinear,
                         testing::Values(Chain{"elementwise", {"Add", "Relu", "Mul", "Tanh"}},
                                         Chain{"convolutions", {"Conv", "Add", "Relu", "Mul"}},
                                         Chain{"products", {"MatMul", "Softmax", "Transpose", "Sigmoid"}},
                                         Chain{"residuals", {"Residual", "Relu"}}),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace atc::passes
