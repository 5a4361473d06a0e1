#include "passes/channels_last.h"

#include <algorithm>
#include <set>

#include "ops/channels_last.h"
#include "ops/fused_views.h"
#include "passes/format_choice.h"
#include "passes/rewrite.h"
#include "passes/strided_view.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

// Longer chains of views do not come out of the simplifying passes.
constexpr int kLongestChain = 8;

bool has_blocks(const Value* v) { return ir::has_channel_blocks(v->type.format); }

bool can_store(const Node& n) {
  if (n.outputs().size() != 1 || !has_static_shapes(n) || ops::stores_channels_last(n)) return false;
  const Value* out = n.output(0);
  if (out->type.format != ir::Format::ND || out->type.shape->size() < 3 || out->type.shape->size() > 5)
    return false;
  if (works_on_blocks(n)) return true;
  if (n.is_internal("TransData")) return has_blocks(n.input(0));
  return mixes_formats(n) && !n.attrs.has("reduce_axes") && std::ranges::any_of(n.inputs(), has_blocks);
}

// Whether the view has all elements of its base, of `dims` [N, C, spatial...], as [N][spatial...][C].
bool is_channels_last(const StridedView& view, const Dims& dims) {
  const std::int64_t plane = element_count(Dims(dims.begin() + 2, dims.end()));
  if (dims[1] == 1 || plane == 1 || view.offset != 0) return false;
  const auto joined = reshaped(view, {dims[0], plane, dims[1]});
  return joined && joined->strides[1] == 1 && joined->strides[2] == plane &&
         (dims[0] == 1 || joined->strides[0] == plane * dims[1]);
}

// The value that shows `v` channels last, at the end of a chain of views that nothing else reads.
Value* shown_channels_last(const Graph& g, Value* v) {
  Value* at = v;
  for (int i = 0; i < kLongestChain && is_private(at); ++i) {
    const Value::Use use = at->uses().front();
    if (use.node->graph() != &g || use.index != 0 || use.node->outputs().size() != 1 ||
        !has_static_shapes(*use.node))
      return nullptr;
    at = use.node->output(0);
    const StridedView view = trace_view(at);
    if (view.base != v) return nullptr;
    if (is_channels_last(view, v->type.dims())) return at;
  }
  return nullptr;
}

StatusOr<int> run(Graph& graph, PassContext&) {
  int changes = 0;
  std::set<const Node*> erased;  // the snapshot still has them
  for (Node* n : graph.node_list()) {
    if (erased.contains(n) || !can_store(*n)) continue;
    Value* stored = n->output(0);
    Value* shown = shown_channels_last(graph, stored);
    if (shown == nullptr || shown->type.format != ir::Format::ND || shown->type.dtype != stored->type.dtype ||
        !can_replace(shown, stored))
      continue;
    std::vector<Node*> chain;
    for (Value* v = shown; v != stored; v = v->producer()->input(0)) chain.push_back(v->producer());
    for (const Node* view : chain) add_sources(*n, *view);
    const Dims shape = shown->type.dims();
    replace_value(shown, stored);
    for (Node* view : chain) {
      erased.insert(view);
      graph.erase(view);
    }
    ops::set_channels_last(*n, shape);
    stored->type = ir::tensor_type(stored->type.dtype, shape);
    ++changes;
  }
  return changes;
}

}  // namespace

Pass channels_last_pass() {
  return {"channels-last", "", "convolutions, windows and programs store the Transpose behind them", run};
}

}  // namespace atc::passes
