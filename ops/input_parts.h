#pragma once

#include <map>

#include "atc/ir/graph.h"

namespace atc::ops {

/// What a node reads of an input's row-major elements instead of all of them: element (i0, i1, ...) is
/// element first + sum_d i_d * strides[d].
struct InputPart {
  Dims dims, strides;
  std::int64_t first = 0;
};

/// Attribute `parts` of atc::Fused and atc::Concat: for each input that is read in part its number, its rank,
/// the first element, then dims and strides. Throws InternalError when the list is incomplete.
std::map<std::size_t, InputPart> input_parts(const ir::Node& node);
void set_input_parts(ir::Node& node, const std::map<std::size_t, InputPart>& parts);

}  // namespace atc::ops
