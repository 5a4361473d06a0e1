#include "kernels/copy_tiling.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "atc/base/math.h"

namespace atc::kernels {
namespace {

using aicore::TileCopy;

TileCopy::Extents extents(const Dims& d) {
  TileCopy::Extents out{};
  std::copy(d.begin(), d.end(), out.begin());
  return out;
}

/// Grows the tile along the axes of one side, innermost first.
class Side {
 public:
  Side(const CopyPart& part, const Dims& strides) : part_(part), strides_(strides) {
    for (std::size_t d = 0; d < strides.size(); ++d)
      if (strides[d] != 0) order_.push_back(d);
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return std::abs(strides[a]) < std::abs(strides[b]);
    });
  }
  /// The axis to grow next; none when all are whole.
  const std::size_t* frontier() const {
    for (const std::size_t& d : order_)
      if (part_.tile[d] < part_.dims[d]) return &d;
    return nullptr;
  }
  /// Elements of the runs that a tile makes on this side: what lies back to back.
  std::int64_t run() const {
    std::int64_t run = 1;
    for (std::size_t d : order_) {
      if (std::abs(strides_[d]) != run) break;
      run *= part_.tile[d];
      if (part_.tile[d] < part_.dims[d]) break;
    }
    return run;
  }

 private:
  const CopyPart& part_;
  const Dims& strides_;
  std::vector<std::size_t> order_;
};

}  // namespace

std::int64_t CopyPart::tiles_along(std::size_t d) const { return ceil_div(dims[d], tile[d]); }

std::int64_t CopyPart::tiles() const {
  std::int64_t n = 1;
  for (std::size_t d = 0; d < dims.size(); ++d) n *= tiles_along(d);
  return n;
}

TileCopy CopyPart::plan(int element_bytes) const {
  TileCopy copy;
  copy.rank = static_cast<int>(dims.size());
  copy.element_bytes = element_bytes;
  copy.src_strides = extents(src_strides);
  copy.dst_strides = extents(dst_strides);
  copy.pad = pad;
  copy.fill_bits = static_cast<std::uint64_t>(fill_bits);
  copy.plan();
  return copy;
}

CopyPart normalise(const CopySegment& segment) {
  struct Axis {
    std::int64_t n, src, dst;
  };
  CopyPart part;
  part.src = segment.src;
  part.dst = segment.dst;
  part.fill_bits = static_cast<std::int64_t>(segment.fill_bits);
  part.src_offset = segment.src < 0 ? 0 : segment.src_offset;
  part.dst_offset = segment.dst_offset;
  std::vector<Axis> axes;
  for (std::size_t d = 0; d < segment.dims.size(); ++d) {
    Axis a{segment.dims[d], segment.src < 0 ? 0 : segment.src_strides[d], segment.dst_strides[d]};
    if (a.n == 1) continue;
    if (a.dst < 0) {
      part.dst_offset += (a.n - 1) * a.dst;
      part.src_offset += (a.n - 1) * a.src;
      a.dst = -a.dst;
      a.src = -a.src;
    }
    axes.push_back(a);
  }
  std::stable_sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return a.dst > b.dst; });
  std::vector<Axis> merged;
  for (const Axis& a : axes) {
    if (!merged.empty() && merged.back().dst == a.dst * a.n && merged.back().src == a.src * a.n)
      merged.back() = {merged.back().n * a.n, a.src, a.dst};
    else
      merged.push_back(a);
  }
  for (const Axis& a : merged) {
    part.dims.push_back(a.n);
    part.src_strides.push_back(a.src);
    part.dst_strides.push_back(a.dst);
  }
  part.tile.assign(part.dims.size(), 1);
  return part;
}

namespace {

/// The axes around the innermost one as the destination has them: (extent, stride), merged.
std::vector<std::pair<std::int64_t, std::int64_t>> outer_axes(const CopyPart& part) {
  std::vector<std::pair<std::int64_t, std::int64_t>> out;
  for (std::size_t d = 0; d + 1 < part.dims.size(); ++d) {
    const std::int64_t n = part.dims[d], stride = part.dst_strides[d];
    if (!out.empty() && out.back().second == n * stride)
      out.back() = {out.back().first * n, stride};
    else
      out.emplace_back(n, stride);
  }
  return out;
}

}  // namespace

bool join_fill(CopyPart& copy, const CopyPart& fill) {
  if (copy.src < 0 || fill.src >= 0 || copy.pad > 0 || copy.dst != fill.dst || copy.dims.size() < 2 ||
      fill.dims.size() < 2 || copy.dst_strides.back() != 1 || fill.dst_strides.back() != 1)
    return false;
  const std::int64_t run = copy.dims.back(), pad = fill.dims.back();
  const auto outer = outer_axes(copy);
  if (outer != outer_axes(fill) || pad > kMostCopyPad || fill.dst_offset != copy.dst_offset + run ||
      outer.back().second < run + pad)
    return false;
  copy.pad = pad;
  copy.fill_bits = fill.fill_bits;
  return true;
}

void choose_copy_tile(CopyPart& part, int element_bytes, std::int64_t ub_bytes, std::int64_t target_bytes) {
  const std::size_t rank = part.dims.size();
  part.tile.assign(rank, 1);
  if (part.pad > 0) part.tile.back() = part.dims.back();
  const TileCopy plan = part.plan(element_bytes);
  // Two sets of buffers: while one is loaded the other is stored.
  auto fits = [&] {
    const TileCopy::Extents n = extents(part.tile);
    const std::int64_t elements =
        std::accumulate(part.tile.begin(), part.tile.end(), std::int64_t{1}, std::multiplies<>());
    return round_up(plan.load_bytes(n), 32) + round_up(plan.store_bytes(n), 32) <= ub_bytes / 2 &&
           elements * element_bytes <= target_bytes;
  };
  const Side dst(part, part.dst_strides), src(part, part.src_strides);
  // Both sides' runs grow alike: short runs on either side are what makes a transposition slow.
  auto grow = [&](std::size_t d) {
    const std::int64_t before = part.tile[d];
    std::int64_t lo = before, hi = std::min(part.dims[d], before * 2);
    while (lo < hi) {
      part.tile[d] = (lo + hi + 1) / 2;
      if (fits())
        lo = part.tile[d];
      else
        hi = part.tile[d] - 1;
    }
    part.tile[d] = lo;
    return lo > before;
  };
  for (;;) {
    const std::size_t* a = dst.frontier();
    const std::size_t* b = src.frontier();
    if (b != nullptr && src.run() < dst.run()) std::swap(a, b);
    if (a != nullptr && grow(*a)) continue;
    if (b != nullptr && grow(*b)) continue;
    break;
  }
  // Even tiles: 100 in tiles of 64 are 50 and 50.
  for (std::size_t d = 0; d < rank; ++d)
    part.tile[d] = ceil_div(part.dims[d], ceil_div(part.dims[d], part.tile[d]));
}

}  // namespace atc::kernels
