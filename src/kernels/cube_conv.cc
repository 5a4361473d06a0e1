#include "kernels/cube_conv.h"

#include <algorithm>
#include <array>

#include "aicore/core.h"
#include "kernels/cube_conv_patch.h"
#include "kernels/cube_conv_tiling.h"
#include "kernels/cube_tiling.h"
#include "kernels/kernel_list.h"
#include "kernels/l1_pool.h"

namespace atc::kernels {
namespace {

using aicore::Buffer;
using aicore::Core;
using aicore::Memory;

class ConvKernel final : public PreparedKernel {
 public:
  ConvKernel(ConvTiling tiling, TileProgram epilogue, DType dtype)
      : t_(std::move(tiling)),
        epilogue_(std::move(epilogue)),
        dtype_(dtype),
        step_(row_step(t_.spec, t_.images)) {}

  void run(Core& core, std::span<const aicore::Gm> operands, std::int64_t first,
           std::int64_t last) const override {
    const std::int64_t e = bit_width(dtype_) / 8;
    Block b(core, t_, epilogue_, e);
    Pending before;  // the tile before, whose epilogue goes on between the parts of the next product
    if (first == last) return;
    ConvTile next = t_.decode(first);
    Patch next_patch = patch_of(core, next, taps_of(next));
    for (std::int64_t tile = first; tile < last; ++tile) {
      const ConvTile now = next;
      const Patch patch = next_patch;
      if (t_.l0c_buffers == 1) write_out(core, operands.subspan(2), b, before, kAll);
      Buffer& l0c = multiply(core, operands, b, now, patch, before);
      write_out(core, operands.subspan(2), b, before, kAll);
      // The next tile's operands come before the epilogue's, which wait for the vector unit.
      if (tile + 1 < last) {
        next = t_.decode(tile + 1);
        next_patch = patch_of(core, next, taps_of(next));
        load_ahead(core, operands, b, next, next_patch);
      }
      before = {now, &l0c};
    }
    write_out(core, operands.subspan(2), b, before, kAll);
  }

  std::int64_t tile_key(std::int64_t tile) const override {
    const ConvTile c = t_.decode(tile);
    // Input rows that the padding cuts off differ from tile to tile: depth and first pixel stand for them.
    // The rest says the shape, and where a tile is the first to want another patch or other weights.
    std::int64_t depths = 1, pixels = 1;
    for (const ConvPhase& p : t_.spec.phases) {
      depths = std::max(depths, p.count[0]);
      pixels = std::max(pixels, p.count[1] * p.count[2]);
    }
    const std::int64_t place =
        ((static_cast<std::int64_t>(c.phase) * depths + c.depth) * pixels + c.first_pixel) * t_.images +
        c.images - 1;
    return place * 16 + (c.batch == 0 ? 8 : 0) + (c.group == 0 ? 4 : 0) + (c.panel0 == 0 ? 2 : 0) +
           (c.panel0 + t_.tile.panels >= t_.spec.n1 ? 1 : 0);
  }

 private:
  struct Block {
    CubeBlock cube;
    L1Pool l1a, l1b;
    Buffer* ub[2];
    TileProgram::Buffers epilogue;
    int ub_turn = 0;
    aicore::RowMap map;
    std::array<std::int64_t, 12> map_key{};  // what map's rows were listed for
    std::pmr::vector<TileAddress> at;
    Block(Core& core, const ConvTiling& t, const TileProgram& program, std::int64_t e)
        : cube(core, t.tile, static_cast<int>(e), t.l0c_buffers),
          l1a(core, t.a_buffers, t.k_chunk * t.patch_elements * e),
          l1b(core, t.b_buffers,
              t.tile.panels * t.k_chunk * t.span_fractals() * 16 * fractal_row_bytes(static_cast<int>(e))),
          epilogue(program, core, t.ub_rows, t.epilogue_lanes()),
          map(core.scratch()),
          at(t.spec.epilogue_operands.size(), core.scratch()) {
      for (Buffer*& buffer : ub) buffer = &core.alloc(Memory::UB, t.ub_rows * t.epilogue_lanes() * 4);
    }
  };

  /// The input rows and columns of one plane that L1 has for a tile.
  struct Patch {
    std::int64_t row = 0, rows = 1;
    std::int64_t column = 0, columns = 1;
    std::int64_t pitch = 0;        ///< elements from row to row in L1
    std::int64_t image_pitch = 0;  ///< and from image to image
    bool outside = false;          ///< every row that the tile needs lies in the padding
  };

  /// A tile whose sums are in L0C and whose epilogue has got so far.
  struct Pending {
    ConvTile tile;
    Buffer* l0c = nullptr;  // none: there is no such tile
    std::int64_t panel = 0, image = 0, done = 0;
    bool ended() const { return l0c == nullptr || panel >= tile.panels; }
  };

  /// The tile's sums, in one of the buffers of L0C. Between the parts of the product the epilogue of the tile
  /// before gets on: what it moves would hold up the loads of the later parts.
  Buffer& multiply(Core& core, std::span<const aicore::Gm> operands, Block& block, const ConvTile& c,
                   Patch patch, Pending& before) const {
    const ConvSpec& s = t_.spec;
    const ConvPhase& phase = s.phases[c.phase];
    const int lanes = s.lanes(dtype_);
    aicore::RowMap& map = block.map;
    if (!t_.tap_patches) map_rows(block, c, patch);
    map.b_k1_stride = t_.tap_span;
    map.tap_lanes = s.taps_in_fractal == 1 ? 0 : lanes;
    map.pad = static_cast<int>(s.pad);

    Buffer& l0c = block.cube.take_l0c();
    bool accumulate = false;
    const std::int64_t runs =
        before.ended() ? 0 : ceil_div(epilogue_runs(before.tile), ceil_div(s.k1, t_.k_chunk));
    for (std::size_t t0 = 0; t0 < phase.taps.size();) {
      // Taps of one input depth at a time (they are sorted by it).
      const std::int64_t shift_d = phase.taps[t0].shift[0];
      std::size_t t1 = t0;
      while (t1 < phase.taps.size() && phase.taps[t1].shift[0] == shift_d) ++t1;
      const std::int64_t d = c.depth * s.in_stride[0] + shift_d;
      const bool inside = d >= 0 && d < s.in[0];
      // When every depth lies in the padding the last group still runs, on rows that are all padding; padding
      // that is not zero always counts.
      if (!inside && s.pad == 0 && (accumulate || t1 < phase.taps.size())) {
        t0 = t1;
        continue;
      }
      for (std::int64_t k0 = 0; k0 < s.k1; k0 += t_.k_chunk) {
        const std::int64_t k = std::min<std::int64_t>(t_.k_chunk, s.k1 - k0);
        const std::int64_t offset = plane_at(c, k0, inside ? d : 0);
        map.k1 = static_cast<int>(k);
        map.k_last = static_cast<int>(k0 + k == s.k1 && c.group + 1 == s.groups ? s.k_last : lanes);
        Core::CubeTile a;
        if (!t_.tap_patches) a = input(core, operands, block, c, patch, offset, 0, k);
        for (std::size_t first = t0; first < t1;) {
          const std::size_t end = part_end(phase, first, t1);
          const std::span<const ConvTap> part(phase.taps.data() + first, end - first);
          if (t_.tap_patches) {
            patch = patch_of(core, c, part);
            map_rows(block, c, patch);
            a = input(core, operands, block, c, patch, offset, first + 1, k);
          }
          map.k1_stride = a.k1_stride;
          const std::int64_t per = s.taps_in_fractal;
          const std::int64_t tap0 = t_.tap_span == s.taps ? 0 : part.front().index / per * per;
          const std::int64_t span =
              t_.tap_span == s.taps ? s.taps : round_up(part.back().index - tap0 + 1, per);
          set_taps(map, part, tap0, patch.pitch, inside);
          const Core::CubeTile w = weights(core, operands, block, c, k0, k, tap0, span);
          core.l1_product(l0c, block.cube.l0, a, map, w, dtype_, static_cast<int>(c.panels), t_.tile.k_slice,
                          accumulate, t_.acc_layout());
          accumulate = true;
          first = end;
          write_out(core, operands.subspan(2), block, before, runs);
        }
      }
      t0 = t1;
    }
    return l0c;
  }

  /// Brings in the first parts of what `multiply` of a tile will want.
  void load_ahead(Core& core, std::span<const aicore::Gm> operands, Block& block, const ConvTile& c,
                  const Patch& patch) const {
    const ConvSpec& s = t_.spec;
    const ConvPhase& phase = s.phases[c.phase];
    const std::int64_t d = c.depth * s.in_stride[0] + phase.taps.front().shift[0];
    // Taps that are loaded part by part, and depths in the padding, are left to `multiply`.
    if (t_.tap_span < s.taps || d < 0 || d >= s.in[0]) return;
    const std::int64_t parts = std::min(t_.a_buffers, t_.b_buffers);
    for (std::int64_t k0 = 0; k0 < std::min(s.k1, parts * t_.k_chunk); k0 += t_.k_chunk) {
      const std::int64_t k = std::min(t_.k_chunk, s.k1 - k0);
      input(core, operands, block, c, patch, plane_at(c, k0, d), 0, k);
      weights(core, operands, block, c, k0, k, 0, s.taps);
    }
  }

  /// Where depth plane d of C1 block k0 of a tile's input begins.
  std::int64_t plane_at(const ConvTile& c, std::int64_t k0, std::int64_t d) const {
    const ConvSpec& s = t_.spec;
    const std::int64_t plane = s.in[1] * s.in[2] * s.lanes(dtype_);
    return c.batch * image_stride() + ((c.group * s.k1 + k0) * s.in[0] + d) * plane;
  }

  /// k C1 blocks of a patch in L1; `part` tells apart the patches of one tile.
  Core::CubeTile input(Core& core, std::span<const aicore::Gm> operands, Block& block, const ConvTile& c,
                       const Patch& patch, std::int64_t offset, std::size_t part, std::int64_t k) const {
    const std::int64_t pixel = static_cast<std::int64_t>(c.phase) << 40 | c.first_pixel;
    return block.l1a.get({offset, pixel, static_cast<std::int64_t>(part)}, [&](Buffer& l1) {
      return load_patch(core, l1, operands[0], offset, patch, c.images, k);
    });
  }

  /// The weights of k C1 blocks from k0 on in L1: of each `span` taps from tap0 on (all but of a single
  /// block).
  Core::CubeTile weights(Core& core, std::span<const aicore::Gm> operands, Block& block, const ConvTile& c,
                         std::int64_t k0, std::int64_t k, std::int64_t tap0, std::int64_t span) const {
    const ConvSpec& s = t_.spec;
    const std::int64_t per = s.taps_in_fractal, fractals = s.k1 * s.fractals();
    const std::int64_t fractal = std::int64_t{aicore::cube_lanes(dtype_)} * 16;
    const std::int64_t from =
        ((c.group * s.n1 + c.panel0) * fractals + k0 * s.fractals() + tap0 / per) * fractal;
    return block.l1b.get({from, span, k}, [&](Buffer& l1) {
      return core.load_panels(l1, operands[1], from, dtype_, static_cast<int>(c.panels),
                              (k - 1) * s.fractals() + span / per, fractals * fractal);
    });
  }

  std::span<const ConvTap> taps_of(const ConvTile& c) const { return t_.spec.phases[c.phase].taps; }

  /// The rows that `taps` touch of a tile's pixels; every column, or of a part of a row those touched.
  Patch patch_of(Core& core, const ConvTile& c, std::span<const ConvTap> taps) const {
    const ConvSpec& s = t_.spec;
    const ConvPhase& phase = s.phases[c.phase];
    const std::int64_t height = s.in[1], width = s.in[2];
    const std::int64_t oh0 = c.first_pixel / phase.count[2] * s.in_stride[1];
    const std::int64_t oh1 = (c.first_pixel + c.pixels - 1) / phase.count[2] * s.in_stride[1];
    const std::int64_t ow0 = c.first_pixel % phase.count[2] * s.in_stride[2];
    const std::int64_t ow1 = ow0 + (c.pixels - 1) * s.in_stride[2];
    std::int64_t top = height, bottom = -1, left = width, right = -1;
    for (const ConvTap& tap : taps) {
      top = std::min(top, oh0 + tap.shift[1]);
      bottom = std::max(bottom, oh1 + tap.shift[1]);
      left = std::min(left, ow0 + tap.shift[2]);
      right = std::max(right, ow1 + tap.shift[2]);
    }
    Patch p;
    // Of every `step_`-th row from `top` on those that lie in the plane.
    const std::int64_t first = top < 0 ? top + round_up(-top, step_) : top;
    p.row = std::clamp<std::int64_t>(first, 0, height - 1);
    p.outside = step_ > 1 && (p.row != first || bottom < first);
    p.rows = (std::clamp<std::int64_t>(bottom, p.row, height - 1) - p.row) / step_ + 1;
    if (t_.part_rows) {
      p.column = std::clamp<std::int64_t>(left, 0, width - 1);
      p.columns = std::clamp<std::int64_t>(right, p.column, width - 1) - p.column + 1;
    } else {
      p.columns = width;
    }
    const int lanes = s.lanes(dtype_);
    p.pitch = t_.part_rows || step_ > 1 ? core.plane_pitch(dtype_, p.columns * lanes, step_ * width * lanes)
                                        : width * lanes;
    p.image_pitch = core.plane_pitch(dtype_, p.rows * p.pitch, image_stride());
    return p;
  }

  // Tiles that lie alike in their patches have the same rows.
  void map_rows(Block& block, const ConvTile& c, const Patch& patch) const {
    const ConvPhase& phase = t_.spec.phases[c.phase];
    const std::int64_t width = phase.count[2];
    const std::int64_t row0 = c.first_pixel / width, column0 = c.first_pixel % width;
    const std::array<std::int64_t, 12> key = {static_cast<std::int64_t>(c.phase) + 1,
                                              row0 * t_.spec.in_stride[1] - patch.row,
                                              row0 * step_ - patch.row,
                                              column0,
                                              c.pixels,
                                              c.images,
                                              patch.rows,
                                              patch.column,
                                              patch.columns,
                                              patch.pitch,
                                              patch.image_pitch,
                                              patch.outside ? 1 : 0};
    if (key == block.map_key) return;
    block.map_key = key;
    aicore::RowMap& map = block.map;
    const std::size_t m = static_cast<std::size_t>(c.pixels);
    map.base.resize(static_cast<std::size_t>(c.rows()));
    map.row_h.resize(map.base.size());
    map.row_w.resize(map.base.size());
    std::int64_t row = row0, column = column0;
    for (std::size_t r = 0; r < m; ++r) {
      const std::int64_t h =
          step_ == 1 ? row * t_.spec.in_stride[1] - patch.row : stepped_row(phase, row, patch);
      const std::int64_t w = column * t_.spec.in_stride[2] - patch.column;
      map.row_h[r] = static_cast<int>(h);
      map.row_w[r] = static_cast<int>(w);
      map.base[r] = (patch.outside ? 0 : h * patch.pitch) + w * t_.spec.lanes(dtype_);
      if (++column == width) {
        column = 0;
        ++row;
      }
    }
    // The other images, and between them rows that only fill the last fractals: any that there are.
    const std::size_t image = static_cast<std::size_t>(c.image_rows());
    for (std::size_t r = m; r < map.base.size(); ++r) {
      const std::size_t same = std::min(r % image, m - 1);
      map.base[r] = map.base[same] + static_cast<std::int64_t>(r / image) * patch.image_pitch;
      map.row_h[r] = map.row_h[same];
      map.row_w[r] = map.row_w[same];
    }
    map.height = static_cast<int>(patch.rows);
    map.width = static_cast<int>(patch.columns);
  }

  /// Elements from one item of the batch to the next.
  std::int64_t image_stride() const {
    const ConvSpec& s = t_.spec;
    return s.in_batch != 0 ? s.in_batch : s.groups * s.k1 * s.in[0] * s.in[1] * s.in[2] * s.lanes(dtype_);
  }

  /// Where output row `row` finds its one row of input in a patch of every `step_`-th row.
  std::int64_t stepped_row(const ConvPhase& phase, std::int64_t row, const Patch& patch) const {
    if (patch.outside) return -kFar;
    return (row * step_ + phase.taps.front().shift[1] - patch.row) / step_;
  }

  /// k C1 blocks of a patch to L1; `plane` is where the first one's depth plane begins.
  Core::CubeTile load_patch(Core& core, Buffer& l1, const aicore::Gm& input, std::int64_t plane,
                            const Patch& p, std::int64_t images, std::int64_t k) const {
    const int lanes = t_.spec.lanes(dtype_);
    const std::int64_t width = t_.spec.in[2] * lanes;
    const std::int64_t offset = plane + p.row * width + p.column * lanes;
    const std::int64_t block = t_.spec.in[0] * t_.spec.in[1] * width;
    if (t_.part_rows || step_ > 1)
      return core.load_plane(l1, input, offset, dtype_, static_cast<int>(k), p.rows, p.columns * lanes,
                             step_ * width, block);
    return core.load_plane(l1, input, offset, dtype_, static_cast<int>(k), images, p.rows * width,
                           images == 1 ? p.rows * width : image_stride(), block);
  }

  /// The end of the taps from `first`, before `limit`, that the weights in L1 reach. Taps of one depth are
  /// sorted by their index.
  std::size_t part_end(const ConvPhase& phase, std::size_t first, std::size_t limit) const {
    if (t_.tap_span == t_.spec.taps) return limit;
    return first + taps_within(std::span(phase.taps).subspan(first, limit - first), t_.tap_span);
  }

  /// Gives the map the taps of a part, whose weights in L1 begin at tap0.
  void set_taps(aicore::RowMap& map, std::span<const ConvTap> part, std::int64_t tap0, std::int64_t pitch,
                bool inside) const {
    map.tap_offset.clear();
    map.tap_h.clear();
    map.tap_w.clear();
    map.b_tap.clear();
    for (const ConvTap& tap : part) {
      const std::int64_t shift = step_ == 1 ? tap.shift[1] : 0;  // else stepped_row has it
      map.tap_h.push_back(static_cast<int>(inside ? shift : -2 * kFar));
      map.tap_w.push_back(static_cast<int>(tap.shift[2]));
      map.tap_offset.push_back(shift * pitch + tap.shift[2] * t_.spec.lanes(dtype_));
      map.b_tap.push_back(tap.index - tap0);
    }
  }

  /// About how many runs of the epilogue a tile takes.
  std::int64_t epilogue_runs(const ConvTile& c) const {
    const std::int64_t width = t_.spec.phases[c.phase].count[2];
    const std::int64_t of_image =
        t_.whole_plane ? ceil_div(c.pixels, t_.ub_rows) : ceil_div(c.pixels, std::min(width, t_.ub_rows));
    return of_image * c.images * ceil_div(c.panels, t_.pairs ? 2 : 1);
  }

  /// Does at most `runs` more runs of the epilogue: panel by panel, or in pairs of them; pixels in runs over
  /// which every operand's address is linear.
  void write_out(Core& core, std::span<const aicore::Gm> operands, Block& block, Pending& p,
                 std::int64_t runs) const {
    const ConvSpec& s = t_.spec;
    const ConvTile& c = p.tile;
    const ConvPhase& phase = s.phases[c.phase];
    std::pmr::vector<TileAddress>& at = block.at;
    for (; runs > 0 && !p.ended(); --runs) {
      const std::int64_t width = t_.pairs && p.panel + 1 < c.panels ? 2 : 1;
      const std::int64_t pixel = c.first_pixel + p.done;
      const std::int64_t h = pixel / phase.count[2], w = pixel % phase.count[2];
      std::int64_t run = t_.whole_plane ? c.pixels - p.done : std::min(c.pixels - p.done, phase.count[2] - w);
      run = std::min(run, t_.ub_rows);
      for (std::size_t k = 0; k < at.size(); ++k) {
        const ConvAddress& a = s.epilogue_operands[k];
        const std::int64_t panel = c.group * s.n1 + c.panel0 + p.panel;
        at[k] = {a.offset + (c.batch + p.image) * a.n + a.panel(panel) +
                     (phase.start[0] + c.depth * phase.step[0]) * a.d +
                     (phase.start[1] + h * phase.step[1]) * a.h + (phase.start[2] + w * phase.step[2]) * a.w,
                 a.w * phase.step[2], a.lane, a.lanes_from(panel, width * 16)};
      }
      Buffer& ub = *block.ub[block.ub_turn];
      block.ub_turn ^= 1;
      core.fixpipe(ub, *p.l0c, static_cast<int>(c.rows()),
                   static_cast<int>(p.image * c.image_rows() + p.done), static_cast<int>(run),
                   static_cast<int>(p.panel), static_cast<int>(c.panels), t_.acc_layout());
      epilogue_.run(core, block.epilogue, operands, at, run, width * 16, &ub);
      p.done += run;
      if (p.done < c.pixels) continue;
      p.done = 0;
      if (++p.image < c.images) continue;
      p.image = 0;
      p.panel += width;
    }
  }

  static constexpr std::int64_t kAll = INT64_MAX;
  static constexpr std::int64_t kFar = 1 << 28;  // a row displacement that is always outside
  ConvTiling t_;
  TileProgram epilogue_;
  DType dtype_;
  std::int64_t step_;  // rows of the input from one that is loaded to the next
};

}  // namespace

std::unique_ptr<PreparedKernel> conv_kernel(const ConvTiling& tiling, const TileProgram& epilogue,
                                            DType dtype) {
  return std::make_unique<ConvKernel>(tiling, epilogue, dtype);
}

std::vector<TilingField> describe_cube_conv(const Task& task) {
  ConvTiling t;
  if (!unpack_conv(task, t).ok()) return {};
  std::vector<TilingField> out = describe_tile(t.tile, task.operands[0].dtype);
  out.insert(out.end(), {{"channel_blocks_in_l1", t.k_chunk},
                         {"taps_in_l1", t.tap_span},
                         {"epilogue_rows", t.ub_rows},
                         {"a_buffers", t.a_buffers},
                         {"b_buffers", t.b_buffers},
                         {"l0c_buffers", t.l0c_buffers},
                         {"images", t.images}});
  return out;
}

PrepareResult prepare_cube_conv(const Task& task, const soc::Chip&) {
  ConvTiling t;
  ATC_TRY(unpack_conv(task, t));
  ATC_ASSIGN(TileProgram epilogue, conv_epilogue(t, task.operands));
  return conv_kernel(t, epilogue, task.operands[0].dtype);
}

}  // namespace atc::kernels
