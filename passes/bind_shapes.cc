#include "passes/bind_shapes.h"

#include <algorithm>

#include "atc/base/strings.h"
#include "passes/shape_inference.h"

namespace atc::passes {
namespace {

struct Binding {
  std::int64_t value = 0;
  std::string input;  ///< that bound it first
  std::size_t axis = 0;
};

std::string dims_text(const std::vector<std::int64_t>& dims) {
  std::vector<std::string> parts;
  for (std::int64_t d : dims) parts.push_back(std::to_string(d));
  return join(parts, ",");
}

std::vector<std::string> input_names(const ir::Graph& graph) {
  std::vector<std::string> names;
  for (const ir::Value* v : graph.inputs()) names.push_back(v->name());
  return names;
}

class Binder {
 public:
  Binder(ir::Graph& graph, std::string option) : graph_(graph), option_(std::move(option)) {}

  Status bind(const std::string& name, const std::vector<std::int64_t>& dims) {
    ir::Value* input = find(name);
    if (input == nullptr) return unknown(name);
    if (!input->type.shape) {
      input->type.shape.emplace();
      // Open dims of an input without rank are its own: its name makes the symbols unique.
      for (std::size_t i = 0; i < dims.size(); ++i)
        input->type.shape->push_back(ir::Dim::named(name + "." + std::to_string(i)));
    }
    ir::Shape& shape = *input->type.shape;
    if (shape.size() != dims.size())
      return Status::error("E10049", "Input " + name + " has " + std::to_string(shape.size()) +
                                         " dims in the model ([" + ir::to_string(shape) + "]), --" + option_ +
                                         " gives " + std::to_string(dims.size()) + " ([" + dims_text(dims) +
                                         "])");
    for (std::size_t i = 0; i < dims.size(); ++i)
      if (dims[i] != -1) ATC_TRY(bind_dim(name, i, shape[i], dims[i]));
    return {};
  }

  void apply() {
    for (ir::Value* v : graph_.inputs()) {
      if (!v->type.shape) continue;
      for (ir::Dim& d : *v->type.shape)
        if (const auto it = bindings_.find(d.symbol); !d.known() && it != bindings_.end())
          d = ir::Dim::of(it->second.value);
    }
  }

  /// E10001 naming every open dim of the first such input, and an option text for all of them.
  Status check_closed() const {
    std::vector<std::string> suggestion;
    std::string reason;
    std::string culprit;
    for (const ir::Value* v : graph_.inputs()) {
      if (v->type.is_static()) continue;
      const std::string open = describe_open(*v);
      if (culprit.empty()) {
        culprit = v->name();
        reason = open;
      }
      suggestion.push_back(v->name() + ":" + template_of(*v));
    }
    if (culprit.empty()) return {};
    const std::string text = "--" + option_ + "=\"" + join(suggestion, ";") + "\"";
    return Status::error("E10001", "Value -1 for parameter " + culprit + " is invalid. Reason: input '" +
                                       culprit + "' " + reason + ", and --" + option_ + " does not bind it")
        .solution("Give " + text + " with a size in place of each -1" +
                  (text.find('?') == std::string::npos ? "." : ", and all dims in place of ?."));
  }

  /// E10013 for an input with more elements than any memory holds.
  Status check_sizes() const {
    for (const ir::Value* v : graph_.inputs())
      if (!has_possible_size(v->type))
        return Status::error("E10013", "Input " + v->name() + " of shape [" + ir::to_string(*v->type.shape) +
                                           "] is out of range: it has too many elements for any memory");
    return {};
  }

 private:
  ir::Value* find(const std::string& name) const {
    for (ir::Value* v : graph_.inputs())
      if (v->name() == name) return v;
    return nullptr;
  }

  Status unknown(const std::string& name) const {
    const std::vector<std::string> names = input_names(graph_);
    for (const ir::Value* v : graph_.values())
      if (v->name() == name)
        return Status::error("E10017",
                             "'" + name + "' of --" + option_ +
                                 " is not an input of the model; its inputs are: " + join(names, ", "));
    const std::string near = nearest(name, names);
    return Status::error("E10016", "Input name '" + name + "' of --" + option_ +
                                       " is not in the model; its inputs are: " + join(names, ", ") +
                                       (near.empty() ? "" : "; did you mean " + near + "?"));
  }

  Status bind_dim(const std::string& name, std::size_t axis, const ir::Dim& dim, std::int64_t value) {
    const std::string given = "--" + option_ + " gives " + std::to_string(value);
    const std::string where = "axis " + std::to_string(axis) + " of input '" + name + "'";
    if (value < 1)
      return Status::error("E10011", where + ": " + given + ", a dim must be a positive integer");
    if (dim.known()) {
      if (dim.value == value) return {};
      return invalid(value, name, where + " is " + std::to_string(dim.value) + " in the model, " + given);
    }
    const auto [it, fresh] = bindings_.try_emplace(dim.symbol, Binding{value, name, axis});
    const Binding& first = it->second;
    if (fresh || first.value == value) return {};
    return invalid(value, name,
                   where + " and axis " + std::to_string(first.axis) + " of input '" + first.input +
                       "' are the same dim '" + dim.symbol + "' in the model, --" + option_ + " gives " +
                       std::to_string(value) + " and " + std::to_string(first.value));
  }

  Status invalid(std::int64_t value, const std::string& name, const std::string& reason) const {
    return Status::error("E10001", "Value " + name + ":" + std::to_string(value) + " for parameter --" +
                                       option_ + " is invalid. Reason: " + reason);
  }

  static std::string describe_open(const ir::Value& v) {
    if (!v.type.shape) return "has no known rank";
    std::vector<std::string> axes;
    for (std::size_t i = 0; i < v.type.shape->size(); ++i) {
      const ir::Dim& d = (*v.type.shape)[i];
      if (!d.known()) axes.push_back(std::to_string(i) + " ('" + d.symbol + "')");
    }
    return "is open in axis " + join(axes, " and ") + " of [" + ir::to_string(*v.type.shape) + "]";
  }

  static std::string template_of(const ir::Value& v) {
    if (!v.type.shape) return "?";
    std::vector<std::string> dims;
    for (const ir::Dim& d : *v.type.shape) dims.push_back(d.known() ? std::to_string(d.value) : "-1");
    return join(dims, ",");
  }

  ir::Graph& graph_;
  std::string option_;
  std::map<std::string, Binding> bindings_;
};

}  // namespace

Status bind_input_shapes(ir::Graph& graph, const std::map<std::string, std::vector<std::int64_t>>& shapes,
                         const std::string& option_name) {
  Binder binder(graph, option_name.substr(std::min(option_name.find_first_not_of('-'), option_name.size())));
  for (const auto& [name, dims] : shapes) ATC_TRY(binder.bind(name, dims));
  binder.apply();
  ATC_TRY(binder.check_closed());
  return binder.check_sizes();
}

}  // namespace atc::passes
