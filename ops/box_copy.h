#pragma once

#include <vector>

#include "atc/ir/graph.h"

// atc::BoxCopy: the elements of input 0 (ND) box by box, in one copy. What a chain of Slices, Concats,
// Transposes and Reshapes makes of one value: rolls along several axes, windows and back.
namespace atc::ops {

class Registry;  // ops/op.h

/// output[dst_offset + sum i_k * dst_strides[k]] = input[src_offset + sum i_k * src_strides[k]], row-major
/// elements, for each position i of `dims`. All boxes of a node write each element of its output once.
struct CopyBox {
  Dims dims;
  std::int64_t src_offset = 0;
  Dims src_strides;
  std::int64_t dst_offset = 0;
  Dims dst_strides;
};

/// Attributes of an atc::BoxCopy whose output has the dims `shape`.
void set_copy_boxes(ir::Node& node, const Dims& shape, const std::vector<CopyBox>& boxes);

/// Of the family of atc::StridedView.
void register_box_copy(Registry& registry);

}  // namespace atc::ops
