#include "atc/ir/verifier.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace atc::ir {
namespace {

std::string describe(const Value* v) {
  std::string out = "%" + std::to_string(v->id());
  if (!v->name().empty()) out += " '" + v->name() + "'";
  return out;
}

/// "" or what is wrong with bytes and shape of a tensor.
std::string tensor_fault(const Tensor& t) {
  if (std::any_of(t.shape.begin(), t.shape.end(), [](std::int64_t d) { return d < 0; }) || t.count() < 0)
    return "has the impossible shape [" + atc::to_string(t.shape) + "]";
  const auto count = static_cast<std::size_t>(t.count());
  if (t.dtype == DType::String) {
    if (t.strings.size() != count)
      return "has " + std::to_string(t.strings.size()) + " strings for " + std::to_string(count) +
             " elements";
    return {};
  }
  if (t.data.size() != t.byte_size())
    return "has " + std::to_string(t.data.size()) + " bytes, its shape says " + std::to_string(t.byte_size());
  return {};
}

/// "" or what is wrong with a type by itself.
std::string type_fault(const TensorType& type) {
  if (type.shape) {
    for (const Dim& d : *type.shape) {
      if (d.known() ? !d.symbol.empty() : (d.value != -1 || d.symbol.empty()))
        return "has a dim that is neither a number nor a symbol in [" + to_string(*type.shape) + "]";
    }
  }
  if (type.format == Format::ND) return {};
  const std::size_t min_rank =
      has_channel_blocks(type.format) || type.format == Format::FRACTAL_Z_C04 ? 3 : 2;
  if (!type.shape || type.shape->size() < min_rank)
    return "has format " + std::string(name(type.format)) +
           ", which its shape does not allow: " + to_string(type);
  return {};
}

std::string constant_fault(const Value& v) {
  const Tensor& t = v.constant();
  if (std::string fault = tensor_fault(t); !fault.empty()) return fault;
  if (!v.type.is_static() || v.type.dtype != t.dtype)
    return "is a constant of " + std::string(atc::name(t.dtype)) + "[" + atc::to_string(t.shape) +
           "] with type " + to_string(v.type);
  // The order inside FRACTAL_Z depends on groups, which only the convolution knows.
  if (v.type.format == Format::FRACTAL_Z || v.type.format == Format::FRACTAL_Z_C04) return {};
  const Dims expected = storage_dims(v.type.format, t.dtype, v.type.dims());
  if (expected != t.shape)
    return "stores dims [" + atc::to_string(t.shape) + "], its type " + to_string(v.type) + " needs [" +
           atc::to_string(expected) + "]";
  return {};
}

class Verifier {
 public:
  /// "" or the first fault of `graph` and the graphs nested in it.
  std::string run(const Graph& graph) {
    root_ = &graph;
    if (std::string fault = check(graph); !fault.empty()) return fault;
    return check_use_lists();
  }

 private:
  std::string in_graph(const Graph& graph, const std::string& what) const {
    return "graph '" + graph.name + "': " + what;
  }

  std::string check(const Graph& graph) {
    if (!seen_.insert(&graph).second) return in_graph(graph, "is held by two attributes");
    if (std::string fault = check_values(graph); !fault.empty()) return fault;
    std::vector<const Value*> defined_here;
    const auto define = [&](const Value* v) {
      if (available_.insert(v).second) defined_here.push_back(v);
    };
    for (const Value* v : graph.values())
      if (v->is_constant() || v->is_input()) define(v);
    for (const auto& node : graph.nodes()) {
      if (std::string fault = check_node(graph, *node); !fault.empty()) return in_graph(graph, fault);
      for (const auto& body : subgraphs(*node)) {
        if (body->parent() != &graph)
          return in_graph(graph, node->label() + ": nested graph has another parent");
        if (std::string fault = check(*body); !fault.empty()) return fault;
      }
      for (const Value* v : node->outputs())
        if (v != nullptr) define(v);
    }
    for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
      const Value* v = graph.outputs()[i];
      if (v == nullptr) return in_graph(graph, "output " + std::to_string(i) + " is missing");
      if (!is_available(v)) return in_graph(graph, "output " + describe(v) + " is not a value of the graph");
    }
    for (const Value* v : defined_here) available_.erase(v);
    return {};
  }

  /// Values of graphs around the verified root are taken on trust: their order is not visible here.
  bool is_available(const Value* v) const {
    if (available_.contains(v)) return true;
    return root_->parent() != nullptr && v->graph() != nullptr && root_->parent()->is_within(v->graph());
  }

  std::string check_values(const Graph& graph) {
    std::unordered_set<const Value*> inputs;
    for (const Value* v : graph.inputs()) {
      if (v == nullptr || !inputs.insert(v).second)
        return in_graph(graph, "an input is missing or listed twice");
      if (v->graph() != &graph || !v->is_input() || v->producer() != nullptr || v->is_constant())
        return in_graph(graph, "input " + describe(v) + " is not an input of this graph alone");
    }
    std::set<int> ids;
    for (const Value* v : graph.values()) {
      owned_.push_back(v);
      const std::string who = describe(v);
      if (!ids.insert(v->id()).second) return in_graph(graph, "two values have the id of " + who);
      if (v->is_input() && !inputs.contains(v))
        return in_graph(graph, who + " is an input that is not listed");
      if (v->is_constant() && v->producer() != nullptr)
        return in_graph(graph, who + " is a constant and has a producer");
      if (std::string fault = type_fault(v->type); !fault.empty()) return in_graph(graph, who + " " + fault);
      if (v->is_constant())
        if (std::string fault = constant_fault(*v); !fault.empty()) return in_graph(graph, who + " " + fault);
    }
    return {};
  }

  std::string check_node(const Graph& graph, const Node& node) {
    const std::string who = node.label();
    if (node.graph() != &graph) return who + " belongs to another graph";
    if (node.op_type.empty()) return who + " has no operator type";
    for (std::size_t i = 0; i < node.inputs().size(); ++i) {
      const Value* v = node.inputs()[i];
      if (v == nullptr) continue;
      if (!is_available(v))
        return who + ": input " + std::to_string(i) + " " + describe(v) +
               (graph.is_within(v->graph()) ? " is used before it is computed" : " is of a foreign graph");
      reads_[v].push_back({const_cast<Node*>(&node), static_cast<int>(i)});
    }
    for (std::size_t i = 0; i < node.outputs().size(); ++i) {
      const Value* v = node.outputs()[i];
      if (v == nullptr) continue;
      if (v->graph() != &graph || v->producer() != &node || v->output_index() != static_cast<int>(i))
        return who + ": output " + std::to_string(i) + " " + describe(v) + " has another producer";
    }
    for (const auto& [key, attr] : node.attrs.map()) {
      std::string fault;
      if (const auto* t = std::get_if<Tensor>(&attr)) fault = tensor_fault(*t);
      if (const auto* list = std::get_if<std::vector<Tensor>>(&attr))
        for (const Tensor& t : *list)
          if (fault.empty()) fault = tensor_fault(t);
      if (const auto* body = std::get_if<std::shared_ptr<Graph>>(&attr); body != nullptr && *body == nullptr)
        fault = "is a missing graph";
      if (!fault.empty()) return who + ": attribute '" + key + "' " + fault;
    }
    return {};
  }

  std::string check_use_lists() const {
    const auto sorted = [](std::vector<Value::Use> uses) {
      std::sort(uses.begin(), uses.end(), [](const Value::Use& a, const Value::Use& b) {
        return std::less<>{}(a.node, b.node) || (a.node == b.node && a.index < b.index);
      });
      return uses;
    };
    for (const Value* v : owned_) {
      const auto it = reads_.find(v);
      const std::vector<Value::Use> expected = it == reads_.end() ? std::vector<Value::Use>{} : it->second;
      if (sorted(v->uses()) != sorted(expected))
        return in_graph(*v->graph(), "the use list of " + describe(v) + " has " +
                                         std::to_string(v->uses().size()) + " entries, its readers are " +
                                         std::to_string(expected.size()));
    }
    return {};
  }

  const Graph* root_ = nullptr;
  std::unordered_set<const Graph*> seen_;
  std::unordered_set<const Value*> available_;
  std::vector<const Value*> owned_;
  std::unordered_map<const Value*, std::vector<Value::Use>> reads_;
};

}  // namespace

std::string verify(const Graph& graph) { return Verifier().run(graph); }

}  // namespace atc::ir
