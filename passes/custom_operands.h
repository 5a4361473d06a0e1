#pragma once

#include <map>
#include <string>
#include <utility>

#include "passes/custom_offer.h"
#include "passes/node_writer.h"
#include "passes/strided_view.h"

namespace atc::passes {

/// True when `dims` broadcast to `of`, whose last axis they cover with `width` elements.
bool spans(const Dims& dims, const Dims& of, std::int64_t width);

/// Brings operands of recognised subgraphs into the form in which operators take them. Nodes are written in
/// front of `n`.
class CustomOperands {
 public:
  explicit CustomOperands(ir::Graph& graph) : graph_(graph) {}

  /// The value of these dims of which `low`, seen as `view`, is the low half (or the even elements) of the
  /// last axis: among what `low` is made of, reshaped where it must be. Null: there is none.
  ir::Value* whole(ir::Node& n, ir::Value* low, const StridedView& view, bool interleaved, const Dims& dims);
  /// Both parts beside each other in the last axis, or element by element.
  ir::Value* join(ir::Node& n, ir::Value* low, ir::Value* high, bool interleaved, const std::string& suffix);
  /// A table of half a head's width for both parts. A table is written once, so that the graph must be
  /// sorted when the nodes that read it are visited from the last one on.
  ir::Value* twice(ir::Node& n, ir::Value* table, bool interleaved);

 private:
  ir::Graph& graph_;
  std::map<std::pair<int, bool>, ir::Value*> tables_;  // by the id of the half
};

}  // namespace atc::passes
