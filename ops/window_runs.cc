#include "ops/window_runs.h"

#include <algorithm>

#include "atc/base/math.h"
#include "ops/reference_util.h"

namespace atc::ops {

namespace {

/// Outputs [first, last) of an axis for which tap `k` lands inside [0, size).
std::pair<std::int64_t, std::int64_t> valid_outputs(const WindowGeometry& g, std::size_t axis, std::int64_t k,
                                                    std::int64_t size) {
  const std::int64_t stride = g.strides[axis];
  const std::int64_t shift = k * g.dilations[axis] - g.pads_begin[axis];  // position at output 0
  const std::int64_t first = shift >= 0 ? 0 : ceil_div(-shift, stride);
  const std::int64_t last = size <= shift ? 0 : std::min(g.output[axis], ceil_div(size - shift, stride));
  return {first, std::max(first, last)};
}

}  // namespace

std::vector<std::vector<TapRun>> window_runs(const WindowGeometry& g, const Dims& spatial) {
  const std::size_t rank = g.rank();
  ATC_CHECK(rank >= 1 && spatial.size() == rank, "window_runs: rank");
  const Dims in_strides = row_major_strides(spatial);
  const Dims out_strides = row_major_strides(g.output);
  const std::int64_t step = g.strides[rank - 1];
  std::vector<std::vector<TapRun>> taps;
  for (NdIndex k(g.kernel); !k.done(); k.next()) {
    std::vector<TapRun>& runs = taps.emplace_back();
    Dims first(rank);
    Dims count(rank);
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const auto [from, to] = valid_outputs(g, axis, k[axis], spatial[axis]);
      first[axis] = from;
      count[axis] = to - from;
    }
    const std::int64_t length = count[rank - 1];
    count[rank - 1] = length > 0 ? 1 : 0;
    for (NdIndex row(count); !row.done(); row.next()) {
      TapRun run{0, 0, length};
      for (std::size_t axis = 0; axis < rank; ++axis) {
        const std::int64_t o = first[axis] + row[axis];
        run.out += o * out_strides[axis];
        run.in += (o * g.strides[axis] + k[axis] * g.dilations[axis] - g.pads_begin[axis]) * in_strides[axis];
      }
      // Whole rows that follow each other (a 1x1 window of stride 1) become one run.
      if (!runs.empty() && runs.back().out + runs.back().count == run.out &&
          runs.back().in + runs.back().count * step == run.in)
        runs.back().count += run.count;
      else
        runs.push_back(run);
    }
  }
  return taps;
}

}  // namespace atc::ops
