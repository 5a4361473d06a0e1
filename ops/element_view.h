#pragma once

#include <optional>

#include "atc/ir/graph.h"

namespace atc::ops {

/// What a value shows of another one's row-major elements: its element (i0, i1, ...) is element
/// first + sum_d i_d * strides[d] of input 0 of the value's producer.
struct ElementView {
  Dims strides;
  std::int64_t first = 0;
};

/// The view that an output of Slice (parameters constant) or Split is of its input. All types static. nullopt
/// for other values.
std::optional<ElementView> element_view(const ir::Value& value);

/// Slice's part of element_view.
std::optional<ElementView> slice_element_view(const ir::Node& slice);

}  // namespace atc::ops
