#pragma once

#include "atc/ir/graph.h"
#include "driver/options.h"

namespace atc::driver {

/// --out_nodes: the graph's outputs become the named ones, in the option's order: "node:index" by the source
/// node's name, or the name of a graph output or of any tensor. E11017 a node that the model has not, E10016
/// an output that it has not; both list near names.
Status select_outputs(ir::Graph& graph, const std::vector<OutNode>& out_nodes);

/// --input_fp16_nodes: the named inputs are fp16 at the device. E10016 no such input, E10001 not a float.
Status narrow_inputs(ir::Graph& graph, const std::vector<std::string>& names);

/// --output_type: outputs are cast to the given types. Entries that name a node need --out_nodes.
Status cast_outputs(ir::Graph& graph, const std::vector<OutputType>& types,
                    const std::vector<OutNode>& out_nodes);

}  // namespace atc::driver
