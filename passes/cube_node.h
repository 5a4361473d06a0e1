#pragma once

#include <string>
#include <vector>

#include "atc/ir/graph.h"
#include "ops/window_geometry.h"

/// Making the nodes of domain atc that carry an epilogue.
namespace atc::passes {

/// Replaces `n` by an internal node of the same output whose epilogue is acc, or acc + bias (an input of the
/// new node, after those in `inputs` that are its operands). `n` stays, unused. The epilogue has no enclosing
/// graph yet: the caller holds DetachedBodies.
ir::Node* replace_by_cube_node(ir::Graph& g, ir::Node& n, const std::string& type,
                               std::vector<ir::Value*> inputs, const ir::Value* bias);

/// Attributes pads, strides and dilations.
void set_geometry(ir::Node& r, const ops::WindowGeometry& w);

/// Channel parameters [C] as [1, C, 1, ...], which broadcasts against N,C,spatial.
ir::Value* channel_constant(ir::Graph& g, const ir::Value* v, std::size_t rank);

/// Multiply-accumulates of a convolution with this output and weight.
std::int64_t macs_of(const Dims& out, const Dims& weight, std::int64_t in_channels_per_group);

}  // namespace atc::passes
