#include "atc/ir/graph.h"

namespace atc::ir {

std::unique_ptr<Graph> Graph::clone() const {
  ValueMap map;
  return clone(parent_, map);
}

/// `map` has the copies of the enclosing graphs' values; this graph's are added.
std::unique_ptr<Graph> Graph::clone(Graph* parent, ValueMap& map) const {
  const auto mapped = [&map](Value* v) {
    const auto it = map.find(v);
    return it == map.end() ? v : it->second;
  };
  auto copy = std::make_unique<Graph>(name, parent);
  for (const auto& v : values_) {
    Value* c = copy->new_value(v->name_);
    c->id_ = v->id_;
    c->type = v->type;
    c->is_input_ = v->is_input_;
    c->constant_ = v->constant_;
    map[v.get()] = c;
  }
  for (Value* v : inputs_) copy->inputs_.push_back(mapped(v));

  for (const auto& node : nodes_) {
    Node* c = copy->add_node(node->op_type, {}, 0, nullptr, node->domain, node->version);
    c->id_ = node->id_;
    c->name = node->name;
    c->sources = node->sources;
    c->resize_inputs(node->inputs_.size());
    for (std::size_t i = 0; i < node->inputs_.size(); ++i) c->set_input(i, mapped(node->inputs_[i]));
    for (Value* v : node->outputs_) {
      Value* out = v == nullptr ? nullptr : mapped(v);
      if (out != nullptr) {
        out->producer_ = c;
        out->output_index_ = static_cast<int>(c->outputs_.size());
      }
      c->outputs_.push_back(out);
    }
    for (const auto& [key, attr] : node->attrs.map()) {
      const auto* body = std::get_if<std::shared_ptr<Graph>>(&attr);
      if (body != nullptr && *body != nullptr)
        c->attrs.set(key, std::shared_ptr<Graph>((*body)->clone(copy.get(), map)));
      else
        c->attrs.set(key, attr);
    }
  }
  for (Value* v : outputs_) copy->outputs_.push_back(mapped(v));
  copy->next_value_ = next_value_;
  copy->next_node_ = next_node_;
  return copy;
}

}  // namespace atc::ir
