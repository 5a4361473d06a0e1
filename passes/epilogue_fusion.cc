#include "passes/epilogue_fusion.h"

#include <algorithm>
#include <map>
#include <set>

#include "ops/body.h"
#include "ops/fused_views.h"
#include "passes/reachability.h"
#include "passes/rewrite.h"
#include "passes/vector_fusion.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

bool has_epilogue(const Node& n) { return n.domain == "atc" && n.attrs.has("epilogue"); }
bool is_channel_blocked(const Node& n) { return !n.is_internal("MatMul"); }

// The name users know for what a fusion of these two is.
std::string_view atc_name(const Node& anchor) {
  if (anchor.is_internal("MatMul")) return "ATbeMatmulElemwiseFusionPass";
  if (anchor.is_internal("DepthwiseConv")) return "TbeDepthwiseConvElemwiseFusionPass";
  return anchor.op_type.starts_with("Conv") ? "TbeConv2DElemwiseFusionPass" : "TbePoolElemwiseFusionPass";
}

// Full, single, or per channel where channels are blocked.
bool fits(const Node& anchor, const Value& operand, const Dims& out) {
  const Dims dims = operand.type.dims();
  if (element_count(dims) == 1) return true;
  if (!is_channel_blocked(anchor)) return dims.size() <= out.size();
  Dims d = dims;
  if (d.size() > out.size()) return false;
  d.insert(d.begin(), out.size() - d.size(), 1);
  return d[1] == out[1];
}

// Puts `next` behind `first`: its input `at` is first's output 0. Inputs of the result are those of `first`,
// then those of `next` without `at`. `keep_first`: first's output 0 stays an output.
std::shared_ptr<Graph> chain(const Graph& first, const Graph& next, std::size_t at, bool keep_first) {
  std::shared_ptr<Graph> out = first.clone();
  Value* joint = out->outputs()[0];
  std::vector<Value*> outputs(out->outputs().begin(), out->outputs().end());
  if (!keep_first) outputs.erase(outputs.begin());
  std::map<const Value*, Value*> map;
  for (std::size_t i = 0; i < next.inputs().size(); ++i) {
    const Value* v = next.inputs()[i];
    map[v] = i == at ? joint : out->add_input(v->name(), v->type);
  }
  for (const auto& n : next.nodes()) {
    std::vector<Value*> in;
    for (const Value* v : n->inputs()) {
      if (v != nullptr && v->is_constant() && !map.contains(v))
        map[v] = out->add_constant(v->name(), v->constant());
      in.push_back(v == nullptr ? nullptr : map.at(v));
    }
    Node* copy = out->add_node(n->op_type, std::move(in), static_cast<int>(n->outputs().size()), nullptr,
                               n->domain, n->version);
    copy->name = n->name;
    copy->attrs = n->attrs;
    copy->sources = n->sources;
    for (std::size_t i = 0; i < n->outputs().size(); ++i) {
      if (n->output(i) == nullptr) continue;
      copy->output(i)->type = n->output(i)->type;
      copy->output(i)->set_name(n->output(i)->name());
      map[n->output(i)] = copy->output(i);
    }
  }
  for (const Value* v : next.outputs()) {
    Value* mapped = map.at(v);
    outputs.push_back(mapped);
  }
  out->clear_outputs();
  for (Value* v : outputs) out->add_output(v);
  return out;
}

// The node that does both, or null where the program does not fit.
Node* absorb(Graph& graph, Node& anchor, Node& fused) {
  if (!fused.attrs.get_ints("reduce_axes").empty() || ops::has_fused_views(fused)) return nullptr;
  const Value* acc = anchor.output(0);
  const Dims out = acc->type.dims();
  const auto body = fused.attrs.get_graph("body");
  std::size_t at = fused.inputs().size();
  for (std::size_t i = 0; i < fused.inputs().size(); ++i) {
    if (fused.input(i) == acc) {
      at = i;
    } else if (!fits(anchor, *fused.input(i), out)) {
      return nullptr;
    } else if (fused.input(i)->producer() == &anchor) {
      return nullptr;
    }
  }
  for (const Value* v : fused.outputs())
    if (v->type.dims() != out) return nullptr;
  if (at == fused.inputs().size()) return nullptr;
  // What the program reads besides must not need the accumulator by another way.
  const NodeOrder order(graph);
  std::vector<const Node*> start;
  for (const Node* p : order.inputs_of(&fused))
    if (p != &anchor) start.push_back(p);
  if (!start.empty() && order.reaches(start, {&anchor}, [](const Node*) { return nullptr; })) return nullptr;

  const bool keep =
      graph.is_output(acc) || std::any_of(acc->uses().begin(), acc->uses().end(),
                                          [&](const Value::Use& u) { return u.node != &fused; });
  const auto first = anchor.attrs.get_graph("epilogue");
  std::vector<Value*> inputs(anchor.inputs().begin(), anchor.inputs().end());
  for (std::size_t i = 0; i < fused.inputs().size(); ++i)
    if (i != at) inputs.push_back(fused.input(i));
  const std::size_t old_outputs = anchor.outputs().size();
  const std::size_t first_kept = keep ? 0 : 1;
  const std::size_t new_outputs = old_outputs - first_kept + fused.outputs().size();
  // Input 0 of a body is the accumulator.
  const std::size_t operands = first->inputs().size() - 1 + fused.inputs().size() - 1 + new_outputs;
  if (operands > kMaxProgramOperands || first->node_count() + body->node_count() > kMaxProgramNodes)
    return nullptr;
  Node* joined =
      graph.add_node(anchor.op_type, std::move(inputs), static_cast<int>(new_outputs), &fused, "atc", 0);
  joined->name = anchor.name;
  joined->attrs = anchor.attrs;
  joined->sources = anchor.sources;
  add_sources(*joined, fused);
  auto epilogue = chain(*first, *body, at, keep);
  epilogue->set_parent(&graph);
  joined->attrs.set("epilogue", std::move(epilogue));
  std::size_t slot = 0;
  auto move = [&](Value* from) {
    joined->output(slot)->type = from->type;
    replace_value(from, joined->output(slot));
    ++slot;
  };
  for (std::size_t i = first_kept; i < old_outputs; ++i) move(anchor.output(i));
  for (Value* v : fused.outputs()) move(v);
  graph.erase(&fused);
  graph.erase(&anchor);
  ATC_CHECK(graph.sort(), "epilogue fusion made a cycle");
  return joined;
}

// Programs that read the accumulator (or what stands at its output), each once, in order of their uses.
std::vector<Node*> readers(const Node& anchor) {
  std::vector<Node*> out;
  for (const Value::Use& use : anchor.output(0)->uses())
    if (use.node->is_internal("Fused") && use.node->graph() == anchor.graph() &&
        std::find(out.begin(), out.end(), use.node) == out.end())
      out.push_back(use.node);
  return out;
}

// Absorbs until no reader fits any more; returns how many did.
int absorb_all(Graph& graph, Node* anchor, PassContext& context) {
  const std::string_view name = atc_name(*anchor);
  std::set<const Node*> counted;
  int changes = 0;
  for (bool again = true; again;) {
    again = false;
    for (Node* fused : readers(*anchor)) {
      if (counted.insert(fused).second) context.fusions.matched(FusionKind::Ub, name);
      Node* joined = absorb(graph, *anchor, *fused);
      if (joined == nullptr) continue;
      context.fusions.effected(FusionKind::Ub, name);
      anchor = joined;
      ++changes;
      again = true;
      break;
    }
  }
  return changes;
}

StatusOr<int> run(Graph& graph, PassContext& context) {
  int changes = 0;
  // Later anchors first: of two convolutions that are added, the later one adds.
  const std::vector<Node*> nodes = graph.node_list();
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it)
    if (has_epilogue(**it)) changes += absorb_all(graph, *it, context);
  return changes;
}

}  // namespace

Pass epilogue_fusion_pass() {
  return {"epilogue-fusion", "", "vector programs behind the cube or a window become its epilogue", run};
}

}  // namespace atc::passes
