#include "kernels/cube_conv_patch.h"

#include <algorithm>

namespace atc::kernels {
namespace {

/// Rows of the kernel, from the first to the last that is not zero.
std::int64_t reach_of(std::span<const ConvTap> taps, std::size_t axis) {
  const auto [low, high] =
      std::minmax_element(taps.begin(), taps.end(),
                          [&](const ConvTap& a, const ConvTap& b) { return a.shift[axis] < b.shift[axis]; });
  return high->shift[axis] - low->shift[axis] + 1;
}

// Pixels of one C1 block that `pixels` consecutive pixels of a phase need at most.
std::int64_t patch_of(const ConvSpec& s, const ConvPhase& p, std::int64_t pixels, std::int64_t step) {
  const std::int64_t plane = p.count[1] * p.count[2];
  const std::int64_t rows = std::max<std::int64_t>(
      1, pixels >= plane ? p.count[1] : std::min(p.count[1], (pixels - 2) / p.count[2] + 2));
  const std::int64_t needed = (rows - 1) * (s.in_stride[1] / step) + reach_of(p.taps, 1);
  return std::min(needed, s.in[1]) * s.in[2];
}

// The same for consecutive pixels of one output row, of which only the columns that `taps` need are loaded.
std::int64_t row_patch_of(const ConvSpec& s, const ConvPhase& p, std::span<const ConvTap> taps,
                          std::int64_t pixels) {
  std::int64_t elements = 1;
  for (const std::size_t axis : {1U, 2U}) {
    const std::int64_t steps = axis == 1 ? 0 : std::min(pixels, p.count[2]) - 1;
    elements *= std::min(steps * s.in_stride[axis] + reach_of(taps, axis), s.in[axis]);
  }
  return elements;
}

// The largest patch of any part of the taps, `span` of one depth at a time.
std::int64_t part_patch_of(const ConvSpec& s, const ConvPhase& p, std::int64_t pixels, std::int64_t span) {
  std::int64_t most = 0;
  for (std::span<const ConvTap> rest = p.taps; !rest.empty();) {
    std::size_t n = taps_within(rest, span);
    while (rest[n - 1].shift[0] != rest[0].shift[0]) --n;
    most = std::max(most, row_patch_of(s, p, rest.first(n), pixels));
    rest = rest.subspan(n);
  }
  return most;
}

}  // namespace

std::int64_t row_step(const ConvSpec& s, int images) {
  if (images > 1) return 1;
  for (const ConvPhase& p : s.phases)
    if (reach_of(p.taps, 1) > 1) return 1;
  return s.in_stride[1];
}

std::int64_t mean_patch(const ConvSpec& s, std::int64_t pixels, std::int64_t step) {
  const ConvPhase& p = s.phases.front();
  const std::int64_t width = p.count[2], plane = p.count[1] * width;
  const auto [low, high] =
      std::minmax_element(p.taps.begin(), p.taps.end(),
                          [](const ConvTap& a, const ConvTap& b) { return a.shift[1] < b.shift[1]; });
  std::int64_t rows = 0, tiles = 0;
  for (std::int64_t first = 0; first < plane; first += pixels, ++tiles) {
    const std::int64_t last = std::min(first + pixels, plane) - 1;
    const std::int64_t top = first / width * s.in_stride[1] + low->shift[1];
    const std::int64_t bottom = last / width * s.in_stride[1] + high->shift[1];
    rows += std::max<std::int64_t>(
        1, (std::min(bottom, s.in[1] - 1) - std::max<std::int64_t>(top, 0)) / step + 1);
  }
  return ceil_div(rows * s.in[2], tiles);
}

std::int64_t largest_patch(const ConvTiling& t, int e) {
  std::int64_t most = 0;
  for (const ConvPhase& p : t.spec.phases)
    most =
        std::max(most, t.tap_patches ? part_patch_of(t.spec, p, t.tile.m, t.tap_span)
                       : t.part_rows ? row_patch_of(t.spec, p, p.taps, t.tile.m)
                                     : patch_of(t.spec, p, t.tile.m, row_step(t.spec, t.images)) * t.images);
  return most * (fractal_row_bytes(e) / e / t.spec.taps_in_fractal);
}

}  // namespace atc::kernels
