#pragma once

#include <cstdint>
#include <string>

#include "atc/base/status.h"
#include "atc/ir/graph.h"
#include "plan/plan.h"

namespace atc::om {

/// Bytes of the other sections, which MODEL_DEF repeats in its attribute om_info_list.
struct SectionBytes {
  std::uint64_t weights = 0;
  std::uint64_t kernels = 0;
  std::uint64_t task_info = 0;
};

/// Section MODEL_DEF: the compiled graph as ge.proto.ModelDef, for viewers and reports (the plan does
/// not depend on it). One Data for each graph input, one Const for each constant that a node or a graph
/// output uses, one operation for each node in execution order, one NetOutput. A constant refers to the
/// plan's weight tensor of the same name; one that the plan does not have is written inline up to
/// 1 MiB. E13023 beyond 2 GiB.
StatusOr<std::string> encode_model_def(const ir::Graph& graph, const plan::Plan& plan,
                                       const SectionBytes& sections);

}  // namespace atc::om
