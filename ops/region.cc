#include "ops/families.h"
#include "ops/op.h"

// atc::Region: a part of the model whose shapes the runtime learns, or that is control flow. Its inputs and
// outputs are those of the body, which is compiled when it runs.
namespace atc::ops {
namespace {

Status infer_region(InferContext& ctx) {
  const auto body = ctx.node().attrs.get_graph("body");
  if (body->inputs().size() != ctx.input_count() || body->outputs().size() != ctx.node().outputs().size())
    return ctx.error("has a body of other inputs and outputs");
  for (std::size_t i = 0; i < body->outputs().size(); ++i)
    ctx.set_output(i, body->outputs()[i]->type.dtype, body->outputs()[i]->type.shape);
  return {};
}

}  // namespace

void register_region(Registry& registry) {
  registry.add({.name = "Region",
                .domain = "atc",
                .since = 0,
                .attrs = {{"body", AttrKind::Graph, true, 0}},
                .inputs = {0, INT_MAX},
                .outputs = {1, INT_MAX},
                .infer = infer_region});
}

}  // namespace atc::ops
