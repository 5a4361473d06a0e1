#pragma once

#include <cstdint>
#include <vector>

// Bilinear pooling of one region of a feature map: RoiAlign, RoiExtractor.
namespace atc::ops {

struct RoiAlignOptions {
  std::int64_t height = 1;
  std::int64_t width = 1;
  std::int64_t sampling_ratio = 0;  ///< samples a bin on each axis; 0: as many as the bin covers pixels
  double spatial_scale = 1;
  bool takes_max = false;
  bool half_pixel = false;  ///< pixel centers lie at .5; version 10 knows only whole coordinates
};

/// One image of a feature map, [channels, height, width].
struct FeatureMap {
  const double* data = nullptr;
  std::int64_t channels = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
};

/// Appends the bins [channels, options.height, options.width] of a region (x1, y1, x2, y2) in coordinates
/// of the image.
void align_region(const FeatureMap& image, const double* region, const RoiAlignOptions& options,
                  std::vector<double>& out);

}  // namespace atc::ops
