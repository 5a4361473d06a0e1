#pragma once

#include <optional>
#include <span>
#include <string>

#include "atc/ir/graph.h"
#include "passes/rewrite.h"

/// What the passes share that simplify a graph by local rules: the sweep over the nodes, and reading and
/// writing the nodes that move elements.
namespace atc::passes {

/// Rewrites what `node` computes and returns true, or leaves the graph as it is and returns false. It
/// replaces values and adds nodes; it erases none: nodes that nobody reads go after the sweep.
using Rule = bool (*)(ir::Graph& graph, ir::Node& node);

/// Tries the rules, the first that fires wins, on each node of the default domain whose shapes are static
/// and of which an output is read, in order, until a sweep changes nothing. Rules simplify: the number of
/// sweeps is bounded, and small. Returns how often a rule fired.
int apply_rules(ir::Graph& graph, std::span<const Rule> rules);

/// Reshape, Flatten, Squeeze, Unsqueeze: the same elements in the same order.
bool is_reshape(const ir::Node& node);

/// One output, each element of it made of one element of each input, wherever it stands in the tensor: no
/// parameter goes along an axis.
bool is_elementwise(const ir::Node& node);

/// Attribute `axis`, or `fallback`, as an axis of a value of this rank: a non-negative position; nullopt when
/// outside.
std::optional<std::size_t> axis_of(const ir::Node& node, std::int64_t fallback, std::size_t rank);

/// The permutation of a Transpose, the default (all axes reversed) written out.
Dims permutation_of(const ir::Node& transpose);
Dims permuted(const Dims& dims, const Dims& perm);
Dims inverse(const Dims& perm);
bool is_identity(const Dims& perm);

/// New typed nodes before `before`, which they stand for: they take its name and sources.
ir::Value* make_reshape(ir::Graph& graph, ir::Node& before, ir::Value* x, const Dims& dims);
ir::Value* make_transpose(ir::Graph& graph, ir::Node& before, ir::Value* x, const Dims& perm);

/// `with` in place of output `index` of the node; false when the model's output would lose its name, which
/// leaves the graph as it was but for what was made for it. Sources of `from` join those of `with`'s
/// producer.
bool replace_output(ir::Node& from, std::size_t index, ir::Value* with);

}  // namespace atc::passes
