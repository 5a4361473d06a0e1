#include "passes/fractal_layout.h"

#include <algorithm>

#include "ops/in_place.h"
#include "passes/fractal_choice.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Format;
using ir::Graph;
using ir::Node;
using ir::Value;

// x -> atc.Attention -> v: [B,S,H,D] -> Reshape -> [B,S,H*D]: what the attention writes has the rows that
// products read. It walks its result by strides, whatever the shape.
int show_attention_rows(Graph& graph) {
  int changes = 0;
  for (Node* n : graph.node_list()) {
    if (!n->is_internal("Attention") || !is_private(n->output(0))) continue;
    Value* v = n->output(0);
    Node& reader = *v->uses().front().node;
    Value* shown = reader.outputs().size() == 1 ? reader.output(0) : v;
    if (reader.graph() != &graph || v->type.format != Format::ND || shown == v ||
        ops::shown_value(shown) != v || !has_static_shapes(reader) || !can_replace(shown, v))
      continue;
    n->attrs.set("shape", shown->type.dims());
    add_sources(*n, reader);
    v->type = shown->type;
    replace_value(shown, v);
    graph.erase(&reader);
    ++changes;
  }
  return changes;
}

// The epilogue of a product of dims `to` instead of `from`; null when it holds anything but such tensors and
// what is the same for all rows.
std::shared_ptr<Graph> reshaped_epilogue(const Graph& epilogue, const Dims& from, const Dims& to) {
  std::shared_ptr<Graph> out = epilogue.clone();
  for (Value* v : out->values()) {
    if (!v->type.is_static()) return nullptr;
    const Dims d = v->type.dims();
    if (d == from && !v->is_constant())
      v->type.shape = ir::to_shape(to);
    else if (d.size() > to.size() || element_count(d) != (d.empty() ? 1 : d.back()))
      return nullptr;
  }
  return out;
}

bool reads_by_strides(const ir::Value::Use& use, const Graph& graph) {
  return use.node->graph() == &graph && use.node->is_internal("Attention");
}

// x: [B,S,K] -> Reshape -> [S,B,K] -> atc.MatMul {matrix} -> atc.Attention: the product takes x as it is. All
// rows are multiplied by one matrix, and the attention walks what they give by strides, whatever the shape.
int show_product_rows(Graph& graph) {
  int changes = 0;
  for (Node* n : graph.node_list()) {
    if (!n->is_internal("MatMul") || !n->attrs.has("epilogue") || n->attrs.get_int("trans_a", 0) != 0 ||
        !has_static_shapes(*n) || n->outputs().size() != 1)
      continue;
    Value *r = n->input(0), *x = ops::shown_value(r), *y = n->output(0);
    const Value& b = *n->input(1);
    const bool one_matrix = b.type.format == Format::FRACTAL_Z || b.type.dims().size() == 2;
    if (x == r || x->type.format != Format::ND || x->type.dims().size() < 2 ||
        x->type.dtype != r->type.dtype || x->type.dims().back() != r->type.dims().back() || !one_matrix ||
        y->type.format != Format::ND || graph.is_output(y) || y->uses().empty() ||
        !std::ranges::all_of(y->uses(), [&](const auto& use) { return reads_by_strides(use, graph); }))
      continue;
    Dims dims = x->type.dims();
    // Rows of each matrix are padded: long ones are better.
    if (dims[dims.size() - 2] < r->type.dims()[r->type.dims().size() - 2]) continue;
    dims.back() = y->type.dims().back();
    std::shared_ptr<Graph> epilogue =
        reshaped_epilogue(*n->attrs.get_graph("epilogue"), y->type.dims(), dims);
    if (epilogue == nullptr) continue;
    epilogue->set_parent(&graph);
    n->attrs.set("epilogue", std::move(epilogue));
    if (r->producer() != nullptr) add_sources(*n, *r->producer());
    n->set_input(0, x);
    while (r != x && r->uses().empty() && !graph.is_output(r)) {
      Node* view = r->producer();
      r = view->input(0);
      graph.erase(view);
    }
    y->type.shape = ir::to_shape(dims);
    ++changes;
  }
  return changes;
}

int set_fractals(Graph& graph, const soc::Chip& chip) {
  const int shown = show_attention_rows(graph) + show_product_rows(graph);
  const std::set<const Value*> fractals = fractal_values(graph, chip);
  for (const auto& n : graph.nodes())
    for (Value* v : n->outputs())
      if (fractals.contains(v)) v->type.format = Format::FRACTAL_NZ;
  return shown + static_cast<int>(fractals.size());
}

StatusOr<int> run(Graph& graph, PassContext& context) {
  if (context.options.chip == nullptr) return 0;
  return set_fractals(graph, *context.options.chip);
}

}  // namespace

Pass fractal_layout_pass() {
  return {"fractal-layout", "",
          "activations of matrix products in FRACTAL_NZ where the chip moves them better", run};
}

}  // namespace atc::passes
