#include "frontend/onnx/scope.h"

#include <set>

namespace atc::frontend {

std::optional<ir::Value*> Scope::find(std::string_view name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->outer)
    if (const auto found = scope->values.find(name); found != scope->values.end()) return found->second;
  return std::nullopt;
}

std::vector<std::string> Scope::visible_names() const {
  std::set<std::string> names;
  for (const Scope* scope = this; scope != nullptr; scope = scope->outer)
    for (const auto& [name, value] : scope->values) names.emplace(name);
  return {names.begin(), names.end()};
}

}  // namespace atc::frontend
