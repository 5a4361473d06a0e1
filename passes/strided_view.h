#pragma once

#include <optional>

#include "atc/ir/graph.h"

/// Values that are others seen differently: what a chain of Reshape, Transpose, Slice and their kin reads, as
/// strides.
namespace atc::passes {

/// Element (i0, i1, ...) of the view is element offset + sum i_k * strides[k] of `base`, in row-major order.
struct StridedView {
  ir::Value* base = nullptr;
  std::int64_t offset = 0;
  Dims dims;
  Dims strides;  ///< 0 where the view repeats; never negative
};

/// `value` as it is.
StridedView whole_view(ir::Value* value);

/// `value` as a view of the earliest value that it can be a view of: through Reshape, Flatten, Squeeze,
/// Unsqueeze, Transpose, Slice with positive steps, Split, Gather of one constant index, Expand, Tile of axes
/// of length 1 and Concat of one value along one, Identity. Static shapes only; its own view where nothing
/// can be looked through.
StridedView trace_view(ir::Value* value);

/// The view with other dims (same number of elements); nullopt when strides cannot express it.
std::optional<StridedView> reshaped(const StridedView& view, const Dims& dims);

}  // namespace atc::passes
