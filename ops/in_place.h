#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "atc/ir/graph.h"

// Parts of a tensor that are kept inside it: the inputs of a Concat where its output is, the outputs of Split
// and Slice where their input is. Such parts are not copied. A part is one stretch of the whole or, where the
// batch has several items, one stretch of each (a strided part).
namespace atc::ops {

/// Where the parts (inputs of Concat, outputs of Split or Slice) lie in the whole's storage, in bytes.
/// nullopt when the whole's format has no such parts, for slices that are not one stretch, and for other
/// nodes. All types are static.
std::optional<std::vector<std::int64_t>> part_offsets(const ir::Node& node);

/// Parts that are kept in the whole: attribute `in_place` of the node, sorted.
void set_in_place(ir::Node& node, const Dims& parts);
Dims in_place(const ir::Node& node);
inline bool is_in_place(const Dims& parts, std::size_t part) {
  return std::binary_search(parts.begin(), parts.end(), static_cast<std::int64_t>(part));
}

/// The strides by which a value's storage is walked: those of the whole that it is kept in, else row-major.
Dims storage_strides(const ir::Value* value);

/// Elements in `count` stretches of `elements` each, from the start of one to the next `stride`.
struct Stretches {
  std::int64_t count = 1, elements = 0, stride = 0;
};
/// A part of `dims` that is walked by `strides`: one stretch, or one for each item of the first axis. nullopt
/// for what is neither.
std::optional<Stretches> stretches(const Dims& dims, const Dims& strides);

/// Whether a value may lie in a whole that is walked by `strides`: it is one stretch, or whoever writes and
/// reads it, and what is kept in it, walks it by strides.
bool may_lie(const ir::Value& value, const Dims& strides);

/// Concat of ONNX, and atc::Concat, which may read its inputs in part.
inline bool is_concat(const ir::Node& node) { return node.is("Concat") || node.is_internal("Concat"); }

/// The value whose bytes `value` shows under another shape: through Reshape and its kin.
ir::Value* shown_value(ir::Value* value);

}  // namespace atc::ops
