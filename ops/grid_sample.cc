#include "ops/grid_sample.h"

#include <cmath>

#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/reference_util.h"
#include "ops/shape_value.h"

// GridSample and AffineGrid: sampling at coordinates in [-1, 1] of each spatial axis, x first.
namespace atc::ops {

StatusOr<GridOptions> grid_options(const ir::Node& node) {
  GridOptions o;
  const InferContext ctx(node);
  // Version 16 says bilinear and bicubic, 20 linear and cubic.
  const bool old = node.version < 20;
  const std::string mode = node.attrs.get_string("mode", old ? "bilinear" : "linear");
  if (mode == "nearest")
    o.mode = GridMode::Nearest;
  else if (mode == (old ? "bicubic" : "cubic"))
    o.mode = GridMode::Cubic;
  else if (mode != (old ? "bilinear" : "linear"))
    return ctx.error("attribute mode is \"" + mode + "\", expected nearest, " +
                     (old ? "bilinear or bicubic" : "linear or cubic"));
  const std::string padding = node.attrs.get_string("padding_mode", "zeros");
  if (padding == "border")
    o.padding = Padding::Border;
  else if (padding == "reflection")
    o.padding = Padding::Reflection;
  else if (padding != "zeros")
    return ctx.error("attribute padding_mode is \"" + padding + "\", expected zeros, border or reflection");
  o.align_corners = node.attrs.get_int("align_corners", 0) != 0;
  return o;
}

namespace {

// GridSample (X [N, C, spatial...], grid [N, output..., spatial rank]) ------------------------------

Status infer_grid_sample(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 0, kNumericTypes, "a numeric type"));
  ATC_TRY(require_float(ctx, 1));
  auto options = grid_options(ctx.node());
  if (!options.ok()) return options.status();
  ATC_TRY(require_rank(ctx, 0, 3));
  if (!ctx.ranked(0) || !ctx.ranked(1)) {
    ctx.set_output(0, ctx.dtype(0), std::nullopt);
    return {};
  }
  const ir::Shape& x = ctx.shape(0);
  const ir::Shape& grid = ctx.shape(1);
  if (ctx.version() < 20) ATC_TRY(require_rank(ctx, 0, 4, 4));
  ATC_TRY(require_rank(ctx, 1, x.size(), x.size()));
  const auto spatial = static_cast<std::int64_t>(x.size()) - 2;
  if (conflicts(grid.back(), ir::Dim::of(spatial)))
    return ctx.input_error(1, "must have " + std::to_string(spatial) + " coordinates on its last axis");
  if (conflicts(grid[0], x[0]))
    return ctx.input_error(1, "must have the data's batch, " + std::to_string(x[0].value));
  ir::Shape out = {merge(x[0], grid[0]), x[1]};
  out.insert(out.end(), grid.begin() + 1, grid.end() - 1);
  ctx.set_output(0, ctx.dtype(0), std::move(out));
  return {};
}

/// Mirrors x into [low, high] as often as it takes.
double reflect(double x, double low, double high) {
  const double range = high - low;
  if (range <= 0) return low;
  if (x >= low && x <= high) return x;
  const double distance = x < low ? low - x : x - high;
  const double turns = std::floor(distance / range);
  const double rest = distance - turns * range;
  const bool from_same_side = std::fmod(turns, 2.0) == 0;
  return (x < low) == from_same_side ? low + rest : high - rest;
}

/// Where one coordinate reads along its axis: up to four indices (-1: zero) and weights.
struct Taps {
  int count = 0;
  std::int64_t index[4] = {};
  double weight[4] = {};
};

class AxisSampler {
 public:
  AxisSampler(std::int64_t size, const GridOptions& options)
      : size_(size),
        options_(options),
        low_(options.align_corners ? 0 : -0.5),
        high_(options.align_corners ? static_cast<double>(size - 1) : static_cast<double>(size) - 0.5) {}

  Taps taps(double coordinate) const {
    const auto n = static_cast<double>(size_);
    double x = options_.align_corners ? (coordinate + 1) / 2 * (n - 1) : ((coordinate + 1) * n - 1) / 2;
    // Far outside is outside; the bound keeps indices representable, and NaN reads the first element.
    x = std::isnan(x) ? low_ - 1 : std::clamp(x, -1e9, 1e9);
    if (options_.mode == GridMode::Nearest) x = std::nearbyint(x);
    if (x < low_ || x > high_) {
      if (options_.padding == Padding::Border) x = std::clamp(x, 0.0, n - 1);
      if (options_.padding == Padding::Reflection) x = reflect(x, low_, high_);
    }
    Taps out;
    if (options_.mode == GridMode::Nearest) {
      add(out, std::nearbyint(x), 1);
      return out;
    }
    const double base = std::floor(x);
    const int reach = options_.mode == GridMode::Cubic ? 2 : 1;
    for (int k = 1 - reach; k <= reach; ++k) add(out, base + k, weight(x - base - k));
    return out;
  }

 private:
  void add(Taps& out, double index, double weight) const {
    const auto last = static_cast<double>(size_ - 1);
    if (options_.padding == Padding::Border) index = std::clamp(index, 0.0, last);
    if (options_.padding == Padding::Reflection) index = std::clamp(reflect(index, low_, high_), 0.0, last);
    out.index[out.count] = index < 0 || index > last ? -1 : static_cast<std::int64_t>(index);
    out.weight[out.count++] = weight;
  }
  double weight(double distance) const {
    const double d = std::abs(distance);
    if (options_.mode == GridMode::Linear) return std::max(1 - d, 0.0);
    constexpr double kA = -0.75;
    if (d <= 1) return ((kA + 2) * d - (kA + 3)) * d * d + 1;
    return d < 2 ? ((kA * d - 5 * kA) * d + 8 * kA) * d - 4 * kA : 0;
  }

  std::int64_t size_;
  GridOptions options_;
  double low_;  ///< edges of the data, between which nothing is padded
  double high_;
};

/// Sum over all combinations of the axes' taps, from axis `axis` on.
double sample(const double* data, const std::vector<Taps>& taps, const Dims& strides, std::size_t axis) {
  if (axis == taps.size()) return *data;
  double sum = 0;
  for (int k = 0; k < taps[axis].count; ++k)
    if (taps[axis].index[k] >= 0 && taps[axis].weight[k] != 0)
      sum +=
          taps[axis].weight[k] * sample(data + taps[axis].index[k] * strides[axis], taps, strides, axis + 1);
  return sum;
}

Status reference_grid_sample(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const Tensor& grid = ctx.input(1);
  ATC_ASSIGN(const GridOptions options, grid_options(ctx.node()));
  const Dims spatial(x.shape.begin() + 2, x.shape.end());
  const std::size_t rank = spatial.size();
  const Dims strides = row_major_strides(spatial);
  const std::int64_t in_plane = element_count(spatial);
  const std::int64_t channels = x.shape[1];
  const std::int64_t points = element_count(std::span(grid.shape).subspan(1, grid.shape.size() - 2));
  Dims shape = {x.shape[0], channels};
  shape.insert(shape.end(), grid.shape.begin() + 1, grid.shape.end() - 1);
  const std::vector<double> in = to_doubles(x);
  const std::vector<double> coordinates = to_doubles(grid);
  std::vector<double> y(static_cast<std::size_t>(element_count(shape)), 0.0);
  std::vector<AxisSampler> samplers;
  for (std::int64_t size : spatial) samplers.emplace_back(size, options);
  std::vector<Taps> taps(rank);
  for (std::int64_t n = 0; n < x.shape[0] && in_plane > 0; ++n)
    for (std::int64_t p = 0; p < points; ++p) {
      const double* at = coordinates.data() + (n * points + p) * static_cast<std::int64_t>(rank);
      for (std::size_t axis = 0; axis < rank; ++axis) taps[axis] = samplers[axis].taps(at[rank - 1 - axis]);
      for (std::int64_t c = 0; c < channels; ++c)
        y[static_cast<std::size_t>((n * channels + c) * points + p)] =
            sample(in.data() + (n * channels + c) * in_plane, taps, strides, 0);
    }
  ctx.outputs[0] = from_doubles(x.dtype, shape, y);
  return {};
}

// AffineGrid (theta [N, d, d + 1], size [N, C, spatial...]) ------------------------------------------

Status infer_affine_grid(InferContext& ctx) {
  ATC_TRY(require_float(ctx, 0));
  ATC_TRY(require_rank(ctx, 0, 3, 3));
  ATC_TRY(require_dtype(ctx, 1, {DType::I64}, "i64"));
  ATC_TRY(require_rank(ctx, 1, 1, 1));
  const auto count = length_of(ctx, 1);
  if (!count) {
    ctx.set_output(0, ctx.dtype(0), std::nullopt);
    return {};
  }
  if (*count != 4 && *count != 5)
    return ctx.input_error(1, "has " + std::to_string(*count) + " elements, expected 4 or 5");
  const std::int64_t spatial = *count - 2;
  if (ctx.ranked(0) && (conflicts(ctx.shape(0)[1], ir::Dim::of(spatial)) ||
                        conflicts(ctx.shape(0)[2], ir::Dim::of(spatial + 1))))
    return ctx.input_error(
        0, "must have shape [N," + std::to_string(spatial) + "," + std::to_string(spatial + 1) + "]");
  ir::Shape out = elements_of(ctx, 1).value_or(unknown_shape(ctx, static_cast<std::size_t>(*count)));
  out.erase(out.begin() + 1);
  out.push_back(ir::Dim::of(spatial));
  ctx.set_output(0, ctx.dtype(0), std::move(out));
  return {};
}

/// Point i of n on [-1, 1]: from end to end, or at the centers of n cells.
double base_coordinate(std::int64_t i, std::int64_t n, bool align_corners) {
  const auto count = static_cast<double>(n);
  if (!align_corners) return (2 * static_cast<double>(i) + 1) / count - 1;
  return n > 1 ? 2 * static_cast<double>(i) / (count - 1) - 1 : 0;
}

Status reference_affine_grid(EvalContext& ctx) {
  const Tensor& theta = ctx.input(0);
  const Dims size = to_int64s(ctx.input(1));
  const bool align = ctx.node().attrs.get_int("align_corners", 0) != 0;
  if (size.size() != theta.shape[1] + std::size_t{2} || theta.shape[0] != size[0])
    return ctx.error("size [" + to_string(size) + "] does not fit theta [" + to_string(theta.shape) + "]");
  const std::size_t rank = size.size() - 2;
  Dims shape = size;
  shape.erase(shape.begin() + 1);
  const std::vector<double> matrix = to_doubles(theta);
  std::vector<double> y;
  for (NdIndex at(shape); !at.done(); at.next()) {
    // x is the last spatial axis.
    const double* rows = matrix.data() + static_cast<std::size_t>(at[0]) * rank * (rank + 1);
    for (std::size_t k = 0; k < rank; ++k) {
      double sum = rows[k * (rank + 1) + rank];
      for (std::size_t j = 0; j < rank; ++j)
        sum += rows[k * (rank + 1) + j] * base_coordinate(at[rank - j], shape[rank - j], align);
      y.push_back(sum);
    }
  }
  shape.push_back(static_cast<std::int64_t>(rank));
  ctx.outputs[0] = from_doubles(theta.dtype, shape, y);
  return {};
}

}  // namespace

void register_grid_sample(Registry& registry) {
  registry.add({.name = "GridSample",
                .since = 16,
                .attrs = {{"align_corners", AttrKind::Int},
                          {"mode", AttrKind::String},
                          {"padding_mode", AttrKind::String}},
                .inputs = {2, 2},
                .infer = infer_grid_sample,
                .reference = reference_grid_sample,
                .lower = lower_grid_sample,
                .lowers = lowers_grid_sample});
  registry.add({.name = "AffineGrid",
                .since = 20,
                .attrs = {{"align_corners", AttrKind::Int}},
                .inputs = {2, 2},
                .infer = infer_affine_grid,
                .reference = reference_affine_grid});
}

}  // namespace atc::ops
