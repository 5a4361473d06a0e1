#include "passes/integer_form.h"

#include <algorithm>
#include <array>
#include <optional>

#include "ops/window_geometry.h"
#include "passes/cube_node.h"
#include "passes/detached_bodies.h"
#include "passes/quantize_util.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

bool is_byte(DType t) { return t == DType::I8 || t == DType::U8; }

bool is_single(const Value* v) { return element_count(v->type.dims()) == 1; }

// A constant zero point of one element; 0 when absent, nullopt when it is something else.
std::optional<int> known_zero(const Value* v) {
  if (v == nullptr) return 0;
  if (!v->is_constant() || v->constant().count() != 1) return std::nullopt;
  return static_cast<int>(to_doubles(v->constant())[0]);
}

// A constant operand less its zero points, as int8.
struct Weight {
  Value* value = nullptr;
  std::vector<std::int64_t> sums;  // of each output channel
};

// The channel of element i is i / inner % channels.
std::optional<Weight> centered_weight(NodeWriter& w, Value* v, const Value* zero, std::int64_t channels,
                                      std::int64_t inner) {
  if (!v->is_constant() || (zero != nullptr && !zero->is_constant())) return std::nullopt;
  std::vector<double> values = to_doubles(v->constant());
  const std::vector<double> zeros = zero == nullptr ? std::vector<double>{0} : to_doubles(zero->constant());
  if (zeros.size() != 1 && std::ssize(zeros) != channels) return std::nullopt;
  Weight out;
  out.sums.assign(static_cast<std::size_t>(channels), 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t c = i / static_cast<std::size_t>(inner) % static_cast<std::size_t>(channels);
    values[i] -= zeros[zeros.size() == 1 ? 0 : c];
    if (values[i] < -128 || values[i] > 127) return std::nullopt;
    out.sums[c] += static_cast<std::int64_t>(values[i]);
  }
  const bool as_it_is =
      v->type.dtype == DType::I8 && std::all_of(zeros.begin(), zeros.end(), [](double z) { return z == 0; });
  out.value = as_it_is ? v : w.constant("weight_int8", from_doubles(DType::I8, v->constant().shape, values));
  return out;
}

// Data as i8: u8 less 128. Tensors that QuantizeLinear makes are i8 by another pass.
Value* signed_data(NodeWriter& w, Value* x) {
  if (x->type.dtype == DType::I8) return x;
  Value* wide = w.cast(x, DType::I32);
  Value* half = w.constant("u8_to_i8", scalar_tensor(DType::I32, 128));
  return w.cast(w.add("Sub", {wide, half}, wide->type), DType::I8);
}

// acc = sum (x - zero)(w - w_zero) = sum x (w - w_zero) - zero * sums, wrapping as int32 does.
std::vector<std::int32_t> corrections(const std::vector<std::int64_t>& sums, int zero) {
  std::vector<std::int32_t> out;
  for (std::int64_t s : sums) out.push_back(static_cast<std::int32_t>(static_cast<std::uint32_t>(-zero * s)));
  return out;
}

Tensor int32_tensor(const Dims& dims, const std::vector<std::int32_t>& values) {
  MutableTensor t(DType::I32, dims);
  std::copy(values.begin(), values.end(), t.as<std::int32_t>().begin());
  return std::move(t).freeze();
}

// The Add of a constant for each channel that alone reads `v`; null when there is none.
Node* channel_add(const Graph& g, const Value* v, const Dims& channel_dims) {
  if (g.is_output(v) || v->uses().size() != 1) return nullptr;
  Node* add = v->uses()[0].node;
  if (!add->is("Add") || add->graph() != &g) return nullptr;
  const Value* other = add->input(add->input(0) == v ? 1 : 0);
  return other->is_constant() && other->constant().shape == channel_dims ? add : nullptr;
}

// Adds what a following Add adds to each channel; that Add goes.
void join_bias(Graph& g, Node& n, const Dims& channel_dims, std::vector<std::int32_t>& bias) {
  Node* add = channel_add(g, n.output(0), channel_dims);
  if (add == nullptr) return;
  const Value* other = add->input(add->input(0) == n.output(0) ? 1 : 0);
  const std::vector<double> more = to_doubles(other->constant());
  for (std::size_t c = 0; c < bias.size(); ++c)
    bias[c] = static_cast<std::int32_t>(static_cast<std::uint32_t>(bias[c]) +
                                        static_cast<std::uint32_t>(static_cast<std::int32_t>(more[c])));
  add_sources(n, *add);
  replace_value(add->output(0), n.output(0));
  g.erase(add);
}

// The constant that the epilogue adds; null when it is zero everywhere.
Value* bias_constant(NodeWriter& w, const std::vector<std::int32_t>& bias, const Dims& dims) {
  if (std::all_of(bias.begin(), bias.end(), [](std::int32_t b) { return b == 0; })) return nullptr;
  return w.constant("bias", int32_tensor(dims, bias));
}

bool convolution(Graph& g, Node& n) {
  if (!n.is("ConvInteger")) return false;
  const Dims xd = n.input(0)->type.dims(), wd = n.input(1)->type.dims(), out = n.output(0)->type.dims();
  if (xd.size() < 3 || xd.size() > 5) return false;
  const auto geometry = ops::conv_geometry(n, ops::spatial_dims(*n.input(0)->type.shape),
                                           ops::spatial_dims(*n.input(1)->type.shape));
  std::optional<int> zero = known_zero(n.input(2));
  if (!geometry.ok() || !zero || element_count(wd) == 0) return false;
  NodeWriter w(n);
  const auto weight =
      centered_weight(w, n.input(1), n.input(3), wd[0], element_count(Dims(wd.begin() + 1, wd.end())));
  if (!weight) return false;
  if (n.input(0)->type.dtype == DType::U8) *zero -= 128;
  std::vector<std::int32_t> bias = corrections(weight->sums, *zero);
  Dims channel_dims(xd.size() - 1, 1);
  channel_dims[0] = wd[0];
  join_bias(g, n, channel_dims, bias);
  std::vector<Value*> inputs = {signed_data(w, n.input(0)), weight->value};
  channel_dims.insert(channel_dims.begin(), 1);
  Value* b = bias_constant(w, bias, channel_dims);
  if (b != nullptr) inputs.push_back(b);
  Node* r = replace_by_cube_node(g, n, "Conv", std::move(inputs), b);
  set_geometry(*r, *geometry);
  r->attrs.set("group", n.attrs.get_int("group", 1));
  if (*zero != 0) r->attrs.set("pad_value", static_cast<std::int64_t>(*zero));
  r->attrs.set("macs", macs_of(out, wd, wd[1]));
  g.erase(&n);
  return true;
}

// sum - zero * column sums, with a zero point that only the run knows; operators behind the product.
Value* less_zero(Graph& g, Node& product, Value* zero, bool was_u8, const std::vector<std::int64_t>& sums) {
  Node* next = nullptr;
  auto position =
      std::find_if(g.nodes().begin(), g.nodes().end(), [&](const auto& n) { return n.get() == &product; });
  if (++position != g.nodes().end()) next = position->get();
  const ir::TensorType type = product.output(0)->type;
  auto add = [&](std::string op, std::vector<Value*> inputs, const ir::TensorType& out) {
    Node* n = g.add_node(op, std::move(inputs), 1, next, {}, 17);
    n->name = product.name + "/zero_point/" + op;
    n->sources = product.sources;
    n->output(0)->type = out;
    return n;
  };
  ir::TensorType scalar = zero->type;
  scalar.dtype = DType::I32;
  Node* cast = add("Cast", {zero}, scalar);
  cast->attrs.set("to", static_cast<std::int64_t>(DType::I32));
  Value* z = cast->output(0);
  if (was_u8)
    z = add("Sub", {z, g.add_constant(product.name + "/u8_to_i8", scalar_tensor(DType::I32, 128))}, scalar)
            ->output(0);
  const Dims dims = {std::ssize(sums)};
  Value* columns = g.add_constant(product.name + "/column_sums", int32_tensor(dims, corrections(sums, -1)));
  Value* part = add("Mul", {z, columns}, ir::tensor_type(DType::I32, dims))->output(0);
  return add("Sub", {product.output(0), part}, type)->output(0);
}

bool matmul(Graph& g, Node& n) {
  if (!n.is("MatMulInteger")) return false;
  const Dims ad = n.input(0)->type.dims(), bd = n.input(1)->type.dims();
  if (ad.size() < 2 || bd.size() < 2 || ad.back() == 0) return false;
  NodeWriter w(n);
  const bool was_u8 = n.input(0)->type.dtype == DType::U8;
  std::optional<int> zero = known_zero(n.input(2));
  if (!n.input(1)->is_constant()) {
    // Column sums of unknown weights are unknown too.
    if (n.input(1)->type.dtype != DType::I8 || was_u8 || zero != 0 || known_zero(n.input(3)) != 0)
      return false;
    replace_by_cube_node(g, n, "MatMul", {n.input(0), n.input(1)}, nullptr);
    g.erase(&n);
    return true;
  }
  if (element_count(Dims(bd.begin(), bd.end() - 2)) != 1) return false;
  if (!zero && (n.input(2)->is_constant() || !is_single(n.input(2)))) return false;
  const auto weight = centered_weight(w, n.input(1), n.input(3), bd.back(), 1);
  if (!weight) return false;
  Value* dynamic_zero = zero ? nullptr : n.input(2);
  std::vector<std::int32_t> bias(weight->sums.size(), 0);
  if (zero) {
    bias = corrections(weight->sums, was_u8 ? *zero - 128 : *zero);
    join_bias(g, n, {bd.back()}, bias);
  }
  std::vector<Value*> inputs = {signed_data(w, n.input(0)), weight->value};
  Value* b = bias_constant(w, bias, {bd.back()});
  if (b != nullptr) inputs.push_back(b);
  if (dynamic_zero != nullptr) {
    // The readers move behind the correction first.
    Value* old = n.output(0);
    Value* corrected = less_zero(g, n, dynamic_zero, was_u8, weight->sums);
    Node* subtract = corrected->producer();
    replace_value(old, corrected);
    old->set_name(old->name() + "/product");
    subtract->set_input(0, old);
  }
  replace_by_cube_node(g, n, "MatMul", std::move(inputs), b);
  g.erase(&n);
  return true;
}

constexpr std::array<std::string_view, 2> kOperators = {"ConvInteger", "MatMulInteger"};

StatusOr<int> run(Graph& graph, PassContext&) {
  const DetachedBodies detached(graph);
  int changes = 0;
  for (Node* n : graph.node_list()) {
    const bool is_known = std::find(kOperators.begin(), kOperators.end(), n->op_type) != kOperators.end();
    if (!n->domain.empty() || !is_known) continue;
    if (!has_static_shapes(*n) || !is_byte(n->input(0)->type.dtype)) continue;
    if (element_count(n->output(0)->type.dims()) == 0) continue;
    if (convolution(graph, *n) || matmul(graph, *n)) ++changes;
  }
  return changes;
}

}  // namespace

std::span<const std::string_view> integer_form_operators() { return kOperators; }

Pass integer_form_pass() {
  return {"integer-form", "", "integer convolutions and products take the form of the cube's int8 product",
          run};
}

}  // namespace atc::passes
