#pragma once

#include <memory>
#include <vector>

#include "atc/base/status.h"
#include "atc/ir/graph.h"
#include "kernels/task.h"
#include "passes/pass.h"
#include "plan/plan.h"
#include "runtime/tensor_io.h"
#include "soc/chip.h"

namespace atc::runtime {

/// A task of the plan with everything unpacked that its runs share.
struct PreparedTask {
  const kernels::KernelDef* kernel_def = nullptr;   ///< AiCore
  std::unique_ptr<kernels::PreparedKernel> kernel;  ///< AiCore
  std::unique_ptr<ir::Graph> graph;                 ///< AiCpu, Region
};

/// A plan whose kernels are unpacked and whose AI CPU graphs are parsed, once for all sessions and
/// simulations of it. Immutable after `prepare`.
struct PreparedPlan {
  plan::Plan plan;
  const soc::Chip* chip = nullptr;
  passes::PassOptions passes;       ///< with which regions are compiled
  std::vector<PreparedTask> tasks;  ///< parallel to plan.tasks

  std::vector<TensorSpec> input_specs() const;
  std::vector<TensorSpec> output_specs() const;
};

/// Precondition: `plan` passed plan::validate (the .om reader has seen to it). E10001 for a chip that is
/// not known, E10041 for a kernel or AI CPU graph that does not unpack.
StatusOr<std::shared_ptr<const PreparedPlan>> prepare(plan::Plan plan);

}  // namespace atc::runtime
