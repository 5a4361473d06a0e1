#include "kernels/cube_conv_tiling.h"

#include <algorithm>

#include "kernels/cube_conv_patch.h"
#include "kernels/in_place_rules.h"
#include "kernels/kernel_list.h"
#include "kernels/plan_choice.h"
#include "kernels/program_params.h"
#include "kernels/task_packing.h"
#include "soc/chip.h"

namespace atc::kernels {
namespace {

constexpr std::string_view kName = kConvKernel;

// Of a tile.
constexpr std::int64_t kMostRows = 512;

// Of a pixel in NC1HWC0_C04.
constexpr int kSmallLanes = 4;

template <class Archive>
void io_three(Archive& ar, std::array<std::int64_t, 3>& a) {
  for (std::int64_t& v : a) ar.io(v);
}

template <class Archive>
void io_tiling(Archive& ar, ConvTiling& t) {
  ConvSpec& s = t.spec;
  for (std::int64_t* v : {&s.batch, &s.groups, &s.k1, &s.k_last, &s.n1, &s.pad, &s.taps, &s.taps_in_fractal,
                          &t.k_chunk, &t.patch_elements, &t.ub_rows, &t.tap_span})
    ar.io(*v);
  io_three(ar, s.in);
  io_three(ar, s.in_stride);
  ar.io(s.in_batch);
  io_list(ar, s.phases, [](auto& a, ConvPhase& p) {
    io_three(a, p.start);
    io_three(a, p.step);
    io_three(a, p.count);
    io_list(a, p.taps, [](auto& b, ConvTap& tap) {
      b.io(tap.index);
      io_three(b, tap.shift);
    });
  });
  io_list(ar, s.epilogue_operands, [](auto& a, ConvAddress& x) {
    for (std::int64_t* v : {&x.offset, &x.n, &x.c1, &x.d, &x.h, &x.w, &x.lane, &x.c0, &x.channels}) a.io(*v);
  });
  io_program(ar, s.epilogue);
  ar.io(t.tile.m);
  ar.io(t.tile.panels);
  ar.io(t.tile.k_slice);
  ar.io(t.a_buffers);
  ar.io(t.b_buffers);
  ar.io(t.l0c_buffers);
  ar.io(t.rows_inner);
  ar.io(t.whole_plane);
  ar.io(t.pairs);
  ar.io(t.part_rows);
  ar.io(t.tap_patches);
  ar.io(t.images);
}

bool by_depth_and_index(const ConvTap& a, const ConvTap& b) {
  return std::pair(a.shift[0], a.index) < std::pair(b.shift[0], b.index);
}

// Candidate tile heights, the tallest first: whole output rows where they fit and even parts of a plane; tiny
// ones for strides of thousands.
std::vector<int> candidate_pixels(const ConvSpec& s, bool tiny) {
  std::vector<int> out;
  if (tiny) out = {1, 2, 4, 8};
  std::int64_t width = 1, plane = 1;
  for (const ConvPhase& p : s.phases) {
    width = std::max(width, p.count[2]);
    plane = std::max(plane, p.count[1] * p.count[2]);
  }
  for (std::int64_t rows : {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 28, 32, 56})
    if (rows * width <= kMostRows && rows * width <= plane + width)
      out.push_back(static_cast<int>(std::min(rows * width, plane)));
  // Even parts of a plane, in whole fractals.
  for (std::int64_t parts = 1, plane1 = ceil_div(plane, 16); parts <= plane1; ++parts) {
    const std::int64_t m = ceil_div(plane1, parts) * 16;
    if (m <= kMostRows && (m >= 64 || parts == 1 || m == 32 || m == 16))
      out.push_back(static_cast<int>(std::min(m, plane)));
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  std::reverse(out.begin(), out.end());
  return out;
}

// What a tile may take to L1 in parts, cheapest first: each step down loads some bytes more than once.
enum class Cut { Rows, Taps, RowsAndTaps, Patches };

// Shares L1 between input patches and weights; false when it is too small.
bool fit_l1(ConvTiling& c, int e, Cut cut, const soc::Chip& chip) {
  const ConvSpec& s = c.spec;
  const std::int64_t room = (chip.l1 - 1024) / 2;  // two of each
  const std::int64_t fractal_bytes = std::int64_t{c.tile.panels} * 16 * fractal_row_bytes(e);
  const std::int64_t per = s.taps_in_fractal;
  auto patch = [&] { return round_up(c.patch_elements * e, 32); };
  c.part_rows = cut == Cut::Rows || cut == Cut::RowsAndTaps || cut == Cut::Patches;
  c.tap_patches = cut == Cut::Patches;
  c.k_chunk = 1;
  if (c.tap_patches) {
    for (std::int64_t fractals = s.fractals() - 1; fractals >= 1; fractals /= 2) {
      c.tap_span = fractals * per;
      c.patch_elements = largest_patch(c, e);
      if (patch() + fractals * fractal_bytes <= room) return true;
    }
    return false;
  }
  c.tap_span = s.taps;
  c.patch_elements = largest_patch(c, e);
  c.k_chunk = std::min(s.k1, room / (patch() + s.fractals() * fractal_bytes));
  if (c.k_chunk >= 1) return true;
  c.k_chunk = 1;
  c.tap_span = std::min(s.fractals(), (room - patch()) / fractal_bytes) * per;
  return (cut == Cut::Taps || cut == Cut::RowsAndTaps) && room > patch() && c.tap_span >= 1;
}

CubeProblem problem_of(const ConvTiling& t, const TileProgram& epilogue,
                       const std::vector<Operand>& operands) {
  const ConvSpec& s = t.spec;
  CubeProblem p = epilogue_problem(epilogue, operands);
  const ConvPhase& phase = s.phases.front();
  p.batches = s.batch * s.groups * phase.count[0] * static_cast<std::int64_t>(s.phases.size());
  p.b_shared = s.groups == 1;
  p.b_run_batches = s.batch * phase.count[0];
  p.rows = phase.count[1] * phase.count[2];
  p.panels = s.n1;
  p.k_units = s.k1;
  p.unit_fractals = ceil_div(static_cast<std::int64_t>(phase.taps.size()), s.taps_in_fractal);
  p.element_bytes = bit_width(operands[0].dtype) / 8;
  p.a_bytes = operands[0].bytes;
  p.b_bytes = operands[1].bytes;
  p.epilogue_lanes = t.epilogue_lanes();
  return p;
}

/// Rows of L0C that tiles may have, and how many images these are.
struct TileRows {
  int m = 16, images = 1;
};

std::vector<TileRows> candidate_rows(const ConvSpec& s, bool tiny, bool several_images) {
  std::vector<TileRows> out;
  for (const int m : candidate_pixels(s, tiny)) out.push_back({m, 1});
  const std::int64_t plane = s.phases[0].count[1] * s.phases[0].count[2], plane16 = round_up(plane, 16);
  if (!several_images || s.phases.size() != 1) return out;
  int last = 1;
  for (std::int64_t tiles = s.batch; tiles >= 1; --tiles) {
    const int images = static_cast<int>(std::min(ceil_div(s.batch, tiles), kMostRows + 1));
    if (images * plane16 > kMostRows) break;
    if (images > last) out.push_back({static_cast<int>(images * plane16), images});
    last = images;
  }
  return out;
}

/// Calls f(plan) for each tile of L0C that fits, with k_slice and ub_rows of full size. `tiny`: also those of
/// a few pixels; `several_images`: also those of more than one plane.
template <class F>
void for_tiles(const ConvTiling& t, const TileProgram& epilogue, int e, bool tiny, bool several_images,
               const soc::Chip& chip, F f) {
  const ConvSpec& s = t.spec;
  constexpr std::int64_t kMostPanels = 64;
  for (const auto [m, images] : candidate_rows(s, tiny, several_images)) {
    std::int64_t last = 0;
    for (std::int64_t parts = ceil_div(s.n1, kMostPanels); parts <= s.n1; ++parts) {
      const std::int64_t panels = round_up(ceil_div(s.n1, parts), t.pairs && s.n1 > 1 ? 2 : 1);
      if (panels == last) continue;
      last = panels;
      for (const int l0c : {2, 1}) {
        CubePlan plan;
        plan.tile = {m, static_cast<int>(std::min(panels, s.n1)), 0};
        plan.l0c_buffers = l0c;
        plan.images = images;
        plan.tile.k_slice = static_cast<int>(
            std::min<std::int64_t>(max_k_slice(m, plan.tile.panels, e, l0c, chip), s.k1 * s.fractals()));
        if (plan.tile.k_slice < 1) continue;
        plan.ub_rows = images == 1 ? m : s.phases[0].count[1] * s.phases[0].count[2];
        auto ub = [&](std::int64_t rows) {
          return epilogue.ub_bytes(rows, t.epilogue_lanes()) + rows * t.epilogue_lanes() * 8 + 256;
        };
        while (plan.ub_rows > 1 && ub(plan.ub_rows) > chip.ub) plan.ub_rows = (plan.ub_rows + 1) / 2;
        if (ub(plan.ub_rows) > chip.ub) continue;
        f(plan);
      }
    }
  }
}

// The tile of lowest estimate of those that are cut so; false when none fits.
bool choose_cut_tile(ConvTiling& t, const TileProgram& epilogue, const std::vector<Operand>& operands,
                     Cut cut, const soc::Chip& chip) {
  const CubeProblem problem = problem_of(t, epilogue, operands);
  const int e = problem.element_bytes;
  std::int64_t best = -1;
  ConvTiling chosen = t;
  for_tiles(t, epilogue, e, cut == Cut::Patches, false, chip, [&](const CubePlan& tile) {
    ConvTiling c = t.with(tile, e);
    if (!fit_l1(c, e, cut, chip)) return;
    CubePlan plan = tile;
    plan.k_chunk = c.k_chunk;
    TileOperands o;
    o.a_unit_bytes = o.a_mean_bytes = c.patch_elements * e;
    o.b_unit_bytes = c.spec.fractals() * c.tile.panels * 16 * fractal_row_bytes(e);
    o.a_blocks = 1;
    o.a_blocks_grow = true;
    o.b_blocks = c.tile.panels;
    const std::int64_t panel_tiles = c.panel_tiles();
    estimate_plan(problem, plan, o, std::max<std::int64_t>(1, c.tiles() / problem.batches / panel_tiles),
                  panel_tiles, chip);
    if (best >= 0 && plan.cycles >= best) return;
    best = plan.cycles;
    chosen = c;
  });
  if (best >= 0) t = chosen;
  return best >= 0;
}

// Two panels at once: whole pairs in each tile, and every operand has both side by side. Operands without a
// plane (a value for each channel) do whatever their blocks are.
bool takes_pairs(const ConvSpec& s, int panels) {
  if (s.groups > 1 && s.n1 % 2 != 0) return false;
  if (panels % 2 != 0 && panels < s.n1) return false;
  return std::all_of(s.epilogue_operands.begin(), s.epilogue_operands.end(), [](const ConvAddress& a) {
    const bool per_channel = a.n == 0 && a.d == 0 && a.h == 0 && a.w == 0 && (a.lane == 0 || a.c1 == a.c0);
    return a.c0 == 32 || per_channel;
  });
}

bool has_wide_blocks(const ConvSpec& s) {
  return std::any_of(s.epilogue_operands.begin(), s.epilogue_operands.end(),
                     [](const ConvAddress& a) { return a.c0 == 32; });
}

// Several images in a tile: the rows of L0C are those of whole planes.
bool takes_images(const ConvTiling& t) {
  const ConvPhase& p = t.spec.phases.front();
  return t.spec.phases.size() == 1 && !t.part_rows && t.tap_span == t.spec.taps &&
         p.count[1] * p.count[2] <= kMostRows && t.tile.m == t.images * round_up(p.count[1] * p.count[2], 16);
}

// Blocks of 16 or 32 lanes, or as many channels as reach into the last of `panels`.
bool legal_channels(const ConvAddress& a, std::int64_t panels) {
  if (a.channels == 0) return a.c0 == 16 || a.c0 == 32;
  return a.c0 == 16 && (panels - 1) * 16 < a.channels && a.channels <= panels * 16;
}

bool linear_over_plane(const ConvSpec& s) {
  if (s.phases.size() != 1 || s.phases[0].step[1] != 1 || s.phases[0].step[2] != 1) return false;
  for (const ConvAddress& a : s.epilogue_operands)
    if (a.h != a.w * s.phases[0].count[2]) return false;
  return true;
}

}  // namespace

std::size_t taps_within(std::span<const ConvTap> taps, std::int64_t span) {
  std::size_t n = 1;
  while (n < taps.size() && taps[n].index - taps[0].index < span) ++n;
  return n;
}

std::int64_t ConvTiling::tiles() const {
  std::int64_t n = 0;
  for (const ConvPhase& p : spec.phases) n += phase_tiles(p);
  return n;
}

ConvTile ConvTiling::decode(std::int64_t number) const {
  ConvTile c;
  while (number >= phase_tiles(spec.phases[c.phase])) number -= phase_tiles(spec.phases[c.phase++]);
  const ConvPhase& p = spec.phases[c.phase];
  const std::int64_t plane = p.count[1] * p.count[2];
  const std::int64_t pixel_tiles = this->pixel_tiles(p);
  std::int64_t pixel_tile = 0;
  if (rows_inner) {
    pixel_tile = number % pixel_tiles;
    number /= pixel_tiles;
    c.depth = number % p.count[0];
    number /= p.count[0];
    c.batch = number % batch_tiles() * images;
    number /= batch_tiles();
    c.panel0 = number % panel_tiles() * tile.panels;
    c.group = number / panel_tiles();
  } else {
    c.panel0 = number % panel_tiles() * tile.panels;
    number /= panel_tiles();
    pixel_tile = number % pixel_tiles;
    number /= pixel_tiles;
    c.depth = number % p.count[0];
    number /= p.count[0];
    c.group = number % spec.groups;
    c.batch = number / spec.groups * images;
  }
  c.images = std::min<std::int64_t>(images, spec.batch - c.batch);
  std::int64_t end = plane;
  if (part_rows) {
    const std::int64_t row = pixel_tile / row_tiles(p);
    c.first_pixel = row * p.count[2] + pixel_tile % row_tiles(p) * tile.m;
    end = (row + 1) * p.count[2];
  } else {
    c.first_pixel = pixel_tile * tile.m;
  }
  c.panels = std::min<std::int64_t>(tile.panels, spec.n1 - c.panel0);
  c.pixels = std::min<std::int64_t>(tile.m, end - c.first_pixel);  // of several images: the whole plane
  return c;
}

StatusOr<TileProgram> conv_epilogue(const ConvTiling& t, const std::vector<Operand>& operands) {
  std::vector<Lanes> lanes;
  std::vector<DType> dtypes;
  std::vector<bool> turned;
  for (std::size_t k = 0; k < t.spec.epilogue_operands.size(); ++k) {
    const ConvAddress& a = t.spec.epilogue_operands[k];
    // Pixels are rows of 16 lanes; a tile of one pixel is a plane of one pixel.
    const bool one_pixel =
        t.spec.phases[0].count[1] * t.spec.phases[0].count[2] == 1 && t.spec.phases.size() == 1;
    lanes.push_back(lanes_of(a.w, a.lane, one_pixel ? 1 : 2, t.epilogue_lanes()));
    dtypes.push_back(operands[k + 2].dtype);
    turned.push_back(
        is_turned(a.w * t.spec.phases[0].step[2], a.lane, one_pixel ? 1 : 2, t.epilogue_lanes()));
  }
  return TileProgram::create(t.spec.epilogue, std::move(lanes), std::move(dtypes), ReduceMode::None,
                             std::move(turned));
}

Status unpack_conv(const Task& task, ConvTiling& t) {
  ATC_TRY(unpack_params(kName, task, [&](auto& ar) { io_tiling(ar, t); }));
  const ConvSpec& s = t.spec;
  if (task.operands.size() != s.epilogue_operands.size() + 2) return bad_params(kName, "operand count");
  const DType dtype = task.operands[0].dtype;
  ATC_TRY(check_cube_operands(task, s.epilogue, kName));
  constexpr std::int64_t kLimit = 1 << 24;
  auto legal = [](std::int64_t v) { return v >= 1 && v <= kLimit; };
  for (std::int64_t d : {s.batch, s.groups, s.k1, s.n1, s.taps, s.in[0], s.in[1], s.in[2], s.in_stride[0],
                         s.in_stride[1], s.in_stride[2], std::int64_t{t.tile.m}, std::int64_t{t.tile.panels},
                         std::int64_t{t.tile.k_slice}, t.k_chunk, t.ub_rows, t.tap_span})
    if (!legal(d)) return bad_params(kName, "extent out of range");
  for (const int n : {t.a_buffers, t.b_buffers, t.l0c_buffers})
    if (n < 1 || n > 4096) return bad_params(kName, "buffers out of range");
  if (s.taps_in_fractal != 1 &&
      (s.taps_in_fractal != aicore::cube_lanes(dtype) / kSmallLanes || s.groups != 1 || s.k1 != 1 ||
       s.taps % s.taps_in_fractal != 0 || t.tap_span % s.taps_in_fractal != 0))
    return bad_params(kName, "taps side by side in fractals");
  if (s.k_last < 1 || s.k_last > s.lanes(dtype) || t.tile.m > 4096 || t.tile.panels > 4096 ||
      t.patch_elements < 1 || t.patch_elements > kLimit || s.phases.empty() || s.phases.size() > 4096)
    return bad_params(kName, "tile out of range");
  if (s.in_batch < 0 || s.in_batch > std::int64_t{1} << 38) return bad_params(kName, "batch out of range");
  if (s.pad != 0 && (dtype != DType::I8 || s.pad < -128 || s.pad > 127))
    return bad_params(kName, "padding out of range");
  for (const ConvAddress& a : s.epilogue_operands)
    if (!legal_channels(a, s.groups * s.n1)) return bad_params(kName, "blocks of channels are 16 or 32");
  if (t.pairs && !takes_pairs(s, t.tile.panels)) return bad_params(kName, "tiles of half pairs");
  if (t.tap_span > s.taps || (t.tap_span < s.taps && t.k_chunk != 1))
    return bad_params(kName, "taps out of range");
  if (t.images < 1 || t.images > s.batch) return bad_params(kName, "several images in a tile");
  if (t.tap_patches && (!t.part_rows || t.tap_span == s.taps)) return bad_params(kName, "taps out of range");
  std::int64_t tiles = 0;
  for (const ConvPhase& p : s.phases) {
    std::int64_t product = 1;
    for (std::int64_t d : {s.batch, s.groups, p.count[0], p.count[1], p.count[2], t.panel_tiles()}) {
      const auto next = checked_mul(product, d);
      if (!legal(d) || !next) return bad_params(kName, "phase out of range");
      product = *next;
    }
    if (p.taps.empty()) return bad_params(kName, "a phase without taps");
    if (t.tap_span < s.taps && !std::is_sorted(p.taps.begin(), p.taps.end(), by_depth_and_index))
      return bad_params(kName, "taps out of order");
    for (const ConvTap& tap : p.taps) {
      if (tap.index < 0 || tap.index >= s.taps) return bad_params(kName, "tap out of range");
      for (std::int64_t v : tap.shift)
        if (v < -kLimit || v > kLimit) return bad_params(kName, "tap out of range");
    }
    for (int i = 0; i < 3; ++i) {
      const std::size_t d = static_cast<std::size_t>(i);
      if (!legal(p.step[d]) || p.start[d] < 0 || p.start[d] > kLimit)
        return bad_params(kName, "phase out of range");
      const auto far = checked_mul(p.count[d], s.in_stride[d]);
      if (!far || *far > (1 << 28)) return bad_params(kName, "phase out of range");
    }
    const auto total = checked_add(tiles, t.phase_tiles(p));
    if (!total) return bad_params(kName, "too many tiles");
    tiles = *total;
  }
  if (t.images > 1 && !takes_images(t)) return bad_params(kName, "several images in a tile");
  return check_blocks(task, tiles);
}

ConvTiling conv_tiling(const ConvSpec& spec) {
  ConvTiling t;
  t.spec = spec;
  for (ConvPhase& p : t.spec.phases) std::sort(p.taps.begin(), p.taps.end(), by_depth_and_index);
  t.whole_plane = linear_over_plane(t.spec);
  t.pairs = has_wide_blocks(t.spec) && takes_pairs(t.spec, 2);
  t.tap_span = t.spec.taps;
  return t;
}

ConvTiling ConvTiling::with(const CubePlan& plan, int element_bytes) const {
  ConvTiling t = *this;
  t.tile = plan.tile;
  t.k_chunk = plan.k_chunk;
  t.ub_rows = plan.ub_rows;
  t.a_buffers = plan.a_buffers;
  t.b_buffers = plan.b_buffers;
  t.l0c_buffers = plan.l0c_buffers;
  t.rows_inner = plan.rows_inner;
  t.images = plan.images;
  t.patch_elements = largest_patch(t, element_bytes);
  return t;
}

std::vector<CubePlan> conv_plans(const ConvTiling& tiling, const TileProgram& epilogue,
                                 const std::vector<Operand>& operands, const soc::Chip& chip, bool prune) {
  const CubeProblem problem = problem_of(tiling, epilogue, operands);
  const int e = problem.element_bytes;
  PlanList list;
  list.prune = prune;
  TileRows rows{0, 0};
  std::int64_t patch = 0, mean = 0, step = 1;
  for_tiles(tiling, epilogue, e, false, true, chip, [&](const CubePlan& plan) {
    const ConvSpec& s = tiling.spec;
    if (plan.tile.m != rows.m || plan.images != rows.images) {
      rows = {plan.tile.m, plan.images};
      patch = tiling.with(plan, e).patch_elements;
      step = row_step(s, plan.images);
      mean = mean_patch(s, plan.images == 1 ? plan.tile.m : problem.rows, step) * plan.images;
    }
    TileOperands o;
    o.a_unit_bytes = patch * e;
    o.a_mean_bytes = std::min(patch, mean * (fractal_row_bytes(e) / e / s.taps_in_fractal)) * e;
    o.b_unit_bytes = s.fractals() * plan.tile.panels * 16 * fractal_row_bytes(e);
    o.a_blocks = step == 1 ? plan.images : ceil_div(mean, s.in[2]);
    o.a_blocks_grow = true;
    o.b_blocks = plan.tile.panels;
    CubeProblem p = problem;
    if (plan.images > 1) {  // as if several were one
      const std::int64_t batch = ceil_div(s.batch, std::int64_t{plan.images});
      p.batches = problem.batches / s.batch * batch;
      p.b_run_batches = problem.b_run_batches / s.batch * batch;
      p.rows = plan.tile.m;
    }
    // Rows that a stride leaves out stay where they are.
    if (step > 1) p.a_bytes = p.a_bytes / s.in[1] * std::min(s.in[1], s.phases.front().count[1]);
    add_l1_plans(p, plan, o, ceil_div(p.rows, std::int64_t{plan.tile.m}),
                 ceil_div(s.n1, std::int64_t{plan.tile.panels}), chip, list);
  });
  return std::move(list.plans);
}

std::vector<std::int64_t> conv_params(ConvTiling t) {
  ParamWriter w;
  io_tiling(w, t);
  return w.take();
}

Task pack_conv(const ConvTiling& tiling, std::vector<Operand> operands, const soc::Chip& chip) {
  ConvTiling t = tiling;
  return pack_task(kName, std::move(operands), t.tiles(), chip.cube_blocks(),
                   [&](auto& ar) { io_tiling(ar, t); });
}

StatusOr<Task> make_conv_task(const ConvSpec& spec, std::vector<Operand> operands, const soc::Chip& chip) {
  ConvTiling t = conv_tiling(spec);
  ATC_ASSIGN(const TileProgram epilogue, conv_epilogue(t, operands));
  const int e = bit_width(operands[0].dtype) / 8;
  const PlanQuestion question = {kConvKernel,
                                 conv_params(t),
                                 operands,
                                 chip,
                                 [&](bool prune) { return conv_plans(t, epilogue, operands, chip, prune); },
                                 [&](const CubePlan& p) {
                                   const ConvTiling candidate = t.with(p, e);
                                   const std::unique_ptr<PreparedKernel> kernel =
                                       conv_kernel(candidate, epilogue, operands[0].dtype);
                                   return longest_block(*kernel, p, candidate.tiles(), operands, chip);
                                 },
                                 [&](const CubePlan& p) { return pack_conv(t.with(p, e), operands, chip); }};
  ATC_ASSIGN(const CubePlan plan, choose_plan(question));
  if (plan.cycles > 0) return pack_conv(t.with(plan, e), std::move(operands), chip);
  // What must be cut further, cheapest first.
  for (const Cut cut : {Cut::Rows, Cut::Taps, Cut::RowsAndTaps, Cut::Patches})
    if (choose_cut_tile(t, epilogue, operands, cut, chip)) return pack_conv(t, std::move(operands), chip);
  return Status::error("E10055",
                       "The operation is not supported: no tile of the convolution fits the buffers of " +
                           std::string(chip.name));
}

bool one_to_one(const ConvAddress& a, std::int64_t batch, std::int64_t panels,
                const std::array<std::int64_t, 3>& count, const std::array<std::int64_t, 3>& step) {
  const bool wide = a.c0 == 32;
  return one_to_one({batch, wide ? ceil_div(panels, std::int64_t{2}) : panels,
                     wide ? std::min<std::int64_t>(panels, 2) : 1, count[0], count[1], count[2], 16},
                    {a.n, a.c1, 16 * a.lane, a.d * step[0], a.h * step[1], a.w * step[2], a.lane});
}

// The input has a halo and is read for many tiles; an epilogue operand is read where the output is written.
bool conv_may_share(const Task& task, std::size_t input, std::size_t output) {
  ConvTiling t;
  if (input < 2 || output < 2 || !unpack_params(kName, task, [&](auto& ar) { io_tiling(ar, t); }).ok())
    return false;
  const ConvSpec& s = t.spec;
  const ConvAddress& out = s.epilogue_operands[output - 2];
  return s.epilogue_operands[input - 2] == out && s.phases.size() == 1 &&
         one_to_one(out, s.batch, s.groups * s.n1, s.phases[0].count, s.phases[0].step) &&
         reads_before_writes(s.epilogue, input - 2, task.operands[input].dtype, output - 2);
}

}  // namespace atc::kernels
