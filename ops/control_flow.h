#pragma once

#include <optional>
#include <vector>

#include "ops/op.h"

namespace atc::ops {

/// Infers the body of a loop until the types of its state are those it has in every iteration: dims that
/// change from one to the next are unknown, and a rank that changes is too. `state` are the body's inputs,
/// `next` the outputs that replace them, `types` the state's types before the first iteration.
StatusOr<std::vector<ir::TensorType>> infer_carried(InferContext& ctx, ir::Graph& body,
                                                    const std::vector<ir::Value*>& state,
                                                    const std::vector<ir::Value*>& next,
                                                    std::vector<ir::TensorType> types);

/// The parts, of one type, along a new axis; `type` tells that of the parts when there are none (dims not
/// known are 0). nullopt when their types differ or the axis is outside the rank.
std::optional<Tensor> stack(const std::vector<Tensor>& parts, const ir::TensorType& type, std::int64_t axis);

}  // namespace atc::ops
