#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "atc/ir/graph.h"

// Parts of a tensor that are kept inside it: the inputs of a Concat where its output is, the outputs of Split
// and Slice where their input is. Such parts are not copied.
namespace atc::ops {

/// Where the parts (inputs of Concat, outputs of Split or Slice) lie in the whole's storage, in bytes.
/// nullopt when a part's elements are not one stretch there, and for other nodes. All types are static.
std::optional<std::vector<std::int64_t>> part_offsets(const ir::Node& node);

/// Parts that are kept in the whole: attribute `in_place` of the node, sorted.
void set_in_place(ir::Node& node, const Dims& parts);
Dims in_place(const ir::Node& node);
inline bool is_in_place(const Dims& parts, std::size_t part) {
  return std::binary_search(parts.begin(), parts.end(), static_cast<std::int64_t>(part));
}

/// Concat of ONNX, and atc::Concat, which may read its inputs in part.
inline bool is_concat(const ir::Node& node) { return node.is("Concat") || node.is_internal("Concat"); }

/// The value whose bytes `value` shows under another shape: through Reshape and its kin.
ir::Value* shown_value(ir::Value* value);

}  // namespace atc::ops
