#include <cmath>
#include <limits>

#include "ops/conv.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/reference_util.h"
#include "ops/window_runs.h"

namespace atc::ops {

namespace {

/// Shape of every pooling output: N, C and the window's sizes; nullopt without a rank.
StatusOr<std::optional<ir::Shape>> pool_shape(InferContext& ctx) {
  if (!ctx.ranked(0)) return std::optional<ir::Shape>();
  ATC_TRY(require_rank(ctx, 0, 3));
  ATC_ASSIGN(const WindowGeometry g, pool_geometry(ctx.node(), spatial_dims(ctx.shape(0))));
  return std::optional(window_output_shape(ctx, ctx.shape(0), ctx.shape(0)[1], g));
}

/// A pooling node's input, window and walk, ready for the loop over planes.
struct PoolWalk {
  WindowGeometry geometry;
  Dims spatial;
  Dims output_shape;
  std::vector<std::vector<TapRun>> taps;
  std::int64_t planes = 0;  ///< N * C
  std::int64_t in_plane = 0;
  std::int64_t out_plane = 0;
  std::int64_t step = 1;
};

StatusOr<PoolWalk> pool_walk(const EvalContext& ctx) {
  const Dims& shape = ctx.input(0).shape;
  PoolWalk w;
  w.spatial.assign(shape.begin() + 2, shape.end());
  ATC_ASSIGN(w.geometry, pool_geometry(ctx.node(), w.spatial));
  w.output_shape = {shape[0], shape[1]};
  w.output_shape.insert(w.output_shape.end(), w.geometry.output.begin(), w.geometry.output.end());
  w.taps = window_runs(w.geometry, w.spatial);
  w.planes = shape[0] * shape[1];
  w.in_plane = element_count(w.spatial);
  w.out_plane = element_count(w.geometry.output);
  w.step = w.geometry.strides.back();
  return w;
}

/// Calls visit(o, i) for each output o and input i that some tap joins; offsets in the whole tensors.
template <class F>
void for_each_pair(const PoolWalk& w, F visit) {
  for (std::int64_t plane = 0; plane < w.planes; ++plane)
    for (const auto& runs : w.taps)
      for (const TapRun& run : runs)
        for (std::int64_t i = 0; i < run.count; ++i)
          visit(static_cast<std::size_t>(plane * w.out_plane + run.out + i),
                static_cast<std::size_t>(plane * w.in_plane + run.in + i * w.step));
}

// MaxPool -----------------------------------------------------------------------------------------

Status infer_max_pool(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 0, kFloatTypes | DTypeSet{DType::I8, DType::U8}, "a float type, i8 or u8"));
  ATC_ASSIGN(const std::optional<ir::Shape> shape, pool_shape(ctx));
  ctx.set_output(0, ctx.dtype(0), shape);
  if (ctx.node().output(1)) ctx.set_output(1, DType::I64, shape);
  return {};
}

/// Offset of a row-major offset within a plane when the plane is stored column-major (storage_order 1).
std::int64_t column_major_offset(std::int64_t offset, const Dims& spatial) {
  std::int64_t out = 0;
  std::int64_t scale = element_count(spatial);
  for (std::size_t axis = spatial.size(); axis-- > 0;) {
    scale /= spatial[axis];
    out += offset % spatial[axis] * scale;
    offset /= spatial[axis];
  }
  return out;
}

Status reference_max_pool(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  ATC_ASSIGN(const PoolWalk w, pool_walk(ctx));
  const auto count = static_cast<std::size_t>(element_count(w.output_shape));
  // Doubles hold every value of every allowed dtype. A window without data gives the lowest value.
  const std::vector<double> in = to_doubles(x);
  const double lowest = x.dtype == DType::U8   ? 0
                        : x.dtype == DType::I8 ? -128
                                               : -std::numeric_limits<double>::infinity();
  std::vector<double> best(count, lowest);
  std::vector<std::int64_t> index(count, -1);
  for_each_pair(w, [&](std::size_t o, std::size_t i) {
    if (index[o] < 0 || in[i] > best[o] || (std::isnan(in[i]) && !std::isnan(best[o]))) {
      best[o] = in[i];
      index[o] = static_cast<std::int64_t>(i);
    }
  });
  ctx.outputs[0] = from_doubles(x.dtype, w.output_shape, best);
  if (!ctx.node().output(1)) return {};
  if (ctx.node().attrs.get_int("storage_order", 0) != 0)
    for (std::int64_t& i : index)
      if (i >= 0) i = i / w.in_plane * w.in_plane + column_major_offset(i % w.in_plane, w.spatial);
  ctx.outputs[1] = from_int64s(DType::I64, w.output_shape, index);
  return {};
}

// AveragePool -------------------------------------------------------------------------------------

Status infer_float_pool(InferContext& ctx) {
  ATC_TRY(require_float(ctx, 0));
  ATC_ASSIGN(std::optional<ir::Shape> shape, pool_shape(ctx));
  ctx.set_output(0, ctx.dtype(0), std::move(shape));
  return {};
}

/// Taps of the window at output `o` of an axis that lie in data or padding: with ceil_mode the last
/// window may reach beyond both, and what lies there is never counted.
std::int64_t padded_taps(const WindowGeometry& g, std::size_t axis, std::int64_t o, std::int64_t size) {
  std::int64_t taps = 0;
  for (std::int64_t k = 0; k < g.kernel[axis]; ++k)
    if (o * g.strides[axis] - g.pads_begin[axis] + k * g.dilations[axis] < size + g.pads_end[axis]) ++taps;
  return taps;
}

/// What each output of one plane divides its sum by.
std::vector<double> average_divisors(const PoolWalk& w, bool include_pad) {
  std::vector<double> divisor(static_cast<std::size_t>(w.out_plane), 0.0);
  if (!include_pad) {
    for (const auto& runs : w.taps)
      for (const TapRun& run : runs)
        for (std::int64_t i = 0; i < run.count; ++i) divisor[static_cast<std::size_t>(run.out + i)] += 1;
    return divisor;
  }
  for (NdIndex o(w.geometry.output); !o.done(); o.next()) {
    std::int64_t taps = 1;
    for (std::size_t axis = 0; axis < w.spatial.size(); ++axis)
      taps *= padded_taps(w.geometry, axis, o[axis], w.spatial[axis]);
    divisor[static_cast<std::size_t>(o.position())] = static_cast<double>(taps);
  }
  return divisor;
}

Status reference_average_pool(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  ATC_ASSIGN(const PoolWalk w, pool_walk(ctx));
  const std::vector<double> in = to_doubles(x);
  std::vector<double> sum(static_cast<std::size_t>(element_count(w.output_shape)), 0.0);
  for_each_pair(w, [&](std::size_t o, std::size_t i) { sum[o] += in[i]; });
  const std::vector<double> divisor =
      average_divisors(w, ctx.node().attrs.get_int("count_include_pad", 0) != 0);
  for (std::size_t o = 0; o < sum.size(); ++o) {
    const double d = divisor[o % divisor.size()];
    sum[o] = d > 0 ? sum[o] / d : 0;  // a window on padding alone averages nothing
  }
  ctx.outputs[0] = from_doubles(x.dtype, w.output_shape, sum);
  return {};
}

// LpPool ------------------------------------------------------------------------------------------

/// `p` was a float in version 1 and is an integer since.
double norm_order(const ir::Node& node) {
  return node.version < 2 ? static_cast<double>(node.attrs.get_float("p", 2.0F))
                          : static_cast<double>(node.attrs.get_int("p", 2));
}

Status infer_lp_pool(InferContext& ctx) {
  if (!(norm_order(ctx.node()) > 0)) return ctx.error("attribute p must be > 0");
  return infer_float_pool(ctx);
}

Status reference_lp_pool(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  ATC_ASSIGN(const PoolWalk w, pool_walk(ctx));
  const double p = norm_order(ctx.node());
  std::vector<double> powers = to_doubles(x);
  for (double& v : powers) v = std::pow(std::abs(v), p);
  std::vector<double> y(static_cast<std::size_t>(element_count(w.output_shape)), 0.0);
  for_each_pair(w, [&](std::size_t o, std::size_t i) { y[o] += powers[i]; });
  for (double& v : y) v = std::pow(v, 1.0 / p);
  ctx.outputs[0] = from_doubles(x.dtype, w.output_shape, y);
  return {};
}

}  // namespace

void register_pool(Registry& registry) {
  const std::vector<AttrSpec> window = {{"auto_pad", AttrKind::String},
                                        {"kernel_shape", AttrKind::Ints, true},
                                        {"pads", AttrKind::Ints},
                                        {"strides", AttrKind::Ints}};
  const auto with = [&](std::initializer_list<AttrSpec> more) {
    std::vector<AttrSpec> attrs = window;
    attrs.insert(attrs.end(), more);
    return attrs;
  };
  registry.add({.name = "MaxPool",
                .until = 7,
                .attrs = window,
                .infer = infer_max_pool,
                .reference = reference_max_pool});
  registry.add({.name = "MaxPool",
                .since = 8,
                .attrs = with({{"ceil_mode", AttrKind::Int, false, 10},
                               {"dilations", AttrKind::Ints, false, 10},
                               {"storage_order", AttrKind::Int}}),
                .outputs = {1, 2},
                .infer = infer_max_pool,
                .reference = reference_max_pool});
  registry.add({.name = "AveragePool",
                .attrs = with({{"ceil_mode", AttrKind::Int, false, 10},
                               {"count_include_pad", AttrKind::Int, false, 7},
                               {"dilations", AttrKind::Ints, false, 19}}),
                .infer = infer_float_pool,
                .reference = reference_average_pool});
  registry.add({.name = "LpPool",
                .attrs = with({{"ceil_mode", AttrKind::Int, false, 18},
                               {"dilations", AttrKind::Ints, false, 18},
                               {"p", AttrKind::Float, false, 1, 1},
                               {"p", AttrKind::Int, false, 2}}),
                .infer = infer_lp_pool,
                .reference = reference_lp_pool});
}

}  // namespace atc::ops
