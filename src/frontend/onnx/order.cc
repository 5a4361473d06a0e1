#include "frontend/onnx/order.h"

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "frontend/onnx/names.h"
#include "frontend/onnx/proto.h"

namespace atc::frontend {
namespace {

using Names = std::unordered_set<std::string_view>;
using Visit = std::function<void(std::string_view)>;

void visit_needed(const onnx::NodeProto& node, const Visit& visit);

/// Names that `graph` reads from the graphs around it.
void visit_captured(const onnx::GraphProto& graph, const Visit& visit) {
  Names own;
  for (const auto& input : graph.input()) own.insert(input.name());
  for (const auto& tensor : graph.initializer()) own.insert(tensor.name());
  for (const auto& tensor : graph.sparse_initializer()) own.insert(tensor.values().name());
  for (const auto& node : graph.node()) own.insert(node.output().begin(), node.output().end());
  const Visit outer = [&](std::string_view name) {
    if (!own.contains(name)) visit(name);
  };
  for (const auto& node : graph.node()) visit_needed(node, outer);
  for (const auto& output : graph.output()) outer(output.name());
}

void visit_needed(const onnx::NodeProto& node, const Visit& visit) {
  for (const auto& name : node.input())
    if (!name.empty()) visit(name);
  for (const auto& attribute : node.attribute())
    if (attribute.has_g()) visit_captured(attribute.g(), visit);
}

/// Dependencies between the nodes of one list.
struct Dependencies {
  std::vector<std::vector<int>> followers;
  std::vector<std::vector<int>> sources;
};

/// A cycle among the nodes that `waiting` says are not sorted: each of them waits for another of them.
std::string describe_cycle(const NodeProtos& nodes, const Dependencies& graph,
                           const std::vector<int>& waiting, const std::string& prefix) {
  const auto is_left = [&](int i) { return waiting[static_cast<std::size_t>(i)] > 0; };
  int at = 0;
  while (!is_left(at)) ++at;
  std::vector<int> path;
  std::unordered_map<int, std::size_t> position;
  while (position.emplace(at, path.size()).second) {
    path.push_back(at);
    const auto& sources = graph.sources[static_cast<std::size_t>(at)];
    at = *std::find_if(sources.begin(), sources.end(), is_left);
  }
  // The path follows data backwards.
  std::vector<int> cycle(path.begin() + static_cast<std::ptrdiff_t>(position[at]), path.end());
  std::reverse(cycle.begin(), cycle.end());
  constexpr std::size_t kShown = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(cycle.size(), kShown); ++i)
    text += node_label(nodes.Get(cycle[i]), prefix, cycle[i]) + " -> ";
  if (cycle.size() > kShown) text += std::to_string(cycle.size() - kShown) + " more -> ";
  return text + node_label(nodes.Get(cycle.front()), prefix, cycle.front());
}

}  // namespace

StatusOr<std::vector<int>> topological_order(const NodeProtos& nodes,
                                             const std::function<bool(std::string_view)>& is_defined,
                                             const std::string& prefix, const Context& context) {
  const auto count = static_cast<std::size_t>(nodes.size());
  std::unordered_map<std::string_view, int> producer;
  for (int i = 0; i < nodes.size(); ++i) {
    for (const auto& name : nodes.Get(i).output()) {
      if (name.empty()) continue;
      if (is_defined(name))
        return context.fault("value '" + name + "' is defined twice: by an input or initializer and by " +
                             node_label(nodes.Get(i), prefix, i));
      const auto [known, is_new] = producer.emplace(name, i);
      if (!is_new)
        return context.fault("value '" + name + "' is defined twice: by " +
                             node_label(nodes.Get(known->second), prefix, known->second) + " and by " +
                             node_label(nodes.Get(i), prefix, i));
    }
  }

  Dependencies graph{std::vector<std::vector<int>>(count), std::vector<std::vector<int>>(count)};
  std::vector<int> waiting(count, 0);
  for (int i = 0; i < nodes.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    visit_needed(nodes.Get(i), [&](std::string_view name) {
      const auto found = producer.find(name);
      if (found == producer.end()) return;
      graph.followers[static_cast<std::size_t>(found->second)].push_back(i);
      graph.sources[at].push_back(found->second);
      ++waiting[at];
    });
  }

  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < nodes.size(); ++i)
    if (waiting[static_cast<std::size_t>(i)] == 0) ready.push(i);
  std::vector<int> order;
  order.reserve(count);
  while (!ready.empty()) {
    const int i = ready.top();
    ready.pop();
    order.push_back(i);
    for (const int follower : graph.followers[static_cast<std::size_t>(i)])
      if (--waiting[static_cast<std::size_t>(follower)] == 0) ready.push(follower);
  }
  if (order.size() != count)
    return context.fault("its graph has a cycle: " + describe_cycle(nodes, graph, waiting, prefix))
        .solution("Break the cycle: no node may need its own result.");
  return order;
}

}  // namespace atc::frontend
