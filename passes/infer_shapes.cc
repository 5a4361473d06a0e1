#include "passes/infer_shapes.h"

#include "passes/operator_check.h"
#include "passes/shape_inference.h"

namespace atc::passes {
namespace {

StatusOr<int> run(ir::Graph& graph, PassContext&) {
  ATC_TRY(check_operators(graph));
  ShapeInference inference(graph);
  ATC_TRY(inference.infer(graph));
  return inference.changes();
}

}  // namespace

Status infer_shapes(ir::Graph& graph) {
  PassContext context;
  return run(graph, context).status();
}

Pass infer_shapes_pass() {
  return {.name = "infer-shapes",
          .summary = "Types and shapes of all values from those of the inputs",
          .run = run};
}

}  // namespace atc::passes
