#pragma once

#include "atc/ir/graph.h"

namespace atc::ops {

/// Attribute `channels_last` of atc::Fused, windows, convolutions and TransData from blocks, of one output:
/// its elements are stored as [N][spatial...][C], in ND and under the shape that the attribute names. The
/// node's body (of TransData: its input) has the output in [N, C, spatial...].
bool stores_channels_last(const ir::Node& node);
void set_channels_last(ir::Node& node, const Dims& shape);
/// The attribute.
Dims channels_last_shape(const ir::Node& node);

/// Strides of axes N, C and spatial ones of a tensor of `dims` that is stored channels last.
Dims channels_last_strides(const Dims& dims);

/// Dims of output `i` of a node with `body`: those of the body's output, however the node stores it.
Dims output_dims(const ir::Graph& body, std::size_t i);

}  // namespace atc::ops
