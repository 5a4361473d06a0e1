#include "passes/zero_terms.h"

#include <algorithm>
#include <array>

#include "passes/finite_values.h"
#include "passes/rewrite.h"
#include "passes/rules.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

// All elements are 0 or -0.
bool is_zero(const Value* v) {
  if (v == nullptr || !v->is_constant() || !is_float(v->type.dtype) || v->constant().count() == 0)
    return false;
  const Tensor& t = v->constant();
  const int bits = bit_width(t.dtype);
  if (bits < 16) return false;
  const std::size_t bytes = static_cast<std::size_t>(bits) / 8;
  for (std::size_t i = 0; i < t.data.size(); ++i) {
    // The sign is the top bit of the last byte of each (little-endian) element.
    const auto mask = i % bytes == bytes - 1 ? std::byte{0x7F} : std::byte{0xFF};
    if ((t.data.data()[i] & mask) != std::byte{0}) return false;
  }
  return true;
}

bool drop_sum(Graph&, Node& n) {
  if (!n.is("Add")) return false;
  for (std::size_t i = 0; i < 2; ++i)
    if (is_zero(n.input(1 - i)) && n.input(i)->type == n.output(0)->type &&
        can_replace(n.output(0), n.input(i)))
      return replace_output(n, 0, n.input(i));
  return false;
}

// `v`, one value a channel (axis 1) or one value, everywhere in the node's output.
bool fill(Graph& g, Node& n, Value* v) {
  const Dims dims = n.output(0)->type.dims();
  Value* shape = g.add_constant(n.name + "/shape", from_int64s(DType::I64, {std::ssize(dims)}, dims));
  Node* out = g.add_node("Expand", {v, shape}, 1, &n, {}, 13);
  out->name = n.name;
  out->sources = n.sources;
  out->output(0)->type = n.output(0)->type;
  return replace_output(n, 0, out->output(0));
}

bool drop_product(Graph& g, Node& n) {
  const bool conv = n.is("Conv") || n.is("ConvTranspose");
  if ((!conv && !n.is("MatMul")) || element_count(n.output(0)->type.dims()) == 0) return false;
  const bool is_nothing = (is_zero(n.input(1)) && is_known_finite(*n.input(0))) ||
                          (n.is("MatMul") && is_zero(n.input(0)) && is_known_finite(*n.input(1)));
  if (!is_nothing) return false;
  Value* bias = conv ? n.input(2) : nullptr;
  if (bias == nullptr) {
    bias = g.add_constant(n.name + "/zero", scalar_tensor(n.output(0)->type.dtype, 0));
  } else {
    Dims dims(n.output(0)->type.shape->size() - 1, 1);
    dims[0] = n.output(0)->type.dims()[1];
    bias = make_reshape(g, n, bias, dims);
  }
  return fill(g, n, bias);
}

bool drop_states(Graph&, Node& n) {
  if (!n.is("LSTM") && !n.is("GRU") && !n.is("RNN")) return false;
  // B, initial_h, initial_c, P; absent ones are zero.
  constexpr std::array<std::size_t, 4> kInputs = {3, 5, 6, 7};
  bool changed = false;
  for (std::size_t i : kInputs) {
    if (!is_zero(n.input(i))) continue;
    n.set_input(i, nullptr);
    changed = true;
  }
  return changed;
}

constexpr std::array<Rule, 3> kRules = {drop_sum, drop_product, drop_states};

StatusOr<int> run(Graph& graph, PassContext&) { return apply_rules(graph, kRules); }

}  // namespace

Pass zero_terms_pass() {
  return {"zero-terms", "", "sums with zeros, products with zeros and states of zeros are left out", run};
}

}  // namespace atc::passes
