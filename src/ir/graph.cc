#include "atc/ir/graph.h"

#include <algorithm>

#include "atc/base/check.h"

namespace atc::ir {

// Node ---------------------------------------------------------------------------------------------

void Node::set_input(std::size_t i, Value* v) {
  if (i >= inputs_.size()) inputs_.resize(i + 1, nullptr);
  const Value::Use use{this, static_cast<int>(i)};
  if (Value* old = inputs_[i]) {
    if (old == v) return;
    std::erase(old->uses_, use);
  }
  inputs_[i] = v;
  if (v != nullptr) v->uses_.push_back(use);
}

void Node::resize_inputs(std::size_t n) {
  for (std::size_t i = n; i < inputs_.size(); ++i) set_input(i, nullptr);
  inputs_.resize(n, nullptr);
}

std::string Node::label() const {
  std::string who = name;
  if (who.empty()) who = sources.empty() ? "#" + std::to_string(id_) : sources.front();
  return "'" + who + "' (" + (domain.empty() ? op_type : domain + "." + op_type) + ")";
}

// Graph: life time ---------------------------------------------------------------------------------

Graph::Graph(std::string graph_name, Graph* parent) : name(std::move(graph_name)) { set_parent(parent); }

Graph::~Graph() {
  // Inner uses in one linear pass; uses of outer values go with the nodes that made them.
  for (const auto& v : values_) {
    std::erase_if(v->uses_, [this](const Value::Use& use) {
      if (use.node->graph_ != this) return false;
      use.node->inputs_[static_cast<std::size_t>(use.index)] = nullptr;
      return true;
    });
  }
  for (const auto& node : nodes_) node->resize_inputs(0);
  nodes_.clear();
  set_parent(nullptr);
  // A nested graph that somebody still holds must not point into values that die here.
  for (Graph* child : children_) child->parent_ = nullptr;
  for (const auto& v : values_)
    for (const Value::Use& use : v->uses_) use.node->inputs_[static_cast<std::size_t>(use.index)] = nullptr;
}

void Graph::set_parent(Graph* parent) {
  if (parent_ == parent) return;
  if (parent_ != nullptr) {
    // From the back: those that came last are those that go first.
    std::vector<Graph*>& siblings = parent_->children_;
    const auto at = std::find(siblings.rbegin(), siblings.rend(), this);
    if (at != siblings.rend()) siblings.erase(std::next(at).base());
  }
  parent_ = parent;
  if (parent_ != nullptr) parent_->children_.push_back(this);
}

bool Graph::is_within(const Graph* ancestor) const {
  for (const Graph* g = this; g != nullptr; g = g->parent_)
    if (g == ancestor) return true;
  return false;
}

// Graph: values ------------------------------------------------------------------------------------

Value* Graph::new_value(std::string value_name) {
  auto v = std::make_unique<Value>();
  v->id_ = next_value_++;
  v->name_ = std::move(value_name);
  v->graph_ = this;
  values_.push_back(std::move(v));
  return values_.back().get();
}

Value* Graph::add_input(std::string input_name, TensorType type) {
  Value* v = new_value(std::move(input_name));
  v->type = std::move(type);
  v->is_input_ = true;
  inputs_.push_back(v);
  return v;
}

Value* Graph::add_constant(std::string constant_name, Tensor tensor, Format format) {
  Value* v = new_value(std::move(constant_name));
  v->type = tensor_type(tensor.dtype, tensor.shape, format);
  v->constant_ = std::move(tensor);
  return v;
}

std::vector<Value*> Graph::values() const {
  std::vector<Value*> out;
  out.reserve(values_.size());
  for (const auto& v : values_) out.push_back(v.get());
  return out;
}

bool Graph::is_output(const Value* v) const {
  return std::find(outputs_.begin(), outputs_.end(), v) != outputs_.end();
}

bool Graph::is_used(const Value* v) const {
  if (!v->uses_.empty() || is_output(v)) return true;
  return std::any_of(children_.begin(), children_.end(), [v](const Graph* g) { return g->is_used(v); });
}

void Graph::replace_uses(Value* from, Value* to) {
  if (from == to) return;
  const std::vector<Value::Use> uses = from->uses_;
  for (const Value::Use& use : uses) {
    use.node->inputs_[static_cast<std::size_t>(use.index)] = to;
    to->uses_.push_back(use);
  }
  from->uses_.clear();
  std::replace(outputs_.begin(), outputs_.end(), from, to);
  for (Graph* child : children_) child->replace_uses(from, to);
}

void Graph::orphan(Value* v) {
  v->producer_ = nullptr;
  v->output_index_ = 0;
}

void Graph::make_constant(Value* v, Tensor tensor) {
  ATC_CHECK(v->graph_ == this && !v->is_input_, "make_constant: not a value of a node of this graph");
  if (v->producer_ != nullptr) v->producer_->outputs_[static_cast<std::size_t>(v->output_index_)] = nullptr;
  orphan(v);
  v->type = tensor_type(tensor.dtype, tensor.shape);
  v->constant_ = std::move(tensor);
}

void Graph::erase_input(Value* v) {
  ATC_CHECK(v->is_input_ && !is_used(v), "erase_input: '" + v->name_ + "' is used or not an input");
  std::erase(inputs_, v);
  v->is_input_ = false;
}

// Graph: nodes -------------------------------------------------------------------------------------

Node* Graph::add_node(std::string op_type, std::vector<Value*> inputs, int output_count, Node* before,
                      std::string domain, int version) {
  ATC_CHECK(before == nullptr || before->graph_ == this, "add_node: `before` is of another graph");
  auto owned = std::make_unique<Node>();
  Node* node = owned.get();
  node->id_ = next_node_++;
  node->graph_ = this;
  node->op_type = std::move(op_type);
  node->domain = std::move(domain);
  node->version = version;
  node->position_ = nodes_.insert(before == nullptr ? nodes_.end() : before->position_, std::move(owned));
  node->inputs_.resize(inputs.size(), nullptr);
  for (std::size_t i = 0; i < inputs.size(); ++i) node->set_input(i, inputs[i]);
  for (int i = 0; i < output_count; ++i) add_output_value(node, {});
  return node;
}

Value* Graph::add_output_value(Node* node, std::string value_name) {
  Value* v = new_value(std::move(value_name));
  v->producer_ = node;
  v->output_index_ = static_cast<int>(node->outputs_.size());
  node->outputs_.push_back(v);
  return v;
}

std::vector<Node*> Graph::node_list() const {
  std::vector<Node*> out;
  out.reserve(nodes_.size());
  for (const auto& n : nodes_) out.push_back(n.get());
  return out;
}

void Graph::move_output(Node* from, std::size_t index, Node* to, std::size_t to_index) {
  ATC_CHECK(from->graph_ == this && to->graph_ == this, "move_output: node of another graph");
  Value* v = from->output(index);
  ATC_CHECK(v != nullptr, "move_output: no such output");
  from->outputs_[index] = nullptr;
  if (to->outputs_.size() <= to_index) to->outputs_.resize(to_index + 1, nullptr);
  if (to->outputs_[to_index] != nullptr) drop_output(to, to_index);
  to->outputs_[to_index] = v;
  v->producer_ = to;
  v->output_index_ = static_cast<int>(to_index);
}

void Graph::drop_output(Node* node, std::size_t index) {
  Value* v = node->output(index);
  if (v == nullptr) return;
  ATC_CHECK(!is_used(v),
            "drop_output: output " + std::to_string(index) + " of " + node->label() + " is used");
  orphan(v);
  node->outputs_[index] = nullptr;
}

void Graph::erase(Node* node) {
  ATC_CHECK(node->graph_ == this, "erase: node of another graph");
  for (std::size_t i = 0; i < node->outputs_.size(); ++i) drop_output(node, i);
  node->resize_inputs(0);
  nodes_.erase(node->position_);
}

void Graph::move_before(Node* node, Node* before) {
  ATC_CHECK(node->graph_ == this && before->graph_ == this, "move_before: node of another graph");
  if (node != before) nodes_.splice(before->position_, nodes_, node->position_);
}

std::vector<std::shared_ptr<Graph>> subgraphs(const Node& node) {
  std::vector<std::shared_ptr<Graph>> out;
  for (const auto& [key, attr] : node.attrs.map())
    if (const auto* g = std::get_if<std::shared_ptr<Graph>>(&attr); g != nullptr && *g != nullptr)
      out.push_back(*g);
  return out;
}

}  // namespace atc::ir
