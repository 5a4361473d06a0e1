#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "passes/custom_nodes.h"

namespace atc::passes {

/// A subgraph as the operator that may take it sees it. models/custom_ops/README.md lists what operators of
/// which types get; it is the same for every recognised form.
struct CustomOffer {
  std::string pattern;             ///< what was recognised, for reports: "RoPE"
  ir::Node* last = nullptr;        ///< makes the result; the operator's node goes in front of it
  std::vector<ir::Node*> nodes;    ///< all that the operator stands for, in their order, `last` included
  std::vector<ir::Value*> inputs;  ///< static
  std::map<std::string, ir::Attribute> attrs;  ///< given where the operator declares them
  std::vector<std::string> needed;             ///< attributes without which it computes something else
  Dims result;                                 ///< dims of its output 0
};

bool declares(const custom::OpInfo& op, std::string_view attribute);
/// The output of this name; -1: none.
int output_of(const custom::OpInfo& op, std::string_view name);

/// Why the operator cannot take the subgraph: "it has no attribute epsilon"; empty when it can.
std::string cannot_take(const custom::OpInfo& op, const CustomOffer& offer);

/// Writes the operator's node with `outputs` outputs, typed by its library, in front of `offer.last`, and
/// notes what it took. Nothing reads it yet. Precondition: cannot_take is empty. E89999 when output 0 has
/// other dims than the subgraph's; what the library refuses.
StatusOr<ir::Node*> write_custom(ir::Graph& graph, const CustomOffer& offer, const CustomEntry& entry,
                                 std::size_t outputs, CustomTakeover& takeover);

}  // namespace atc::passes
