#include "passes/cast_algebra.h"

#include <array>

#include "passes/rewrite.h"
#include "passes/rules.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

// What a type holds exactly: integers up to 2^digits (of either sign where `negative`), and for floats the
// exponents of the values.
struct Range {
  int digits = 0;
  bool negative = true;
  int exponent = 0;  ///< 0: no float
};

std::optional<Range> range_of(DType t) {
  switch (t) {
    case DType::Bool:
      return Range{1, false, 0};
    case DType::U8:
      return Range{8, false, 0};
    case DType::U16:
      return Range{16, false, 0};
    case DType::U32:
      return Range{32, false, 0};
    case DType::U64:
      return Range{64, false, 0};
    case DType::I8:
      return Range{7, true, 0};
    case DType::I16:
      return Range{15, true, 0};
    case DType::I32:
      return Range{31, true, 0};
    case DType::I64:
      return Range{63, true, 0};
    case DType::BF16:
      return Range{8, true, 8};
    case DType::F16:
      return Range{11, true, 5};
    case DType::F32:
      return Range{24, true, 8};
    case DType::F64:
      return Range{53, true, 11};
    default:
      return std::nullopt;
  }
}

// Every value of `from` is one of `to`.
bool holds(DType to, DType from) {
  const auto a = range_of(from), b = range_of(to);
  // As a bool every number but 0 is 1.
  if (!a || !b || to == DType::Bool) return false;
  if (a->exponent > 0) return b->exponent >= a->exponent && b->digits >= a->digits;
  if (a->negative && !b->negative) return false;
  // The lowest integer is a power of two, which floats have.
  return b->digits >= a->digits && (b->exponent == 0 || b->exponent >= 8 || a->digits <= 11);
}

bool merge_casts(Graph& g, Node& n) {
  if (!n.is("Cast")) return false;
  const Node* inner = n.input(0)->producer();
  if (inner == nullptr || !inner->is("Cast") || !has_static_shapes(*inner)) return false;
  Value* x = inner->input(0);
  const DType from = x->type.dtype, between = n.input(0)->type.dtype, to = n.output(0)->type.dtype;
  if (!holds(between, from)) return false;
  if (from == to && can_replace(n.output(0), x)) return replace_output(n, 0, x);
  Node* cast = g.add_node("Cast", {x}, 1, &n, {}, n.version);
  cast->name = n.name;
  cast->sources = n.sources;
  add_sources(*cast, *inner);
  cast->attrs = n.attrs;
  cast->output(0)->type = n.output(0)->type;
  return replace_output(n, 0, cast->output(0));
}

constexpr std::array<Rule, 1> kRules = {merge_casts};

StatusOr<int> run(Graph& graph, PassContext&) { return apply_rules(graph, kRules); }

}  // namespace

Pass cast_algebra_pass() {
  return {"cast-algebra", "CastCastFusionPass", "Casts of Casts that lose nothing become one", run};
}

}  // namespace atc::passes
