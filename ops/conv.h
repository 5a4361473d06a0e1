#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ops/op.h"
#include "ops/window_geometry.h"

// What Conv shares with its quantized forms (QLinearConv, ConvInteger).
namespace atc::ops {

/// Output shape N,M,spatial... of data input `x` and weight input `w`, with ranks, channels, group and
/// window checked; nullopt while a rank is unknown.
StatusOr<std::optional<ir::Shape>> conv_output_shape(InferContext& ctx, std::size_t x, std::size_t w);

/// N,C,spatial... dims of a window operator's output: batch of `data`, `channels`, sizes of `geometry`
/// (fresh symbols where unknown; the input's own dim where the window keeps the size whatever it is).
ir::Shape window_output_shape(InferContext& ctx, const ir::Shape& data, const ir::Dim& channels,
                              const WindowGeometry& geometry);

/// Sums of products of a grouped convolution, row-major over N,M,output. x is N,C,spatial...; w is
/// M,C/group,kernel...
std::vector<double> convolve(std::span<const double> x, const Dims& x_shape, std::span<const double> w,
                             const Dims& w_shape, const WindowGeometry& geometry);

}  // namespace atc::ops
