#pragma once

#include <vector>

#include "ops/window_geometry.h"

namespace atc::ops {

/// Outputs [out, out + count) of one plane whose window tap reads in, in + step, ... of the input plane;
/// `step` is the stride of the last axis. Offsets are row-major within one channel's spatial plane.
struct TapRun {
  std::int64_t out = 0;
  std::int64_t in = 0;
  std::int64_t count = 0;
};

/// For each tap of the window (row-major over the kernel) the runs in which it meets real data, not
/// padding, in ascending order. The loops of convolution and pooling references are walks over these.
/// For a transposed convolution call it with `geometry.output` = input size and `spatial` = output size:
/// the roles of `out` and `in` are then exchanged.
/// Precondition: everything in `geometry` and `spatial` is known.
std::vector<std::vector<TapRun>> window_runs(const WindowGeometry& geometry, const Dims& spatial);

}  // namespace atc::ops
