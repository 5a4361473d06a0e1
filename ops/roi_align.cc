#include "ops/roi_align.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace atc::ops {
namespace {

/// Bilinear neighbours of a sample along one axis; no weight outside [-1, size].
struct AxisSample {
  std::int64_t low = 0;
  std::int64_t high = 0;
  double low_weight = 0;
  double high_weight = 0;
};
AxisSample sample_axis(double at, std::int64_t size) {
  AxisSample s;
  if (!(at >= -1 && at <= static_cast<double>(size))) return s;
  at = std::max(at, 0.0);
  s.low = std::min(static_cast<std::int64_t>(at), size - 1);
  s.high = std::min(s.low + 1, size - 1);
  s.high_weight = s.high == s.low ? 0 : at - static_cast<double>(s.low);
  s.low_weight = 1 - s.high_weight;
  return s;
}

/// The samples of one axis of a region: `bins` bins of equally spaced points.
std::vector<std::vector<AxisSample>> sample_bins(double begin, double end, std::int64_t bins,
                                                 std::int64_t size, const RoiAlignOptions& o) {
  const double offset = o.half_pixel ? 0.5 : 0.0;
  const double start = begin * o.spatial_scale - offset;
  double length = end * o.spatial_scale - offset - start;
  if (!o.half_pixel) length = std::max(length, 1.0);
  const double bin = length / static_cast<double>(bins);
  // More samples than pixels add nothing; the bound keeps a wild region finite.
  const double wanted = std::clamp(std::ceil(bin), 0.0, static_cast<double>(size) * 16);
  const auto samples = o.sampling_ratio > 0 ? o.sampling_ratio : static_cast<std::int64_t>(wanted);
  std::vector<std::vector<AxisSample>> out(static_cast<std::size_t>(bins));
  for (std::int64_t b = 0; b < bins; ++b)
    for (std::int64_t s = 0; s < samples; ++s)
      out[static_cast<std::size_t>(b)].push_back(
          sample_axis(start + static_cast<double>(b) * bin +
                          (static_cast<double>(s) + 0.5) * bin / static_cast<double>(samples),
                      size));
  return out;
}

/// The average, or the largest of the weighted neighbours, of one bin's samples (the standard's own
/// evaluation takes the maximum before the four neighbours are added up).
double pool_bin(const double* plane, std::int64_t width, const std::vector<AxisSample>& rows,
                const std::vector<AxisSample>& columns, bool takes_max) {
  double sum = 0;
  double largest = -std::numeric_limits<double>::infinity();
  for (const AxisSample& r : rows)
    for (const AxisSample& c : columns) {
      const double corners[] = {plane[r.low * width + c.low] * r.low_weight * c.low_weight,
                                plane[r.low * width + c.high] * r.low_weight * c.high_weight,
                                plane[r.high * width + c.low] * r.high_weight * c.low_weight,
                                plane[r.high * width + c.high] * r.high_weight * c.high_weight};
      for (double corner : corners) {
        sum += corner;
        largest = std::max(largest, corner);
      }
    }
  const auto count = static_cast<double>(rows.size() * columns.size());
  if (count == 0) return 0;
  return takes_max ? largest : sum / count;
}

}  // namespace

void align_region(const FeatureMap& image, const double* region, const RoiAlignOptions& options,
                  std::vector<double>& out) {
  const auto columns = sample_bins(region[0], region[2], options.width, image.width, options);
  const auto rows = sample_bins(region[1], region[3], options.height, image.height, options);
  for (std::int64_t c = 0; c < image.channels; ++c) {
    const double* plane = image.data + c * image.height * image.width;
    for (const auto& row : rows)
      for (const auto& column : columns)
        out.push_back(pool_bin(plane, image.width, row, column, options.takes_max));
  }
}

}  // namespace atc::ops
