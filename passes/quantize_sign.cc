#include "passes/quantize_sign.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "passes/quantize_motion.h"
#include "passes/quantize_util.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

bool is_product(const Node& n) { return n.is("ConvInteger") || n.is("MatMulInteger"); }

bool is_data(const Node& n, int index) { return index == 0 || n.is("Concat"); }

// One constant number, or none.
bool has_known_zero(const Node& n) {
  const Value* zero = n.input(2);
  return zero == nullptr || (zero->is_constant() && zero->constant().count() == 1);
}

/// Tensors that data movement ties together change sign together.
class SignChanger {
 public:
  explicit SignChanger(Graph& graph) : graph_(graph) {}

  int run() {
    for (Value* v : graph_.values())
      if (v->type.dtype == DType::U8 && (!v->is_constant() || is_used_as_data(*v))) {
        index_[v] = tensors_.size();
        tensors_.push_back(v);
      }
    parent_.resize(tensors_.size());
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    for (const Value* v : tensors_)
      for (const Value::Use& use : v->uses())
        if (moves_elements(*use.node) && is_data(*use.node, use.index))
          if (const auto out = index_.find(use.node->output(0)); out != index_.end())
            parent_[root(index_.at(v))] = root(out->second);

    std::vector<bool> legal(tensors_.size(), true), wanted(tensors_.size(), false);
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      const std::size_t r = root(i);
      if (!may_change(*tensors_[i])) legal[r] = false;
      if (feeds_product(*tensors_[i])) wanted[r] = true;
    }
    int changes = 0;
    for (std::size_t i = 0; i < tensors_.size(); ++i)
      if (legal[root(i)] && wanted[root(i)]) {
        change(tensors_[i]);
        ++changes;
      }
    return changes;
  }

 private:
  std::size_t root(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }

  static bool is_used_as_data(const Value& v) {
    return std::any_of(v.uses().begin(), v.uses().end(), [](const Value::Use& u) {
      return u.index == 0 || (u.node->is("Concat") && moves_elements(*u.node));
    });
  }

  static bool feeds_product(const Value& v) {
    return std::any_of(v.uses().begin(), v.uses().end(),
                       [](const Value::Use& u) { return is_product(*u.node) && u.index == 0; });
  }

  bool may_change(const Value& v) const {
    if (v.is_input() || graph_.is_output(&v)) return false;
    const Node* p = v.producer();
    if (p == nullptr && !v.is_constant()) return false;
    if (p != nullptr && !tensor_quantization(*p) && !moves_elements(*p)) return false;
    return std::all_of(v.uses().begin(), v.uses().end(), [&](const Value::Use& u) {
      const Node& n = *u.node;
      if (n.graph() != &graph_ || !is_data(n, u.index)) return false;
      if (moves_elements(n)) return true;
      if (n.is("DequantizeLinear")) return tensor_quantization(n).has_value();
      return is_product(n) && has_known_zero(n);
    });
  }

  void change(Value* v) {
    const std::vector<Value::Use> uses = v->uses();
    for (const Value::Use& u : uses)
      if (!moves_elements(*u.node)) shift_zero(*u.node);
    if (v->is_constant()) {
      std::vector<double> values = to_doubles(v->constant());
      for (double& x : values) x -= 128;
      Value* shifted = graph_.add_constant(v->name(), from_doubles(DType::I8, v->constant().shape, values));
      graph_.replace_uses(v, shifted);
      return;
    }
    if (v->producer()->is("QuantizeLinear")) {
      shift_zero(*v->producer());
      v->producer()->attrs.erase("output_dtype");
    }
    v->type.dtype = DType::I8;
  }

  void shift_zero(Node& n) {
    const Value* zero = n.input(2);
    const double value = zero == nullptr ? 0 : to_doubles(zero->constant())[0];
    // Of the scale's shape, as QuantizeLinear and DequantizeLinear ask.
    const Dims dims = zero != nullptr                           ? zero->constant().shape
                      : !is_product(n) && n.input(1) != nullptr ? n.input(1)->type.dims()
                                                                : Dims{};
    const std::vector<double> shifted = {value - 128};
    Value* constant = graph_.add_constant(zero == nullptr ? n.name + "/zero_point" : zero->name(),
                                          from_doubles(DType::I8, dims, shifted));
    n.set_input(2, constant);
  }

  Graph& graph_;
  std::vector<Value*> tensors_;
  std::map<const Value*, std::size_t> index_;
  std::vector<std::size_t> parent_;
};

StatusOr<int> run(Graph& graph, PassContext&) {
  const int changes = SignChanger(graph).run();
  if (changes > 0) graph.sweep();
  return changes;
}

}  // namespace

Pass quantize_sign_pass() { return {"quantize-sign", "", "u8 operands of integer products become i8", run}; }

}  // namespace atc::passes
