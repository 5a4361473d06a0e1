#include "passes/epilogue_fusion.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "ops/body.h"
#include "ops/fused_views.h"
#include "passes/detached_bodies.h"
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

class Absorber {
 public:
  Absorber(Graph& graph, PassContext& context) : graph_(graph), context_(context), detached_(graph) {
    for (Node* n : graph.node_list()) append(n);
  }

  int run() {
    int changes = 0;
    // Later anchors first: of two convolutions that are added, the later one adds.
    const std::vector<Node*> nodes = order_;
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it)
      if (has_epilogue(**it)) changes += absorb_all(*it);
    if (changes > 0) ATC_CHECK(graph_.sort(), "epilogue fusion made a cycle");
    for (const auto& n : graph_.nodes())
      if (const auto miss = misses_.find(n->id()); miss != misses_.end())
        context_.near_miss(miss->second.first, *n, miss->second.second);
    return changes;
  }

 private:
  // Absorbs until no reader fits any more; returns how many did.
  int absorb_all(Node* anchor);
  // The node that does both, or null where the program does not fit: `why`.
  Node* absorb(Node& anchor, Node& fused, std::string& why);
  Node* join(Node& anchor, Node& fused, std::size_t at, bool keep);

  std::size_t& slot(const Node& n) { return slot_[static_cast<std::size_t>(n.id())]; }
  void append(Node* n) {
    slot_.resize(std::max(slot_.size(), static_cast<std::size_t>(n->id()) + 1));
    slot(*n) = order_.size();
    order_.push_back(n);
  }
  std::vector<Node*> between(const Node& anchor, const Node& fused);
  void replace(const Node& anchor, const Node& fused, Node* joined, const std::vector<Node*>& dependents);

  Graph& graph_;
  PassContext& context_;
  const DetachedBodies detached_;
  // A topological order that follows the changes; null where a node has gone. Slots by the nodes' ids.
  std::vector<Node*> order_;
  std::vector<std::size_t> slot_;
  // Why programs stayed alone, by their ids: another anchor may take one after all.
  std::map<int, std::pair<std::string_view, std::string>> misses_;
};

bool reads_any(const Node& n, const std::unordered_set<const Node*>& makers) {
  const auto made = [&](const Value* v) { return v != nullptr && makers.contains(v->producer()); };
  if (std::ranges::any_of(n.inputs(), made)) return true;
  if (n.domain == "atc") return false;  // its bodies stand alone
  return std::ranges::any_of(ir::subgraphs(n), [&](const auto& body) {
    return std::ranges::any_of(body->outputs(), made) ||
           std::ranges::any_of(body->nodes(), [&](const auto& inner) { return reads_any(*inner, makers); });
  });
}

// Nodes that stand between the two and need the anchor.
std::vector<Node*> Absorber::between(const Node& anchor, const Node& fused) {
  std::vector<Node*> out;
  std::unordered_set<const Node*> makers = {&anchor};
  for (std::size_t i = slot(anchor) + 1; i < slot(fused); ++i) {
    Node* n = order_[i];
    if (n == nullptr || !reads_any(*n, makers)) continue;
    makers.insert(n);
    out.push_back(n);
  }
  return out;
}

// The joined node stands where the program stood; those that need it go behind.
void Absorber::replace(const Node& anchor, const Node& fused, Node* joined,
                       const std::vector<Node*>& dependents) {
  const std::size_t first = slot(anchor), last = slot(fused);
  order_[first] = nullptr;
  slot_.resize(std::max(slot_.size(), static_cast<std::size_t>(joined->id()) + 1));
  std::size_t at = last;
  if (!dependents.empty()) {
    const std::unordered_set<const Node*> late(dependents.begin(), dependents.end());
    std::vector<Node*> early;
    for (std::size_t i = first + 1; i < last; ++i)
      if (order_[i] != nullptr && !late.contains(order_[i])) early.push_back(order_[i]);
    std::fill(order_.begin() + static_cast<std::ptrdiff_t>(first),
              order_.begin() + static_cast<std::ptrdiff_t>(last) + 1, nullptr);
    const auto put = [&](Node* n) {
      order_[at] = n;
      slot(*n) = at++;
    };
    at = first;
    std::ranges::for_each(early, put);
    put(joined);
    std::ranges::for_each(dependents, put);
    return;
  }
  order_[at] = joined;
  slot(*joined) = at;
}

Node* Absorber::absorb(Node& anchor, Node& fused, std::string& why) {
  why.clear();
  if (!fused.attrs.get_ints("reduce_axes").empty()) why = "it reduces along an axis";
  if (ops::has_fused_views(fused)) why = "it reads its operands through views";
  if (!why.empty()) return nullptr;
  const Value* acc = anchor.output(0);
  const Dims out = acc->type.dims();
  std::size_t at = fused.inputs().size();
  for (std::size_t i = 0; i < fused.inputs().size(); ++i) {
    if (fused.input(i) == acc) {
      at = i;
    } else if (!fits(anchor, *fused.input(i), out)) {
      why = "its operand '" + fused.input(i)->name() + "' is neither full, nor single, nor one a channel";
      return nullptr;
    } else if (fused.input(i)->producer() == &anchor) {
      why = "it reads two results of the product";
      return nullptr;
    }
  }
  for (const Value* v : fused.outputs())
    if (v->type.dims() != out) {
      why = "its result '" + v->name() + "' has another shape than the product's";
      return nullptr;
    }
  if (at == fused.inputs().size()) return nullptr;

  const bool keep =
      graph_.is_output(acc) || std::any_of(acc->uses().begin(), acc->uses().end(),
                                           [&](const Value::Use& u) { return u.node != &fused; });
  const auto first = anchor.attrs.get_graph("epilogue"), body = fused.attrs.get_graph("body");
  const std::size_t new_outputs = anchor.outputs().size() - (keep ? 0 : 1) + fused.outputs().size();
  // Input 0 of a body is the accumulator.
  const std::size_t operands = first->inputs().size() - 1 + fused.inputs().size() - 1 + new_outputs;
  if (operands > kMaxProgramOperands || first->node_count() + body->node_count() > kMaxProgramNodes) {
    why = "the epilogue would have more than " + std::to_string(kMaxProgramOperands) + " operands or " +
          std::to_string(kMaxProgramNodes) + " operators";
    return nullptr;
  }
  // What the program reads besides must not need the accumulator by another way.
  const std::vector<Node*> dependents = between(anchor, fused);
  if (!dependents.empty() && reads_any(fused, {dependents.begin(), dependents.end()})) {
    why = "another of its operands depends on the product";
    return nullptr;
  }

  Node* joined = join(anchor, fused, at, keep);
  replace(anchor, fused, joined, dependents);
  graph_.erase(&fused);
  graph_.erase(&anchor);
  return joined;
}

Node* Absorber::join(Node& anchor, Node& fused, std::size_t at, bool keep) {
  std::vector<Value*> inputs(anchor.inputs().begin(), anchor.inputs().end());
  for (std::size_t i = 0; i < fused.inputs().size(); ++i)
    if (i != at) inputs.push_back(fused.input(i));
  const std::size_t first_kept = keep ? 0 : 1;
  const std::size_t outputs = anchor.outputs().size() - first_kept + fused.outputs().size();
  Node* joined =
      graph_.add_node(anchor.op_type, std::move(inputs), static_cast<int>(outputs), &fused, "atc", 0);
  joined->name = anchor.name;
  joined->attrs = anchor.attrs;
  joined->sources = anchor.sources;
  add_sources(*joined, fused);
  joined->attrs.set("epilogue",
                    chain(*anchor.attrs.get_graph("epilogue"), *fused.attrs.get_graph("body"), at, keep));
  std::size_t to = 0;
  const auto move = [&](Value* from) {
    joined->output(to)->type = from->type;
    replace_value(from, joined->output(to));
    ++to;
  };
  for (std::size_t i = first_kept; i < anchor.outputs().size(); ++i) move(anchor.output(i));
  for (Value* v : fused.outputs()) move(v);
  return joined;
}

// Programs that read the accumulator (or what stands at its output), each once, in order of their uses.
std::vector<Node*> readers(const Node& anchor) {
  std::vector<Node*> out;
  std::unordered_set<const Node*> seen;
  for (const Value::Use& use : anchor.output(0)->uses())
    if (use.node->is_internal("Fused") && use.node->graph() == anchor.graph() && seen.insert(use.node).second)
      out.push_back(use.node);
  return out;
}

int Absorber::absorb_all(Node* anchor) {
  const std::string_view name = atc_name(*anchor);
  if (!context_.allows(name)) return 0;
  std::set<const Node*> counted;
  int changes = 0;
  std::string why;
  for (bool again = true; again;) {
    again = false;
    for (Node* fused : readers(*anchor)) {
      if (counted.insert(fused).second) context_.fusions.matched(FusionKind::Ub, name);
      const int id = fused->id();
      Node* joined = absorb(*anchor, *fused, why);
      if (joined == nullptr) {
        if (!why.empty()) misses_[id] = {name, "behind " + anchor->label() + ": " + why};
        continue;
      }
      misses_.erase(id);
      context_.fusions.effected(FusionKind::Ub, name);
      anchor = joined;
      ++changes;
      again = true;
      break;
    }
  }
  return changes;
}

StatusOr<int> run(Graph& graph, PassContext& context) { return Absorber(graph, context).run(); }

}  // namespace

Pass epilogue_fusion_pass() {
  return {"epilogue-fusion", "", "vector programs behind the cube or a window become its epilogue", run};
}

}  // namespace atc::passes
