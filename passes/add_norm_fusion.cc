#include "passes/add_norm_fusion.h"

#include "atc/base/check.h"
#include "passes/match.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

struct Kind {
  std::string_view norm, add_norm, atc_name;
};
constexpr Kind kLayer = {"LayerNormalization", "AddLayerNorm", "AddLayerNormFusionPass"};
constexpr Kind kRms = {"RMSNormalization", "AddRmsNorm", "AddRmsNormFusionGraphPass"};

bool is_read(const Value* v) { return v != nullptr && (!v->uses().empty() || v->graph()->is_output(v)); }

bool fuse(Graph& graph, Node& n, const Kind& kind, PassContext& context) {
  Value* sum = n.input(0);
  Node* add = made_by(sum, "Add");
  if (add == nullptr || add->input(0)->is_constant() || add->input(1)->is_constant()) return false;
  context.fusions.matched(FusionKind::Graph, kind.atc_name);
  const std::size_t full = add->input(0)->type == sum->type ? 0 : 1;
  if (add->input(full)->type != sum->type || !has_static_shapes(*add)) return false;
  if (is_read(n.output(1)) || is_read(n.output(2)) || n.output(0)->type != sum->type) return false;
  std::vector<Value*> inputs = {add->input(full), add->input(1 - full), n.input(1)};
  if (n.input(2) != nullptr) inputs.push_back(n.input(2));
  const bool keeps = !is_private(sum);
  // In front of everything that reads the sum.
  Node* one = graph.add_node(std::string(kind.add_norm), std::move(inputs), keeps ? 2 : 1, &n, "atc", 0);
  const std::string base = n.name.substr(0, n.name.rfind('/'));
  one->name = (n.name.ends_with("Norm") ? base : n.name) + "/" + std::string(kind.add_norm);
  add_sources(*one, *add);
  add_sources(*one, n);
  one->attrs = n.attrs;
  one->attrs.erase("stash_type");
  one->output(0)->type = n.output(0)->type;
  replace_value(n.output(0), one->output(0));
  graph.erase(&n);
  if (keeps) {
    one->output(1)->type = sum->type;
    replace_value(sum, one->output(1));
  }
  graph.erase(add);
  context.fusions.effected(FusionKind::Graph, kind.atc_name);
  return true;
}

StatusOr<int> run(Graph& graph, const Kind& kind, PassContext& context) {
  int changes = 0;
  for (Node* n : graph.node_list())
    if (n->is(kind.norm) && has_static_shapes(*n) && fuse(graph, *n, kind, context)) ++changes;
  // Readers of a sum may stand before the normalization that gives it now.
  if (changes > 0) ATC_CHECK(graph.sort(), "a sum taken into a normalization made a cycle");
  return changes;
}

}  // namespace

Pass add_layer_norm_fusion_pass() {
  return {"add-layer-norm-fusion", kLayer.atc_name, "a layer normalization takes in the sum in front of it",
          [](Graph& graph, PassContext& context) { return run(graph, kLayer, context); }};
}

Pass add_rms_norm_fusion_pass() {
  return {"add-rms-norm-fusion", kRms.atc_name,
          "a root mean square normalization takes in the sum in front of it",
          [](Graph& graph, PassContext& context) { return run(graph, kRms, context); }};
}

}  // namespace atc::passes
