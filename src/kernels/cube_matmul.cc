#include "kernels/cube_matmul.h"

#include <algorithm>

#include "kernels/cube_tiling.h"
#include "kernels/in_place_rules.h"
#include "kernels/kernel_list.h"
#include "kernels/program_params.h"
#include "kernels/task_packing.h"

namespace atc::kernels {
namespace {

using aicore::Buffer;
using aicore::Core;
using aicore::Memory;

constexpr std::string_view kName = "cube_matmul";

struct MatMulTiling {
  MatMulSpec spec;
  CubeTileSize tile;
  int k_chunk = 1;           // fractals in L1 at once
  std::int64_t ub_rows = 1;  // rows of the epilogue at once

  std::int64_t m_tiles() const { return ceil_div(spec.m, tile.m); }
  std::int64_t n_tiles() const { return ceil_div(spec.n, std::int64_t{tile.panels} * 16); }
  std::int64_t batches() const {
    std::int64_t b = 1;
    for (std::int64_t d : spec.batch) b *= d;
    return b;
  }
};

template <class Archive>
void io_address(Archive& ar, MatrixAddress& a) {
  ar.io(a.offset);
  ar.io(a.batch_strides);
  ar.io(a.row_stride);
  ar.io(a.col_stride);
}

void io_layout(ParamWriter& ar, MatMulSpec::BLayout& v) { ar.io(static_cast<int>(v)); }
void io_layout(ParamReader& ar, MatMulSpec::BLayout& v) {
  int x = 0;
  ar.io(x);
  if (x < 0 || x > 2) return ar.fail();
  v = static_cast<MatMulSpec::BLayout>(x);
}

template <class Archive>
void io_tiling(Archive& ar, MatMulTiling& t) {
  ar.io(t.spec.batch);
  ar.io(t.spec.m);
  ar.io(t.spec.k);
  ar.io(t.spec.n);
  io_layout(ar, t.spec.b_layout);
  io_address(ar, t.spec.a);
  io_address(ar, t.spec.b);
  io_list(ar, t.spec.epilogue_operands, [](auto& a, auto& x) { io_address(a, x); });
  io_program(ar, t.spec.epilogue);
  ar.io(t.tile.m);
  ar.io(t.tile.panels);
  ar.io(t.tile.k_slice);
  ar.io(t.k_chunk);
  ar.io(t.ub_rows);
}

StatusOr<TileProgram> epilogue_of(const MatMulTiling& t, const std::vector<Operand>& operands) {
  std::vector<Lanes> lanes;
  std::vector<DType> dtypes;
  for (std::size_t k = 0; k < t.spec.epilogue_operands.size(); ++k) {
    const MatrixAddress& a = t.spec.epilogue_operands[k];
    // Rows and columns of one tile may be single even where the matrix has more: lanes by strides.
    lanes.push_back(lanes_of(a.row_stride, a.col_stride, t.spec.m, t.spec.n));
    dtypes.push_back(operands[k + 2].dtype);
  }
  return TileProgram::create(t.spec.epilogue, std::move(lanes), std::move(dtypes), ReduceMode::None);
}

class MatMulKernel final : public PreparedKernel {
 public:
  MatMulKernel(MatMulTiling tiling, TileProgram epilogue, DType dtype)
      : t_(std::move(tiling)), epilogue_(std::move(epilogue)), dtype_(dtype) {}

  void run(Core& core, std::span<const aicore::Gm> operands, std::int64_t first,
           std::int64_t last) const override {
    const MatMulSpec& s = t_.spec;
    const std::int64_t e = bit_width(dtype_) / 8;
    const int lanes = aicore::cube_lanes(dtype_);
    const std::int64_t n_tile = std::int64_t{t_.tile.panels} * 16;
    CubeBlock block(core, t_.tile, static_cast<int>(e));
    Buffer* l1a[2];
    Buffer* l1b[2];
    Buffer* ub[2];
    for (int i = 0; i < 2; ++i) {
      l1a[i] = &core.alloc(Memory::L1, t_.tile.m * std::int64_t{t_.k_chunk} * lanes * e);
      l1b[i] = &core.alloc(Memory::L1, t_.tile.panels * std::int64_t{t_.k_chunk} * lanes * 16 * e);
      ub[i] = &core.alloc(Memory::UB, t_.ub_rows * n_tile * 4);
    }
    Buffer& dense = core.alloc(Memory::UB, s.n % 16 == 0 ? 32 : t_.ub_rows * n_tile * 4);
    TileProgram::Buffers buffers(epilogue_, core, t_.ub_rows, n_tile);
    const std::span<const aicore::Gm> extra = operands.subspan(2);
    std::vector<TileAddress> at(s.epilogue_operands.size());
    aicore::RowMap map;
    map.tap_offset = {0};
    map.b_tap = {0};
    int turn = 0, ub_turn = 0;

    for (std::int64_t tile = first; tile < last; ++tile) {
      const std::int64_t nt = tile % t_.n_tiles(), mt = tile / t_.n_tiles() % t_.m_tiles();
      std::int64_t batch = tile / t_.n_tiles() / t_.m_tiles();
      const std::int64_t m0 = mt * t_.tile.m, n0 = nt * n_tile;
      const int m = static_cast<int>(std::min<std::int64_t>(t_.tile.m, s.m - m0));
      const int n = static_cast<int>(std::min(n_tile, s.n - n0));
      const int panels = static_cast<int>(ceil_div(n, 16));
      std::int64_t a0 = s.a.offset + m0 * s.a.row_stride, b0 = s.b.offset;
      for (std::size_t k = 0; k < at.size(); ++k) {
        const MatrixAddress& a = s.epilogue_operands[k];
        at[k] = {a.offset + m0 * a.row_stride + n0 * a.col_stride, a.row_stride, a.col_stride};
      }
      for (std::size_t d = s.batch.size(); d-- > 0;) {
        const std::int64_t i = batch % s.batch[d];
        batch /= s.batch[d];
        a0 += i * s.a.batch_strides[d];
        b0 += i * s.b.batch_strides[d];
        for (std::size_t k = 0; k < at.size(); ++k)
          at[k].offset += i * s.epilogue_operands[k].batch_strides[d];
      }

      Buffer& l0c = block.take_l0c();
      const std::int64_t k_step = std::int64_t{t_.k_chunk} * lanes;
      for (std::int64_t k0 = 0; k0 < s.k; k0 += k_step, turn ^= 1) {
        const int k = static_cast<int>(std::min(k_step, s.k - k0));
        const Core::CubeTile a =
            core.load_matrix_a(*l1a[turn], operands[0], a0 + k0, dtype_, m, k, s.a.row_stride);
        const Core::CubeTile b = load_b(core, *l1b[turn], operands[1], b0, k0, k, n0, n, panels);
        map.base.resize(static_cast<std::size_t>(m));
        for (int r = 0; r < m; ++r) map.base[static_cast<std::size_t>(r)] = r * a.row_stride;
        map.k1 = static_cast<int>(ceil_div(k, lanes));
        map.k_last = k - (map.k1 - 1) * lanes;
        map.k1_stride = a.k1_stride;
        core.l1_product(l0c, block.l0, a, map, b, dtype_, panels, t_.tile.k_slice, k0 > 0,
                        aicore::AccLayout::Rows);
      }

      for (std::int64_t r0 = 0; r0 < m; r0 += t_.ub_rows, ub_turn ^= 1) {
        const int rows = static_cast<int>(std::min<std::int64_t>(t_.ub_rows, m - r0));
        Buffer* acc = ub[ub_turn];
        core.fixpipe(*acc, l0c, m, static_cast<int>(r0), rows, 0, panels, aicore::AccLayout::Rows);
        if (n != panels * 16) {
          core.copy_ub(dense, 0, *acc, 0, 4, rows, n, n, panels * 16, 1);
          acc = &dense;
        }
        epilogue_.run(core, buffers, extra, at, rows, n, acc);
        for (TileAddress& a : at) a.offset += rows * a.row_stride;
      }
    }
  }

  std::int64_t tile_key(std::int64_t tile) const override {
    const std::int64_t nt = tile % t_.n_tiles(), mt = tile / t_.n_tiles() % t_.m_tiles();
    return (mt + 1 == t_.m_tiles() ? 2 : 0) + (nt + 1 == t_.n_tiles() ? 1 : 0);
  }

 private:
  Core::CubeTile load_b(Core& core, Buffer& l1, const aicore::Gm& gm, std::int64_t b0, std::int64_t k0, int k,
                        std::int64_t n0, int n, int panels) const {
    const MatMulSpec& s = t_.spec;
    switch (s.b_layout) {
      case MatMulSpec::BLayout::Panels: {
        const int lanes = aicore::cube_lanes(dtype_);
        const std::int64_t k1 = ceil_div(s.k, lanes);
        return core.load_panels(l1, gm, b0 + (n0 / 16 * k1 + k0 / lanes) * lanes * 16, dtype_, panels,
                                ceil_div(k, lanes), k1 * lanes * 16);
      }
      case MatMulSpec::BLayout::Matrix:
        return core.load_matrix_b(l1, gm, b0 + k0 * s.b.row_stride + n0, dtype_, k, n, s.b.row_stride, false);
      case MatMulSpec::BLayout::Transposed:
        return core.load_matrix_b(l1, gm, b0 + n0 * s.b.row_stride + k0, dtype_, k, n, s.b.row_stride, true);
    }
    return {};
  }

  MatMulTiling t_;
  TileProgram epilogue_;
  DType dtype_;
};

// Every legal tile of a short list of sizes is costed; the cheapest for the slowest core wins.
bool choose_tile(MatMulTiling& t, const TileProgram& epilogue, int e, const soc::Chip& chip) {
  const MatMulSpec& s = t.spec;
  const std::int64_t k1 = ceil_div(s.k, e == 1 ? 32 : 16);
  std::int64_t best = -1;
  MatMulTiling chosen = t;
  for (int m : {16, 32, 48, 64, 96, 128, 192, 256, 384, 512}) {
    if (m > 16 && m >= round_up(s.m, 16) + 16) break;
    for (int panels : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32}) {
      if (panels > 1 && panels > ceil_div(s.n, 16)) break;
      MatMulTiling c = t;
      c.tile = {static_cast<int>(std::min<std::int64_t>(m, s.m)), panels, 0};
      c.tile.k_slice = static_cast<int>(std::min<std::int64_t>(max_k_slice(m, panels, e, chip), k1));
      if (c.tile.k_slice < 1) continue;
      const std::int64_t per_fractal =
          (std::int64_t{m} + std::int64_t{panels} * 16) * fractal_row_bytes(e) * 2;
      c.k_chunk = static_cast<int>(std::min(k1, (chip.l1 - 1024) / per_fractal));
      if (c.k_chunk < 1) continue;
      if (c.k_chunk < k1) c.k_chunk = std::max(1, c.k_chunk / c.tile.k_slice * c.tile.k_slice);
      const std::int64_t width = std::int64_t{panels} * 16;
      auto ub = [&](std::int64_t rows) {
        return epilogue.ub_bytes(rows, width) + rows * width * 4 * (s.n % 16 == 0 ? 2 : 3) + 256;
      };
      c.ub_rows = c.tile.m;
      while (c.ub_rows > 1 && ub(c.ub_rows) > chip.ub) c.ub_rows = (c.ub_rows + 1) / 2;
      if (ub(c.ub_rows) > chip.ub) continue;
      const std::int64_t tiles = c.batches() * c.m_tiles() * c.n_tiles();
      const std::int64_t waves = ceil_div(tiles, chip.cube_blocks());
      const std::int64_t cycles =
          waves * tile_cycles(c.tile, k1, std::int64_t{c.tile.m} * s.k * e, width * s.k * e, e, chip);
      if (best < 0 || cycles < best) {
        best = cycles;
        chosen = c;
      }
    }
  }
  if (best >= 0) t = chosen;
  return best >= 0;
}

}  // namespace

StatusOr<Task> make_matmul_task(const MatMulSpec& spec, std::vector<Operand> operands,
                                const soc::Chip& chip) {
  MatMulTiling t;
  t.spec = spec;
  ATC_ASSIGN(TileProgram epilogue, epilogue_of(t, operands));
  const int e = bit_width(operands[0].dtype) / 8;
  ATC_CHECK(choose_tile(t, epilogue, e, chip),
            "no tile of the matrix product fits " + std::string(chip.name));
  return pack_task(kName, std::move(operands), t.batches() * t.m_tiles() * t.n_tiles(), chip.cube_blocks(),
                   [&](auto& ar) { io_tiling(ar, t); });
}

PrepareResult prepare_cube_matmul(const Task& task, const soc::Chip&) {
  MatMulTiling t;
  ATC_TRY(unpack_params(kName, task, [&](auto& ar) { io_tiling(ar, t); }));
  if (task.operands.size() != t.spec.epilogue_operands.size() + 2) return bad_params(kName, "operand count");
  const DType dtype = task.operands[0].dtype;
  ATC_TRY(check_cube_operands(task, t.spec.epilogue, kName));
  constexpr std::int64_t kLimit = std::int64_t{1} << 31;
  for (std::int64_t d : {t.spec.m, t.spec.k, t.spec.n, std::int64_t{t.tile.m}, std::int64_t{t.tile.panels},
                         std::int64_t{t.tile.k_slice}, std::int64_t{t.k_chunk}, t.ub_rows})
    if (d < 1 || d > kLimit) return bad_params(kName, "extent out of range");
  if (t.tile.m > 4096 || t.tile.panels > 4096 || t.k_chunk > 1 << 20)
    return bad_params(kName, "tile out of range");
  const std::size_t rank = t.spec.batch.size();
  std::int64_t tiles = 1;
  for (std::int64_t d : t.spec.batch) {
    const auto p = checked_mul(tiles, d);
    if (d < 1 || !p) return bad_params(kName, "batch out of range");
    tiles = *p;
  }
  const auto total = checked_mul(tiles, t.m_tiles() * t.n_tiles());
  if (!total) return bad_params(kName, "too many tiles");
  if (t.spec.a.batch_strides.size() != rank || t.spec.b.batch_strides.size() != rank)
    return bad_params(kName, "batch strides");
  for (const MatrixAddress& a : t.spec.epilogue_operands)
    if (a.batch_strides.size() != rank) return bad_params(kName, "batch strides");
  ATC_TRY(check_blocks(task, *total));
  ATC_ASSIGN(TileProgram epilogue, epilogue_of(t, task.operands));
  return std::unique_ptr<PreparedKernel>(new MatMulKernel(std::move(t), std::move(epilogue), dtype));
}

// A and B are read for many tiles; an epilogue operand is read where the output is written.
bool matmul_may_share(const Task& task, std::size_t input, std::size_t output) {
  MatMulTiling t;
  if (input < 2 || output < 2 || !unpack_params(kName, task, [&](auto& ar) { io_tiling(ar, t); }).ok())
    return false;
  const MatrixAddress& in = t.spec.epilogue_operands[input - 2];
  const MatrixAddress& out = t.spec.epilogue_operands[output - 2];
  if (in.offset != out.offset || in.batch_strides != out.batch_strides || in.row_stride != out.row_stride ||
      in.col_stride != out.col_stride)
    return false;
  Dims extents = t.spec.batch, strides = out.batch_strides;
  extents.insert(extents.end(), {t.spec.m, t.spec.n});
  strides.insert(strides.end(), {out.row_stride, out.col_stride});
  return one_to_one(extents, strides) &&
         reads_before_writes(t.spec.epilogue, input - 2, task.operands[input].dtype, output - 2);
}

}  // namespace atc::kernels
