#include "passes/dead_code.h"

namespace atc::passes {
namespace {

StatusOr<int> run(ir::Graph& graph, PassContext&) { return static_cast<int>(graph.sweep()); }

}  // namespace

Pass dead_code_pass() {
  return {.name = "dead-code", .summary = "Removes nodes and constants that no output needs", .run = run};
}

}  // namespace atc::passes
