#include <algorithm>
#include <numeric>

#include "aicore/core.h"
#include "atc/base/math.h"
#include "kernels/access.h"
#include "kernels/in_place_rules.h"
#include "kernels/kernel_list.h"
#include "kernels/padded_vector.h"
#include "kernels/program_params.h"
#include "kernels/task_packing.h"
#include "kernels/tile_program.h"
#include "soc/chip.h"

namespace atc::kernels {
namespace {

/// The iteration space cut into tiles: outer dims step tile by tile, the last two axes are cut into
/// tile_rows x tile_cols. A reduced axis is never cut into tiles; it is walked in chunks of
/// chunk_rows / chunk_cols inside a tile.
struct VectorTiling {
  VectorProgram program;
  int mode = 0;
  Dims outer;
  std::int64_t rows = 1, cols = 1;
  std::int64_t tile_rows = 1, tile_cols = 1;
  std::int64_t buffer_rows = 1, buffer_cols = 1;
  struct Address {
    std::int64_t offset = 0, row_stride = 0, col_stride = 0;
    Dims outer_strides;
    std::int64_t cols = 0;  // columns that exist; 0: all
    // Of a table whose rows are named by operand `index`: row_stride is that of the table.
    std::int64_t index = -1, table_rows = 0;
    std::int64_t block_stride = 0;  // of blocks of 16 columns; 0: none
  };
  std::vector<Address> address;  // one an operand

  std::int64_t row_tiles() const { return ceil_div(rows, tile_rows); }
  std::int64_t col_tiles() const { return ceil_div(cols, tile_cols); }
  std::int64_t tiles() const {
    return std::accumulate(outer.begin(), outer.end(), row_tiles() * col_tiles(), std::multiplies<>());
  }
};

template <class Archive, class T>
void io_tiling(Archive& ar, T& t) {
  io_program(ar, t.program);
  ar.io(t.mode);
  ar.io(t.outer);
  ar.io(t.rows);
  ar.io(t.cols);
  ar.io(t.tile_rows);
  ar.io(t.tile_cols);
  ar.io(t.buffer_rows);
  ar.io(t.buffer_cols);
  io_list(ar, t.address, [](auto& a, auto& x) {
    a.io(x.offset);
    a.io(x.row_stride);
    a.io(x.col_stride);
    a.io(x.outer_strides);
    a.io(x.cols);
    a.io(x.index);
    a.io(x.table_rows);
    a.io(x.block_stride);
  });
}

class VectorKernel final : public PreparedKernel {
 public:
  VectorKernel(VectorTiling tiling, TileProgram program)
      : tiling_(std::move(tiling)), program_(std::move(program)) {
    for (const VecInstr& instr : tiling_.program.code) {
      if (instr.op != VecOp::Store) continue;
      const std::size_t k = static_cast<std::size_t>(instr.dst);
      const VectorTiling::Address& a = tiling_.address[k];
      bool shared =
          (a.row_stride == 0 && tiling_.row_tiles() > 1) || (a.col_stride == 0 && tiling_.col_tiles() > 1);
      for (std::size_t d = 0; d < tiling_.outer.size(); ++d)
        shared = shared || (a.outer_strides[d] == 0 && tiling_.outer[d] > 1);
      if (shared) shared_stores_.push_back(k);
    }
  }

  void run(aicore::Core& core, std::span<const aicore::Gm> operands, std::int64_t first,
           std::int64_t last) const override {
    TileProgram::Buffers buffers(program_, core, tiling_.buffer_rows, tiling_.buffer_cols);
    std::pmr::vector<TileAddress> at(tiling_.address.size(), core.scratch());
    const std::int64_t col_tiles = tiling_.col_tiles(), row_tiles = tiling_.row_tiles();
    for (std::int64_t t = first; t < last; ++t) {
      const std::int64_t col0 = t % col_tiles * tiling_.tile_cols;
      const std::int64_t row0 = t / col_tiles % row_tiles * tiling_.tile_rows;
      std::int64_t rest = t / col_tiles / row_tiles;
      for (std::size_t k = 0; k < at.size(); ++k) {
        const VectorTiling::Address& a = tiling_.address[k];
        at[k] = {};
        at[k].row_stride = a.row_stride;
        at[k].col_stride = a.col_stride;
        at[k].cols = a.cols;
        at[k].block_stride = a.block_stride;
        at[k].offset = a.offset + (a.index >= 0 ? 0 : row0 * a.row_stride) + at[k].to_col(col0);
      }
      for (const std::size_t k : shared_stores_) at[k].stores = is_first(tiling_.address[k], t);
      for (std::size_t d = tiling_.outer.size(); d-- > 0;) {
        const std::int64_t i = rest % tiling_.outer[d];
        rest /= tiling_.outer[d];
        for (std::size_t k = 0; k < at.size(); ++k) at[k].offset += i * tiling_.address[k].outer_strides[d];
      }
      for (std::size_t k = 0; k < at.size(); ++k) {
        const VectorTiling::Address& a = tiling_.address[k];
        if (a.index < 0) continue;
        at[k].index = static_cast<int>(a.index);
        at[k].first_index = at[static_cast<std::size_t>(a.index)].offset;
        at[k].table_rows = a.table_rows;
      }
      program_.run(core, buffers, operands, at, std::min(tiling_.tile_rows, tiling_.rows - row0),
                   std::min(tiling_.tile_cols, tiling_.cols - col0));
    }
  }

  std::int64_t tile_key(std::int64_t tile) const override {
    const std::int64_t ct = tile % tiling_.col_tiles(), rt = tile / tiling_.col_tiles() % tiling_.row_tiles();
    const std::int64_t shape =
        (rt + 1 == tiling_.row_tiles() ? 2 : 0) + (ct + 1 == tiling_.col_tiles() ? 1 : 0);
    std::int64_t first = 0;
    for (const std::size_t k : shared_stores_)
      first = first * 2 + (is_first(tiling_.address[k], tile) ? 1 : 0);
    return first * 4 + shape;
  }

 private:
  // Of the tiles that have the same elements of the operand: the one that stores them.
  bool is_first(const VectorTiling::Address& a, std::int64_t tile) const {
    const std::int64_t ct = tile % tiling_.col_tiles(), rt = tile / tiling_.col_tiles() % tiling_.row_tiles();
    bool first = (ct == 0 || a.col_stride != 0) && (rt == 0 || a.row_stride != 0);
    std::int64_t rest = tile / tiling_.col_tiles() / tiling_.row_tiles();
    for (std::size_t d = tiling_.outer.size(); d-- > 0; rest /= tiling_.outer[d])
      first = first && (rest % tiling_.outer[d] == 0 || a.outer_strides[d] != 0);
    return first;
  }

  VectorTiling tiling_;
  TileProgram program_;
  std::vector<std::size_t> shared_stores_;  // operands of which several tiles have the same elements
};

StatusOr<TileProgram> tile_program_of(const VectorTiling& t, const std::vector<Operand>& operands) {
  std::vector<Lanes> lanes;
  std::vector<DType> dtypes;
  std::vector<bool> turned, blocked;
  for (std::size_t k = 0; k < t.address.size(); ++k) {
    lanes.push_back(lanes_of(t.address[k].row_stride, t.address[k].col_stride, t.rows, t.cols));
    dtypes.push_back(operands[k].dtype);
    turned.push_back(t.address[k].index < 0 &&
                     is_turned(t.address[k].row_stride, t.address[k].col_stride, t.rows, t.cols));
    blocked.push_back(t.address[k].block_stride != 0);
  }
  return TileProgram::create(t.program, std::move(lanes), std::move(dtypes), static_cast<ReduceMode>(t.mode),
                             std::move(turned), std::move(blocked));
}

// Tables and the operands that name their rows.
Status check_gathered(const VectorTiling& t, const std::vector<Operand>& operands) {
  constexpr std::string_view kName = "vector_program";
  for (std::size_t k = 0; k < t.address.size(); ++k) {
    const VectorTiling::Address& a = t.address[k];
    if (a.index < 0) continue;
    if (a.index >= std::ssize(t.address) || a.index == static_cast<std::int64_t>(k) ||
        t.mode == static_cast<int>(ReduceMode::Cols))
      return bad_params(kName, "rows that are named by no operand");
    const VectorTiling::Address& index = t.address[static_cast<std::size_t>(a.index)];
    const DType dtype = operands[static_cast<std::size_t>(a.index)].dtype;
    if ((dtype != DType::I32 && dtype != DType::I64) || index.index >= 0)
      return bad_params(kName, "row numbers of another type");
    if ((index.row_stride != 1 && t.rows > 1) || (index.col_stride != 0 && t.cols > 1))
      return bad_params(kName, "row numbers that are no neighbours");
    if ((a.col_stride != 1 && t.cols > 1) ||
        std::any_of(a.outer_strides.begin(), a.outer_strides.end(), [](std::int64_t s) { return s != 0; }))
      return bad_params(kName, "a table that is not read by rows");
    if (a.table_rows < 1 || a.row_stride < t.cols ||
        !within(operands[k], bit_width(operands[k].dtype) / 8, a.offset, Dims{a.table_rows, t.cols},
                Dims{a.row_stride, 1}))
      return bad_params(kName, "a table with fewer rows");
  }
  return {};
}

bool unit_or_product(std::int64_t inner_stride, std::int64_t inner_dim, std::int64_t outer_stride) {
  return outer_stride == inner_stride * inner_dim;
}

// Drops axes of length 1 and merges neighbours that every operand walks as one; the reduced axis stays.
VectorSpace merged(const VectorSpace& space) {
  VectorSpace out;
  out.offsets = space.offsets;
  out.strides.resize(space.strides.size());
  for (std::size_t d = 0; d < space.dims.size(); ++d) {
    const bool reduced = static_cast<int>(d) == space.reduce_axis;
    if (space.dims[d] == 1 && !reduced) continue;
    bool joins = !out.dims.empty() && !reduced && out.reduce_axis != static_cast<int>(out.dims.size()) - 1;
    for (std::size_t k = 0; joins && k < space.strides.size(); ++k)
      joins = unit_or_product(space.strides[k][d], space.dims[d], out.strides[k].back());
    if (joins) {
      out.dims.back() *= space.dims[d];
      for (std::size_t k = 0; k < space.strides.size(); ++k) out.strides[k].back() = space.strides[k][d];
    } else {
      if (reduced) out.reduce_axis = static_cast<int>(out.dims.size());
      out.dims.push_back(space.dims[d]);
      for (std::size_t k = 0; k < space.strides.size(); ++k) out.strides[k].push_back(space.strides[k][d]);
    }
  }
  return out;
}

// Takes axis `d` out of the space.
struct Axis {
  std::int64_t size = 1;
  Dims strides;  // one an operand
};
Axis take(VectorSpace& s, std::size_t d) {
  Axis a;
  a.size = s.dims[d];
  s.dims.erase(s.dims.begin() + static_cast<std::ptrdiff_t>(d));
  for (Dims& strides : s.strides) {
    a.strides.push_back(strides[d]);
    strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(d));
  }
  return a;
}

bool legal_blocks(const VectorTiling::Address& a, const VectorTiling& t) {
  return a.block_stride == 0 ||
         (a.block_stride > 0 && a.block_stride <= std::int64_t{1} << 40 && t.cols % kBlockCols == 0 &&
          a.col_stride == 1 && (a.row_stride == kBlockCols || t.rows == 1));
}

bool has_blocks(const VectorTiling& t) {
  return std::ranges::any_of(t.address, [](const VectorTiling::Address& a) { return a.block_stride != 0; });
}

bool turns(const VectorTiling& t) {
  return std::ranges::any_of(t.address, [&](const VectorTiling::Address& a) {
    return is_turned(a.row_stride, a.col_stride, t.rows, t.cols);
  });
}

// Rows of a tile, at most `most`, for which the core with most tiles has the fewest rows, of `others` tiles
// for each stretch of rows: staging for blocks leaves UB room for a number of rows that fits nothing.
std::int64_t even_rows(std::int64_t rows, std::int64_t most, std::int64_t others, std::int64_t cores) {
  std::int64_t best = most, fewest = INT64_MAX;
  for (std::int64_t r = most; r >= std::max<std::int64_t>(1, most / 2); --r) {
    const std::int64_t longest = ceil_div(others * ceil_div(rows, r), cores) * r;
    if (longest >= fewest) continue;
    fewest = longest;
    best = r;
  }
  return best;
}

void choose_tiles(VectorTiling& t, const TileProgram& program, const soc::Chip& chip) {
  // Half of what is free is enough for full-rate bursts and leaves tiles for every core.
  const std::int64_t ub = chip.ub - 8 * 1024;
  auto fits = [&](std::int64_t r, std::int64_t c) { return program.ub_bytes(r, c) <= ub; };
  auto largest = [&](std::int64_t limit, auto fit) {
    std::int64_t lo = 1, hi = limit;
    while (lo < hi) {
      const std::int64_t mid = (lo + hi + 1) / 2;
      (fit(mid) ? lo : hi) = fit(mid) ? mid : mid - 1;
    }
    return lo;
  };
  const ReduceMode mode = program.mode();
  std::int64_t outer = 1;
  for (std::int64_t d : t.outer) outer *= d;
  const std::int64_t cores = chip.vector_blocks();
  // Blocks of columns are not cut.
  const bool blocks = has_blocks(t);
  auto whole_blocks = [&](std::int64_t c) {
    return blocks ? std::max<std::int64_t>(kBlockCols, c / kBlockCols * kBlockCols) : c;
  };

  // Large enough to amortise issue costs, small enough to stay in the host's caches.
  constexpr std::int64_t kTarget = 8192;
  // Tiles that are turned need long columns too.
  constexpr std::int64_t kTurnedCols = 128;
  if (mode == ReduceMode::Cols) {
    // Columns are cut, the reduced rows are chunked.
    t.tile_cols =
        std::min(t.cols, std::max<std::int64_t>(16, largest(t.cols, [&](std::int64_t c) {
                                                  return fits(std::min<std::int64_t>(t.rows, 64), c);
                                                })));
    t.tile_cols = whole_blocks(t.tile_cols);
    while (outer * t.col_tiles() < cores && t.tile_cols > 64) t.tile_cols = round_up(t.tile_cols / 2, 16);
    t.tile_rows = t.rows;
    t.buffer_cols = t.tile_cols;
    t.buffer_rows = largest(t.rows, [&](std::int64_t r) { return fits(r, t.tile_cols); });
    return;
  }
  t.buffer_cols = whole_blocks(largest(t.cols, [&](std::int64_t c) { return fits(1, c); }));
  if (mode == ReduceMode::None) {
    t.buffer_cols = std::min(t.buffer_cols, turns(t) ? kTurnedCols : kTarget);
    if (t.buffer_cols < t.cols) t.buffer_cols = std::max<std::int64_t>(16, t.buffer_cols / 16 * 16);
    t.buffer_cols = std::min(t.buffer_cols, t.cols);
    while (outer * t.rows * ceil_div(t.cols, t.buffer_cols) < cores && t.buffer_cols > 1024)
      t.buffer_cols = round_up(t.buffer_cols / 2, 16);
  }
  t.tile_cols = mode == ReduceMode::None ? t.buffer_cols : t.cols;
  t.tile_rows = largest(t.rows, [&](std::int64_t r) { return fits(r, t.buffer_cols); });
  t.tile_rows = std::min(t.tile_rows, std::max<std::int64_t>(1, kTarget / t.buffer_cols));
  if (blocks) t.tile_rows = even_rows(t.rows, t.tile_rows, outer * t.col_tiles(), cores);
  while (outer * t.row_tiles() * t.col_tiles() < cores && t.tile_rows * t.buffer_cols > 1024 &&
         t.tile_rows > 1)
    t.tile_rows = (t.tile_rows + 1) / 2;
  t.buffer_rows = t.tile_rows;
}

}  // namespace

StatusOr<Task> make_vector_task(const VectorProgram& program, const VectorSpace& space,
                                std::vector<Operand> operands, const soc::Chip& chip) {
  const std::vector<OperandLayout> layouts(operands.size());
  return make_padded_vector_task(program, space, layouts, std::move(operands), chip);
}

StatusOr<Task> make_padded_vector_task(const VectorProgram& program, const VectorSpace& space,
                                       const std::vector<OperandLayout>& layouts,
                                       std::vector<Operand> operands, const soc::Chip& chip,
                                       const std::vector<GatheredOperand>& gathered) {
  VectorTiling t;
  t.program = program;
  VectorSpace s = merged(space);
  Axis cols{1, Dims(operands.size(), 0)}, rows{1, Dims(operands.size(), 0)};
  ReduceMode mode = ReduceMode::None;
  if (s.reduce_axis >= 0 && program.has_reduction()) {
    const std::size_t axis = static_cast<std::size_t>(s.reduce_axis);
    if (axis + 1 == s.dims.size()) {
      mode = ReduceMode::Rows;
      cols = take(s, axis);
      if (!s.dims.empty()) rows = take(s, s.dims.size() - 1);
    } else {
      mode = ReduceMode::Cols;
      cols = take(s, s.dims.size() - 1);
      rows = take(s, axis);
    }
  } else {
    if (!s.dims.empty()) cols = take(s, s.dims.size() - 1);
    if (!s.dims.empty()) rows = take(s, s.dims.size() - 1);
  }
  t.mode = static_cast<int>(mode);
  t.outer = s.dims;
  t.rows = rows.size;
  t.cols = cols.size;
  for (std::size_t k = 0; k < operands.size(); ++k)
    t.address.push_back({s.offsets[k], rows.strides[k], cols.strides[k], s.strides[k], layouts[k].present, -1,
                         0, layouts[k].block_stride});
  for (const GatheredOperand& g : gathered) {
    VectorTiling::Address& a = t.address[g.operand];
    a.index = static_cast<std::int64_t>(g.index);
    a.table_rows = g.rows;
    a.row_stride = g.row_stride;
  }
  ATC_TRY(check_gathered(t, operands));
  ATC_CHECK(std::ranges::all_of(t.address, [&](const auto& a) { return legal_blocks(a, t); }),
            "an operand in FRACTAL_NZ that a vector program cannot walk");
  ATC_ASSIGN(TileProgram tile_program, tile_program_of(t, operands));
  choose_tiles(t, tile_program, chip);

  return pack_task("vector_program", std::move(operands), t.tiles(), chip.vector_blocks(),
                   [&](auto& ar) { io_tiling(ar, t); });
}

std::vector<TilingField> describe_vector_program(const Task& task) {
  VectorTiling t;
  if (!unpack_params("vector_program", task, [&](auto& ar) { io_tiling(ar, t); }).ok()) return {};
  return {{"rows", t.tile_rows},
          {"columns", t.tile_cols},
          {"buffer_rows", t.buffer_rows},
          {"buffer_columns", t.buffer_cols}};
}

PrepareResult prepare_vector_program(const Task& task, const soc::Chip&) {
  constexpr std::string_view kName = "vector_program";
  VectorTiling t;
  ATC_TRY(unpack_params(kName, task, [&](auto& ar) { io_tiling(ar, t); }));
  if (t.mode < 0 || t.mode > 2) return bad_params(kName, "unknown reduction mode");
  if (t.address.size() != task.operands.size()) return bad_params(kName, "operand count");
  std::int64_t tiles = 1;
  for (std::int64_t d : {t.rows, t.cols, t.tile_rows, t.tile_cols, t.buffer_rows, t.buffer_cols})
    if (d < 1 || d > (std::int64_t{1} << 40)) return bad_params(kName, "extent out of range");
  for (std::int64_t d : t.outer) {
    const auto product = checked_mul(tiles, d);
    if (d < 1 || !product) return bad_params(kName, "extent out of range");
    tiles = *product;
  }
  const auto plane = checked_mul(t.row_tiles(), t.col_tiles());
  const auto total = plane ? checked_mul(tiles, *plane) : std::nullopt;
  if (!total) return bad_params(kName, "too many tiles");
  if (t.mode == 0 && (t.tile_rows > t.buffer_rows || t.tile_cols > t.buffer_cols))
    return bad_params(kName, "tiles larger than their buffers");
  if ((t.mode == 1 && (t.tile_cols != t.cols || t.tile_rows > t.buffer_rows)) ||
      (t.mode == 2 && (t.tile_rows != t.rows || t.tile_cols > t.buffer_cols)))
    return bad_params(kName, "the reduced axis is cut into tiles");
  for (const VectorTiling::Address& a : t.address) {
    if (a.outer_strides.size() != t.outer.size()) return bad_params(kName, "stride count");
    if (a.cols < 0 || a.cols > t.cols || (a.cols > 0 && t.tile_cols < t.cols))
      return bad_params(kName, "columns out of range");
    if (!legal_blocks(a, t) || (a.block_stride != 0 && (t.tile_cols % kBlockCols != 0 ||
                                                        t.buffer_cols % kBlockCols != 0 || a.cols != 0)))
      return bad_params(kName, "blocks of columns");
  }
  ATC_TRY(check_gathered(t, task.operands));
  ATC_TRY(check_blocks(task, *total));
  ATC_ASSIGN(TileProgram program, tile_program_of(t, task.operands));
  return std::unique_ptr<PreparedKernel>(new VectorKernel(std::move(t), std::move(program)));
}

bool vector_program_may_share(const Task& task, std::size_t input, std::size_t output) {
  VectorTiling t;
  if (!unpack_params("vector_program", task, [&](auto& ar) { io_tiling(ar, t); }).ok()) return false;
  const VectorTiling::Address& in = t.address[input];
  const VectorTiling::Address& out = t.address[output];
  if (in.index >= 0 || in.offset != out.offset || in.row_stride != out.row_stride ||
      in.col_stride != out.col_stride || in.outer_strides != out.outer_strides ||
      in.block_stride != out.block_stride)
    return false;
  Dims extents = t.outer, strides = out.outer_strides;
  add_matrix(extents, strides, t.rows, t.cols, out.row_stride, out.col_stride, out.block_stride);
  return one_to_one(extents, strides) &&
         reads_before_writes(t.program, input, task.operands[input].dtype, output);
}

}  // namespace atc::kernels
