#include "kernels/gather.h"

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
using aicore::GatherTile;
using aicore::Memory;

constexpr std::string_view kName = "gather";

constexpr std::int64_t kMinTileBytes = 2 * 1024;
constexpr std::int64_t kMaxTileBytes = 64 * 1024;
// What a burst from Global Memory costs at least.
constexpr std::int64_t kBurstBytes = 64;

struct GatherTiling {
  GatherSpec spec;
  bool local = false;  // gathered in UB
  std::int64_t outer_tile = 1, count_tile = 1, inner_tile = 1;

  std::int64_t outer_tiles() const { return ceil_div(spec.outer, outer_tile); }
  std::int64_t count_tiles() const { return ceil_div(spec.count, count_tile); }
  std::int64_t inner_tiles() const { return ceil_div(spec.inner, inner_tile); }
  std::int64_t tiles() const { return spec.batch * outer_tiles() * count_tiles() * inner_tiles(); }
  bool empty() const { return spec.batch == 0 || spec.outer == 0 || spec.count == 0 || spec.inner == 0; }
};

template <class Archive, class T>
void io_tiling(Archive& ar, T& t) {
  ar.io(t.spec.element_bytes);
  ar.io(t.spec.outer);
  ar.io(t.spec.axis);
  ar.io(t.spec.count);
  ar.io(t.spec.inner);
  ar.io(t.spec.batch);
  ar.io(t.local);
  ar.io(t.outer_tile);
  ar.io(t.count_tile);
  ar.io(t.inner_tile);
}

std::int64_t index_bytes(DType dtype) { return dtype == DType::I64 ? 8 : 4; }

class Gather final : public PreparedKernel {
 public:
  Gather(const GatherTiling& tiling, DType index_type) : t_(tiling), index_type_(index_type) {}

  void run(Core& core, std::span<const aicore::Gm> operands, std::int64_t first,
           std::int64_t last) const override {
    if (first >= last) return;
    const GatherSpec& s = t_.spec;
    const std::int64_t e = s.element_bytes;
    Buffer* out[2];
    Buffer* data[2] = {};
    Buffer* index[2] = {};
    for (int i = 0; i < 2; ++i) {
      out[i] = &core.alloc(Memory::UB, t_.outer_tile * t_.count_tile * t_.inner_tile * e);
      if (!t_.local) continue;
      data[i] = &core.alloc(Memory::UB, t_.outer_tile * s.axis * s.inner * e);
      index[i] = &core.alloc(Memory::UB, t_.count_tile * index_bytes(index_type_));
    }
    for (std::int64_t tile = first; tile < last; ++tile) {
      const std::int64_t i0 = tile % t_.inner_tiles() * t_.inner_tile;
      const std::int64_t j0 = tile / t_.inner_tiles() % t_.count_tiles() * t_.count_tile;
      const std::int64_t o0 = tile / t_.inner_tiles() / t_.count_tiles() % t_.outer_tiles() * t_.outer_tile;
      const std::int64_t b = tile / t_.inner_tiles() / t_.count_tiles() / t_.outer_tiles();
      GatherTile g;
      g.element_bytes = s.element_bytes;
      g.axis = s.axis;
      g.outer = std::min(t_.outer_tile, s.outer - o0);
      g.count = std::min(t_.count_tile, s.count - j0);
      g.inner = std::min(t_.inner_tile, s.inner - i0);
      g.outer_stride = s.axis * s.inner;
      g.row_stride = s.inner;
      const int set = static_cast<int>((tile - first) & 1);

      // The tile's rows of the output: one stretch unless a part of the rows or of each row is left out.
      const std::int64_t at = (((b * s.outer + o0) * s.count + j0) * s.inner + i0) * e;
      const std::int64_t run = g.count * g.inner * e;
      const bool whole = g.outer == 1 || (g.count == s.count && g.inner == s.inner);
      if (whole) core.alias_out(*out[set], operands[2], at, g.outer * run);
      const std::int64_t from = (b * s.outer + o0) * g.outer_stride + i0;
      const std::int64_t first_index = b * s.count + j0;
      if (t_.local) {
        core.copy_in(*index[set], 0, operands[1], first_index * index_bytes(index_type_),
                     {1, g.count * index_bytes(index_type_)});
        core.copy_in(*data[set], 0, operands[0], from * e, {1, g.outer * g.outer_stride * e});
        core.gather_local(*out[set], *data[set], *index[set], index_type_, g);
      } else {
        core.gather_rows(*out[set], operands[0], from, operands[1], first_index, index_type_, g);
      }
      const Burst burst = whole ? Burst{1, g.outer * run} : Burst{g.outer, run, s.count * s.inner * e, run};
      core.copy_out(operands[2], at, *out[set], 0, burst);
    }
  }

  std::int64_t tile_key(std::int64_t tile) const override {
    const std::int64_t i = tile % t_.inner_tiles(), j = tile / t_.inner_tiles() % t_.count_tiles();
    const std::int64_t o = tile / t_.inner_tiles() / t_.count_tiles() % t_.outer_tiles();
    return (o + 1 == t_.outer_tiles() ? 4 : 0) + (j + 1 == t_.count_tiles() ? 2 : 0) +
           (i + 1 == t_.inner_tiles() ? 1 : 0);
  }

 private:
  GatherTiling t_;
  DType index_type_;
};

Status check_tiling(const GatherTiling& t, const std::vector<Operand>& operands) {
  const GatherSpec& s = t.spec;
  const int e = s.element_bytes;
  if (operands.size() != 3) return bad_params(kName, "operand count");
  if (e != 1 && e != 2 && e != 4 && e != 8)
    return bad_params(kName, "elements of " + std::to_string(e) + " bytes");
  if (operands[1].dtype != DType::I32 && operands[1].dtype != DType::I64)
    return bad_params(kName, "indices are neither i32 nor i64");
  if (!operands[2].output) return bad_params(kName, "it writes to an input");
  if (operands[0].offset % e != 0 || operands[2].offset % e != 0 ||
      operands[1].offset % index_bytes(operands[1].dtype) != 0)
    return bad_params(kName, "an operand is not aligned to its elements");
  if (s.batch < 0 || s.outer < 0 || s.axis < 1 || s.count < 0 || s.inner < 0)
    return bad_params(kName, "extent out of range");
  if (t.empty()) return {};
  if (t.outer_tile < 1 || t.outer_tile > s.outer || t.count_tile < 1 || t.count_tile > s.count ||
      t.inner_tile < 1 || t.inner_tile > s.inner || (t.local && t.inner_tile != s.inner))
    return bad_params(kName, "tile out of range");
  // In bounds as dense boxes, whence no product below overflows.
  const auto row = checked_mul(s.axis, s.inner), out_row = checked_mul(s.count, s.inner);
  const auto slabs = checked_mul(s.batch, s.outer);
  if (!row || !out_row || !slabs ||
      !within(operands[0], e, 0, Dims{*slabs, s.axis, s.inner}, Dims{*row, s.inner, 1}))
    return bad_params(kName, "data is smaller than its dims");
  if (!within(operands[1], index_bytes(operands[1].dtype), 0, Dims{s.batch, s.count}, Dims{s.count, 1}))
    return bad_params(kName, "there are fewer indices than its dims say");
  if (!within(operands[2], e, 0, Dims{*slabs, s.count, s.inner}, Dims{*out_row, s.inner, 1}))
    return bad_params(kName, "the output is smaller than its dims");
  return {};
}

/// The largest n in [1, limit] that `fits`, 1 if none does.
template <class F>
std::int64_t largest(std::int64_t limit, F fits) {
  std::int64_t lo = 1, hi = std::max<std::int64_t>(limit, 1);
  while (lo < hi) {
    const std::int64_t mid = lo + (hi - lo + 1) / 2;
    if (fits(mid))
      lo = mid;
    else
      hi = mid - 1;
  }
  return ceil_div(std::max<std::int64_t>(limit, 1), ceil_div(std::max<std::int64_t>(limit, 1), lo));
}

void choose_tiles(GatherTiling& t, DType index_type, const soc::Chip& chip) {
  const GatherSpec& s = t.spec;
  const std::int64_t e = s.element_bytes, row = s.inner * e, ib = index_bytes(index_type);
  const std::int64_t share =
      s.batch * s.outer * s.count * row / (std::int64_t{2} * std::max(1, chip.vector_blocks()));
  const std::int64_t target = std::clamp(share, kMinTileBytes, std::min(kMaxTileBytes, chip.ub / 4));
  // Two sets of data slab, indices and result; 32 bytes of rounding each.
  auto local_fits = [&](std::int64_t o, std::int64_t j) {
    return 2 * (o * s.axis * row + o * j * row + j * ib + 96) <= chip.ub;
  };
  const std::int64_t slab = s.axis * row;
  if (row < kBurstBytes && slab <= chip.ub && local_fits(1, 1) && slab <= s.count * kBurstBytes) {
    t.local = true;
    t.inner_tile = s.inner;
    t.count_tile = largest(s.count, [&](std::int64_t j) { return local_fits(1, j); });
    if (t.count_tile == s.count)
      t.outer_tile = largest(s.outer, [&](std::int64_t o) {
        return local_fits(o, s.count) && o * (slab + s.count * row) <= 2 * target;
      });
    return;
  }
  t.inner_tile = largest(s.inner, [&](std::int64_t i) { return i * e <= target; });
  if (t.inner_tile == s.inner)
    t.count_tile = largest(s.count, [&](std::int64_t j) { return j * row <= target; });
  if (t.count_tile == s.count)
    t.outer_tile = largest(s.outer, [&](std::int64_t o) { return o * s.count * t.inner_tile * e <= target; });
}

}  // namespace

StatusOr<Task> make_gather(const GatherSpec& spec, std::vector<Operand> operands, const soc::Chip& chip) {
  GatherTiling t;
  t.spec = spec;
  ATC_TRY(check_tiling(t, operands));
  if (!t.empty()) choose_tiles(t, operands[1].dtype, chip);
  return pack_task(kName, std::move(operands), t.empty() ? 0 : t.tiles(), chip.vector_blocks(),
                   [&](auto& ar) { io_tiling(ar, t); });
}

PrepareResult prepare_gather(const Task& task, const soc::Chip&) {
  GatherTiling t;
  ATC_TRY(unpack_params(kName, task, [&](auto& ar) { io_tiling(ar, t); }));
  ATC_TRY(check_tiling(t, task.operands));
  ATC_TRY(check_blocks(task, t.empty() ? 0 : t.tiles()));
  return std::unique_ptr<PreparedKernel>(new Gather(t, task.operands[1].dtype));
}

}  // namespace atc::kernels
