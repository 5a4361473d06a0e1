#include "kernels/scatter.h"

#include <algorithm>

#include "aicore/core.h"
#include "atc/base/math.h"
#include "kernels/access.h"
#include "kernels/in_place_rules.h"
#include "kernels/kernel_list.h"
#include "kernels/program_params.h"
#include "kernels/task_packing.h"
#include "soc/chip.h"

namespace atc::kernels {
namespace {

using aicore::Buffer;
using aicore::Burst;
using aicore::Core;
using aicore::Memory;
using aicore::RegType;
using aicore::ScatterOp;
using aicore::ScatterTile;

constexpr std::string_view kName = "scatter";

constexpr std::int64_t kMinTileBytes = 2 * 1024;
// Of the tile, its staging and its result in UB, and of the updates beside it.
constexpr std::int64_t kTileShare = 8;
constexpr std::int64_t kUpdateShare = 32;
constexpr std::int64_t kAlign = 32;

struct ScatterTiling {
  ScatterSpec spec;
  std::int64_t row_tile = 1, inner_tile = 1, count_tile = 1;

  std::int64_t row_tiles() const { return ceil_div(spec.axis, row_tile); }
  std::int64_t inner_tiles() const { return ceil_div(spec.inner, inner_tile); }
  std::int64_t tiles() const { return spec.batch * row_tiles() * inner_tiles(); }
  bool empty() const { return spec.batch == 0 || spec.axis == 0 || spec.inner == 0; }
};

template <class Archive, class T>
void io_tiling(Archive& ar, T& t) {
  std::int64_t op = static_cast<std::int64_t>(t.spec.op);
  ar.io(op);
  // Out of range stays out of range: check_tiling refuses it.
  t.spec.op = op >= 0 && op < aicore::kScatterOpCount ? static_cast<ScatterOp>(op)
                                                      : static_cast<ScatterOp>(aicore::kScatterOpCount);
  ar.io(t.spec.batch);
  ar.io(t.spec.axis);
  ar.io(t.spec.count);
  ar.io(t.spec.inner);
  ar.io(t.row_tile);
  ar.io(t.inner_tile);
  ar.io(t.count_tile);
}

std::int64_t index_bytes(DType dtype) { return dtype == DType::I64 ? 8 : 4; }

/// How elements of a dtype stand in UB.
struct Elements {
  DType dtype = DType::F32;
  RegType type = RegType::F32;  // unless they are only moved
  bool casts = false;
  std::int64_t stored = 4, held = 4;  // bytes in Global Memory and in the tile
};

Elements elements_of(DType dtype, ScatterOp op) {
  Elements e;
  e.dtype = dtype;
  e.stored = e.held = bit_width(dtype) / 8;
  if (op == ScatterOp::Set) return e;
  e.type = *aicore::reg_type_of(dtype);
  e.held = aicore::reg_bytes(e.type);
  e.casts = e.held != e.stored;
  return e;
}

class Scatter final : public PreparedKernel {
 public:
  Scatter(const ScatterTiling& tiling, const Elements& elements, DType index_type)
      : t_(tiling), e_(elements), index_type_(index_type) {}

  void run(Core& core, std::span<const aicore::Gm> operands, std::int64_t first,
           std::int64_t last) const override {
    if (first >= last) return;
    const Buffers buffers(core, t_, e_, index_type_);
    for (std::int64_t tile = first; tile < last; ++tile)
      run_tile(core, buffers, operands, tile, static_cast<int>((tile - first) & 1));
  }

  std::int64_t tile_key(std::int64_t tile) const override {
    const std::int64_t i = tile % t_.inner_tiles(), r = tile / t_.inner_tiles() % t_.row_tiles();
    return (r + 1 == t_.row_tiles() ? 2 : 0) + (i + 1 == t_.inner_tiles() ? 1 : 0);
  }

 private:
  // Two of each: one works while the other is loaded or stored.
  struct Buffers {
    Buffer *loaded[2], *tile[2], *stored[2], *update_loaded[2], *update[2], *index[2];
    Buffers(Core& core, const ScatterTiling& t, const Elements& e, DType index_type) {
      const std::int64_t n = t.row_tile * t.inner_tile, u = t.count_tile * t.inner_tile;
      for (int i = 0; i < 2; ++i) {
        loaded[i] = &core.alloc(Memory::UB, n * e.stored);
        tile[i] = &core.alloc(Memory::UB, n * e.held);
        stored[i] = e.casts ? &core.alloc(Memory::UB, n * e.stored) : tile[i];
        update_loaded[i] = &core.alloc(Memory::UB, u * e.stored);
        update[i] = e.casts ? &core.alloc(Memory::UB, u * e.held) : update_loaded[i];
        index[i] = &core.alloc(Memory::UB, t.count_tile * index_bytes(index_type));
      }
    }
  };

  void run_tile(Core& core, const Buffers& b, std::span<const aicore::Gm> operands, std::int64_t tile,
                int set) const {
    const ScatterSpec& s = t_.spec;
    const std::int64_t i0 = tile % t_.inner_tiles() * t_.inner_tile;
    const std::int64_t r0 = tile / t_.inner_tiles() % t_.row_tiles() * t_.row_tile;
    const std::int64_t batch = tile / t_.inner_tiles() / t_.row_tiles();
    ScatterTile x;
    x.op = s.op;
    x.type = e_.type;
    x.element_bytes = static_cast<int>(e_.held);
    x.axis = s.axis;
    x.first = r0;
    x.rows = std::min(t_.row_tile, s.axis - r0);
    x.inner = std::min(t_.inner_tile, s.inner - i0);

    const std::int64_t n = x.rows * x.inner, row = x.inner * e_.stored;
    const std::int64_t at = ((batch * s.axis + r0) * s.inner + i0) * e_.stored;
    const Burst box{x.rows, row, s.inner * e_.stored, row};
    core.copy_in(*b.loaded[set], 0, operands[0], at, box);
    if (e_.casts)
      core.cast_in(*b.tile[set], e_.type, *b.loaded[set], e_.dtype, n);
    else
      core.copy_ub(*b.tile[set], 0, *b.loaded[set], 0, static_cast<int>(e_.stored), 1, n, n, n, 1);

    int half = 0;
    for (std::int64_t j = 0; j < s.count; j += t_.count_tile, half ^= 1) {
      x.count = std::min(t_.count_tile, s.count - j);
      const std::int64_t update = batch * s.count + j;
      core.copy_in(*b.index[half], 0, operands[1], update * index_bytes(index_type_),
                   {1, x.count * index_bytes(index_type_)});
      core.copy_in(*b.update_loaded[half], 0, operands[2], (update * s.inner + i0) * e_.stored,
                   {x.count, row, s.inner * e_.stored, row});
      if (e_.casts)
        core.cast_in(*b.update[half], e_.type, *b.update_loaded[half], e_.dtype, x.count * x.inner);
      core.scatter_local(*b.tile[set], *b.update[half], *b.index[half], index_type_, x);
    }
    if (e_.casts) core.cast_out(*b.stored[set], e_.dtype, *b.tile[set], e_.type, n);
    core.copy_out(operands[3], at, *b.stored[set], 0, box);
  }

  ScatterTiling t_;
  Elements e_;
  DType index_type_;
};

Status check_tiling(const ScatterTiling& t, const std::vector<Operand>& operands) {
  const ScatterSpec& s = t.spec;
  if (operands.size() != 4) return bad_params(kName, "operand count");
  if (static_cast<int>(s.op) >= aicore::kScatterOpCount) return bad_params(kName, "unknown operation");
  const DType dtype = operands[0].dtype;
  if (operands[2].dtype != dtype || operands[3].dtype != dtype)
    return bad_params(kName, "data, updates and output are of different types");
  const int bits = bit_width(dtype);
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
    return bad_params(kName, "elements of " + std::to_string(bits) + " bits");
  const auto type = aicore::reg_type_of(dtype);
  if (s.op != ScatterOp::Set && (!type || *type == RegType::B8))
    return bad_params(kName, "no arithmetic on " + std::string(name(dtype)));
  if (operands[1].dtype != DType::I32 && operands[1].dtype != DType::I64)
    return bad_params(kName, "indices are neither i32 nor i64");
  if (!operands[3].output) return bad_params(kName, "it writes to an input");
  const std::int64_t e = bits / 8;
  if (operands[0].offset % e != 0 || operands[2].offset % e != 0 || operands[3].offset % e != 0 ||
      operands[1].offset % index_bytes(operands[1].dtype) != 0)
    return bad_params(kName, "an operand is not aligned to its elements");
  if (s.batch < 0 || s.axis < 0 || s.count < 0 || s.inner < 0)
    return bad_params(kName, "extent out of range");
  if (t.empty()) return {};
  if (t.row_tile < 1 || t.row_tile > s.axis || t.inner_tile < 1 || t.inner_tile > s.inner ||
      t.count_tile < 1 || t.count_tile > std::max<std::int64_t>(s.count, 1))
    return bad_params(kName, "tile out of range");
  // In bounds as dense boxes, whence no product below overflows.
  const auto slab = checked_mul(s.axis, s.inner), updates = checked_mul(s.count, s.inner);
  for (const std::size_t k : {std::size_t{0}, std::size_t{3}})
    if (!slab || !within(operands[k], e, 0, Dims{s.batch, s.axis, s.inner}, Dims{*slab, s.inner, 1}))
      return bad_params(kName,
                        k == 0 ? "data is smaller than its dims" : "the output is smaller than its dims");
  if (s.count == 0) return {};
  if (!updates || !within(operands[2], e, 0, Dims{s.batch, s.count, s.inner}, Dims{*updates, s.inner, 1}))
    return bad_params(kName, "there are fewer updates than its dims say");
  if (!within(operands[1], index_bytes(operands[1].dtype), 0, Dims{s.batch, s.count}, Dims{s.count, 1}))
    return bad_params(kName, "there are fewer indices than its dims say");
  return {};
}

/// Long rows are cut first, for that repeats no update; rows are shared out only as far as a tile is worth
/// the updates that each has to read.
void choose_tiles(ScatterTiling& t, const Elements& e, DType index_type, const soc::Chip& chip) {
  const ScatterSpec& s = t.spec;
  const std::int64_t cores = std::max(1, chip.vector_blocks());
  const std::int64_t share = ceil_div(s.batch * s.axis * s.inner, cores) * e.held;
  const std::int64_t updates = std::min(s.count * (s.inner * e.stored + 8), chip.ub);
  const std::int64_t limit = chip.ub / kTileShare;
  const std::int64_t target = std::clamp(std::max(share, updates), std::min(kMinTileBytes, limit), limit);
  const std::int64_t cut = std::max<std::int64_t>(1, ceil_div(s.inner * s.axis * s.batch, cores * s.axis));
  const std::int64_t widest = std::max<std::int64_t>(kAlign, target / e.held);
  t.inner_tile = s.inner;
  if (s.inner > widest || (s.inner * e.stored > kMinTileBytes && s.batch * s.axis < cores))
    t.inner_tile = std::min({s.inner, widest, round_up(std::max(cut, kMinTileBytes / e.stored), kAlign)});
  t.row_tile = std::clamp<std::int64_t>(target / (t.inner_tile * e.held), 1, s.axis);
  t.row_tile = ceil_div(s.axis, ceil_div(s.axis, t.row_tile));
  const std::int64_t one = std::max(t.inner_tile * e.held, index_bytes(index_type));
  t.count_tile =
      std::clamp<std::int64_t>(chip.ub / kUpdateShare / one, 1, std::max<std::int64_t>(s.count, 1));
}

}  // namespace

StatusOr<Task> make_scatter(const ScatterSpec& spec, std::vector<Operand> operands, const soc::Chip& chip) {
  ScatterTiling t;
  t.spec = spec;
  ATC_TRY(check_tiling(t, operands));
  if (!t.empty()) choose_tiles(t, elements_of(operands[0].dtype, spec.op), operands[1].dtype, chip);
  return pack_task(kName, std::move(operands), t.empty() ? 0 : t.tiles(), chip.vector_blocks(),
                   [&](auto& ar) { io_tiling(ar, t); });
}

PrepareResult prepare_scatter(const Task& task, const soc::Chip&) {
  ScatterTiling t;
  ATC_TRY(unpack_params(kName, task, [&](auto& ar) { io_tiling(ar, t); }));
  ATC_TRY(check_tiling(t, task.operands));
  ATC_TRY(check_blocks(task, t.empty() ? 0 : t.tiles()));
  return std::unique_ptr<PreparedKernel>(
      new Scatter(t, elements_of(task.operands[0].dtype, t.spec.op), task.operands[1].dtype));
}

// A tile reads its rows of the data before it writes the same rows; indices and updates are read for all
// tiles.
bool scatter_may_share(const Task&, std::size_t input, std::size_t output) {
  return input == 0 && output == 3;
}

}  // namespace atc::kernels
