#include "passes/cast_fusion.h"

#include <algorithm>

#include "ops/fused_views.h"
#include "ops/reference_util.h"
#include "passes/rewrite.h"
#include "passes/rules.h"
#include "passes/strided_view.h"
#include "passes/vector_fusion.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

constexpr std::string_view kAtcName = "TbeEltwiseCastFusionPass";
// Shorter rows are moved with less effort by a copy.
constexpr std::int64_t kLeastRowBytes = 32;

// A program of one Cast, of what it reads as it stands.
bool is_cast(const Node& n) {
  if (!n.is_internal("Fused") || n.inputs().size() != 1 || n.outputs().size() != 1 || !has_static_shapes(n) ||
      ops::has_fused_views(n) || n.attrs.has("parts") || n.attrs.has("reduce_axes"))
    return false;
  const auto body = n.attrs.get_graph("body");
  return body->node_count() == 1 && body->nodes().front()->is("Cast") &&
         n.input(0)->type.dims() == n.output(0)->type.dims() && n.input(0)->type.format == ir::Format::ND;
}

std::string_view body_name(const Node& n) {
  if (n.is_internal("Fused")) return "body";
  return n.domain == "atc" && n.attrs.has("epilogue") ? "epilogue" : "";
}

// The task that makes `v` stores it in the Cast's type too.
bool store_twice(Graph& g, Node& cast) {
  const Value* v = cast.input(0);
  Node* maker = v->producer();
  if (maker == nullptr || maker->graph() != &g || body_name(*maker).empty()) return false;
  const auto body = maker->attrs.get_graph(body_name(*maker));
  const std::size_t operands = body->inputs().size() + maker->outputs().size();
  if (operands + 1 > kMaxProgramOperands || body->node_count() + 1 > kMaxProgramNodes) return false;
  const auto k = static_cast<std::size_t>(v->output_index());
  Value* inner = body->outputs()[k];
  const ir::TensorType type = cast.output(0)->type;
  Node* c = body->add_node("Cast", {inner}, 1, nullptr, {}, 13);
  c->attrs.set("to", static_cast<std::int64_t>(type.dtype));
  c->output(0)->type = inner->type;
  c->output(0)->type.dtype = type.dtype;
  body->add_output(c->output(0));
  const auto views = ops::fused_views(*maker);
  Value* stored = g.add_output_value(maker, {});
  stored->type = type;
  if (views) {
    ops::FusedViews wider = *views;
    wider.operands.push_back(wider.operands[maker->inputs().size() + k]);
    ops::set_fused_views(*maker, wider);
  }
  replace_value(cast.output(0), stored);
  g.erase(&cast);
  return true;
}

std::optional<StridedView> copied_view(Value* v) {
  const Node* n = v->producer();
  if (n == nullptr || !has_static_shapes(*n) || !is_private(v)) return std::nullopt;
  std::optional<StridedView> view;
  if (n->is_internal("StridedView"))
    view =
        StridedView{n->input(0), n->attrs.get_int("offset", 0), v->type.dims(), n->attrs.get_ints("strides")};
  else if (n->is("Transpose") || n->is("Slice"))
    view = trace_view(v);
  if (!view || view->base == v || view->base->type.format != ir::Format::ND ||
      view->base->type.dtype != v->type.dtype)
    return std::nullopt;
  return view;
}

// Bytes that lie side by side.
std::int64_t row_bytes(const StridedView& view) {
  std::int64_t run = 1;
  for (std::size_t d = view.dims.size(); d-- > 0;) {
    if (view.dims[d] == 1) continue;
    if (view.strides[d] != run) break;
    run *= view.dims[d];
  }
  return run * bit_width(view.base->type.dtype) / 8;
}

bool walk_view(Node& cast) {
  const auto view = copied_view(cast.input(0));
  if (!view || view->dims.empty() || row_bytes(*view) < kLeastRowBytes) return false;
  add_sources(cast, *cast.input(0)->producer());
  cast.set_input(0, view->base);
  ops::set_fused_views(
      cast, {view->dims, {{view->offset, view->strides}, {0, ops::row_major_strides(view->dims)}}});
  return true;
}

StatusOr<int> run(Graph& graph, PassContext& context) {
  int changes = 0;
  for (Node* n : graph.node_list()) {
    if (!is_cast(*n)) continue;
    context.fusions.matched(FusionKind::Ub, kAtcName);
    if (!store_twice(graph, *n) && !walk_view(*n)) continue;
    context.fusions.effected(FusionKind::Ub, kAtcName);
    ++changes;
  }
  if (changes > 0) graph.sweep();
  return changes;
}

}  // namespace

Pass cast_fusion_pass() {
  return {"cast-fusion", kAtcName, "Casts go into the task that makes what they read", run};
}

}  // namespace atc::passes
