#include "passes/precision.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "atc/base/half.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

constexpr double kMaxHalf = 65504.0;
// Constants of up to so many elements are not worth the rounding outside the cube.
constexpr std::int64_t kSmallConstant = 4096;

// Operators that move elements: their output has the type of input 0.
constexpr std::array<std::string_view, 16> kMovers = {
    "Concat", "DepthToSpace", "Expand",       "Flatten", "Gather",  "Identity", "Pad",       "Reshape",
    "Resize", "Slice",        "SpaceToDepth", "Split",   "Squeeze", "Tile",     "Transpose", "Unsqueeze"};

bool is_mover(const Node& n) {
  return n.domain.empty() && std::find(kMovers.begin(), kMovers.end(), n.op_type) != kMovers.end();
}

bool fits_half(const Tensor& t) {
  for (float f : t.as<float>())
    if (std::isfinite(f) && std::abs(static_cast<double>(f)) > kMaxHalf) return false;
  return true;
}

class Narrower {
 public:
  Narrower(Graph& graph, DType narrow) : graph_(graph), narrow_(narrow) {}

  int run() {
    for (Node* n : graph_.node_list()) visit(*n);
    restore_outputs();
    return changes_;
  }

 private:
  bool is_wide(const Value* v) const { return v != nullptr && v->type.dtype == DType::F32; }

  void visit(Node& n) {
    if (is_widening(n)) return;
    if (n.is_internal("Fused")) {
      for (std::size_t i = 0; i < n.inputs().size(); ++i) narrow_large_constant(n, i);
      narrow_outputs(n, n.attrs.get_graph("body"));
    } else if (n.domain == "atc" && n.attrs.has("epilogue")) {
      const bool window = n.op_type == "MaxPool" || n.op_type == "AveragePool";
      if (is_float(n.input(0)->type.dtype) && !window) {
        require(n, 0, narrow_);
        require(n, 1, narrow_);
      }
      narrow_outputs(n, n.attrs.get_graph("epilogue"));
    } else if (is_mover(n)) {
      visit_mover(n);
    } else {
      for (std::size_t i = 0; i < n.inputs().size(); ++i)
        if (n.input(i) != nullptr && n.input(i)->type.dtype == narrow_ && narrowed_.contains(n.input(i)))
          require(n, i, DType::F32);
    }
  }

  // A Cast to fp32 that stands alone was asked for: by the model, or for a reader that takes nothing else.
  bool is_widening(const Node& n) const {
    if (!n.is_internal("Fused")) return false;
    const auto body = n.attrs.get_graph("body");
    return body->node_count() == 1 && body->nodes().front()->is("Cast") && is_wide(n.output(0)) &&
           n.input(0)->type.dtype == narrow_;
  }

  void visit_mover(Node& n) {
    const std::size_t data = n.is("Concat") ? n.inputs().size() : 1;
    bool any_narrow = false;
    for (std::size_t i = 0; i < data; ++i)
      if (n.input(i) != nullptr && !n.input(i)->is_constant())
        any_narrow = any_narrow || n.input(i)->type.dtype == narrow_;
    const bool table = n.is("Gather") && n.input(0)->is_constant();
    if (!any_narrow && !(table && is_wide(n.input(0)) && fits_half(n.input(0)->constant()))) return;
    for (std::size_t i = 0; i < data; ++i)
      if (is_wide(n.input(i))) require(n, i, narrow_);
    for (Value* v : n.outputs())
      if (is_wide(v)) set_narrow(v);
  }

  void set_narrow(Value* v) {
    v->type.dtype = narrow_;
    narrowed_.insert(v);
    ++changes_;
  }

  void narrow_outputs(Node& n, const std::shared_ptr<Graph>& body) {
    for (std::size_t i = 0; i < n.outputs().size(); ++i) {
      Value* v = n.output(i);
      Value* inner = body->outputs()[i];
      if (!is_wide(v) || graph_.is_output(v)) continue;
      if (inner->producer() != nullptr && keeps_fp32(inner->producer()->op_type)) continue;
      set_narrow(v);
    }
  }

  void narrow_large_constant(Node& n, std::size_t i) {
    const Value* v = n.input(i);
    if (!is_wide(v) || !v->is_constant() || v->constant().count() <= kSmallConstant ||
        !fits_half(v->constant()))
      return;
    require(n, i, narrow_);
  }

  // Input i of the node in dtype `to`, through a constant of that type or a Cast.
  void require(Node& n, std::size_t i, DType to) {
    Value* v = n.input(i);
    if (v == nullptr || v->type.dtype == to || !is_float(v->type.dtype)) return;
    Value*& converted = converted_[{v, to}];
    if (converted == nullptr) {
      ++changes_;
      converted = v->is_constant() ? convert_constant(v, to) : cast(v, to, &n);
    }
    n.set_input(i, converted);
  }

  Value* convert_constant(const Value* v, DType to) {
    const Tensor& t = v->constant();
    MutableTensor out(to, t.shape);
    const auto src = t.as<float>();
    if (to == DType::F16) {
      // Values beyond the range are clipped, as --is_weight_clip does by default.
      std::vector<float> clipped;
      const float* p = src.data();
      if (!fits_half(t)) {
        clipped.assign(src.begin(), src.end());
        for (float& f : clipped)
          if (std::isfinite(f))
            f = std::clamp(f, -static_cast<float>(kMaxHalf), static_cast<float>(kMaxHalf));
        p = clipped.data();
      }
      convert(p, out.as<Half>().data(), src.size());
    } else {
      convert(src.data(), out.as<BFloat16>().data(), src.size());
    }
    return graph_.add_constant(v->name(), std::move(out).freeze());
  }

  Value* cast(Value* v, DType to, Node* before) {
    auto body = std::make_shared<Graph>("body", &graph_);
    Value* x = body->add_input(v->name(), v->type);
    Node* c = body->add_node("Cast", {x}, 1, nullptr, {}, 13);
    c->attrs.set("to", static_cast<std::int64_t>(to));
    c->output(0)->type = v->type;
    c->output(0)->type.dtype = to;
    body->add_output(c->output(0));
    Node* fused = graph_.add_node("Fused", {v}, 1, before, "atc", 0);
    fused->attrs.set("body", body);
    fused->name = v->name() + "/cast";
    if (v->producer() != nullptr) fused->sources = v->producer()->sources;
    fused->output(0)->type = c->output(0)->type;
    return fused->output(0);
  }

  // Outputs of the model keep the types they were declared with.
  void restore_outputs() {
    for (std::size_t i = 0; i < graph_.outputs().size(); ++i) {
      Value* v = graph_.outputs()[i];
      if (!narrowed_.contains(v)) continue;
      Value* wide = cast(v, DType::F32, nullptr);
      const std::string name = v->name();
      v->set_name(name + "/narrow");
      wide->set_name(name);
      for (std::size_t k = i; k < graph_.outputs().size(); ++k)
        if (graph_.outputs()[k] == v) graph_.set_output(k, wide);
      ++changes_;
    }
  }

  Graph& graph_;
  DType narrow_;
  int changes_ = 0;
  std::set<const Value*> narrowed_;
  std::map<std::pair<const Value*, DType>, Value*> converted_;
};

StatusOr<int> run(Graph& graph, PassContext& context) {
  switch (context.options.precision) {
    case Precision::Origin:
    case Precision::Fp32:
    case Precision::AllowFp32ToFp16:
      return 0;
    case Precision::MixedBfloat16:
      return Narrower(graph, DType::BF16).run();
    case Precision::Fp16:
    case Precision::MixedFloat16:
      return Narrower(graph, DType::F16).run();
  }
  return 0;
}

}  // namespace

bool keeps_fp32(std::string_view op) {
  constexpr std::array<std::string_view, 12> kOps = {"CumSum",
                                                     "Exp",
                                                     "Log",
                                                     "Pow",
                                                     "ReduceL1",
                                                     "ReduceL2",
                                                     "ReduceLogSum",
                                                     "ReduceLogSumExp",
                                                     "ReduceProd",
                                                     "ReduceSum",
                                                     "ReduceSumSquare",
                                                     "Softplus"};
  return std::find(kOps.begin(), kOps.end(), op) != kOps.end();
}

Pass precision_pass() {
  return {"precision", "", "storage types of floating values; Casts where a task cannot convert", run};
}

}  // namespace atc::passes
