#include "kernels/strided_copy.h"

#include <algorithm>
#include <map>

#include "aicore/core.h"
#include "atc/base/math.h"
#include "kernels/access.h"
#include "kernels/copy_tiling.h"
#include "kernels/kernel_list.h"
#include "kernels/program_params.h"
#include "kernels/task_packing.h"
#include "soc/chip.h"

namespace atc::kernels {
namespace {

using aicore::Buffer;
using aicore::Core;
using aicore::Memory;
using aicore::TileCopy;

constexpr std::string_view kName = "strided_copy";

// What a tile should move at least for the MTE's full rate, and at most so that the next one overlaps it.
constexpr std::int64_t kMinTileBytes = 2 * 1024;
constexpr std::int64_t kMaxTileBytes = 64 * 1024;
constexpr std::int64_t kBurstBytes = 64;
constexpr std::size_t kMostListed = 1 << 16;  // elements of a list of parameters (io_list)
constexpr std::int64_t kMostElements = std::int64_t{1} << 40;

struct CopyTiling {
  int element_bytes = 4;
  std::vector<CopyPart> parts;
};

template <class Archive, class T>
void io_tiling(Archive& ar, T& t) {
  ar.io(t.element_bytes);
  io_list(ar, t.parts, [](auto& a, auto& p) {
    a.io(p.src);
    a.io(p.dst);
    a.io(p.fill_bits);
    a.io(p.src_offset);
    a.io(p.dst_offset);
    a.io(p.dims);
    a.io(p.tile);
    a.io(p.src_strides);
    a.io(p.dst_strides);
    a.io(p.pad);
  });
}

class StridedCopy final : public PreparedKernel {
 public:
  explicit StridedCopy(CopyTiling tiling) : tiling_(std::move(tiling)) {
    std::map<std::vector<std::int64_t>, std::int64_t> classes;
    std::int64_t tiles = 0;
    for (const CopyPart& part : tiling_.parts) {
      Part p{part.plan(tiling_.element_bytes), tiles, 0};
      const TileCopy::Extents n = extents(part.tile);
      if (part.src >= 0) load_bytes_ = std::max(load_bytes_, p.copy.load_bytes(n));
      store_bytes_ = std::max(store_bytes_, p.copy.store_bytes(n));
      // Parts of one shape between the same operands take equal cycles.
      std::vector<std::int64_t> key = {part.src, part.dst, part.pad};
      for (const Dims* list : {&part.dims, &part.tile, &part.src_strides, &part.dst_strides})
        key.insert(key.end(), list->begin(), list->end());
      p.shape_class =
          classes.try_emplace(std::move(key), static_cast<std::int64_t>(classes.size())).first->second;
      parts_.push_back(p);
      tiles += part.tiles();
    }
  }

  void run(Core& core, std::span<const aicore::Gm> operands, std::int64_t first,
           std::int64_t last) const override {
    if (first >= last) return;
    Buffer* load[2];
    Buffer* store[2];
    for (int i = 0; i < 2; ++i) {
      load[i] = &core.alloc(Memory::UB, load_bytes_);
      store[i] = &core.alloc(Memory::UB, store_bytes_);
    }
    std::size_t k = part_of(first);
    for (std::int64_t t = first; t < last; ++t) {
      while (k + 1 < parts_.size() && t >= parts_[k + 1].first_tile) ++k;
      const CopyPart& part = tiling_.parts[k];
      TileCopy::Extents n{};
      std::int64_t src = part.src_offset, dst = part.dst_offset;
      std::int64_t rest = t - parts_[k].first_tile;
      for (std::size_t d = part.dims.size(); d-- > 0;) {
        const std::int64_t count = part.tiles_along(d);
        const std::int64_t begin = rest % count * part.tile[d];
        rest /= count;
        n[d] = std::min(part.tile[d], part.dims[d] - begin);
        src += begin * part.src_strides[d];
        dst += begin * part.dst_strides[d];
      }
      const int set = static_cast<int>((t - first) & 1);
      const aicore::Gm& to = operands[static_cast<std::size_t>(part.dst)];
      if (part.src < 0)
        core.fill_tile(parts_[k].copy, n, to, dst, &part.fill_bits, *store[set]);
      else
        core.copy_tile(parts_[k].copy, n, to, dst, operands[static_cast<std::size_t>(part.src)], src,
                       *load[set], *store[set]);
    }
  }

  std::int64_t tile_key(std::int64_t tile) const override {
    const std::size_t k = part_of(tile);
    const CopyPart& part = tiling_.parts[k];
    std::int64_t rest = tile - parts_[k].first_tile, partial = 0;
    for (std::size_t d = part.dims.size(); d-- > 0;) {
      const std::int64_t count = part.tiles_along(d);
      if (rest % count + 1 == count) partial |= std::int64_t{1} << d;
      rest /= count;
    }
    return parts_[k].shape_class << TileCopy::kMaxRank | partial;
  }

 private:
  struct Part {
    TileCopy copy;
    std::int64_t first_tile;
    std::int64_t shape_class;
  };
  static TileCopy::Extents extents(const Dims& d) {
    TileCopy::Extents out{};
    std::copy(d.begin(), d.end(), out.begin());
    return out;
  }
  std::size_t part_of(std::int64_t tile) const {
    const auto it = std::upper_bound(parts_.begin(), parts_.end(), tile,
                                     [](std::int64_t t, const Part& p) { return t < p.first_tile; });
    return static_cast<std::size_t>(it - parts_.begin()) - 1;
  }

  CopyTiling tiling_;
  std::vector<Part> parts_;
  std::int64_t load_bytes_ = 0, store_bytes_ = 0;
};

Status check_part(const CopyPart& p, int element_bytes, const std::vector<Operand>& operands) {
  if (p.src < -1 || p.src >= std::ssize(operands) || p.dst < 0 || p.dst >= std::ssize(operands))
    return bad_params(kName, "it names an operand that does not exist");
  if (!operands[static_cast<std::size_t>(p.dst)].output) return bad_params(kName, "it writes to an input");
  const std::size_t rank = p.dims.size();
  if (rank > TileCopy::kMaxRank) return bad_params(kName, "a segment has too many axes");
  if (p.tile.size() != rank || p.src_strides.size() != rank || p.dst_strides.size() != rank)
    return bad_params(kName, "the lists of a segment differ in length");
  std::int64_t elements = 1;
  for (std::size_t d = 0; d < rank; ++d) {
    // Axes of one element have been dropped: their strides would be bounded by nothing.
    if (p.dims[d] < 2 || p.tile[d] < 1 || p.tile[d] > p.dims[d])
      return bad_params(kName, "extent out of range");
    if (p.dst_strides[d] < 1) return bad_params(kName, "a destination stride is not positive");
    if (p.src < 0 && p.src_strides[d] != 0) return bad_params(kName, "a fill has a source");
    const auto product = checked_mul(elements, p.tile[d]);
    // Far beyond any UB; with the gaps of its innermost axis a tile is at most 64 times as large.
    if (!product || *product > kMostElements) return bad_params(kName, "extent out of range");
    elements = *product;
  }
  Dims stored = p.dims;
  if (p.pad < 0 || p.pad > kMostCopyPad) return bad_params(kName, "padding out of range");
  if (p.pad > 0) {
    if (p.src < 0 || rank == 0 || p.dst_strides.back() != 1 || p.tile.back() != p.dims.back())
      return bad_params(kName, "padding behind what is no whole run");
    stored.back() += p.pad;
  }
  if (!within(operands[static_cast<std::size_t>(p.dst)], element_bytes, p.dst_offset, stored, p.dst_strides))
    return bad_params(kName, "a segment leaves its destination");
  if (p.src >= 0 &&
      !within(operands[static_cast<std::size_t>(p.src)], element_bytes, p.src_offset, p.dims, p.src_strides))
    return bad_params(kName, "a segment leaves its source");
  return {};
}

/// Also gives the count of tiles.
StatusOr<std::int64_t> check_tiling(const CopyTiling& t, const std::vector<Operand>& operands) {
  if (t.element_bytes != 1 && t.element_bytes != 2 && t.element_bytes != 4 && t.element_bytes != 8)
    return bad_params(kName, "elements of " + std::to_string(t.element_bytes) + " bytes");
  std::int64_t tiles = 0;
  for (const CopyPart& part : t.parts) {
    ATC_TRY(check_part(part, t.element_bytes, operands));
    std::int64_t n = 1;
    for (std::size_t d = 0; d < part.dims.size(); ++d) {
      const auto product = checked_mul(n, part.tiles_along(d));
      if (!product) return bad_params(kName, "too many tiles");
      n = *product;
    }
    const auto sum = checked_add(tiles, n);
    if (!sum) return bad_params(kName, "too many tiles");
    tiles = *sum;
  }
  return tiles;
}

/// How many times over a part's bytes occupy Global Memory's bus, which moves whole bursts: 1 for long runs.
std::int64_t burst_waste(const CopyPart& part, int element_bytes) {
  std::int64_t run = element_bytes;
  for (std::size_t d = part.dims.size(); d-- > 0 && part.dst_strides[d] * element_bytes == run;)
    run *= part.dims[d] + (d + 1 == part.dims.size() ? part.pad : 0);
  return ceil_div(kBurstBytes, std::min(run, kBurstBytes));
}

/// Bytes of one set of buffers, which all parts share.
std::int64_t set_bytes(const CopyTiling& t) {
  std::int64_t load = 0, store = 0;
  for (const CopyPart& part : t.parts) {
    const TileCopy plan = part.plan(t.element_bytes);
    TileCopy::Extents n{};
    std::copy(part.tile.begin(), part.tile.end(), n.begin());
    if (part.src >= 0) load = std::max(load, round_up(plan.load_bytes(n), 32));
    store = std::max(store, round_up(plan.store_bytes(n), 32));
  }
  return load + store;
}

/// Every core gets two tiles where there is enough work, so that loads and stores overlap.
void choose_tiles(CopyTiling& t, const soc::Chip& chip) {
  std::int64_t work = 0;
  for (const CopyPart& part : t.parts) work += element_count(part.dims) * burst_waste(part, t.element_bytes);
  const std::int64_t share =
      ceil_div(work * t.element_bytes, std::int64_t{2} * std::max(1, chip.vector_blocks()));
  // The part that loads most and the one that stores most may be two.
  for (std::int64_t most = kMaxTileBytes; most > 0; most /= 2) {
    for (CopyPart& part : t.parts) {
      const std::int64_t target =
          std::clamp(share / burst_waste(part, t.element_bytes), std::min(kMinTileBytes, most), most);
      choose_copy_tile(part, t.element_bytes, chip.ub, target);
    }
    if (set_bytes(t) <= chip.ub / 2) return;
  }
}

}  // namespace

StatusOr<Task> make_strided_copy(const CopySpec& spec, std::vector<Operand> operands, const soc::Chip& chip) {
  CopyTiling t;
  t.element_bytes = spec.element_bytes;
  std::int64_t total = 0;
  for (const CopySegment& s : spec.segments) {
    const std::size_t rank = s.dims.size();
    if (s.dst_strides.size() != rank || (s.src >= 0 && s.src_strides.size() != rank))
      return bad_params(kName, "the lists of a segment differ in length");
    const std::int64_t count = element_count(s.dims);
    if (count == 0) continue;
    if (count < 0 || count > INT64_MAX / 8 / kBurstBytes - total)
      return bad_params(kName, "extent out of range");
    for (std::size_t d = 0; d < rank; ++d)
      if (s.dims[d] > 1 && s.dst_strides[d] == 0)
        return bad_params(kName, "a segment writes an element twice");
    // Before strides are multiplied: every corner is inside.
    const int operand_count = static_cast<int>(operands.size());
    if (s.src >= operand_count || s.dst < 0 || s.dst >= operand_count)
      return bad_params(kName, "it names an operand that does not exist");
    if (!within(operands[static_cast<std::size_t>(s.dst)], t.element_bytes, s.dst_offset, s.dims,
                s.dst_strides))
      return bad_params(kName, "a segment leaves its destination");
    if (s.src >= 0 && !within(operands[static_cast<std::size_t>(s.src)], t.element_bytes, s.src_offset,
                              s.dims, s.src_strides))
      return bad_params(kName, "a segment leaves its source");
    total += count;
    CopyPart part = normalise(s);
    if (!t.parts.empty() && (join_fill(t.parts.back(), part) || join_fill(part, t.parts.back()))) {
      if (part.pad > 0) t.parts.back() = std::move(part);
      continue;
    }
    t.parts.push_back(std::move(part));
    if (t.parts.back().dims.size() > TileCopy::kMaxRank)
      return bad_params(kName, "more than 12 axes remain after merging");
  }
  if (t.parts.size() > kMostListed) return bad_params(kName, "too many segments");
  choose_tiles(t, chip);
  ATC_ASSIGN(const std::int64_t tiles, check_tiling(t, operands));
  return pack_task(kName, std::move(operands), tiles, chip.vector_blocks(),
                   [&](auto& ar) { io_tiling(ar, t); });
}

std::vector<TilingField> describe_strided_copy(const Task& task) {
  CopyTiling t;
  if (!unpack_params(kName, task, [&](auto& ar) { io_tiling(ar, t); }).ok() || t.parts.empty()) return {};
  const auto largest = std::max_element(
      t.parts.begin(), t.parts.end(),
      [](const CopyPart& a, const CopyPart& b) { return element_count(a.dims) < element_count(b.dims); });
  return {{"parts", std::ssize(t.parts)},
          {"elements", element_count(largest->tile)},
          {"run", largest->tile.empty() ? 1 : largest->tile.back()}};
}

PrepareResult prepare_strided_copy(const Task& task, const soc::Chip&) {
  CopyTiling t;
  ATC_TRY(unpack_params(kName, task, [&](auto& ar) { io_tiling(ar, t); }));
  ATC_ASSIGN(const std::int64_t tiles, check_tiling(t, task.operands));
  ATC_TRY(check_blocks(task, tiles));
  for (const Operand& o : task.operands)
    if (o.offset % t.element_bytes != 0)
      return bad_params(kName, "an operand is not aligned to its elements");
  return std::unique_ptr<PreparedKernel>(new StridedCopy(std::move(t)));
}

}  // namespace atc::kernels
