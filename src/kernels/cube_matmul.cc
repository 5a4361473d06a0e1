#include "kernels/cube_matmul.h"

#include <algorithm>

#include "aicore/core.h"
#include "kernels/cube_matmul_tiling.h"
#include "kernels/in_place_rules.h"
#include "kernels/kernel_list.h"
#include "kernels/l1_pool.h"
#include "kernels/plan_choice.h"
#include "soc/chip.h"

namespace atc::kernels {
namespace {

using aicore::Buffer;
using aicore::Core;
using aicore::Memory;

class MatMulKernel final : public PreparedKernel {
 public:
  MatMulKernel(MatMulTiling tiling, TileProgram epilogue, DType dtype)
      : t_(std::move(tiling)),
        epilogue_(std::move(epilogue)),
        dtype_(dtype),
        mixed_batch_(shared_by_some(t_.spec, t_.spec.a) || shared_by_some(t_.spec, t_.spec.b)) {}

  void run(Core& core, std::span<const aicore::Gm> operands, std::int64_t first,
           std::int64_t last) const override {
    const MatMulSpec& s = t_.spec;
    const std::int64_t e = bit_width(dtype_) / 8;
    const int lanes = aicore::cube_lanes(dtype_);
    const std::int64_t n_tile = std::int64_t{t_.tile.panels} * 16;
    CubeBlock block(core, t_.tile, static_cast<int>(e), t_.l0c_buffers);
    L1Pool l1a(core, t_.a_buffers, t_.tile.m * t_.k_chunk * lanes * e);
    L1Pool l1b(core, t_.b_buffers, t_.tile.panels * t_.k_chunk * lanes * 16 * e);
    Buffer* ub[2];
    for (Buffer*& buffer : ub) buffer = &core.alloc(Memory::UB, t_.ub_rows * n_tile * 4);
    Buffer& dense = core.alloc(Memory::UB, s.n % 16 == 0 ? 32 : t_.ub_rows * n_tile * 4);
    TileProgram::Buffers buffers(epilogue_, core, t_.ub_rows, n_tile);
    const std::span<const aicore::Gm> extra = operands.subspan(2);
    std::pmr::vector<TileAddress> at(s.epilogue_operands.size(), core.scratch());
    aicore::RowMap map(core.scratch());
    map.tap_offset = {0};
    map.b_tap = {0};
    int ub_turn = 0;

    const std::int64_t k_step = t_.k_chunk * lanes;
    const auto load_a = [&](const Tile& t, std::int64_t k0, int k) {
      return l1a.get({t.a0, k0, t.m}, [&](Buffer& l1) {
        const std::int64_t along_k = s.a_transposed ? k0 * s.a.row_stride : to_col(s.a, k0);
        return core.load_matrix_a(l1, operands[0], t.a0 + along_k, dtype_, t.m, k, s.a.row_stride,
                                  s.a_transposed, s.a.block_stride);
      });
    };
    const auto load_b = [&](const Tile& t, std::int64_t k0, int k) {
      return l1b.get({t.b0, k0, t.n0}, [&](Buffer& l1) {
        return this->load_b(core, l1, operands[1], t.b0, k0, k, t.n0, t.n, t.panels);
      });
    };

    Tile next = tile_at(first);
    for (std::int64_t tile = first; tile < last; ++tile) {
      const Tile now = next;
      const int m = now.m, n = now.n, panels = now.panels;
      for (std::size_t k = 0; k < at.size(); ++k) at[k] = epilogue_at(now, s.epilogue_operands[k]);

      Buffer& l0c = block.take_l0c();
      for (std::int64_t k0 = 0; k0 < s.k; k0 += k_step) {
        const int k = static_cast<int>(std::min(k_step, s.k - k0));
        const Core::CubeTile a = load_a(now, k0, k);
        const Core::CubeTile b = load_b(now, k0, k);
        map.base.resize(static_cast<std::size_t>(m));
        for (int r = 0; r < m; ++r) map.base[static_cast<std::size_t>(r)] = r * a.row_stride;
        map.k1 = static_cast<int>(ceil_div(k, lanes));
        map.k_last = k - (map.k1 - 1) * lanes;
        map.k1_stride = a.k1_stride;
        core.l1_product(l0c, block.l0, a, map, b, dtype_, panels, t_.tile.k_slice, k0 > 0,
                        aicore::AccLayout::Rows);
      }

      // The next tile's operands come before the epilogue's, which wait for the vector unit.
      if (tile + 1 < last) {
        next = tile_at(tile + 1);
        const std::int64_t parts = std::min(t_.a_buffers, t_.b_buffers);
        for (std::int64_t k0 = 0; k0 < std::min(s.k, parts * k_step); k0 += k_step) {
          const int k = static_cast<int>(std::min(k_step, s.k - k0));
          load_a(next, k0, k);
          load_b(next, k0, k);
        }
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

  // The shape, and where the tile is the first to want other rows or columns than the ones before.
  std::int64_t tile_key(std::int64_t tile) const override {
    const MatMulTiling::Place p = t_.decode(tile);
    const std::int64_t place = (p.mt == 0 ? 8 : 0) + (p.nt == 0 ? 4 : 0) +
                               (p.mt + 1 == t_.m_tiles() ? 2 : 0) + (p.nt + 1 == t_.n_tiles() ? 1 : 0);
    // Of a matrix that only some of the axes of the batch share, which are the same depends on the batch.
    return mixed_batch_ ? p.batch * 16 + place : place;
  }

 private:
  /// A tile of the output: where its operands begin, and its extents.
  struct Tile {
    std::int64_t batch = 0, m0 = 0, n0 = 0;
    std::int64_t a0 = 0, b0 = 0;
    int m = 1, n = 1, panels = 1;
  };

  Tile tile_at(std::int64_t number) const {
    const MatMulSpec& s = t_.spec;
    const MatMulTiling::Place place = t_.decode(number);
    const std::int64_t n_tile = std::int64_t{t_.tile.panels} * 16;
    Tile t;
    t.batch = place.batch;
    t.m0 = place.mt * t_.tile.m;
    t.n0 = place.nt * n_tile;
    t.m = static_cast<int>(std::min<std::int64_t>(t_.tile.m, s.m - t.m0));
    t.n = static_cast<int>(std::min(n_tile, s.n - t.n0));
    t.panels = static_cast<int>(ceil_div(t.n, 16));
    t.a0 =
        s.a.offset + (s.a_transposed ? to_col(s.a, t.m0) : t.m0 * s.a.row_stride) + along_batch(t.batch, s.a);
    t.b0 = s.b.offset + along_batch(t.batch, s.b);
    return t;
  }

  TileAddress epilogue_at(const Tile& t, const MatrixAddress& a) const {
    TileAddress at{a.offset + t.m0 * a.row_stride + along_batch(t.batch, a), a.row_stride, a.col_stride};
    at.block_stride = a.block_stride;
    at.offset += at.to_col(t.n0);
    return at;
  }

  std::int64_t along_batch(std::int64_t batch, const MatrixAddress& a) const {
    const Dims& dims = t_.spec.batch;
    std::int64_t offset = 0;
    for (std::size_t d = dims.size(); d-- > 0; batch /= dims[d])
      offset += batch % dims[d] * a.batch_strides[d];
    return offset;
  }

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
        return core.load_matrix_b(l1, gm, b0 + k0 * s.b.row_stride + to_col(s.b, n0), dtype_, k, n,
                                  s.b.row_stride, false, s.b.block_stride);
      case MatMulSpec::BLayout::Transposed:
        return core.load_matrix_b(l1, gm, b0 + n0 * s.b.row_stride + to_col(s.b, k0), dtype_, k, n,
                                  s.b.row_stride, true, s.b.block_stride);
    }
    return {};
  }

  // Elements from column 0 of A or B to column `col`.
  static std::int64_t to_col(const MatrixAddress& a, std::int64_t col) {
    return a.block_stride != 0 ? col / kBlockCols * a.block_stride : col;
  }

  static bool shared_by_some(const MatMulSpec& s, const MatrixAddress& a) {
    bool some = false, all = true;
    for (std::size_t d = 0; d < s.batch.size(); ++d) {
      if (s.batch[d] == 1) continue;
      some = some || a.batch_strides[d] == 0;
      all = all && a.batch_strides[d] == 0;
    }
    return some && !all;
  }

  MatMulTiling t_;
  TileProgram epilogue_;
  DType dtype_;
  bool mixed_batch_ = false;
};

}  // namespace

std::unique_ptr<PreparedKernel> matmul_kernel(const MatMulTiling& tiling, const TileProgram& epilogue,
                                              DType dtype) {
  return std::make_unique<MatMulKernel>(tiling, epilogue, dtype);
}

StatusOr<Task> make_matmul_task(const MatMulSpec& spec, std::vector<Operand> operands,
                                const soc::Chip& chip) {
  MatMulTiling t;
  t.spec = with_batch_in_rows(spec);
  ATC_ASSIGN(const TileProgram epilogue, matmul_epilogue(t.spec, operands));
  const PlanQuestion question = {
      kMatMulKernel,
      matmul_params(t),
      operands,
      chip,
      [&](bool prune) { return matmul_plans(t.spec, epilogue, operands, chip, prune); },
      [&](const CubePlan& p) {
        const MatMulTiling candidate = t.with(p);
        const std::unique_ptr<PreparedKernel> kernel = matmul_kernel(candidate, epilogue, operands[0].dtype);
        return longest_block(*kernel, p, candidate.tiles(), operands, chip);
      },
      [&](const CubePlan& p) { return pack_matmul(t.with(p), operands, chip); }};
  ATC_ASSIGN(const CubePlan plan, choose_plan(question));
  ATC_CHECK(plan.cycles > 0, "no tile of the matrix product fits " + std::string(chip.name));
  return pack_matmul(t.with(plan), std::move(operands), chip);
}

std::vector<TilingField> describe_cube_matmul(const Task& task) {
  MatMulTiling t;
  if (!unpack_matmul(task, t).ok()) return {};
  std::vector<TilingField> out = describe_tile(t.tile, task.operands[0].dtype);
  out.insert(out.end(), {{"k_in_l1", t.k_chunk * aicore::cube_lanes(task.operands[0].dtype)},
                         {"epilogue_rows", t.ub_rows},
                         {"a_buffers", t.a_buffers},
                         {"b_buffers", t.b_buffers},
                         {"l0c_buffers", t.l0c_buffers}});
  return out;
}

PrepareResult prepare_cube_matmul(const Task& task, const soc::Chip&) {
  MatMulTiling t;
  ATC_TRY(unpack_matmul(task, t));
  ATC_ASSIGN(TileProgram epilogue, matmul_epilogue(t.spec, task.operands));
  return matmul_kernel(t, epilogue, task.operands[0].dtype);
}

// A and B are read for many tiles; an epilogue operand is read where the output is written.
bool matmul_may_share(const Task& task, std::size_t input, std::size_t output) {
  MatMulTiling t;
  if (input < 2 || output < 2 || !unpack_matmul(task, t).ok()) return false;
  const MatrixAddress& in = t.spec.epilogue_operands[input - 2];
  const MatrixAddress& out = t.spec.epilogue_operands[output - 2];
  if (in.offset != out.offset || in.batch_strides != out.batch_strides || in.row_stride != out.row_stride ||
      in.col_stride != out.col_stride || in.block_stride != out.block_stride)
    return false;
  Dims extents = t.spec.batch, strides = out.batch_strides;
  add_matrix(extents, strides, t.spec.m, t.spec.n, out.row_stride, out.col_stride, out.block_stride);
  return one_to_one(extents, strides) &&
         reads_before_writes(t.spec.epilogue, input - 2, task.operands[input].dtype, output - 2);
}

}  // namespace atc::kernels
