#include "passes/node_storage.h"

#include <algorithm>
#include <set>

namespace atc::passes {
namespace {

using ir::Node;
using ir::Value;

DType type_at(const std::vector<DType>& types, std::size_t i) {
  return i < types.size() ? types[i] : DType::Undefined;
}

// The graph of operators that a task computes, and which of its inputs are that of the task's input i.
struct Body {
  std::shared_ptr<ir::Graph> graph;
  std::size_t first = 0;  // input of the task that is ...
  std::size_t inner = 0;  // ... this input of the body
};

Body body_of(const Node& task) {
  if (task.is_internal("Fused")) return {task.attrs.get_graph("body"), 0, 0};
  const auto epilogue = task.domain == "atc" ? task.attrs.get_graph("epilogue") : nullptr;
  // Input 0 of an epilogue is what was accumulated.
  const bool window = task.op_type == "MaxPool" || task.op_type == "AveragePool";
  return {epilogue, window ? 1U : 2U, 1};
}

}  // namespace

Storage NodeStorage::of_type(DType dtype) const {
  if (dtype == DType::Undefined) return Storage::Mode;
  return dtype == narrow_ ? Storage::Narrow : Storage::Keep;
}

Storage NodeStorage::storage_of(const Node& node) const {
  const NodePrecision* asked = asked_.find(node);
  if (asked == nullptr) return Storage::Mode;
  const Storage custom = of_type(type_at(asked->outputs, 0));
  return custom != Storage::Mode ? custom : asked->storage;
}

// The anchor's own nodes are those that no operator of the epilogue stands for.
const NodePrecision* NodeStorage::anchor_of(const Node& task) const {
  if (asked_.empty() || task.sources.empty()) return nullptr;
  std::set<std::string_view> behind;
  if (const Body body = body_of(task); body.graph != nullptr)
    for (const auto& inner : body.graph->nodes()) behind.insert(inner->sources.begin(), inner->sources.end());
  for (std::size_t i = 0; i < task.sources.size(); ++i) {
    // A Gemm is the product and what adds its bias.
    if (i > 0 && behind.contains(task.sources[i])) continue;
    if (const auto found = asked_.nodes.find(task.sources[i]); found != asked_.nodes.end())
      return &found->second;
  }
  return nullptr;
}

Storage NodeStorage::operands_of(const Node& task) const {
  const NodePrecision* asked = anchor_of(task);
  if (asked == nullptr) return Storage::Mode;
  Storage custom = Storage::Mode;
  for (const DType dtype : asked->inputs) {
    const Storage one = of_type(dtype);
    // Operands have one type: the wider one.
    if (one == Storage::Keep || custom == Storage::Mode) custom = one;
  }
  return custom != Storage::Mode ? custom : asked->storage;
}

Storage NodeStorage::output_of(const Node& task, const Node* maker, const Value& inner) const {
  // The Add of a convolution's bias stands for no node of its own.
  const bool by_anchor = maker == nullptr || maker->sources.empty();
  const NodePrecision* asked = by_anchor ? anchor_of(task) : asked_.find(*maker);
  if (asked == nullptr) return Storage::Mode;
  const std::size_t index = by_anchor ? 0 : static_cast<std::size_t>(inner.output_index());
  const Storage custom = of_type(type_at(asked->outputs, index));
  return custom != Storage::Mode ? custom : asked->storage;
}

bool NodeStorage::keeps_slot(const NodePrecision* asked, std::size_t slot) const {
  if (asked == nullptr) return false;
  const Storage custom = of_type(type_at(asked->inputs, slot));
  return custom == Storage::Keep || (custom == Storage::Mode && asked->storage == Storage::Keep);
}

bool NodeStorage::keeps(const Node& task, std::size_t i) const {
  if (asked_.empty()) return false;
  const Body body = body_of(task);
  if (body.graph == nullptr) return keeps_slot(asked_.find(task), i);
  if (i < body.first) return operands_of(task) == Storage::Keep;
  const std::size_t at = i - body.first + body.inner;
  if (at >= body.graph->inputs().size()) return false;
  const auto& uses = body.graph->inputs()[at]->uses();
  return !uses.empty() && std::all_of(uses.begin(), uses.end(), [&](const Value::Use& use) {
    return keeps_slot(asked_.find(*use.node), static_cast<std::size_t>(use.index));
  });
}

bool NodeStorage::keep_all(const Value& value) const {
  if (asked_.empty() || value.uses().empty()) return false;
  return std::all_of(value.uses().begin(), value.uses().end(), [&](const Value::Use& use) {
    return keeps(*use.node, static_cast<std::size_t>(use.index));
  });
}

std::string NodeStorage::option_of(const Node& task) const {
  const NodePrecision* asked = asked_.find(task);
  return asked == nullptr ? std::string() : asked->option;
}

}  // namespace atc::passes
