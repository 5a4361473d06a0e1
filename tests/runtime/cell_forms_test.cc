// Recurrent cells written out: two joint products and one vector program.
#include <set>

#include "runtime/exporter_form.h"

namespace atc::runtime {
namespace {

using V = FormWriter::V;

constexpr std::int64_t kBatch = 3, kIn = 24, kHidden = 32;

V sigmoid(FormWriter& w, V x) { return w.op("Sigmoid", {x}); }
V tanh(FormWriter& w, V x) { return w.op("Tanh", {x}); }
V matrix(FormWriter& w, std::int64_t rows) { return w.weights({rows, kHidden}); }
V gemm(FormWriter& w, V x, std::int64_t rows) {
  return w.op("Gemm", {x, w.weights({kHidden, rows}), w.weights({kHidden})}, {{"transB", std::int64_t{1}}});
}

using Gate = std::function<V(FormWriter&, V x, V h)>;

ExporterForm lstm(std::string name, Gate gate, int effects = 1, int tasks = 3) {
  return {std::move(name),
          [gate](FormWriter& w) {
            V x = w.input({kBatch, kIn}), h = w.input({kBatch, kHidden}), c = w.input({kBatch, kHidden});
            V i = gate(w, x, h), f = gate(w, x, h), g = gate(w, x, h), o = gate(w, x, h);
            V next = w.add(w.mul(sigmoid(w, f), c), w.mul(sigmoid(w, i), tanh(w, g)));
            w.output(next).output(w.mul(sigmoid(w, o), tanh(w, next)));
          },
          effects, tasks};
}

TEST(CellForms, GatesShareTheirProducts) {
  const std::vector<ExporterForm> forms = {
      lstm("products",
           [](FormWriter& w, V x, V h) {
             return w.add(w.add(w.matmul(x, matrix(w, kIn)), w.matmul(h, matrix(w, kHidden))),
                          w.weights({kHidden}));
           }),
      lstm("two_biases", [](FormWriter& w, V x, V h) { return w.add(gemm(w, x, kIn), gemm(w, h, kHidden)); }),
      lstm("no_bias",
           [](FormWriter& w, V x, V h) {
             return w.add(w.matmul(h, matrix(w, kHidden)), w.matmul(x, matrix(w, kIn)));
           }),
      // The joint products of an exporter that has them.
      {"joint",
       [](FormWriter& w) {
         V x = w.input({kBatch, kIn}), h = w.input({kBatch, kHidden}), c = w.input({kBatch, kHidden});
         V z = w.add(w.add(w.matmul(x, w.weights({kIn, 4 * kHidden})),
                           w.matmul(h, w.weights({kHidden, 4 * kHidden}))),
                     w.weights({4 * kHidden}));
         const auto p = w.split(z, 1, {kHidden, kHidden, kHidden, kHidden});
         V next = w.add(w.mul(sigmoid(w, p[1]), c), w.mul(sigmoid(w, p[0]), tanh(w, p[2])));
         w.output(next).output(w.mul(sigmoid(w, p[3]), tanh(w, next)));
       },
       0, 3},
      {"gru_joint",
       [](FormWriter& w) {
         V x = w.input({kBatch, kIn}), h = w.input({kBatch, kHidden});
         V a = w.matmul(x, w.weights({kIn, 3 * kHidden})), b = w.matmul(h, w.weights({kHidden, 3 * kHidden}));
         const auto p = w.split(a, 1, {kHidden, kHidden, kHidden}),
                    q = w.split(b, 1, {kHidden, kHidden, kHidden});
         V r = sigmoid(w, w.add(p[0], q[0])), z = sigmoid(w, w.add(p[1], q[1]));
         V n = tanh(w, w.add(p[2], w.mul(r, q[2])));
         w.output(w.add(n, w.mul(z, w.sub(h, n))));
       },
       0, 3},
      // Gates of one product are no cell's: each product keeps its epilogue.
      lstm(
          "of_one_value",
          [](FormWriter& w, V x, V) { return w.add(w.matmul(x, matrix(w, kIn)), w.weights({kHidden})); }, 0,
          -1),
      lstm(
          "gates_are_outputs",
          [](FormWriter& w, V x, V h) {
            V g = w.add(w.matmul(h, matrix(w, kHidden)), w.matmul(x, matrix(w, kIn)));
            w.output(g);
            return g;
          },
          0, -1),
  };
  expect_forms(forms, "CellGateFusionPass");
}

// Two steps with the same matrices: the joint ones exist once.
TEST(CellForms, StepsShareTheirMatrices) {
  FormWriter w;
  V h = w.input({kBatch, kHidden});
  V wx[2] = {matrix(w, kIn), matrix(w, kIn)}, wh[2] = {matrix(w, kHidden), matrix(w, kHidden)};
  for (int step = 0; step < 2; ++step) {
    V x = w.input({kBatch, kIn});
    const auto gate = [&](int k) { return w.add(w.matmul(x, wx[k]), w.matmul(h, wh[k])); };
    V a = sigmoid(w, gate(0));
    h = w.mul(a, tanh(w, gate(1)));
  }
  w.output(h);
  const auto expected = evaluate_reference(w.graph(), w.inputs());
  ASSERT_TRUE(expected.ok());
  const std::unique_ptr<ir::Graph> graph = w.graph().clone();
  const auto run = compile_and_run(*graph, {"Ascend910B3", passes::Precision::Origin}, w.inputs());
  ASSERT_TRUE(run.ok()) << run.status().to_string();
  EXPECT_EQ(run->fusions.graph_fusion().at("CellGateFusionPass").effect_times, 2);
  std::set<const ir::Value*> matrices;
  for (const auto& n : graph->nodes())
    if (n->is_internal("MatMul")) matrices.insert(n->input(1));
  EXPECT_EQ(matrices.size(), 2U);
  EXPECT_LE(relative_error(run->outputs[0], (*expected)[0]), 2e-5);
}

}  // namespace
}  // namespace atc::runtime
