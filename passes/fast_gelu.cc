#include "passes/fast_gelu.h"

#include <cmath>
#include <numbers>

#include "passes/node_writer.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

constexpr double kCubic = 0.044715;

// x * (k + k * 0.044715 * x * x), twice what the tanh form takes the tangent of.
Value* tanh_argument(NodeWriter& w, Value* x) {
  const double k = 2 * std::sqrt(2 / std::numbers::pi);
  const DType dtype = x->type.dtype;
  Value* square = w.binary("Mul", x, x, x, "square");
  Value* cubic = w.binary("Mul", square, w.scalar(k * kCubic, dtype, "k3"), x, "cubic");
  Value* factor = w.binary("Add", cubic, w.scalar(k, dtype, "k1"), x, "factor");
  return w.binary("Mul", x, factor, x, "argument");
}

bool rewrite(Graph& g, Node& n, PassContext& context) {
  const NodePrecision* asked = context.options.node_precisions.find(n);
  if (asked == nullptr || !asked->fast || !has_static_shapes(n)) return false;
  Value* x = n.input(0);
  const DType dtype = x->type.dtype;
  if (dtype != DType::F32 && dtype != DType::F16 && dtype != DType::BF16) return false;
  context.precision.changes.push_back({PrecisionChange::Kind::Faster, n.output(0)->name(), "Gelu", n.sources,
                                       asked->option + ": Gelu by Sigmoid, off by 5e-4 at most"});
  NodeWriter w(g, n);
  w.finish(w.binary("Mul", x, w.unary("Sigmoid", tanh_argument(w, x), "gate"), x, "Gelu"));
  return true;
}

StatusOr<int> run(Graph& graph, PassContext& context) {
  if (context.options.node_precisions.empty()) return 0;
  int changes = 0;
  for (Node* n : graph.node_list())
    if (n->is("Gelu") && rewrite(graph, *n, context)) ++changes;
  return changes;
}

}  // namespace

Pass fast_gelu_pass() {
  return {"fast-gelu", "", "Gelu takes its faster form where high_performance is asked for", run};
}

}  // namespace atc::passes
