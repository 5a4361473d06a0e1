#include "passes/custom_fusion.h"

#include <algorithm>
#include <map>
#include <set>

#include "ops/custom.h"
#include "passes/attention_pattern.h"
#include "passes/custom_patterns.h"
#include "passes/node_writer.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

/// What a pattern gives to the operator that takes it.
struct Found {
  std::string pattern;
  std::vector<Value*> inputs;
  std::map<std::string, ir::Attribute> attrs;
  std::vector<std::string> needed;  ///< attributes that the operator must have
  std::vector<Node*> nodes;         ///< the one that makes the result first
  Dims result = {};                 ///< dims in which the operator gives it; empty: its own
};

class Fuser {
 public:
  Fuser(Graph& graph, const CustomOperators& operators, const soc::Chip& chip,
        std::vector<CustomTaken>& taken)
      : graph_(graph),
        taken_(taken),
        rope_(operators.find_type({"RoPE", "RotaryPositionEmbedding"}, chip)),
        swiglu_(operators.find_type({"SwiGlu", "SwiGLU"}, chip)),
        rms_norm_(operators.find_type({"RmsNorm", "RMSNorm", "RMSNormalization"}, chip)),
        attention_(operators.find_type({"Attention"}, chip)) {}

  bool any() const {
    return rope_ != nullptr || swiglu_ != nullptr || rms_norm_ != nullptr || attention_ != nullptr;
  }

  StatusOr<int> run() {
    int fused = 0;
    // Later nodes first: a pattern's nodes come before the one that makes its result.
    std::vector<std::pair<int, Node*>> nodes;
    for (Node* n : graph_.node_list()) nodes.emplace_back(n->id(), n);
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
      Node* n = it->second;
      if (gone_.contains(it->first)) continue;
      ATC_ASSIGN(const bool done, visit(*n));
      fused += done ? 1 : 0;
    }
    if (fused > 0) graph_.sweep();
    return fused;
  }

 private:
  StatusOr<bool> visit(Node& n) {
    if (rope_ != nullptr)
      if (const auto p = match_rope(n))
        return take(n, *rope_, {"RoPE", {p->x, p->cos, p->sin}, {{"mode", std::int64_t{0}}}, {}, p->nodes});
    if (swiglu_ != nullptr)
      if (const auto p = match_swiglu(n))
        return take(n, *swiglu_, {"SwiGlu", {joined(n, *p)}, {{"dim", std::int64_t{-1}}}, {}, p->nodes});
    if (rms_norm_ != nullptr)
      if (const auto p = match_rms_norm(n))
        return take(n, *rms_norm_,
                    {"RmsNorm",
                     {p->x, p->gamma},
                     {{"epsilon", static_cast<float>(p->epsilon)}},
                     {"epsilon"},
                     p->nodes});
    if (attention_ != nullptr && n.is("MatMul") && has_static_shapes(n))
      if (const auto p = match_attention(n)) return take_attention(n, *p);
    return false;
  }

  Value* joined(Node& n, const SwigluPattern& p) {
    if (p.joined != nullptr) return p.joined;
    Dims dims = p.gate->type.dims();
    dims.back() *= 2;
    Node* concat = graph_.add_node("Concat", {p.gate, p.up}, 1, &n, {}, 13);
    concat->name = n.name + "/gate_up";
    concat->sources = n.sources;
    concat->attrs.set("axis", std::int64_t{-1});
    concat->output(0)->type = ir::tensor_type(p.gate->type.dtype, dims);
    return concat->output(0);
  }

  /// [batch, heads, rows, columns] whatever leading axes there are.
  static Dims as_heads(Dims dims) {
    while (dims.size() < 4) dims.insert(dims.begin(), 1);
    while (dims.size() > 4) {
      dims[1] *= dims[0];
      dims.erase(dims.begin());
    }
    return dims;
  }

  StatusOr<bool> take_attention(Node& n, const AttentionPattern& p) {
    if (!p.conditions.empty() || p.softcap != 0 || p.addends.size() > 1) return false;
    if (!p.addends.empty() && p.addends[0].negative) return false;
    for (const Node* k : p.nodes)
      if (!has_static_shapes(*k)) return false;
    const auto heads = [](const Value* v) { return as_heads(v->type.dims()); };
    NodeWriter w(graph_, n);
    Value* keys = p.k;
    if (p.k_is_transposed) {
      Dims dims = keys->type.dims(), perm(dims.size());
      for (std::size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<std::int64_t>(i);
      std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
      std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
      Node* t = w.insert("Transpose", {keys}, ir::tensor_type(keys->type.dtype, dims), "keys");
      t->attrs.set("perm", perm);
      keys = t->output(0);
    }
    Found found{
        "Attention",
        {w.reshape(p.q, heads(p.q), "q"), w.reshape(keys, heads(keys), "k"), w.reshape(p.v, heads(p.v), "v")},
        {{"scale", static_cast<float>(p.scale)}},
        {"scale"},
        p.nodes};
    if (!p.addends.empty()) found.inputs.push_back(p.addends[0].value);
    std::erase(found.nodes, &n);
    found.nodes.insert(found.nodes.begin(), &n);
    found.result = heads(n.output(0));
    return take(n, *attention_, found);
  }

  /// The pattern's result is made by the operator, when it has all that the pattern says.
  StatusOr<bool> take(Node& n, const CustomEntry& entry, const Found& found) {
    const custom::OpInfo& op = entry.info();
    const auto declares = [&](const std::string& name) {
      return std::any_of(op.attrs.begin(), op.attrs.end(),
                         [&](const custom::AttrInfo& a) { return a.value.name == name; });
    };
    if (found.inputs.size() > op.inputs.size()) return false;
    if (!std::all_of(found.needed.begin(), found.needed.end(), declares)) return false;
    Value* y = n.output(0);
    const ir::TensorType type =
        ir::tensor_type(y->type.dtype, found.result.empty() ? y->type.dims() : found.result);
    Node* made = graph_.add_node("Custom", found.inputs, 1, &n, "atc", 0);
    made->name = n.name;
    for (auto k = found.nodes.rbegin(); k != found.nodes.rend(); ++k) add_sources(*made, **k);
    for (const auto& [name, value] : found.attrs)
      if (declares(name)) made->attrs.set(name, value);
    set_custom(*made, entry);
    ATC_TRY(check_shape(*made, type));
    made->output(0)->type = type;
    replace_value(y, NodeWriter(graph_, n).reshape(made->output(0), y->type.dims(), "result"));
    taken_.push_back({op.type, entry.library->name(), found.pattern, made->name, made->sources});
    // What else reads the parts keeps them; dead ones go with the sweep, but a node is not visited twice.
    for (Node* k : found.nodes)
      if (std::none_of(k->outputs().begin(), k->outputs().end(),
                       [&](const Value* v) { return v != nullptr && graph_.is_used(v); }))
        erase(*k);
    return true;
  }

  void erase(Node& n) {
    gone_.insert(n.id());
    graph_.erase(&n);
  }

  static Status check_shape(const Node& made, const ir::TensorType& expected) {
    ATC_ASSIGN(const ops::CustomOperator op, ops::custom_operator(made));
    const auto c = ops::find_combination(op.info(), ops::input_dtypes(made, op.info()));
    if (!c) return ops::no_combination(made, op.info());
    ATC_ASSIGN(const custom::Call call, ops::custom_call(made, op, c->index, false));
    ATC_ASSIGN(const std::vector<custom::TensorInfo> outputs, op.library->infer(c->index, call));
    if (outputs[0].shape == expected.dims()) return {};
    return Status::error("E89999",
                         made.label() + ": the custom operator " + op.info().type + " (" +
                             op.library->name() + ") gives " +
                             (outputs[0].shape ? "[" + to_string(*outputs[0].shape) + "]" : "no shape") +
                             ", the subgraph that it stands for [" + to_string(expected.dims()) + "]")
        .solution("models/custom_ops/README.md has the inputs and attributes of each subgraph.");
  }

  Graph& graph_;
  std::vector<CustomTaken>& taken_;
  std::set<int> gone_;  // nodes that were erased, by id
  const CustomEntry *rope_, *swiglu_, *rms_norm_, *attention_;
};

}  // namespace

bool has_custom_patterns(const CustomOperators& operators, const soc::Chip& chip) {
  Graph none;
  std::vector<CustomTaken> taken;
  return Fuser(none, operators, chip, taken).any();
}

StatusOr<int> fuse_custom(Graph& graph, const CustomOperators& operators, const soc::Chip& chip,
                          std::vector<CustomTaken>& taken) {
  return Fuser(graph, operators, chip, taken).run();
}

}  // namespace atc::passes
