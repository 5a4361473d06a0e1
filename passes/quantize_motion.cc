#include "passes/quantize_motion.h"

#include <algorithm>
#include <array>
#include <deque>

#include "passes/quantize_util.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

constexpr std::array<std::string_view, 8> kMovers = {"DepthToSpace", "Flatten", "Reshape",   "Slice",
                                                     "SpaceToDepth", "Squeeze", "Transpose", "Unsqueeze"};

bool is_concat(const Node& n) { return n.is("Concat"); }

// A copy of `n` on other data (input 0; all inputs of Concat), inserted before it.
Value* moved(Node& n, std::span<Value* const> data, DType dtype) {
  std::vector<Value*> inputs(n.inputs().begin(), n.inputs().end());
  std::copy(data.begin(), data.end(), inputs.begin());
  Node* copy = n.graph()->add_node(n.op_type, std::move(inputs), 1, &n, n.domain, n.version);
  copy->name = n.name;
  copy->attrs = n.attrs;
  copy->sources = n.sources;
  copy->output(0)->type = n.output(0)->type;
  copy->output(0)->type.dtype = dtype;
  return copy->output(0);
}

// A QuantizeLinear or DequantizeLinear like `n` on `x`.
Node* same_linear(const Node& n, Value* x, DType dtype, Node& before) {
  std::vector<Value*> inputs(n.inputs().begin(), n.inputs().end());
  inputs[0] = x;
  Node* copy = n.graph()->add_node(n.op_type, std::move(inputs), 1, &before, {}, n.version);
  copy->name = n.name;
  copy->attrs = n.attrs;
  copy->sources = n.sources;
  copy->output(0)->type = x->type;
  copy->output(0)->type.dtype = dtype;
  return copy;
}

// The data of a weight with one scale a channel, through a Transpose.
bool sink_through_transpose(Node& n) {
  if (!n.is("Transpose")) return false;
  const auto w = quantized_weight(n.input(0));
  if (!w || w->scales.size() < 2) return false;
  Node& dq = *n.input(0)->producer();
  Dims perm = n.attrs.get_ints("perm");
  if (perm.empty())
    for (std::int64_t i = std::ssize(w->dims); i-- > 0;) perm.push_back(i);
  const auto at = std::find(perm.begin(), perm.end(), w->axis);
  if (at == perm.end()) return false;
  Value* data[] = {dq.input(0)};
  Node* below = same_linear(dq, moved(n, data, w->stored->type.dtype), n.output(0)->type.dtype, n);
  below->attrs.set("axis", static_cast<std::int64_t>(at - perm.begin()));
  replace_value(n.output(0), below->output(0));
  n.graph()->erase(&n);
  return true;
}

// mover(DQ(x)) -> DQ(mover(x)).
bool sink(Node& n) {
  if (!moves_elements(n)) return false;
  const std::size_t count = is_concat(n) ? n.inputs().size() : 1;
  std::vector<Value*> data;
  Node* first = nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    Node* dq = dequantizer_of(n.input(i));
    if (dq == nullptr) return sink_through_transpose(n);
    if (first == nullptr) first = dq;
    if (tensor_quantization(*dq) != tensor_quantization(*first)) return false;
    data.push_back(dq->input(0));
  }
  const DType bytes = data[0]->type.dtype;
  Node* below = same_linear(*first, moved(n, data, bytes), n.output(0)->type.dtype, n);
  add_sources(*below, n);
  replace_value(n.output(0), below->output(0));
  n.graph()->erase(&n);
  return true;
}

// Q(mover(x)) -> mover(Q(x)); the QuantizeLinears above are given back.
std::vector<Node*> hoist(Node& q) {
  Value* x = q.input(0);
  Node* n = x->producer();
  if (n == nullptr || n->graph() != q.graph() || !moves_elements(*n)) return {};
  if (x->uses().size() != 1 || q.graph()->is_output(x) || !tensor_quantization(q)) return {};
  const DType bytes = q.output(0)->type.dtype;
  const std::size_t count = is_concat(*n) ? n->inputs().size() : 1;
  std::vector<Node*> above;
  std::vector<Value*> data;
  for (std::size_t i = 0; i < count; ++i) {
    above.push_back(same_linear(q, n->input(i), bytes, q));
    data.push_back(above.back()->output(0));
  }
  Value* below = moved(*n, data, bytes);
  // The copy stands where n did, before the QuantizeLinears it reads.
  q.graph()->move_before(below->producer(), &q);
  replace_value(q.output(0), below);
  q.graph()->erase(&q);
  q.graph()->erase(n);
  return above;
}

StatusOr<int> run(Graph& graph, PassContext& context) {
  int changes = 0;
  for (Node* n : graph.node_list())
    if (has_static_shapes(*n) && sink(*n)) ++changes;
  std::deque<Node*> work;
  for (const auto& n : graph.nodes())
    if (n->is("QuantizeLinear")) work.push_front(n.get());
  while (!work.empty()) {
    Node* q = work.front();
    work.pop_front();
    const bool concat = q->input(0)->producer() != nullptr && is_concat(*q->input(0)->producer());
    const std::vector<Node*> above = hoist(*q);
    if (above.empty()) continue;
    ++changes;
    work.insert(work.end(), above.begin(), above.end());
    if (!concat) continue;
    context.fusions.matched(FusionKind::Graph, "ConcatQuantFusionPass");
    context.fusions.effected(FusionKind::Graph, "ConcatQuantFusionPass");
  }
  if (changes > 0) graph.sweep();
  return changes;
}

}  // namespace

bool moves_elements(const Node& n) {
  if (!n.domain.empty()) return false;
  return is_concat(n) || std::find(kMovers.begin(), kMovers.end(), n.op_type) != kMovers.end();
}

Pass quantize_motion_pass() {
  return {"quantize-motion", "ConcatQuantFusionPass", "data movement between 8-bit tensors moves 8 bits",
          run};
}

}  // namespace atc::passes
