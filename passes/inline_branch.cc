#include "passes/inline_branch.h"

#include <unordered_map>

#include "atc/base/check.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

/// The copy of `inner` before `before`; what read inner's outputs reads the copy's.
ir::Node* move_node(ir::Node* inner, ir::Node* before) {
  ir::Graph& to = *before->graph();
  const std::vector<ir::Value*> inputs(inner->inputs().begin(), inner->inputs().end());
  ir::Node* copy = to.add_node(inner->op_type, inputs, 0, before, inner->domain, inner->version);
  copy->name = inner->name;
  copy->sources = inner->sources;
  copy->attrs = std::move(inner->attrs);
  inner->attrs = {};
  for (const auto& body : ir::subgraphs(*copy)) body->set_parent(&to);
  for (std::size_t i = 0; i < inner->outputs().size(); ++i) {
    ir::Value* old = inner->output(i);
    ir::Value* fresh = to.add_output_value(copy, old == nullptr ? std::string() : old->name());
    if (old == nullptr) {
      to.drop_output(copy, i);
      continue;
    }
    fresh->type = old->type;
    // Readers come later: they are still in the branch, with their nested graphs.
    inner->graph()->replace_uses(old, fresh);
  }
  return copy;
}

}  // namespace

std::shared_ptr<ir::Graph> constant_branch(const ir::Node& node) {
  if (!node.is("If") || node.input(0) == nullptr || !node.input(0)->is_constant()) return nullptr;
  const Tensor& condition = node.input(0)->constant();
  if (condition.dtype != DType::Bool || condition.count() != 1) return nullptr;
  const bool taken = condition.as<std::uint8_t>()[0] != 0;
  auto branch = node.attrs.get_graph(taken ? "then_branch" : "else_branch");
  if (branch == nullptr || branch->outputs().size() < node.outputs().size() || !branch->inputs().empty())
    return nullptr;
  return branch;
}

std::vector<ir::Node*> inline_branch(ir::Node* node, const std::shared_ptr<ir::Graph>& branch) {
  ir::Graph& graph = *node->graph();
  ATC_CHECK(branch->parent() == &graph, "inline_branch: the branch is not nested in the node's graph");
  std::vector<ir::Node*> added;
  for (ir::Value* v : branch->values()) {
    if (!v->is_constant()) continue;
    ir::Value* copy = graph.add_constant(v->name(), v->constant());
    copy->type = v->type;
    branch->replace_uses(v, copy);
  }
  for (ir::Node* inner : branch->node_list()) added.push_back(move_node(inner, node));

  for (std::size_t i = 0; i < node->outputs().size(); ++i) {
    ir::Value* out = node->output(i);
    if (out == nullptr) continue;
    ir::Value* result = branch->outputs()[i];
    if (!can_replace(out, result)) {
      ir::Node* identity = graph.add_node("Identity", {result}, 1, node, "", node->version);
      identity->sources = node->sources;
      identity->output(0)->type = result->type;
      added.push_back(identity);
      result = identity->output(0);
    }
    replace_value(out, result);
  }
  graph.erase(node);
  return added;
}

}  // namespace atc::passes
