#include "passes/gated_unit.h"

#include <array>

#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Node;
using ir::Value;

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kLabels = {
    {{"Gelu", "GeGlu"}, {"Relu", "ReGlu"}, {"Sigmoid", "Glu"}, {"Swish", kSwiGlu}}};

}  // namespace

std::optional<GateOf> gate_of(Value* v) {
  if (!is_private(v)) return std::nullopt;
  Node* n = v->producer();
  for (const auto& [op_type, label] : kLabels)
    if (n->is(op_type)) return GateOf{n->input(0), {n}, label};
  if (!n->is("Mul")) return std::nullopt;
  for (std::size_t i = 0; i < 2; ++i) {
    Value *g = n->input(i), *s = n->input(1 - i);
    if (is_private(s) && s->producer()->is("Sigmoid") && s->producer()->input(0) == g)
      return GateOf{g, {s->producer(), n}, kSwiGlu};
  }
  return std::nullopt;
}

}  // namespace atc::passes
