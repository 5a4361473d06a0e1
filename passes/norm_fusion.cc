#include "passes/norm_fusion.h"

#include "passes/match.h"
#include "passes/norm_pattern.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

constexpr std::string_view kLayerNorm = "LayerNormONNXFusionPass", kRmsNorm = "RmsNormFusionPass",
                           kInstanceNorm = "InstanceNormFusionPass";

/// The operator that a normalization becomes.
struct Form {
  const char *op_type, *kind, *domain;
  int version;
};
constexpr Form kLayerForm = {"LayerNormalization", "LayerNorm", "", 17};
constexpr Form kRmsForm = {"RMSNormalization", "RmsNorm", "", 23};
constexpr Form kInstanceForm = {"InstanceNorm", "InstanceNorm", "atc", 0};

bool fuse(Graph& graph, Node& root, bool centred, PassContext& context) {
  const auto m = match_norm(root);
  if (!m || m->centred != centred) return false;
  const std::string_view name = m->by_channel ? kInstanceNorm : centred ? kLayerNorm : kRmsNorm;
  context.fusions.matched(FusionKind::Graph, name);
  if (m->axis < 0) return false;
  for (const Node* n : m->nodes)
    if (!has_static_shapes(*n)) return false;
  Value* scale = m->scale;
  if (scale == nullptr)
    scale = graph.add_constant(m->last->name + "/scale", scalar_tensor(m->x->type.dtype, 1));
  std::vector<Value*> inputs = {m->x, scale};
  if (m->bias != nullptr) inputs.push_back(m->bias);
  const Form& form = m->by_channel ? kInstanceForm : centred ? kLayerForm : kRmsForm;
  Node* norm = replace_nodes(graph, m->nodes, *m->last, form.op_type, std::move(inputs), form.kind,
                             form.version, form.domain);
  norm->attrs.set("axis", m->axis);
  norm->attrs.set("epsilon", static_cast<float>(m->epsilon));
  context.fusions.effected(FusionKind::Graph, name);
  return true;
}

// What a match takes away may stand behind its root, but no other root is among it.
StatusOr<int> run(Graph& graph, bool centred, PassContext& context) {
  int changes = 0;
  for (Node* n : graph.node_list())
    if ((n->is("Sqrt") || n->is("Pow")) && has_static_shapes(*n) && fuse(graph, *n, centred, context))
      ++changes;
  return changes;
}

}  // namespace

Pass layer_norm_fusion_pass() {
  return {"layer-norm-fusion", kLayerNorm, "layer normalization written out becomes the operator",
          [](Graph& graph, PassContext& context) { return run(graph, true, context); }};
}

Pass rms_norm_fusion_pass() {
  return {"rms-norm-fusion", kRmsNorm, "root mean square normalization written out becomes the operator",
          [](Graph& graph, PassContext& context) { return run(graph, false, context); }};
}

}  // namespace atc::passes
