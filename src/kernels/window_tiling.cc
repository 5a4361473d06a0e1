#include "kernels/window_tiling.h"

#include <algorithm>

#include "kernels/access.h"
#include "kernels/kernel_list.h"
#include "soc/chip.h"

namespace atc::kernels {
namespace {

constexpr std::string_view kName = "window";

// Kernels, strides and the like beyond these do not occur; within them no product of three overflows.
constexpr std::int64_t kMostSteps = 1 << 20;
constexpr std::int64_t kMostExtent = std::int64_t{1} << 31;
constexpr std::int64_t kMostTaps = std::int64_t{1} << 24;
// UB for the program that follows, at most this part.
constexpr std::int64_t kEpilogueShare = 3;
// A tile's pixels times taps, from which on the cost of starting a tile no longer matters.
constexpr std::int64_t kFewTaps = 1152;
constexpr std::int64_t kManyPixels = 2048;
// Windows of so few taps are not cut when they fit.
constexpr std::int64_t kSmallWindow = 128;

bool is_storage(DType dtype) { return dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16; }

/// The largest n in [1, limit] that `fits`, made even over the axis; 0 if none does.
template <class F>
std::int64_t largest(std::int64_t limit, F fits) {
  if (!fits(1)) return 0;
  std::int64_t lo = 1, hi = limit;
  while (lo < hi) {
    const std::int64_t mid = (lo + hi + 1) / 2;
    if (fits(mid))
      lo = mid;
    else
      hi = mid - 1;
  }
  return ceil_div(limit, ceil_div(limit, lo));
}

}  // namespace

bool window_in_range(std::span<const std::int64_t> kernel, std::span<const std::int64_t> strides,
                     std::span<const std::int64_t> dilations, std::span<const std::int64_t> pads) {
  std::int64_t taps = 1;
  for (const std::int64_t k : kernel) {
    const auto product = checked_mul(taps, k);
    if (!product || *product > kMostTaps) return false;
    taps = *product;
  }
  const auto within_steps = [](std::int64_t v) { return v >= -kMostSteps && v <= kMostSteps; };
  return std::ranges::all_of(kernel, within_steps) && std::ranges::all_of(strides, within_steps) &&
         std::ranges::all_of(dilations, within_steps) && std::ranges::all_of(pads, within_steps);
}

std::int64_t bytes_of(DType dtype) { return bit_width(dtype) / 8; }

bool WindowTiling::empty() const {
  return spec.batch == 0 || spec.c1 == 0 || spec.axis[0].out == 0 || spec.axis[1].out == 0 ||
         spec.axis[2].out == 0;
}

aicore::WindowTile WindowTiling::geometry(std::int64_t plane_count, const std::array<std::int64_t, 3>& first,
                                          const std::array<std::int64_t, 3>& n) const {
  aicore::WindowTile tile;
  tile.kind = spec.kind;
  tile.include_pad = spec.include_pad;
  tile.planes = plane_count;
  for (std::size_t a = 0; a < 3; ++a) {
    const WindowExtent& x = spec.axis[a];
    tile.axis[a] = {x.kernel, x.stride, x.dilation, n[a], first[a] * x.stride - x.pad_begin, x.in, x.pad_end};
  }
  return tile;
}

WindowTiling::Place WindowTiling::decode(std::int64_t number) const {
  Place p;
  std::array<std::int64_t, 3> n{};
  for (std::size_t a = 3; a-- > 0;) {
    const std::int64_t i = number % axis_tiles(a);
    number /= axis_tiles(a);
    p.first[a] = i * out[a];
    n[a] = std::min(out[a], spec.axis[a].out - p.first[a]);
  }
  p.plane = number % plane_tiles() * planes;
  p.batch = number / plane_tiles();
  p.tile = geometry(std::min(planes, spec.c1 - p.plane), p.first, n);
  // What decides the cycles: extents, and how much of each axis lies in the padding.
  constexpr std::int64_t kMost = (1 << 19) - 1;
  std::int64_t key = p.tile.planes == planes ? 0 : 1;
  for (std::size_t a = 0; a < 3; ++a) {
    const aicore::WindowAxis& x = p.tile.axis[a];
    const std::int64_t missing = std::clamp<std::int64_t>(x.span() - (x.high() - x.low()), 0, kMost);
    key = (key * 2 + (n[a] == out[a] ? 0 : 1)) << 19 | missing;
  }
  p.shape_class = parts() == 1 ? key : cut_class(p, n);
  return p;
}

// Which parts of a window reach into the padding depends on the side: each place at a border is a class.
std::int64_t WindowTiling::cut_class(const Place& p, const std::array<std::int64_t, 3>& n) const {
  std::int64_t key = p.tile.planes == planes ? 0 : 1;
  for (std::size_t a = 0; a < 3; ++a) {
    const bool inner = n[a] == out[a] && !p.tile.axis[a].padded();
    key = key * (axis_tiles(a) + 1) + (inner ? 0 : p.first[a] / out[a] + 1);
  }
  return key;
}

WindowTiling::Part WindowTiling::cut(const aicore::WindowTile& tile, std::int64_t i) const {
  Part p{tile, 0};
  std::int64_t taps_inside = 1;
  for (std::size_t a = 3; a-- > 0;) {
    aicore::WindowAxis& x = p.tile.axis[a];
    const std::int64_t whole = x.kernel;
    x.before = i % axis_parts(a) * part[a];
    x.kernel = std::min(part[a], whole - x.before);
    x.after = whole - x.before - x.kernel;
    x.first += x.before * x.dilation;
    p.first_tap += x.before * taps_inside;
    taps_inside *= whole;
    i /= axis_parts(a);
  }
  return p;
}

std::int64_t WindowTiling::patch_elements() const {
  const aicore::WindowTile tile = cut(geometry(planes, {0, 0, 0}, out), 0).tile;
  std::int64_t n = 16;
  for (const std::int64_t extent :
       {tile.planes, tile.axis[0].span(), tile.axis[1].span(), tile.axis[2].span()}) {
    const auto product = checked_mul(n, extent);
    if (!product || *product > INT64_MAX / 64) return INT64_MAX / 64;
    n = *product;
  }
  return n;
}

std::int64_t WindowTiling::linear_run(const aicore::WindowTile& tile) const {
  // Axes of extent 1 in the tile do not stand in the way.
  const std::int64_t w = tile.axis[2].out, h = tile.axis[1].out, d = tile.axis[0].out;
  bool over_h = true, over_d = true, over_planes = true;
  for (const ConvAddress& a : spec.epilogue_operands) {
    over_h = over_h && (h == 1 || checked_mul(a.w, w) == a.h);
    over_d = over_d && (d == 1 || checked_mul(a.w, w * h) == a.d);
    over_planes = over_planes && (tile.planes == 1 || (a.c0 == 16 && checked_mul(a.w, w * h * d) == a.c1));
  }
  if (!over_h) return w;
  if (!over_d) return w * h;
  return over_planes ? w * h * d * tile.planes : w * h * d;
}

std::int64_t window_ub_bytes(const WindowTiling& t, const TileProgram& epilogue,
                             const std::vector<Operand>& operands) {
  const std::int64_t patch = t.patch_elements();
  auto block = [](std::int64_t bytes) { return round_up(bytes, 32); };
  std::int64_t set = block(patch * 4) + block(t.planes * t.out[0] * t.out[1] * t.out[2] * 64);
  const DType dtype = operands[0].dtype;
  set += block(dtype == DType::F32 ? 1 : patch * bytes_of(dtype));
  if (t.spec.kind == WindowKind::Depthwise) {
    set += 2 * block(t.planes * t.part_taps() * 64);
  }
  if (t.spec.bias) set += 2 * block(t.planes * 64);
  return 2 * set + epilogue.ub_bytes(t.epilogue_rows, 16);
}

StatusOr<TileProgram> window_epilogue(const WindowSpec& spec, const std::vector<Operand>& operands) {
  WindowTiling t;
  t.spec = spec;
  const std::size_t base = t.epilogue_base();
  std::vector<Lanes> lanes;
  std::vector<DType> dtypes;
  std::vector<bool> turned;
  for (std::size_t k = 0; k < spec.epilogue_operands.size(); ++k) {
    const ConvAddress& a = spec.epilogue_operands[k];
    lanes.push_back(lanes_of(a.w, a.lane, 2, 16));
    dtypes.push_back(operands[base + k].dtype);
    turned.push_back(is_turned(a.w, a.lane, 2, 16));
  }
  return TileProgram::create(spec.epilogue, std::move(lanes), std::move(dtypes), ReduceMode::None,
                             std::move(turned));
}

Status check_window(const WindowTiling& t, const std::vector<Operand>& operands) {
  const WindowSpec& s = t.spec;
  const std::size_t base = t.epilogue_base();
  if (operands.size() != base + s.epilogue_operands.size()) return bad_params(kName, "operand count");
  if (s.bias && s.kind != WindowKind::Depthwise) return bad_params(kName, "pooling has no bias");
  for (std::size_t k = 0; k < base; ++k)
    if (!is_storage(operands[k].dtype))
      return bad_params(kName, "operand " + std::to_string(k) + " is not f32, f16 or bf16");
  for (const Operand& o : operands)
    if (o.dtype == DType::Undefined || bit_width(o.dtype) % 8 != 0 || bit_width(o.dtype) == 0 ||
        o.offset % bytes_of(o.dtype) != 0)
      return bad_params(kName, "an operand is not aligned to its elements");
  if (s.in_batch < 0) return bad_params(kName, "batch out of range");
  if (s.batch < 0 || s.batch > kMostExtent || s.c1 < 0 || s.c1 > kMostExtent)
    return bad_params(kName, "extent out of range");
  for (const WindowExtent& x : s.axis) {
    if (x.in < 1 || x.in > kMostExtent || x.out < 0 || x.out > kMostExtent)
      return bad_params(kName, "extent out of range");
    for (std::int64_t v : {x.kernel, x.stride, x.dilation})
      if (v < 1 || v > kMostSteps) return bad_params(kName, "kernel, stride or dilation out of range");
    for (std::int64_t v : {x.pad_begin, x.pad_end})
      if (v < -kMostSteps || v > kMostSteps) return bad_params(kName, "padding out of range");
  }
  if (t.empty()) return {};
  const WindowExtent &d = s.axis[0], &h = s.axis[1], &w = s.axis[2];

  if (t.planes < 1 || t.planes > s.c1 || t.epilogue_rows < 1) return bad_params(kName, "tile out of range");
  std::int64_t outside = t.planes, outside_taps = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    if (t.part[a] < 1 || t.part[a] > s.axis[a].kernel) return bad_params(kName, "part out of range");
    if (outside_taps > 1 && t.part[a] != s.axis[a].kernel)
      return bad_params(kName, "a part is not one run of taps");
    outside_taps = std::max(outside_taps, t.part[a]);
    if (t.out[a] < 1 || t.out[a] > s.axis[a].out) return bad_params(kName, "tile out of range");
    if (outside > 1 && t.out[a] != s.axis[a].out) return bad_params(kName, "a tile is not one run of pixels");
    outside = std::max(outside, t.out[a]);
  }
  std::int64_t tiles = 1, patch = 16 * t.planes, pixels = t.planes, taps = 1;
  const aicore::WindowTile tile = t.geometry(t.planes, {0, 0, 0}, t.out);
  for (std::size_t a = 0; a < 3; ++a) {
    const auto n = checked_mul(tiles, t.axis_tiles(a));
    const auto p = checked_mul(patch, tile.axis[a].span());
    const auto o = checked_mul(pixels, t.out[a]);
    const auto k = checked_mul(taps, s.axis[a].kernel);
    // Room for bytes and the sets of buffers.
    if (!n || !p || !o || !k || *p > INT64_MAX / 64 || *o > INT64_MAX / 4096 ||
        *k > INT64_MAX / 4096 / t.planes)
      return bad_params(kName, "too many tiles or too large ones");
    tiles = *n, patch = *p, pixels = *o, taps = *k;
  }
  const auto planes = checked_mul(s.batch, t.plane_tiles());
  if (!planes || !checked_mul(*planes, tiles)) return bad_params(kName, "too many tiles");
  if (t.epilogue_rows > pixels) return bad_params(kName, "tile out of range");

  // `batch`: from one item of the first axis to the next; 0 for items back to back.
  const auto dense = [&](const Operand& o, const Dims& dims, std::int64_t batch = 0) {
    Dims strides(dims.size());
    std::int64_t stride = 1;
    for (std::size_t k = dims.size(); k-- > 0;) {
      strides[k] = stride;
      const auto next = checked_mul(stride, dims[k]);
      if (!next) return false;
      stride = *next;
    }
    if (batch != 0) strides[0] = batch;
    return within(o, bytes_of(o.dtype), 0, dims, strides);
  };
  if (!dense(operands[0], {s.batch, s.c1, d.in, h.in, w.in, 16}, s.in_batch))
    return bad_params(kName, "the input is smaller than its dims");
  if (s.kind == WindowKind::Depthwise && !dense(operands[1], {s.c1, taps, 16}))
    return bad_params(kName, "there are fewer weights than taps");
  if (s.bias && !dense(operands[base - 1], {s.c1, 16}))
    return bad_params(kName, "the bias is smaller than its dims");
  for (std::size_t k = 0; k < s.epilogue_operands.size(); ++k) {
    const ConvAddress& a = s.epilogue_operands[k];
    const Operand& o = operands[base + k];
    if (a.c0 != 16 && a.c0 != 32) return bad_params(kName, "blocks of channels are 16 or 32");
    // Of blocks of 32 lanes the last may be half used.
    const std::int64_t lanes = a.c0 == 32 && s.c1 > 1 ? 32 : 16;
    const bool in_blocks = a.channels == 0;
    if (!in_blocks && (a.c0 != 16 || a.channels <= (s.c1 - 1) * 16 || a.channels > s.c1 * 16 ||
                       checked_mul(a.lane, 16) != a.c1))
      return bad_params(kName, "channels out of range");
    const Dims dims = in_blocks ? Dims{s.batch, ceil_div(s.c1, a.c0 / 16), d.out, h.out, w.out, lanes}
                                : Dims{s.batch, a.channels, d.out, h.out, w.out};
    const Dims strides =
        in_blocks ? Dims{a.n, a.c1, a.d, a.h, a.w, a.lane} : Dims{a.n, a.lane, a.d, a.h, a.w};
    if (!within(o, bytes_of(o.dtype), a.offset, dims, strides))
      return bad_params(kName,
                        "the program's operand " + std::to_string(k) + " is smaller than its addresses");
  }
  for (const VecInstr& i : s.epilogue.code) {
    if (i.op == VecOp::Acc && i.type != RegType::F32) return bad_params(kName, "the accumulator is f32");
    if (i.op == VecOp::Store && i.dst >= 0 && static_cast<std::size_t>(i.dst) < s.epilogue_operands.size() &&
        !operands[base + static_cast<std::size_t>(i.dst)].output)
      return bad_params(kName, "it writes to an input");
  }
  return {};
}

namespace {

/// Cycles that the busiest core takes, roughly: loads and stores overlap the vector unit, which rules.
std::int64_t estimate(const WindowTiling& t, const soc::Chip& chip) {
  constexpr std::int64_t kTileCycles = 300, kPartCycles = 100;
  const WindowSpec& s = t.spec;
  const std::int64_t across = ceil_div(t.out[2] * 64, std::int64_t{chip.vector_bytes});
  const std::int64_t plane = std::min(t.out[1] * (8 + across), across * (8 + t.out[1]));
  const std::int64_t vector = t.planes * t.out[0] * plane * (t.part_taps() + 4);
  const std::int64_t load = t.patch_elements() * 4 / std::max(1, chip.ddr_read);
  return ceil_div(s.batch * t.plane_tiles() * t.axis_tiles(0) * t.axis_tiles(1) * t.axis_tiles(2),
                  std::max(1, chip.vector_blocks())) *
         (t.parts() * (std::max(vector, load) + kPartCycles) + kTileCycles);
}

// Tiles for the parts that `t` has.
bool choose_tile(WindowTiling& t, const TileProgram& epilogue, const std::vector<Operand>& operands,
                 const soc::Chip& chip) {
  const WindowSpec& s = t.spec;
  const std::int64_t w = s.axis[2].out;
  std::int64_t limit = 1;
  auto fits = [&] {
    const std::int64_t pixels = t.planes * t.out[0] * t.out[1] * t.out[2];
    if (pixels > limit) return false;
    t.epilogue_rows = pixels;
    while (t.epilogue_rows > 1 && (epilogue.ub_bytes(t.epilogue_rows, 16) > chip.ub / kEpilogueShare ||
                                   window_ub_bytes(t, epilogue, operands) > chip.ub))
      t.epilogue_rows = (t.epilogue_rows + 1) / 2;
    return window_ub_bytes(t, epilogue, operands) <= chip.ub;
  };
  auto grow = [&](std::int64_t& extent, std::int64_t most) {
    extent = largest(most, [&](std::int64_t n) {
      extent = n;
      return fits();
    });
    return extent == most;
  };
  t.planes = 1;
  t.out = {1, 1, 1};
  if (!fits()) return false;
  const std::int64_t share =
      ceil_div(s.batch * s.c1 * s.axis[0].out * s.axis[1].out * w, std::max(1, chip.vector_blocks()));
  const std::int64_t taps = s.axis[0].kernel * s.axis[1].kernel * s.axis[2].kernel;
  const std::int64_t few = std::clamp<std::int64_t>(kFewTaps / taps, 1, kManyPixels);
  WindowTiling best = t;
  std::int64_t best_cycles = INT64_MAX;
  // From a tile for each core on; smaller ones only cost more.
  for (const std::int64_t percent : {50, 100, 125, 150, 200, 300}) {
    // Whole rows unless UB is too small for one.
    limit = std::max(std::clamp(share * percent / 100, few, kManyPixels), w);
    t.planes = 1;
    t.out = {1, 1, 1};
    if (grow(t.out[2], w) && grow(t.out[1], s.axis[1].out) && grow(t.out[0], s.axis[0].out))
      grow(t.planes, s.c1);
    if (!fits()) continue;
    const std::int64_t cycles = estimate(t, chip);
    if (cycles < best_cycles) {
      best_cycles = cycles;
      best = t;
    }
  }
  t = best;
  return true;
}

/// `part` with fewer taps along the outermost axis that has several; false when it is one tap.
bool halve(std::array<std::int64_t, 3>& part) {
  for (std::int64_t& n : part)
    if (n > 1) {
      n = (n + 1) / 2;
      return true;
    }
  return false;
}

}  // namespace

bool choose_window_tile(WindowTiling& t, const TileProgram& epilogue, const std::vector<Operand>& operands,
                        const soc::Chip& chip) {
  const WindowSpec& s = t.spec;
  t.part = {s.axis[0].kernel, s.axis[1].kernel, s.axis[2].kernel};
  bool found = choose_tile(t, epilogue, operands, chip);
  // Whole windows over whole rows, or small ones: no cut does better.
  if (found && (t.out[2] == s.axis[2].out || t.taps() <= kSmallWindow)) return true;
  WindowTiling candidate = t;
  std::int64_t cycles = found ? estimate(t, chip) : INT64_MAX;
  while (halve(candidate.part)) {
    if (!choose_tile(candidate, epilogue, operands, chip)) continue;
    const std::int64_t c = estimate(candidate, chip);
    if (found && c >= cycles) continue;
    found = true;
    cycles = c;
    t = candidate;
  }
  return found;
}

}  // namespace atc::kernels
