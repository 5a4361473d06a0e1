#include "passes/operator_check.h"

#include <map>
#include <vector>

#include "atc/base/strings.h"
#include "ops/op.h"
#include "passes/operator_advice.h"

namespace atc::passes {
namespace {

constexpr std::size_t kNamedNodes = 3;

struct Unknown {
  std::vector<std::string> nodes;
  int version = 0;
  std::string advice;
};

void collect(const ir::Graph& graph, Conditionals conditionals, std::map<std::string, Unknown>& unknown) {
  for (const auto& node : graph.nodes()) {
    if (conditionals == Conditionals::Skip && node->is("If")) continue;
    if (ops::Registry::instance().find(*node) == nullptr) {
      Unknown& entry = unknown[node->domain.empty() ? node->op_type : node->domain + "." + node->op_type];
      std::string label = node->label();
      entry.nodes.push_back(label.substr(0, label.rfind(" (")));
      entry.version = node->version;
      entry.advice = operator_advice(node->domain, node->op_type, node->version);
    }
    for (const auto& body : ir::subgraphs(*node)) collect(*body, conditionals, unknown);
  }
}

}  // namespace

Status check_operators(const ir::Graph& graph, Conditionals conditionals) {
  std::map<std::string, Unknown> unknown;
  collect(graph, conditionals, unknown);
  if (unknown.empty()) return {};
  std::vector<std::string> groups;
  for (const auto& [type, entry] : unknown) {
    const std::size_t n = entry.nodes.size();
    std::vector<std::string> shown(
        entry.nodes.begin(), entry.nodes.begin() + static_cast<std::ptrdiff_t>(std::min(n, kNamedNodes)));
    if (n > shown.size()) shown.push_back("...");
    groups.push_back(type + " (opset " + std::to_string(entry.version) + ", " + std::to_string(n) +
                     (n == 1 ? " node: " : " nodes: ") + join(shown, ", ") + ")");
  }
  Status refusal =
      Status::error("E16002", "No parser is registered for operator types: " + join(groups, ", "));
  std::vector<std::string> advice;
  bool all_known = true;
  for (const auto& [type, entry] : unknown) {
    if (!entry.advice.empty()) advice.push_back(entry.advice);
    all_known = all_known && !entry.advice.empty();
  }
  if (advice.empty()) return refusal;
  if (!all_known) advice.emplace_back("replace the others in the model, or give them by --custom_op");
  return std::move(refusal).solution(join(advice, "; ") + ".");
}

}  // namespace atc::passes
