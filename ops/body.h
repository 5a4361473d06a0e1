#pragma once

#include <optional>
#include <vector>

#include "ops/lower.h"
#include "ops/op.h"
#include "ops/vector_emitter.h"

namespace atc::ops {

/// A fused body: a graph of elementwise operators (and reductions along one group of axes) that becomes
/// one vector program. Body inputs are the fused node's inputs in order; body constants of one element are
/// immediate values, others are not allowed (they are inputs).
///
/// Emits the body into `program`. `inputs[i]` is the register of body input i. Returns the registers of the
/// body's outputs. A node that has no vector form is a bug of the fusion pass.
StatusOr<std::vector<int>> emit_body(const ir::Graph& body, kernels::VectorProgram& program,
                                     const std::vector<int>& inputs);

/// A body of the one node: what a lone elementwise operator is lowered through.
std::unique_ptr<ir::Graph> body_of(const ir::Node& node);

/// True when the node can stand in a fused body: it has a vector form, its dtypes fit, shapes are static.
bool is_vectorizable(const ir::Node& node);

/// Axes that the node reduces in its vector form (sorted, non-negative, neighbours), as positions in its
/// input's shape; empty for elementwise operators; nullopt when it has no vector form as it stands.
std::optional<Dims> vector_reduce_axes(const ir::Node& node);

/// How the elements of `value` (logical dims `dims`, stored in `format`) lie in the space of a fused node
/// whose storage dims are `space`: strides right-aligned to it, 0 where it is broadcast. nullopt when the
/// format does not let it (a single channel in NC1HWC0 that is spread over lanes).
std::optional<Dims> strides_in_space(const Dims& dims, ir::Format format, DType dtype, const Dims& space_dims,
                                     ir::Format space_format);

}  // namespace atc::ops
