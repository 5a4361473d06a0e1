#include "passes/rewrite.h"

#include <algorithm>

#include "atc/base/check.h"

namespace atc::passes {
namespace {

bool is_model_output(const ir::Value* v) {
  return v->graph()->parent() == nullptr && v->graph()->is_output(v);
}

}  // namespace

bool can_replace(const ir::Value* from, const ir::Value* to) {
  if (!is_model_output(from)) return true;
  return to->graph() == from->graph() && !to->is_input() && !is_model_output(to);
}

void replace_value(ir::Value* from, ir::Value* to) {
  ATC_CHECK(can_replace(from, to), "replace_value would lose the name of output '" + from->name() + "'");
  if (is_model_output(from)) to->set_name(from->name());
  from->graph()->replace_uses(from, to);
}

bool has_static_shapes(const ir::Node& node) {
  auto known = [](const ir::Value* v) { return v == nullptr || v->type.is_static(); };
  return std::all_of(node.inputs().begin(), node.inputs().end(), known) &&
         std::all_of(node.outputs().begin(), node.outputs().end(), known);
}

bool is_private(const ir::Value* v) {
  return v->producer() != nullptr && v->uses().size() == 1 && !v->graph()->is_output(v);
}

void add_sources(ir::Node& node, const ir::Node& other) {
  for (const std::string& source : other.sources)
    if (std::find(node.sources.begin(), node.sources.end(), source) == node.sources.end())
      node.sources.push_back(source);
}

}  // namespace atc::passes
