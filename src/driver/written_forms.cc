#include "driver/written_forms.h"

#include <algorithm>
#include <array>
#include <optional>

namespace atc::driver {
namespace {

using ir::Node;
using ir::Value;

// The one node that reads the node's result; null when there are several, or none.
const Node* reader(const Node* n) {
  if (n == nullptr || n->output(0) == nullptr || n->output(0)->uses().size() != 1) return nullptr;
  return n->output(0)->uses()[0].node;
}

const Node* reader_of_type(const Node* n, std::string_view type) {
  const Node* r = reader(n);
  return r != nullptr && r->is(type) ? r : nullptr;
}

const Node* maker(const Node* n, std::size_t input) {
  const Value* v = n->input(input);
  return v == nullptr ? nullptr : v->producer();
}

bool is_given(const Value* v) {
  return v != nullptr && (v->is_constant() || (v->producer() != nullptr && v->producer()->is("Constant")));
}

bool has_given_operand(const Node* n) { return is_given(n->input(0)) || is_given(n->input(1)); }

// Nodes that compute `from` out of few operators of the given types, nearest last.
void add_before(const Node* from, std::initializer_list<std::string_view> types, int depth,
                std::vector<const Node*>& out) {
  if (from == nullptr || depth == 0) return;
  if (std::none_of(types.begin(), types.end(), [&](std::string_view t) { return from->is(t); })) return;
  if (std::find(out.begin(), out.end(), from) != out.end()) return;
  for (std::size_t i = 0; i < from->inputs().size(); ++i) add_before(maker(from, i), types, depth - 1, out);
  out.push_back(from);
}

// 1 + curve(..), times x, times a half.
std::optional<WrittenForm> gelu(const Node& curve) {
  WrittenForm form{"Gelu", {}};
  if (curve.is("Erf"))
    add_before(maker(&curve, 0), {"Div", "Mul"}, 1, form.nodes);
  else if (curve.is("Tanh"))
    add_before(maker(&curve, 0), {"Mul", "Add", "Pow"}, 5, form.nodes);
  else
    return std::nullopt;
  const Node* one = reader_of_type(&curve, "Add");
  if (one == nullptr || !has_given_operand(one) || form.nodes.empty()) return std::nullopt;
  const Node* first = reader_of_type(one, "Mul");
  if (first == nullptr) return std::nullopt;
  form.nodes.insert(form.nodes.end(), {&curve, one});
  const auto is_half = [](const Node* n) { return n != nullptr && n->is("Mul") && has_given_operand(n); };
  for (std::size_t i = 0; i < 2; ++i)
    if (const Node* half = maker(first, i); half != one && is_half(half)) form.nodes.push_back(half);
  form.nodes.push_back(first);
  if (const Node* second = reader_of_type(first, "Mul");
      second != nullptr && (is_half(first) || is_half(second)))
    form.nodes.push_back(second);
  return form;
}

// From the mean of squares on: + epsilon, square root, division, weight, bias.
std::optional<WrittenForm> norm(const Node& mean) {
  if (!mean.is("ReduceMean")) return std::nullopt;
  const Node* square = maker(&mean, 0);
  if (square == nullptr || !(square->is("Pow") || square->is("Mul"))) return std::nullopt;
  const Node* epsilon = reader_of_type(&mean, "Add");
  const Node* root = reader_of_type(epsilon, "Sqrt");
  if (root == nullptr) return std::nullopt;
  WrittenForm form{"RmsNorm", {}};
  if (const Node* centered = maker(square, 0); centered != nullptr && centered->is("Sub"))
    if (const Node* average = maker(centered, 1); average != nullptr && average->is("ReduceMean")) {
      form.type = "LayerNorm";
      form.nodes = {average, centered};
    }
  form.nodes.insert(form.nodes.end(), {square, &mean, epsilon, root});
  const Node* last = reader(root);
  if (last == nullptr) return std::nullopt;
  form.nodes.push_back(last);
  if (last->is("Reciprocal") || (last->is("Div") && is_given(last->input(0)))) {
    last = reader_of_type(last, "Mul");
    if (last == nullptr) return std::nullopt;
    form.nodes.push_back(last);
  } else if (!last->is("Div")) {
    return std::nullopt;
  }
  for (const char* type : {"Mul", "Add"}) {
    const Node* next = reader_of_type(last, type);
    if (next == nullptr || !has_given_operand(next)) continue;
    form.nodes.push_back(next);
    last = next;
  }
  return form;
}

std::optional<WrittenForm> group_norm(const Node& inner) {
  if (!inner.is("InstanceNormalization")) return std::nullopt;
  const Node* before = maker(&inner, 0);
  const Node* after = reader_of_type(&inner, "Reshape");
  if (before == nullptr || !before->is("Reshape") || after == nullptr) return std::nullopt;
  WrittenForm form{"GroupNorm", {before, &inner, after}};
  const Node* last = after;
  for (const char* type : {"Mul", "Add"}) {
    const Node* next = reader_of_type(last, type);
    if (next == nullptr) break;
    form.nodes.push_back(next);
    last = next;
  }
  return form;
}

std::optional<WrittenForm> swish(const Node& gate) {
  const Node* product = gate.is("Sigmoid") ? reader_of_type(&gate, "Mul") : nullptr;
  if (product == nullptr) return std::nullopt;
  if (product->input(0) != gate.input(0) && product->input(1) != gate.input(0)) return std::nullopt;
  return WrittenForm{"Swish", {&gate, product}};
}

void collect(const ir::Graph& graph, std::vector<WrittenForm>& out) {
  for (const auto& n : graph.nodes()) {
    for (const auto match : {gelu, norm, group_norm, swish})
      if (auto form = match(*n)) out.push_back(*std::move(form));
    for (const auto& body : ir::subgraphs(*n)) collect(*body, out);
  }
}

}  // namespace

std::vector<WrittenForm> written_forms(const ir::Graph& graph) {
  std::vector<WrittenForm> out;
  collect(graph, out);
  return out;
}

}  // namespace atc::driver
