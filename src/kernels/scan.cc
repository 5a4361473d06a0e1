#include "kernels/scan.h"

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
using aicore::Memory;
using aicore::RegType;
using aicore::ScanTile;

constexpr std::string_view kName = "scan";

// Elements of a tile: four buffers of it (loaded, widened, scanned, stored), twice, in 8 bytes at most.
constexpr std::int64_t kTileElements = 2048;
constexpr std::int64_t kMinLanes = 16;

struct ScanTiling {
  ScanSpec spec;
  std::int64_t lane_tile = 1, chunk = 1;

  // Lanes are the inner axis; where there is none, the outer one.
  bool along_rows() const { return spec.inner == 1; }
  std::int64_t lanes() const { return along_rows() ? spec.outer : spec.inner; }
  std::int64_t lane_tiles() const { return ceil_div(lanes(), lane_tile); }
  std::int64_t tiles() const { return (along_rows() ? 1 : spec.outer) * lane_tiles(); }
  bool empty() const { return spec.outer == 0 || spec.axis == 0 || spec.inner == 0; }
};

template <class Archive, class T>
void io_tiling(Archive& ar, T& t) {
  ar.io(t.spec.product);
  ar.io(t.spec.exclusive);
  ar.io(t.spec.reverse);
  ar.io(t.spec.outer);
  ar.io(t.spec.axis);
  ar.io(t.spec.inner);
  ar.io(t.lane_tile);
  ar.io(t.chunk);
}

class Scan final : public PreparedKernel {
 public:
  Scan(const ScanTiling& tiling, DType dtype)
      : t_(tiling),
        dtype_(dtype),
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
    return tile % t_.lane_tiles() + 1 == t_.lane_tiles() ? 1 : 0;
  }

 private:
  struct Buffers {
    Buffer *loaded[2], *in[2], *out[2], *stored[2], *carry;
    Buffers(Core& core, const Scan& s) {
      const std::int64_t n = s.t_.lane_tile * s.t_.chunk, held = aicore::reg_bytes(s.type_);
      for (int i = 0; i < 2; ++i) {
        loaded[i] = &core.alloc(Memory::UB, n * s.stored_);
        in[i] = s.casts_ ? &core.alloc(Memory::UB, n * held) : loaded[i];
        out[i] = &core.alloc(Memory::UB, n * held);
        stored[i] = s.casts_ ? &core.alloc(Memory::UB, n * s.stored_) : out[i];
      }
      carry = &core.alloc(Memory::UB, s.t_.lane_tile * held);
    }
  };

  void run_tile(Core& core, const Buffers& b, std::span<const aicore::Gm> operands, std::int64_t tile) const {
    const ScanSpec& s = t_.spec;
    const std::int64_t lane0 = tile % t_.lane_tiles() * t_.lane_tile;
    const std::int64_t lanes = std::min(t_.lane_tile, t_.lanes() - lane0);
    const std::int64_t outer = tile / t_.lane_tiles();
    ScanTile x;
    x.op = s.product ? aicore::VecOp::Mul : aicore::VecOp::Add;
    x.type = type_;
    x.along_rows = t_.along_rows();
    x.exclusive = s.exclusive;
    x.reverse = s.reverse;
    int half = 0;
    for (std::int64_t done = 0; done < s.axis; half ^= 1) {
      const std::int64_t n = std::min(t_.chunk, s.axis - done);
      const std::int64_t k0 = s.reverse ? s.axis - done - n : done;
      x.first = done == 0;
      done += n;
      x.rows = x.along_rows ? lanes : n;
      x.cols = x.along_rows ? n : lanes;
      const std::int64_t row = x.along_rows ? s.axis : s.inner;
      const std::int64_t at = x.along_rows ? lane0 * s.axis + k0 : (outer * s.axis + k0) * s.inner + lane0;
      const Burst box{x.rows, x.cols * stored_, row * stored_, x.cols * stored_};
      core.copy_in(*b.loaded[half], 0, operands[0], at * stored_, box);
      if (casts_) core.cast_in(*b.in[half], type_, *b.loaded[half], dtype_, lanes * n);
      core.scan(*b.out[half], *b.in[half], *b.carry, x);
      if (casts_) core.cast_out(*b.stored[half], dtype_, *b.out[half], type_, lanes * n);
      core.copy_out(operands[1], at * stored_, *b.stored[half], 0, box);
    }
  }

  ScanTiling t_;
  DType dtype_;
  RegType type_;
  std::int64_t stored_;
  bool casts_;
};

Status check_tiling(const ScanTiling& t, const std::vector<Operand>& operands) {
  const ScanSpec& s = t.spec;
  if (operands.size() != 2) return bad_params(kName, "operand count");
  const DType dtype = operands[0].dtype;
  const auto type = aicore::reg_type_of(dtype);
  if (operands[1].dtype != dtype) return bad_params(kName, "input and output are of different types");
  if (!type || *type == RegType::B8) return bad_params(kName, "no sums of " + std::string(name(dtype)));
  if (!operands[1].output) return bad_params(kName, "it writes to an input");
  const std::int64_t e = bit_width(dtype) / 8;
  if (operands[0].offset % e != 0 || operands[1].offset % e != 0)
    return bad_params(kName, "an operand is not aligned to its elements");
  if (s.outer < 0 || s.axis < 0 || s.inner < 0) return bad_params(kName, "extent out of range");
  if (t.empty()) return {};
  if (t.lane_tile < 1 || t.lane_tile > t.lanes() || t.chunk < 1 || t.chunk > s.axis)
    return bad_params(kName, "tile out of range");
  // In bounds as dense boxes, whence no product of extents overflows.
  const auto slab = checked_mul(s.axis, s.inner);
  for (const Operand& o : operands)
    if (!slab || !within(o, e, 0, Dims{s.outer, s.axis, s.inner}, Dims{*slab, s.inner, 1}))
      return bad_params(kName, "an operand is smaller than its dims");
  return {};
}

void choose_tiles(ScanTiling& t, const soc::Chip& chip) {
  const std::int64_t cores = std::max(1, chip.vector_blocks());
  const std::int64_t beside = t.along_rows() ? 1 : t.spec.outer;
  // Lanes for every core, but not fewer than the vector unit takes at once.
  const std::int64_t share = ceil_div(beside * t.lanes(), cores);
  t.lane_tile = std::min(std::clamp<std::int64_t>(round_up(share, kMinLanes), kMinLanes, 256), t.lanes());
  t.chunk = std::clamp<std::int64_t>(kTileElements / t.lane_tile, 1, t.spec.axis);
}

}  // namespace

StatusOr<Task> make_scan(const ScanSpec& spec, std::vector<Operand> operands, const soc::Chip& chip) {
  ScanTiling t;
  t.spec = spec;
  ATC_TRY(check_tiling(t, operands));
  if (!t.empty()) choose_tiles(t, chip);
  return pack_task(kName, std::move(operands), t.empty() ? 0 : t.tiles(), chip.vector_blocks(),
                   [&](auto& ar) { io_tiling(ar, t); });
}

PrepareResult prepare_scan(const Task& task, const soc::Chip&) {
  ScanTiling t;
  ATC_TRY(unpack_params(kName, task, [&](auto& ar) { io_tiling(ar, t); }));
  ATC_TRY(check_tiling(t, task.operands));
  ATC_TRY(check_blocks(task, t.empty() ? 0 : t.tiles()));
  return std::unique_ptr<PreparedKernel>(new Scan(t, task.operands[0].dtype));
}

}  // namespace atc::kernels
