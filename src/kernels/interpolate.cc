#include "kernels/interpolate.h"

#include <algorithm>

#include "aicore/core.h"
#include "atc/base/math.h"
#include "kernels/access.h"
#include "kernels/kernel_list.h"
#include "kernels/program_params.h"
#include "kernels/task_packing.h"
#include "soc/chip.h"

namespace atc::kernels {
namespace {

using aicore::Buffer;
using aicore::Burst;
using aicore::Core;
using aicore::InterpolateTile;
using aicore::Memory;
using aicore::RegType;

constexpr std::string_view kName = "interpolate";

// Elements of a tile's output: enough for full-rate bursts, few enough for every core and the host's caches.
constexpr std::int64_t kMinTile = 1024;
constexpr std::int64_t kMaxTile = 8192;
constexpr std::int64_t kMostElements = std::int64_t{1} << 40;

struct InterpolateTiling {
  std::int64_t outer = 1, axis = 1, count = 1, inner = 1, taps = 1;
  std::int64_t outer_tile = 1, count_tile = 1, inner_tile = 1;
  /// For each tile along the axis: the input rows that it needs.
  std::vector<std::int64_t> first, rows;

  std::int64_t outer_tiles() const { return ceil_div(outer, outer_tile); }
  std::int64_t count_tiles() const { return ceil_div(count, count_tile); }
  std::int64_t inner_tiles() const { return ceil_div(inner, inner_tile); }
  std::int64_t tiles() const { return outer_tiles() * count_tiles() * inner_tiles(); }
  bool empty() const { return outer == 0 || count == 0 || inner == 0; }
  std::int64_t most_rows() const { return rows.empty() ? 1 : *std::max_element(rows.begin(), rows.end()); }
  std::int64_t in_elements() const { return outer_tile * most_rows() * inner_tile; }
  std::int64_t out_elements() const { return outer_tile * count_tile * inner_tile; }
};

template <class Archive, class T>
void io_tiling(Archive& ar, T& t) {
  ar.io(t.outer);
  ar.io(t.axis);
  ar.io(t.count);
  ar.io(t.inner);
  ar.io(t.taps);
  ar.io(t.outer_tile);
  ar.io(t.count_tile);
  ar.io(t.inner_tile);
  ar.io(t.first);
  ar.io(t.rows);
}

bool is_storage(DType dtype) { return dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16; }
std::int64_t bytes_of(DType dtype) { return bit_width(dtype) / 8; }

class Interpolate final : public PreparedKernel {
 public:
  Interpolate(InterpolateTiling tiling, DType in, DType out) : t_(std::move(tiling)), in_(in), out_(out) {}

  void run(Core& core, std::span<const aicore::Gm> operands, std::int64_t first,
           std::int64_t last) const override {
    if (first >= last) return;
    Set sets[2];
    for (Set& set : sets) set.alloc(core, *this);
    for (std::int64_t tile = first; tile < last; ++tile)
      run_tile(core, operands, sets[(tile - first) & 1], tile);
  }

  std::int64_t tile_key(std::int64_t tile) const override {
    const std::int64_t i = tile % t_.inner_tiles(), j = tile / t_.inner_tiles() % t_.count_tiles();
    const std::int64_t o = tile / t_.inner_tiles() / t_.count_tiles();
    return t_.rows[static_cast<std::size_t>(j)] * 8 + (o + 1 == t_.outer_tiles() ? 4 : 0) +
           (j + 1 == t_.count_tiles() ? 2 : 0) + (i + 1 == t_.inner_tiles() ? 1 : 0);
  }

 private:
  struct Set {
    Buffer *src = nullptr, *dst = nullptr, *index = nullptr, *weight = nullptr;
    Buffer *src_stored = nullptr, *dst_stored = nullptr;  // 16-bit storage
    void alloc(Core& core, const Interpolate& k) {
      const std::int64_t in = k.t_.in_elements(), out = k.t_.out_elements(),
                         table = k.t_.count_tile * k.t_.taps;
      src = &core.alloc(Memory::UB, in * 4);
      dst = &core.alloc(Memory::UB, out * 4);
      index = &core.alloc(Memory::UB, table * 4);
      weight = &core.alloc(Memory::UB, table * 4);
      if (k.in_ != DType::F32) src_stored = &core.alloc(Memory::UB, in * bytes_of(k.in_));
      if (k.out_ != DType::F32) dst_stored = &core.alloc(Memory::UB, out * bytes_of(k.out_));
    }
  };

  void run_tile(Core& core, std::span<const aicore::Gm> operands, Set& set, std::int64_t number) const {
    const std::int64_t i0 = number % t_.inner_tiles() * t_.inner_tile;
    const std::int64_t jt = number / t_.inner_tiles() % t_.count_tiles();
    const std::int64_t o0 = number / t_.inner_tiles() / t_.count_tiles() * t_.outer_tile;
    const std::int64_t j0 = jt * t_.count_tile;
    InterpolateTile tile;
    tile.outer = std::min(t_.outer_tile, t_.outer - o0);
    tile.count = std::min(t_.count_tile, t_.count - j0);
    tile.inner = std::min(t_.inner_tile, t_.inner - i0);
    tile.taps = t_.taps;
    tile.first = t_.first[static_cast<std::size_t>(jt)];
    tile.rows = t_.rows[static_cast<std::size_t>(jt)];

    const std::int64_t table = tile.count * t_.taps * 4;
    core.copy_in(*set.index, 0, operands[1], j0 * t_.taps * 4, {1, table});
    core.copy_in(*set.weight, 0, operands[2], j0 * t_.taps * 4, {1, table});
    const std::int64_t e = bytes_of(in_), from = ((o0 * t_.axis + tile.first) * t_.inner + i0) * e;
    Buffer& loaded = in_ == DType::F32 ? *set.src : *set.src_stored;
    core.copy_in(loaded, 0, operands[0], from, burst(tile, tile.rows, t_.axis, e));
    if (in_ != DType::F32)
      core.cast_in(*set.src, RegType::F32, loaded, in_, tile.outer * tile.rows * tile.inner);

    const std::int64_t oe = bytes_of(out_), to = ((o0 * t_.count + j0) * t_.inner + i0) * oe;
    const Burst out = burst(tile, tile.count, t_.count, oe);
    if (out_ == DType::F32 && out.count == 1) core.alias_out(*set.dst, operands[3], to, out.bytes);
    core.interpolate(*set.dst, *set.src, *set.index, *set.weight, tile);
    if (out_ != DType::F32)
      core.cast_out(*set.dst_stored, out_, *set.dst, RegType::F32, tile.outer * tile.count * tile.inner);
    core.copy_out(operands[3], to, out_ == DType::F32 ? *set.dst : *set.dst_stored, 0, out);
  }

  /// `rows` rows of the tile for each outer position, of `all` that the tensor has there.
  Burst burst(const InterpolateTile& tile, std::int64_t rows, std::int64_t all, std::int64_t e) const {
    const std::int64_t run = tile.inner * e;
    if (tile.inner < t_.inner)  // then there is one outer position
      return rows == 1 ? Burst{1, run} : Burst{rows, run, t_.inner * e, run};
    if (tile.outer == 1 || rows == all) return {1, tile.outer * rows * run};
    return {tile.outer, rows * run, all * run, rows * run};
  }

  InterpolateTiling t_;
  DType in_, out_;
};

Status check_tiling(const InterpolateTiling& t, const std::vector<Operand>& operands) {
  if (operands.size() != 4) return bad_params(kName, "operand count");
  if (!is_storage(operands[0].dtype) || !is_storage(operands[3].dtype))
    return bad_params(kName, "data is not f32, f16 or bf16");
  if (operands[1].dtype != DType::I32 || operands[2].dtype != DType::F32)
    return bad_params(kName, "tables are not i32 and f32");
  if (!operands[3].output) return bad_params(kName, "it writes to an input");
  for (const Operand& o : operands)
    if (o.offset % bytes_of(o.dtype) != 0)
      return bad_params(kName, "an operand is not aligned to its elements");
  if (t.outer < 0 || t.axis < 1 || t.count < 0 || t.inner < 0 || t.taps < 1)
    return bad_params(kName, "extent out of range");
  if (t.empty()) return {};
  if (t.outer_tile < 1 || t.outer_tile > t.outer || t.count_tile < 1 || t.count_tile > t.count ||
      t.inner_tile < 1 || t.inner_tile > t.inner || (t.inner_tile != t.inner && t.outer_tile != 1))
    return bad_params(kName, "tile out of range");
  const auto row = checked_mul(t.axis, t.inner), out_row = checked_mul(t.count, t.inner),
             table = checked_mul(t.count, t.taps);
  if (!row || !within(operands[0], bytes_of(operands[0].dtype), 0, Dims{t.outer, t.axis, t.inner},
                      Dims{*row, t.inner, 1}))
    return bad_params(kName, "the input is smaller than its dims");
  if (!out_row || !within(operands[3], bytes_of(operands[3].dtype), 0, Dims{t.outer, t.count, t.inner},
                          Dims{*out_row, t.inner, 1}))
    return bad_params(kName, "the output is smaller than its dims");
  if (!table || !within(operands[1], 4, 0, Dims{*table}, Dims{1}) ||
      !within(operands[2], 4, 0, Dims{*table}, Dims{1}))
    return bad_params(kName, "the tables are smaller than their dims");
  if (std::ssize(t.first) != t.count_tiles() || std::ssize(t.rows) != t.count_tiles())
    return bad_params(kName, "each tile needs its rows");
  for (std::size_t k = 0; k < t.rows.size(); ++k)
    if (t.first[k] < 0 || t.rows[k] < 1 || t.rows[k] > t.axis || t.first[k] > t.axis - t.rows[k])
      return bad_params(kName, "a tile's rows leave the axis");
  if (t.outer * *row > kMostElements || t.outer * *out_row > kMostElements || *table > kMostElements)
    return bad_params(kName, "extent out of range");
  return {};
}

std::int64_t ub_bytes(const InterpolateTiling& t, const std::vector<Operand>& operands) {
  auto block = [](std::int64_t bytes) { return round_up(bytes, 32); };
  const std::int64_t in = t.in_elements(), out = t.out_elements();
  std::int64_t set = block(in * 4) + block(out * 4) + 2 * block(t.count_tile * t.taps * 4);
  if (operands[0].dtype != DType::F32) set += block(in * bytes_of(operands[0].dtype));
  if (operands[3].dtype != DType::F32) set += block(out * bytes_of(operands[3].dtype));
  return 2 * set;
}

/// Cuts the axis into tiles of `count_tile` rows and finds what each reads.
void find_rows(InterpolateTiling& t, const std::vector<std::int32_t>& index) {
  t.first.clear();
  t.rows.clear();
  for (std::int64_t j = 0; j < t.count; j += t.count_tile) {
    const auto begin = index.begin() + j * t.taps;
    const auto end = begin + std::min(t.count_tile, t.count - j) * t.taps;
    const auto [low, high] = std::minmax_element(begin, end);
    t.first.push_back(*low);
    t.rows.push_back(std::int64_t{*high} - *low + 1);
  }
}

bool choose_tiles(InterpolateTiling& t, const std::vector<std::int32_t>& index,
                  const std::vector<Operand>& operands, const soc::Chip& chip) {
  const std::int64_t share = ceil_div(t.outer * t.count * t.inner, std::max(1, chip.vector_blocks()));
  const std::int64_t target = std::clamp(share, kMinTile, kMaxTile);
  auto fits = [&] { return ub_bytes(t, operands) <= chip.ub; };
  t.outer_tile = t.count_tile = 1;
  find_rows(t, index);
  // Rows are cut only when those of one output do not fit, into whole blocks where possible.
  for (t.inner_tile = t.inner; !fits();
       t.inner_tile = t.inner_tile > 32 ? round_up(t.inner_tile / 2, 16) : t.inner_tile / 2)
    if (t.inner_tile <= 1) return false;
  for (std::int64_t pieces = 1; pieces <= t.count; pieces += std::max<std::int64_t>(1, pieces / 4)) {
    t.count_tile = ceil_div(t.count, pieces);
    find_rows(t, index);
    if (fits() && (t.count_tile * t.inner_tile <= target || t.count_tile == 1)) break;
    t.count_tile = 1;
  }
  find_rows(t, index);
  if (t.count_tile == t.count && t.inner_tile == t.inner) {
    const std::int64_t whole = t.count * t.inner;
    std::int64_t low = 1, high = std::clamp<std::int64_t>(target / whole, 1, t.outer);
    while (low < high) {
      t.outer_tile = (low + high + 1) / 2;
      if (fits())
        low = t.outer_tile;
      else
        high = t.outer_tile - 1;
    }
    t.outer_tile = ceil_div(t.outer, ceil_div(t.outer, low));
  }
  return fits();
}

}  // namespace

StatusOr<Task> make_interpolate(const InterpolateSpec& spec, std::vector<Operand> operands,
                                const soc::Chip& chip) {
  InterpolateTiling t{.outer = spec.outer,
                      .axis = spec.axis,
                      .count = spec.count,
                      .inner = spec.inner,
                      .taps = spec.taps,
                      .first = {},
                      .rows = {}};
  const auto table = checked_mul(t.count, t.taps);
  if (!table || std::ssize(spec.index) != *table)
    return bad_params(kName, "there are fewer indices than taps");
  for (const std::int32_t i : spec.index)
    if (i < 0 || i >= t.axis)
      return bad_params(kName, "index " + std::to_string(i) + " of an axis of " + std::to_string(t.axis));
  t.first.assign(static_cast<std::size_t>(std::max<std::int64_t>(t.count, 0)), 0);
  t.rows.assign(t.first.size(), 1);
  t.outer_tile = t.count_tile = t.inner_tile = 1;
  ATC_TRY(check_tiling(t, operands));
  if (!t.empty() && !choose_tiles(t, spec.index, operands, chip))
    return bad_params(
        kName, "the rows of one output are larger than the Unified Buffer of " + std::string(chip.name));
  return pack_task(kName, std::move(operands), t.empty() ? 0 : t.tiles(), chip.vector_blocks(),
                   [&](auto& ar) { io_tiling(ar, t); });
}

PrepareResult prepare_interpolate(const Task& task, const soc::Chip&) {
  InterpolateTiling t;
  ATC_TRY(unpack_params(kName, task, [&](auto& ar) { io_tiling(ar, t); }));
  ATC_TRY(check_tiling(t, task.operands));
  ATC_TRY(check_blocks(task, t.empty() ? 0 : t.tiles()));
  return std::unique_ptr<PreparedKernel>(
      new Interpolate(std::move(t), task.operands[0].dtype, task.operands[3].dtype));
}

}  // namespace atc::kernels
