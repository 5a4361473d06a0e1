#include "passes/window_reshape.h"

#include <algorithm>
#include <array>

#include "passes/rewrite.h"
#include "passes/rules.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

constexpr int kMaxOperators = 16;  // between a window and the Squeeze

bool is_window(const Node& n) {
  return n.is("Conv") || n.is("ConvTranspose") || n.is("MaxPool") || n.is("AveragePool");
}

// A window made it, with elementwise operators behind.
bool is_from_window(const Value* v) {
  for (int i = 0; i < kMaxOperators; ++i) {
    const Node* n = v->producer();
    if (n == nullptr || !n->domain.empty() || !is_private(v)) return false;
    if (is_window(*n)) return true;
    if (!has_static_shapes(*n) || !is_elementwise(*n)) return false;
    const auto full = std::ranges::find_if(n->inputs(), [&](const Value* in) {
      return in != nullptr && !in->is_constant() && in->type.dims() == v->type.dims();
    });
    if (full == n->inputs().end()) return false;
    v = *full;
  }
  return false;
}

struct Squeezed {
  Value* from = nullptr;
  std::size_t axis = 0;  ///< the one of length 1 that `from` has more
};

// `v`, read once, as what a window made, without a spatial axis.
std::optional<Squeezed> squeezed(const Value* v) {
  const Node* n = v->producer();
  if (n == nullptr || !n->domain.empty() || !is_reshape(*n) || !has_static_shapes(*n) || !is_private(v))
    return std::nullopt;
  Value* from = n->input(0);
  const Dims in = from->type.dims(), out = v->type.dims();
  if (in.size() != out.size() + 1 || !is_from_window(from)) return std::nullopt;
  for (std::size_t axis = in.size(); axis-- > 2;) {
    Dims without = in;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(axis));
    if (in[axis] == 1 && without == out) return Squeezed{from, axis};
  }
  return std::nullopt;
}

// A single value, or a constant with a value a channel, for an operator whose result has these dims.
bool goes_by_channel(const Value& v, const Dims& out) {
  Dims dims = v.type.dims();
  if (dims.size() > out.size()) return false;
  if (element_count(dims) == 1) return true;
  dims.insert(dims.begin(), out.size() - dims.size(), 1);
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (dims[d] != 1 && d != 1) return false;
  return v.is_constant();
}

// The same where there is one spatial axis more.
Value* with_one_more_axis(Graph& g, Node& n, Value* v, const Dims& out) {
  if (element_count(v->type.dims()) == 1) return v;
  Dims dims(out.size(), 1);
  dims[0] = out[1];
  return make_reshape(g, n, v, dims);
}

bool finish(Graph& g, Node& n, Node* moved) {
  moved->name = n.name;
  moved->sources = n.sources;
  return replace_output(n, 0, make_reshape(g, n, moved->output(0), n.output(0)->type.dims()));
}

bool pass_elementwise(Graph& g, Node& n) {
  if (!is_elementwise(n)) return false;
  const Dims out = n.output(0)->type.dims();
  for (std::size_t at = 0; at < n.inputs().size(); ++at) {
    const Value* v = n.input(at);
    const auto s = v == nullptr || v->type.dims() != out ? std::nullopt : squeezed(v);
    if (!s) continue;
    std::vector<Value*> inputs(n.inputs().begin(), n.inputs().end());
    inputs[at] = nullptr;
    if (!std::ranges::all_of(inputs,
                             [&](const Value* in) { return in == nullptr || goes_by_channel(*in, out); }))
      return false;
    for (Value*& in : inputs)
      if (in != nullptr) in = with_one_more_axis(g, n, in, out);
    inputs[at] = s->from;
    Node* moved = g.add_node(n.op_type, std::move(inputs), 1, &n, {}, n.version);
    moved->attrs = n.attrs;
    moved->output(0)->type = ir::tensor_type(n.output(0)->type.dtype, s->from->type.dims());
    return finish(g, n, moved);
  }
  return false;
}

// A list of the node with one entry a spatial axis (twice for pads), with `entry` for one more.
void widen(ir::Attributes& attrs, const char* name, std::size_t axis, std::int64_t entry) {
  Dims list = attrs.get_ints(name);
  if (list.empty()) return;
  const auto at = static_cast<std::ptrdiff_t>(axis);
  if (std::string_view(name) == "pads")
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(list.size() / 2) + at, entry);
  list.insert(list.begin() + at, entry);
  attrs.set(name, list);
}

bool pass_window(Graph& g, Node& n) {
  if (!is_window(n) || n.is("ConvTranspose") || n.outputs().size() != 1) return false;
  const auto s = squeezed(n.input(0));
  if (!s || s->from->type.shape->size() > 4) return false;
  std::vector<Value*> inputs(n.inputs().begin(), n.inputs().end());
  inputs[0] = s->from;
  if (n.is("Conv")) {
    if (!inputs[1]->is_constant()) return false;
    Dims weight = inputs[1]->type.dims();
    weight.insert(weight.begin() + static_cast<std::ptrdiff_t>(s->axis), 1);
    inputs[1] = make_reshape(g, n, inputs[1], weight);
  }
  Node* moved = g.add_node(n.op_type, std::move(inputs), 1, &n, {}, n.version);
  moved->attrs = n.attrs;
  const std::size_t axis = s->axis - 2;
  for (const char* name : {"kernel_shape", "strides", "dilations"}) widen(moved->attrs, name, axis, 1);
  widen(moved->attrs, "pads", axis, 0);
  Dims dims = n.output(0)->type.dims();
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(s->axis), 1);
  moved->output(0)->type = ir::tensor_type(n.output(0)->type.dtype, dims);
  return finish(g, n, moved);
}

constexpr std::array<Rule, 2> kRules = {pass_elementwise, pass_window};

StatusOr<int> run(Graph& graph, PassContext&) { return apply_rules(graph, kRules); }

}  // namespace

Pass window_reshape_pass() {
  return {"window-reshape", "", "what follows a squeezed convolution or pool is computed before the Squeeze",
          run};
}

}  // namespace atc::passes
