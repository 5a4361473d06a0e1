#include "runtime/region_split.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_set>

#include "ops/op.h"
#include "passes/extract.h"
#include "passes/pass_manager.h"
#include "passes/pipeline.h"
#include "passes/shape_inference.h"

namespace atc::runtime {
namespace {

using ir::Node;
using ir::Value;

/// Elements that decide a shape are few; a longer tensor is data.
constexpr std::int64_t kMaxElements = 1024;
/// Sizes and positions are integers; scales (Resize) and bounds (Range) may be floats.
constexpr std::int64_t kMaxFloats = 16;
constexpr std::size_t kMaxConeNodes = 256;

bool is_static(const Value* v) { return v == nullptr || v->type.is_static(); }

bool all_static(std::span<Value* const> values) {
  return std::all_of(values.begin(), values.end(), [](const Value* v) { return is_static(v); });
}

bool may_decide_shape(const Value& v) {
  if (!v.type.is_static()) return false;
  const std::int64_t count = element_count(v.type.dims());
  return is_integer(v.type.dtype) ? count <= kMaxElements : is_float(v.type.dtype) && count <= kMaxFloats;
}

// The caller's bytes may be memory that the next task reuses.
Tensor copy_of(const Tensor& t) { return {t.dtype, t.shape, Bytes::copy_of(t.data.span()), t.strings}; }

class Splitter {
 public:
  Splitter(const ir::Graph& graph, const std::vector<Tensor>& inputs) : inputs_(inputs) {
    out_.graph = graph.clone();
    for (std::size_t i = 0; i < inputs.size(); ++i)
      out_.graph->inputs()[i]->type = ir::tensor_type(inputs[i].dtype, inputs[i].shape);
  }

  StatusOr<RegionSplit> run() {
    bool more = true;
    while (more) {
      passes::PassManager manager(passes::canonical_passes());
      passes::PassContext context;
      ATC_TRY(manager.run(*out_.graph, context));
      ATC_ASSIGN(more, bind_more());
    }
    divide();
    return std::move(out_);
  }

 private:
  // Nodes whose outputs are open although their inputs are not, with the values that might close them.
  StatusOr<bool> bind_more() {
    waiting_.clear();
    passes::ShapeInference inference(*out_.graph);
    std::set<std::size_t> leaves;
    for (const auto& n : out_.graph->nodes()) {
      ATC_TRY(inference.infer(*n));
      const bool open = !all_static(n->outputs()) && all_static(n->inputs()) && ir::subgraphs(*n).empty();
      if (!open) continue;
      for (std::size_t i = 0; i < n->inputs().size(); ++i) {
        const Value* v = n->input(i);
        if (v == nullptr || v->is_constant() || !inference.consulted()[i] || !may_decide_shape(*v)) continue;
        std::set<std::size_t> cone;
        std::unordered_set<const Node*> seen;
        if (inputs_below(v, cone, seen))
          leaves.insert(cone.begin(), cone.end());
        else
          waiting_.insert(n.get());
      }
    }
    for (const std::size_t i : leaves) {
      Value* input = out_.graph->inputs()[i];
      out_.graph->replace_uses(input, out_.graph->add_constant(input->name(), copy_of(inputs_[i])));
      out_.bound.push_back(i);
    }
    return !leaves.empty();
  }

  // The inputs of the graph that `v` is computed from; false when they are not small, or not all static.
  bool inputs_below(const Value* v, std::set<std::size_t>& found,
                    std::unordered_set<const Node*>& seen) const {
    if (v == nullptr || v->is_constant()) return true;
    const Node* n = v->producer();
    if (n == nullptr) {
      if (!may_decide_shape(*v)) return false;
      const auto inputs = out_.graph->inputs();
      found.insert(static_cast<std::size_t>(std::find(inputs.begin(), inputs.end(), v) - inputs.begin()));
      return true;
    }
    if (!seen.insert(n).second) return true;
    const ops::OpDef* def = ops::Registry::instance().find(*n);
    if (seen.size() > kMaxConeNodes || def == nullptr || !def->foldable || !ir::subgraphs(*n).empty() ||
        !all_static(n->outputs()))
      return false;
    return std::all_of(n->inputs().begin(), n->inputs().end(),
                       [&](const Value* in) { return inputs_below(in, found, seen); });
  }

  void divide() {
    std::unordered_set<const Value*> available(out_.graph->inputs().begin(), out_.graph->inputs().end());
    const auto has = [&](const Value* v) {
      return v == nullptr || v->is_constant() || available.contains(v);
    };
    for (const auto& n : out_.graph->nodes()) {
      bool ready = std::all_of(n->inputs().begin(), n->inputs().end(), has);
      for (const auto& body : ir::subgraphs(*n)) {
        const std::vector<Value*> outer = passes::outer_values(*body);
        ready = ready && std::all_of(outer.begin(), outer.end(), has);
      }
      if (!ready || waiting_.contains(n.get())) {
        out_.remaining.push_back(n.get());
      } else if (is_fixed(*n)) {
        out_.fixed.push_back(n.get());
        available.insert(n->outputs().begin(), n->outputs().end());
      } else {
        out_.evaluated.push_back(n.get());
      }
    }
  }

  static bool is_fixed(const Node& n) {
    const auto is_text = [](const Value* v) { return v != nullptr && v->type.dtype == DType::String; };
    return ir::subgraphs(n).empty() && all_static(n.inputs()) && all_static(n.outputs()) &&
           std::none_of(n.inputs().begin(), n.inputs().end(), is_text) &&
           std::none_of(n.outputs().begin(), n.outputs().end(), is_text);
  }

  const std::vector<Tensor>& inputs_;
  RegionSplit out_;
  std::unordered_set<const Node*> waiting_;  // for values of this stage that decide their shapes
};

}  // namespace

StatusOr<RegionSplit> split_region(const ir::Graph& graph, const std::vector<Tensor>& inputs) {
  return Splitter(graph, inputs).run();
}

}  // namespace atc::runtime
