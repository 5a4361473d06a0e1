#pragma once

#include "atc/ir/graph.h"

/// Pools written as windows and reductions that the AI Core has. Each function returns false, and changes
/// nothing, when the node is not one of its operator or not of its form.
namespace atc::passes {

/// AveragePool and MaxPool of one window over the whole plane, without padding, are ReduceMean and ReduceMax
/// over the spatial axes, as GlobalAveragePool and GlobalMaxPool are: what fuses behind one fuses behind all.
/// Floating data; not MaxPool with Indices in use.
bool expand_whole_pool(ir::Graph& graph, ir::Node& node);

/// LpPool = (sum of |x|^p over a window)^(1/p): the sum is an average over data and padding times the number
/// of taps, for padding is zero and its power too. Data of f32, f16, bf16 over 1 to 3 spatial axes.
bool expand_lp_pool(ir::Graph& graph, ir::Node& node);

/// GlobalLpPool: ReduceL1, ReduceL2, or powers, a sum and a root.
bool expand_global_lp_pool(ir::Graph& graph, ir::Node& node);

/// MaxPool of 8-bit integers: in f32, which holds them all, and back. Not with Indices in use.
bool expand_integer_max_pool(ir::Graph& graph, ir::Node& node);

/// MaxPool with Indices in use: each tap of the window is a strided part of the padded data, compared with
/// the greatest so far, in one vector program with its position. Data of f32, f16, bf16, up to 49 taps.
bool expand_indexed_max_pool(ir::Graph& graph, ir::Node& node);

}  // namespace atc::passes
