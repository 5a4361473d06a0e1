#pragma once

#include "atc/ir/graph.h"
#include "plan/plan.h"
#include "soc/chip.h"

namespace atc::plan {

/// E10013 naming the first value of static shape that alone has more bytes than the chip's Global Memory, in
/// the form in which it is stored. Cheap, so that such a model is refused before anything is tiled for it.
Status check_values_fit(const ir::Graph& graph, const soc::Chip& chip);

/// E10013 when the weights, the arena, the inputs and the outputs of a built plan exceed the chip's Global
/// Memory together. Tensors of shapes that the model's data decides are not counted.
Status check_plan_fits(const Plan& plan, const soc::Chip& chip);

}  // namespace atc::plan
