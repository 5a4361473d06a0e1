#include "passes/custom_nodes.h"

#include <algorithm>

#include "atc/base/strings.h"
#include "ops/custom.h"

namespace atc::passes {
namespace {

using ir::Node;

std::string_view plain_domain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

/// "ai.onnx::11::LeakyRelu", or without a version "ai.onnx::LeakyRelu", or "LeakyRelu".
bool is_origin(const std::string& origin, const Node& n) {
  std::vector<std::string> parts;
  for (std::size_t at = 0;;) {
    const std::size_t next = origin.find("::", at);
    parts.push_back(origin.substr(at, next - at));
    if (next == std::string::npos) break;
    at = next + 2;
  }
  if (parts.back() != n.op_type) return false;
  if (parts.size() > 1 && plain_domain(parts[0]) != plain_domain(n.domain)) return false;
  return parts.size() < 3 || parts[1] == std::to_string(n.version);
}

bool stands_for(const custom::OpInfo& op, const Node& n) {
  if (op.type == n.op_type && (op.domain.empty() || plain_domain(op.domain) == plain_domain(n.domain)))
    return true;
  return std::any_of(op.origins.begin(), op.origins.end(),
                     [&](const std::string& o) { return is_origin(o, n); });
}

Status wrong_chip(const Node& n, const CustomEntry& entry, const soc::Chip& chip) {
  return Status::error("E10055", n.label() + ": the custom operator " + entry.info().type + " (" +
                                     entry.library->name() + ") is made for " +
                                     join(entry.info().chips, ", ") + ", --soc_version is " +
                                     std::string(chip.name))
      .solution("Add the chip to the operator (AddConfig), or compile for one that it lists.");
}

Status take(Node& n, const CustomEntry& entry, std::vector<CustomTaken>& taken) {
  custom::Call call;
  call.op = entry.op;
  for (const auto& [name, attribute] : n.attrs.map()) {
    auto value = ops::from_attribute(name, attribute);
    if (!value)
      return Status::error(
          "E16006", n.label() + ": attribute " + name +
                        " is a tensor, a graph or a list of texts, which custom operators do not take");
    call.attrs.push_back(*std::move(value));
  }
  if (entry.info().parses_attributes) {
    StatusOr<std::vector<custom::AttrValue>> parsed = entry.library->parse(call);
    if (!parsed.ok()) return std::move(parsed).status().note("this is node " + n.label());
    call.attrs = std::move(parsed).value();
  }
  taken.push_back({entry.info().type, entry.library->name(), "", n.name, n.sources});
  n.attrs.map().clear();
  for (const custom::AttrValue& a : call.attrs) n.attrs.set(a.name, ops::to_attribute(a));
  n.op_type = "Custom";
  n.domain = "atc";
  n.version = 0;
  set_custom(n, entry);
  return {};
}

}  // namespace

const CustomEntry* CustomOperators::find_type(std::initializer_list<std::string_view> types,
                                              const soc::Chip& chip) const {
  for (const CustomEntry& e : entries)
    if (std::find(types.begin(), types.end(), e.info().type) != types.end() &&
        custom::chip_matches(e.info(), chip.name))
      return &e;
  return nullptr;
}

void set_custom(Node& node, const CustomEntry& entry) {
  node.attrs.set(ops::kCustomLibrary, entry.library->sha256());
  node.attrs.set(ops::kCustomOp, entry.info().type);
}

Status take_custom_nodes(ir::Graph& graph, const CustomOperators& operators, const soc::Chip& chip,
                         std::vector<CustomTaken>& taken) {
  for (Node* n : graph.node_list()) {
    for (const auto& body : ir::subgraphs(*n)) ATC_TRY(take_custom_nodes(*body, operators, chip, taken));
    for (const CustomEntry& entry : operators.entries) {
      if (n->domain == "atc" || !stands_for(entry.info(), *n)) continue;
      if (!custom::chip_matches(entry.info(), chip.name)) {
        if (entry.asked) return wrong_chip(*n, entry, chip);
        continue;
      }
      ATC_TRY(take(*n, entry, taken));
      break;
    }
  }
  return {};
}

}  // namespace atc::passes
