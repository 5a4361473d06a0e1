#include <cmath>

#include "ops/conv.h"
#include "ops/deform_conv.h"

namespace atc::ops {
namespace {

/// Bilinear value of a plane; what lies outside is zero.
double bilinear(const double* plane, std::int64_t height, std::int64_t width, double h, double w) {
  if (!(h > -1 && w > -1 && h < static_cast<double>(height) && w < static_cast<double>(width))) return 0;
  const auto top = static_cast<std::int64_t>(std::floor(h));
  const auto left = static_cast<std::int64_t>(std::floor(w));
  const double dh = h - static_cast<double>(top);
  const double dw = w - static_cast<double>(left);
  const auto at = [&](std::int64_t i, std::int64_t j) {
    return i < 0 || j < 0 || i >= height || j >= width ? 0 : plane[i * width + j];
  };
  return (1 - dh) * ((1 - dw) * at(top, left) + dw * at(top, left + 1)) +
         dh * ((1 - dw) * at(top + 1, left) + dw * at(top + 1, left + 1));
}

}  // namespace

// Gathers the sampled inputs into columns [N, C * taps, output...], which an ordinary pointwise convolution
// then sums up.
Tensor deformed_convolution(const Tensor& x, const Tensor& w, const Tensor* bias, const DeformField& field,
                            const WindowGeometry& g) {
  const std::vector<double> in = to_doubles(x);
  const std::int64_t channels = x.shape[1];
  const std::int64_t taps = w.shape[2] * w.shape[3];
  const std::int64_t points = g.output[0] * g.output[1];
  std::vector<double> columns(static_cast<std::size_t>(x.shape[0] * channels * taps * points));
  std::size_t next = 0;
  for (std::int64_t n = 0; n < x.shape[0]; ++n)
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t k = 0; k < taps; ++k) {
        const std::int64_t tap = (n * field.groups + c / (channels / field.groups)) * taps + k;
        const double* plane = in.data() + (n * channels + c) * x.shape[2] * x.shape[3];
        for (std::int64_t p = 0; p < points; ++p) {
          const double h = static_cast<double>(p / g.output[1] * g.strides[0] - g.pads_begin[0] +
                                               k / w.shape[3] * g.dilations[0]) +
                           field.offset[static_cast<std::size_t>(2 * tap * points + p)];
          const double v = static_cast<double>(p % g.output[1] * g.strides[1] - g.pads_begin[1] +
                                               k % w.shape[3] * g.dilations[1]) +
                           field.offset[static_cast<std::size_t>((2 * tap + 1) * points + p)];
          columns[next++] = bilinear(plane, x.shape[2], x.shape[3], h, v) *
                            (field.mask.empty() ? 1 : field.mask[static_cast<std::size_t>(tap * points + p)]);
        }
      }
  WindowGeometry pointwise;
  pointwise.kernel = pointwise.strides = pointwise.dilations = {1};
  pointwise.pads_begin = pointwise.pads_end = {0};
  pointwise.output = {points};
  std::vector<double> y = convolve(columns, {x.shape[0], channels * taps, points}, to_doubles(w),
                                   {w.shape[0], w.shape[1] * taps, 1}, pointwise);
  if (bias != nullptr) {
    const std::vector<double> b = to_doubles(*bias);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += b[i / static_cast<std::size_t>(points) % b.size()];
  }
  return from_doubles(x.dtype, {x.shape[0], w.shape[0], g.output[0], g.output[1]}, y);
}

}  // namespace atc::ops
