#pragma once

#include <cstdint>
#include <vector>

#include "ops/lower.h"

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

/// The attributes of a RoiAlign node; E16006 for values that they cannot have.
StatusOr<RoiAlignOptions> roi_align_options(const ir::Node& node);

/// RoiAlign on the AI Core: floating data and regions, a given number of samples a bin. A batch index that
/// the data does not have, which only the run can see, reads another image or zeros.
bool lowers_roi_align(const ir::Node& node);
Status lower_roi_align(LowerContext& ctx);

}  // namespace atc::ops
