#pragma once

#include <vector>

#include "ops/body.h"

namespace atc::ops {

// Convolutions, matrix products and windows in their fused form (domain "atc") carry an attribute
// `epilogue`: a body whose input 0 is the accumulator and whose further inputs are the node's inputs from
// `first_extra` on; the node's outputs are the body's.

/// Operands of an epilogue in task order: extra inputs, then outputs. A node of one output may store it
/// channels last (channels_last.h).
struct Epilogue {
  kernels::VectorProgram program;
  std::vector<const ir::Value*> values;
  std::vector<kernels::Operand> operands;
};

StatusOr<Epilogue> make_epilogue(LowerContext& ctx, std::size_t first_extra);

/// Outputs typed by the epilogue's own.
Status infer_epilogue(InferContext& ctx);

}  // namespace atc::ops
