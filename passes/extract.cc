#include "passes/extract.h"

#include <unordered_map>
#include <unordered_set>

#include "atc/base/check.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

/// Replaces what a graph, and those nested in it, read and return of the graphs around `original`.
void rebind(Graph& copy, const Graph& original, const std::function<Value*(Value*)>& resolve) {
  const auto is_outer = [&](const Value* v) { return v != nullptr && original.is_within(v->graph()); };
  for (Node* n : copy.node_list()) {
    for (std::size_t i = 0; i < n->inputs().size(); ++i)
      if (is_outer(n->input(i))) n->set_input(i, resolve(n->input(i)));
    for (const auto& body : ir::subgraphs(*n)) rebind(*body, original, resolve);
  }
  for (std::size_t i = 0; i < copy.outputs().size(); ++i)
    if (is_outer(copy.outputs()[i])) copy.set_output(i, resolve(copy.outputs()[i]));
}

class Extractor {
 public:
  explicit Extractor(std::int64_t max_constant_bytes) : max_constant_bytes_(max_constant_bytes) {
    out_.graph = std::make_unique<Graph>();
  }

  void copy(const Node& n) {
    std::vector<Value*> inputs;
    for (Value* v : n.inputs()) inputs.push_back(v == nullptr ? nullptr : resolve(v));
    Node* c = out_.graph->add_node(n.op_type, std::move(inputs), static_cast<int>(n.outputs().size()),
                                   nullptr, n.domain, n.version);
    c->name = n.name;
    c->sources = n.sources;
    c->attrs = n.attrs;
    for (auto& [name, attribute] : c->attrs.map())
      if (auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute); body != nullptr && *body != nullptr) {
        std::shared_ptr<Graph> own = (*body)->clone();
        own->set_parent(out_.graph.get());
        rebind(*own, *n.graph(), [this](Value* v) { return resolve(v); });
        hoist_constants(*own, *n.graph());
        *body = std::move(own);
      }
    for (std::size_t i = 0; i < n.outputs().size(); ++i) {
      const Value* v = n.output(i);
      if (v == nullptr) {
        out_.graph->drop_output(c, i);
        continue;
      }
      c->output(i)->set_name(v->name());
      c->output(i)->type = v->type;
      copies_[v] = c->output(i);
    }
  }

  Extracted finish(const std::vector<Value*>& outputs) {
    for (Value* v : outputs) out_.graph->add_output(resolve(v));
    return std::move(out_);
  }

 private:
  bool is_large(const Value& v) const {
    return static_cast<std::int64_t>(v.constant().data.size()) > max_constant_bytes_;
  }

  // Large constants of nested graphs become the original graph's, and inputs as its own ones do.
  void hoist_constants(Graph& nested, Graph& original) {
    for (Value* v : nested.values()) {
      if (!v->is_constant() || !is_large(*v) || !nested.is_used(v)) continue;
      Value* hoisted = original.add_constant(v->name(), v->constant());
      hoisted->type = v->type;
      nested.replace_uses(v, resolve(hoisted));
    }
    for (const auto& n : nested.nodes())
      for (const auto& body : ir::subgraphs(*n)) hoist_constants(*body, original);
  }

  Value* resolve(Value* v) {
    Value*& copy = copies_[v];
    if (copy != nullptr) return copy;
    if (v->is_constant() && !is_large(*v)) {
      copy = out_.graph->add_constant(v->name(), v->constant());
      copy->type = v->type;
    } else {
      copy = out_.graph->add_input(v->name(), v->type);
      out_.inputs.push_back(v);
    }
    return copy;
  }

  std::int64_t max_constant_bytes_;
  Extracted out_;
  std::unordered_map<const Value*, Value*> copies_;
};

void collect_outer(const Graph& graph, const Graph& root, std::unordered_set<const Value*>& seen,
                   std::vector<Value*>& out) {
  const auto visit = [&](Value* v) {
    if (v == nullptr || v->graph()->is_within(&root) || !seen.insert(v).second) return;
    out.push_back(v);
  };
  for (const auto& n : graph.nodes()) {
    for (Value* v : n->inputs()) visit(v);
    for (const auto& body : ir::subgraphs(*n)) collect_outer(*body, root, seen, out);
  }
  for (Value* v : graph.outputs()) visit(v);
}

}  // namespace

Extracted extract(const std::vector<Node*>& nodes, const std::vector<Value*>& outputs,
                  std::int64_t max_constant_bytes) {
  Extractor extractor(max_constant_bytes);
  for (const Node* n : nodes) extractor.copy(*n);
  return extractor.finish(outputs);
}

Extracted stand_alone(const Graph& body) {
  ATC_CHECK(body.parent() != nullptr, "stand_alone: not a nested graph");
  Extracted out;
  out.graph = body.clone();
  out.graph->set_parent(nullptr);
  std::unordered_map<const Value*, Value*> copies;
  rebind(*out.graph, *body.parent(), [&](Value* v) {
    Value*& copy = copies[v];
    if (copy != nullptr) return copy;
    if (v->is_constant()) {
      copy = out.graph->add_constant(v->name(), v->constant());
      copy->type = v->type;
    } else {
      copy = out.graph->add_input(v->name(), v->type);
      out.inputs.push_back(v);
    }
    return copy;
  });
  return out;
}

std::vector<Value*> outer_values(const Graph& body) {
  std::vector<Value*> out;
  std::unordered_set<const Value*> seen;
  collect_outer(body, body, seen, out);
  return out;
}

}  // namespace atc::passes
