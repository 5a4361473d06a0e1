#include "passes/reshape_algebra.h"

#include <algorithm>
#include <array>

#include "passes/rewrite.h"
#include "passes/rules.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

// How many elementwise operators a Reshape goes through at most.
constexpr int kMaxClimb = 8;

bool merge_reshapes(Graph& g, Node& n) {
  if (!is_reshape(n)) return false;
  const Node* inner = n.input(0)->producer();
  if (inner == nullptr || !inner->domain.empty() || !is_reshape(*inner) || !has_static_shapes(*inner))
    return false;
  Value* x = inner->input(0);
  const Dims dims = n.output(0)->type.dims();
  if (x->type.dims() == dims && !can_replace(n.output(0), x)) return false;
  const Node* merged = inner;
  Value* y = make_reshape(g, n, x, dims);
  if (y->producer() != nullptr) add_sources(*y->producer(), *merged);
  return replace_output(n, 0, y);
}

// Axes of length 1 aside, the order stays.
bool drop_unit_transpose(Graph& g, Node& n) {
  if (!n.is("Transpose")) return false;
  const Dims dims = n.input(0)->type.dims();
  std::int64_t last = -1;
  for (std::int64_t p : permutation_of(n)) {
    if (dims[static_cast<std::size_t>(p)] == 1) continue;
    if (p < last) return false;
    last = p;
  }
  if (dims == n.output(0)->type.dims() && !can_replace(n.output(0), n.input(0))) return false;
  return replace_output(n, 0, make_reshape(g, n, n.input(0), n.output(0)->type.dims()));
}

bool drop_unit_expand(Graph& g, Node& n) {
  if (!n.is("Expand") && !n.is("Tile")) return false;
  const Dims from = n.input(0)->type.dims(), to = n.output(0)->type.dims();
  if (from == to || element_count(from) == 0 || element_count(from) != element_count(to)) return false;
  return replace_output(n, 0, make_reshape(g, n, n.input(0), to));
}

// An operand that broadcasts along all axes but the last.
bool is_row(const Dims& dims) {
  return !dims.empty() && std::all_of(dims.begin(), dims.end() - 1, [](std::int64_t d) { return d == 1; });
}

enum class Operand { Full, Single, Row, Other };

Operand kind_of(const Value& v, const Dims& space) {
  const Dims dims = v.type.dims();
  if (dims == space) return Operand::Full;
  if (element_count(dims) == 1) return Operand::Single;
  return is_row(dims) && dims.back() == space.back() ? Operand::Row : Operand::Other;
}

// Can `v` be computed with these dims by moving a Reshape up to where it costs nothing?
bool climbs(const Value* v, const Dims& to, int steps) {
  if (v->is_constant()) return true;
  const Node* n = v->producer();
  if (n == nullptr || !n->domain.empty() || !has_static_shapes(*n) || steps == 0) return false;
  if (is_reshape(*n)) return true;
  if (!is_private(v)) return false;
  const Dims from = v->type.dims();
  const bool same_columns = !from.empty() && !to.empty() && from.back() == to.back();
  if (n->is("MatMul"))
    return same_columns && n->input(1)->type.shape->size() == 2 && n->input(0)->type.shape->size() >= 2 &&
           to.size() >= 2;
  if (!is_elementwise(*n)) return false;
  return std::ranges::all_of(n->inputs(), [&](const Value* in) {
    if (in == nullptr) return true;
    switch (kind_of(*in, from)) {
      case Operand::Full:
        return climbs(in, to, steps - 1);
      case Operand::Row:
        return same_columns;
      case Operand::Single:
        return true;
      case Operand::Other:
        return false;
    }
    return false;
  });
}

bool climb(Graph& g, Node& n) {
  if (!is_reshape(n)) return false;
  Value* v = n.input(0);
  const Dims from = v->type.dims(), to = n.output(0)->type.dims();
  if (from == to || element_count(from) == 0 || !is_private(v)) return false;
  Node* maker = v->producer();
  if (!maker->domain.empty() || is_reshape(*maker) || !climbs(v, to, kMaxClimb)) return false;
  std::vector<Value*> inputs(maker->inputs().begin(), maker->inputs().end());
  if (maker->is("MatMul")) {
    Dims rows = to;
    rows.back() = inputs[0]->type.dims().back();
    inputs[0] = make_reshape(g, *maker, inputs[0], rows);
  } else {
    for (Value*& in : inputs) {
      if (in == nullptr) continue;
      const Operand kind = kind_of(*in, from);
      if (kind == Operand::Full) in = make_reshape(g, *maker, in, to);
      // Leading ones must not raise the rank.
      if (kind == Operand::Row) in = make_reshape(g, *maker, in, {in->type.dims().back()});
      if (kind == Operand::Single && in->type.shape->size() > to.size())
        in = make_reshape(g, *maker, in, Dims(to.size(), 1));
    }
  }
  Node* moved = g.add_node(maker->op_type, std::move(inputs), 1, &n, {}, maker->version);
  moved->name = maker->name;
  moved->sources = maker->sources;
  moved->attrs = maker->attrs;
  moved->output(0)->type = n.output(0)->type;
  return replace_output(n, 0, moved->output(0));
}

constexpr std::array<Rule, 4> kRules = {merge_reshapes, drop_unit_transpose, drop_unit_expand, climb};

StatusOr<int> run(Graph& graph, PassContext&) { return apply_rules(graph, kRules); }

}  // namespace

Pass reshape_algebra_pass() {
  return {"reshape-algebra", "",
          "nodes that keep the order of elements become one Reshape, beside another one or a product", run};
}

}  // namespace atc::passes
