#pragma once

#include <vector>

#include "atc/base/bytes.h"
#include "atc/ir/graph.h"
#include "plan/arena.h"
#include "plan/plan.h"
#include "soc/chip.h"

namespace atc::plan {

/// A plan and the bytes of its WEIGHTS_DATA.
struct BuiltPlan {
  Plan plan;
  std::vector<WeightPiece> weights;

  /// WEIGHTS_DATA as one block, for a plan that is run where it was built.
  Bytes weight_section() const;
};

/// Lowers every node of the graph (formats chosen, weights packed, types static) to tasks, puts them in the
/// order that needs least memory, gives each tensor its place and packs the activation arena. Constants get
/// unique names in the graph, by which the plan's Weight tensors are found. Nodes atc::Region become tasks of
/// the engine Region. The graph's last `unread` outputs are none of the plan's: they keep what makes them,
/// and lie in the arena. E10055 when an operator cannot be compiled, E10013 when the model exceeds
/// the chip's memory.
StatusOr<BuiltPlan> build_plan(ir::Graph& graph, const soc::Chip& chip, const MemoryOptions& memory = {},
                               std::size_t unread = 0);

}  // namespace atc::plan
