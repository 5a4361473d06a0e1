#include "kernels/top_k.h"

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
using aicore::Core;
using aicore::Lanes;
using aicore::Memory;
using aicore::RegType;
using aicore::TopTile;
using aicore::VecOp;

constexpr std::string_view kName = "top_k";

// New elements that are sorted at once, of all rows of a tile.
constexpr std::int64_t kTileElements = 2048;
// A stretch of the axis is worth a core of its own from this length on.
constexpr std::int64_t kMinPart = 2048;

struct TopKTiling {
  TopKSpec spec;
  std::int64_t row_tile = 1, chunk = 1;

  std::int64_t row_tiles() const { return ceil_div(spec.rows, row_tile); }
  std::int64_t tiles() const { return row_tiles() * spec.parts; }
  std::int64_t part_begin(std::int64_t part) const {
    return part * (spec.axis / spec.parts) + std::min(part, spec.axis % spec.parts);
  }
};

template <class Archive, class T>
void io_tiling(Archive& ar, T& t) {
  ar.io(t.spec.largest);
  ar.io(t.spec.named);
  ar.io(t.spec.rows);
  ar.io(t.spec.axis);
  ar.io(t.spec.keep);
  ar.io(t.spec.parts);
  ar.io(t.row_tile);
  ar.io(t.chunk);
}

class TopK final : public PreparedKernel {
 public:
  TopK(const TopKTiling& tiling, DType dtype, DType index_type)
      : t_(tiling),
        dtype_(dtype),
        index_type_(index_type),
        type_(*aicore::reg_type_of(dtype)),
        stored_(bit_width(dtype) / 8),
        casts_(stored_ != aicore::reg_bytes(type_)) {}

  void run(Core& core, std::span<const aicore::Gm> operands, std::int64_t first,
           std::int64_t last) const override {
    if (first >= last) return;
    const Buffers buffers(core, *this);
    for (std::int64_t tile = first; tile < last; ++tile) run_tile(core, buffers, operands, tile);
  }

  std::int64_t tile_key(std::int64_t tile) const override {
    const std::int64_t part = tile % t_.spec.parts;
    return (tile / t_.spec.parts + 1 == t_.row_tiles() ? 2 : 0) +
           (part < t_.spec.axis % t_.spec.parts ? 1 : 0);
  }

 private:
  struct Buffers {
    Buffer *loaded[2], *values[2], *names[2] = {}, *best, *best_index, *out, *out_index;
    Buffers(Core& core, const TopK& k) {
      const std::int64_t n = k.t_.row_tile * k.t_.chunk, kept = k.t_.row_tile * k.t_.spec.keep;
      const std::int64_t held = aicore::reg_bytes(k.type_);
      for (int i = 0; i < 2; ++i) {
        loaded[i] = &core.alloc(Memory::UB, n * k.stored_);
        values[i] = k.casts_ ? &core.alloc(Memory::UB, n * held) : loaded[i];
        if (k.t_.spec.named) names[i] = &core.alloc(Memory::UB, n * 4);
      }
      best = &core.alloc(Memory::UB, kept * held);
      best_index = &core.alloc(Memory::UB, kept * 4);
      out = k.casts_ ? &core.alloc(Memory::UB, kept * k.stored_) : best;
      out_index = k.index_type_ == DType::I64 ? &core.alloc(Memory::UB, kept * 8) : best_index;
    }
  };

  void run_tile(Core& core, const Buffers& b, std::span<const aicore::Gm> operands, std::int64_t tile) const {
    const TopKSpec& s = t_.spec;
    const std::int64_t part = tile % s.parts, row0 = tile / s.parts * t_.row_tile;
    const std::int64_t begin = t_.part_begin(part), end = t_.part_begin(part + 1);
    TopTile x;
    x.type = type_;
    x.largest = s.largest;
    x.rows = std::min(t_.row_tile, s.rows - row0);
    x.keep = s.keep;
    int half = 0;
    for (std::int64_t at = begin; at < end; at += x.count, half ^= 1) {
      x.count = std::min(t_.chunk, end - at);
      x.first = at;
      const std::int64_t element = row0 * s.axis + at;
      core.copy_in(*b.loaded[half], 0, operands[0], element * stored_,
                   {x.rows, x.count * stored_, s.axis * stored_, x.count * stored_});
      if (casts_) core.cast_in(*b.values[half], type_, *b.loaded[half], dtype_, x.rows * x.count);
      if (s.named)
        core.copy_in(*b.names[half], 0, operands[1], element * 4,
                     {x.rows, x.count * 4, s.axis * 4, x.count * 4});
      core.top_rows(*b.best, *b.best_index, *b.values[half], b.names[half], x);
      x.have = std::min(x.keep, x.have + x.count);
    }
    const std::int64_t kept = x.rows * s.keep, to = (row0 * s.parts + part) * s.keep;
    if (casts_) core.cast_out(*b.out, dtype_, *b.best, type_, kept);
    if (index_type_ == DType::I64)
      core.vector(VecOp::Cast, RegType::I64, {b.out_index, Lanes::Full}, {b.best_index, Lanes::Full}, {}, {},
                  0, 1, static_cast<int>(kept), RegType::I32);
    const std::size_t values_out = s.named ? 2 : 1;
    const std::int64_t ib = index_type_ == DType::I64 ? 8 : 4;
    const std::int64_t pitch = s.parts * s.keep;
    core.copy_out(operands[values_out], to * stored_, *b.out, 0,
                  {x.rows, s.keep * stored_, pitch * stored_, s.keep * stored_});
    core.copy_out(operands[values_out + 1], to * ib, *b.out_index, 0,
                  {x.rows, s.keep * ib, pitch * ib, s.keep * ib});
  }

  TopKTiling t_;
  DType dtype_, index_type_;
  RegType type_;
  std::int64_t stored_;
  bool casts_;
};

Status check_tiling(const TopKTiling& t, const std::vector<Operand>& operands) {
  const TopKSpec& s = t.spec;
  if (operands.size() != (s.named ? 4U : 3U)) return bad_params(kName, "operand count");
  const Operand& values = operands[s.named ? 2 : 1];
  const Operand& indices = operands.back();
  const DType dtype = operands[0].dtype;
  const auto type = aicore::reg_type_of(dtype);
  if (!type || *type == RegType::B8) return bad_params(kName, "no order of " + std::string(name(dtype)));
  if (values.dtype != dtype) return bad_params(kName, "input and output are of different types");
  if (s.named && operands[1].dtype != DType::I32) return bad_params(kName, "names are not i32");
  if (indices.dtype != DType::I32 && indices.dtype != DType::I64)
    return bad_params(kName, "indices are neither i32 nor i64");
  if (!values.output || !indices.output) return bad_params(kName, "it writes to an input");
  auto bytes = [](const Operand& o) { return static_cast<std::int64_t>(bit_width(o.dtype) / 8); };
  for (const Operand& o : operands)
    if (o.offset % bytes(o) != 0) return bad_params(kName, "an operand is not aligned to its elements");
  if (s.rows < 1 || s.axis < 1 || s.axis > INT32_MAX || s.parts < 1 || s.parts > s.axis || s.keep < 1 ||
      s.keep > kMaxTopK || s.keep > s.axis / s.parts)
    return bad_params(kName, "extent out of range");
  if (t.row_tile < 1 || t.row_tile > s.rows || t.chunk < 1 || t.chunk > s.axis)
    return bad_params(kName, "tile out of range");
  // In bounds as dense boxes, whence no product of extents overflows.
  for (const Operand& o : operands) {
    const bool out = &o == &values || &o == &indices;
    const std::int64_t row = out ? s.parts * s.keep : s.axis;
    if (!within(o, bytes(o), 0, Dims{s.rows, row}, Dims{row, 1}))
      return bad_params(kName, "an operand is smaller than its dims");
  }
  return {};
}

void choose_tiles(TopKTiling& t, const soc::Chip& chip) {
  const TopKSpec& s = t.spec;
  const std::int64_t longest = ceil_div(s.axis, s.parts);
  t.chunk = std::min(longest, kTileElements);
  // All rows of a tile are in UB with what they keep.
  const std::int64_t row = std::max(t.chunk, s.keep);
  const std::int64_t share = ceil_div(s.rows, std::max(1, chip.vector_blocks()));
  t.row_tile = std::clamp<std::int64_t>(std::min(share, kTileElements / row), 1, s.rows);
}

}  // namespace

std::int64_t top_k_parts(std::int64_t rows, std::int64_t axis, std::int64_t keep, const soc::Chip& chip) {
  const std::int64_t cores = std::max(1, chip.vector_blocks());
  // The second task sorts parts * keep elements a row: fewer than half of what the first one did.
  const std::int64_t longest = std::max(kMinPart, 2 * keep);
  return std::clamp<std::int64_t>(std::min(cores / rows, axis / longest), 1, cores);
}

StatusOr<Task> make_top_k(const TopKSpec& spec, std::vector<Operand> operands, const soc::Chip& chip) {
  TopKTiling t;
  t.spec = spec;
  ATC_TRY(check_tiling(t, operands));
  choose_tiles(t, chip);
  return pack_task(kName, std::move(operands), t.tiles(), chip.vector_blocks(),
                   [&](auto& ar) { io_tiling(ar, t); });
}

PrepareResult prepare_top_k(const Task& task, const soc::Chip&) {
  TopKTiling t;
  ATC_TRY(unpack_params(kName, task, [&](auto& ar) { io_tiling(ar, t); }));
  ATC_TRY(check_tiling(t, task.operands));
  ATC_TRY(check_blocks(task, t.tiles()));
  return std::unique_ptr<PreparedKernel>(new TopK(t, task.operands[0].dtype, task.operands.back().dtype));
}

}  // namespace atc::kernels
