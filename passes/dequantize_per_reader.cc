#include "passes/dequantize_per_reader.h"

#include <algorithm>

#include "passes/quantize_util.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

int separate(Graph& graph, Node& dq) {
  Value* y = dq.output(0);
  if (graph.is_output(y) || dq.input(0)->is_constant()) return 0;
  const std::vector<Value::Use> uses = y->uses();
  if (std::any_of(uses.begin(), uses.end(), [&](const Value::Use& u) { return u.node->graph() != &graph; }))
    return 0;
  int copies = 0;
  for (const Value::Use& use : uses) {
    if (use.node == uses.front().node) continue;
    Node* copy = graph.add_node(dq.op_type, {dq.inputs().begin(), dq.inputs().end()}, 1, use.node, dq.domain,
                                dq.version);
    copy->name = dq.name;
    copy->attrs = dq.attrs;
    copy->sources = dq.sources;
    copy->output(0)->type = y->type;
    use.node->set_input(static_cast<std::size_t>(use.index), copy->output(0));
    ++copies;
  }
  return copies;
}

StatusOr<int> run(Graph& graph, PassContext&) {
  int changes = 0;
  for (Node* n : graph.node_list())
    if (n->is("DequantizeLinear") && tensor_quantization(*n)) changes += separate(graph, *n);
  return changes;
}

}  // namespace

Pass dequantize_per_reader_pass() {
  return {"dequantize-per-reader", "", "readers of an 8-bit tensor dequantize for themselves", run};
}

}  // namespace atc::passes
