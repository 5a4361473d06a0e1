#include "passes/copy_pieces.h"

#include <algorithm>

#include "atc/base/check.h"
#include "ops/reference_util.h"

namespace atc::passes {
namespace {

using Axis = CopyPiece::Axis;

/// The axis of the piece with the longest step along `along`; -1: it has one position there.
int outermost(const CopyPiece& p, std::size_t along) {
  int found = -1;
  for (std::size_t k = 0; k < p.axes.size(); ++k)
    if (p.axes[k].along == along && p.axes[k].size > 1 &&
        (found < 0 || p.axes[k].step > p.axes[static_cast<std::size_t>(found)].step))
      found = static_cast<int>(k);
  return found;
}

/// Positions from the piece's first to its last one along `along`, one more than their difference.
std::int64_t span(const CopyPiece& p, std::size_t along) {
  std::int64_t n = 1;
  for (const Axis& a : p.axes)
    if (a.along == along) n += (a.size - 1) * a.step;
  return n;
}

/// The piece at positions [first, first + count) of its axis k.
CopyPiece part_of(CopyPiece p, std::size_t k, std::int64_t first, std::int64_t count) {
  Axis& a = p.axes[k];
  p.source += first * a.source;
  p.start[a.along] += first * a.step;
  a.size = count;
  return p;
}

/// Appends what of the piece lies in [first, last) along `along`. False where its axes are interleaved.
bool cut(const CopyPiece& p, std::size_t along, std::int64_t first, std::int64_t last,
         std::vector<CopyPiece>& out) {
  const std::int64_t begin = p.start[along], length = span(p, along);
  if (begin >= first && begin + length <= last) {
    out.push_back(p);
    return true;
  }
  if (begin + length <= first || begin >= last) return true;
  const int outer = outermost(p, along);
  if (outer < 0) return true;
  const std::size_t k = static_cast<std::size_t>(outer);
  const Axis a = p.axes[k];
  const std::int64_t inner = length - (a.size - 1) * a.step;
  if (inner > a.step) return false;
  // Positions of the outer axis whose inner ones are all inside, and those of which a part is.
  std::int64_t i = 0;
  while (i < a.size) {
    const std::int64_t at = begin + i * a.step;
    std::int64_t count = 1;
    if (at >= first && at + inner <= last) {
      count = std::min(a.size - i, (last - inner - at) / a.step + 1);
      out.push_back(part_of(p, k, i, count));
    } else if (at + inner <= first) {
      count = std::min(a.size - i, (first - inner - at) / a.step + 1);
    } else if (at >= last) {
      break;
    } else if (!cut(part_of(p, k, i, 1), along, first, last, out)) {
      return false;
    }
    i += count;
  }
  return true;
}

/// Axis `along` of length outer * inner becomes two: `along` and the one behind it. The piece's axes already
/// have their numbers behind that.
bool split(const CopyPiece& p, std::size_t along, std::int64_t outer, std::int64_t inner,
           std::vector<CopyPiece>& out) {
  const std::int64_t begin = p.start[along], end = begin + span(p, along);
  const std::int64_t first_whole = (begin + inner - 1) / inner * inner, last_whole = end / inner * inner;
  const auto place = [&](CopyPiece q) {
    std::vector<Axis> axes;
    std::int64_t within = 1;
    for (const Axis& a : q.axes) {
      if (a.along != along || a.size == 1) {
        if (a.along != along) axes.push_back(a);
        continue;
      }
      if (a.step % inner == 0) {
        axes.push_back({a.size, a.source, along, a.step / inner});
      } else if (a.size * a.step > inner && inner % a.step == 0 && a.size % (inner / a.step) == 0) {
        const std::int64_t count = inner / a.step;
        axes.push_back({a.size / count, a.source * count, along, 1});
        axes.push_back({count, a.source, along + 1, a.step});
        within += (count - 1) * a.step;
      } else {
        axes.push_back({a.size, a.source, along + 1, a.step});
        within += (a.size - 1) * a.step;
      }
    }
    const std::int64_t rest = q.start[along] % inner;
    if (rest + within > inner) return false;
    q.axes = std::move(axes);
    q.start[along + 1] = rest;
    q.start[along] /= inner;
    out.push_back(std::move(q));
    return true;
  };
  if (outer == 1) return place(p);
  // Whole rows of `inner`, and what is in front of and behind them.
  std::vector<CopyPiece> parts;
  if (first_whole >= last_whole) {
    for (std::int64_t at = begin / inner * inner; at < end; at += inner)
      if (!cut(p, along, at, at + inner, parts)) return false;
  } else if (!cut(p, along, begin, first_whole, parts) || !cut(p, along, first_whole, last_whole, parts) ||
             !cut(p, along, last_whole, end, parts)) {
    return false;
  }
  return std::all_of(parts.begin(), parts.end(), place);
}

}  // namespace

CopyPieces whole_copy(const Dims& dims) {
  CopyPiece p;
  const Dims strides = ops::row_major_strides(dims);
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (dims[d] > 1) p.axes.push_back({dims[d], strides[d], d, 1});
  p.start.assign(dims.size(), 0);
  return {dims, {std::move(p)}};
}

CopyPieces transposed_copy(CopyPieces value, const Dims& perm) {
  Dims dims(perm.size());
  std::vector<std::size_t> to(perm.size());
  for (std::size_t d = 0; d < perm.size(); ++d) {
    dims[d] = value.dims[static_cast<std::size_t>(perm[d])];
    to[static_cast<std::size_t>(perm[d])] = d;
  }
  for (CopyPiece& p : value.pieces) {
    Dims start(perm.size());
    for (std::size_t d = 0; d < to.size(); ++d) start[to[d]] = p.start[d];
    p.start = std::move(start);
    for (Axis& a : p.axes) a.along = to[a.along];
  }
  value.dims = std::move(dims);
  return value;
}

std::optional<CopyPieces> sliced_copy(const CopyPieces& value, std::size_t axis, std::int64_t first,
                                      std::int64_t last) {
  CopyPieces out{value.dims, {}};
  out.dims[axis] = last - first;
  for (const CopyPiece& p : value.pieces)
    if (!cut(p, axis, first, last, out.pieces) || out.pieces.size() > kMaxCopyPieces) return std::nullopt;
  for (CopyPiece& p : out.pieces) p.start[axis] -= first;
  return out;
}

std::optional<CopyPieces> joined_copies(const std::vector<CopyPieces>& parts, std::size_t axis) {
  CopyPieces out{parts.front().dims, {}};
  out.dims[axis] = 0;
  for (const CopyPieces& part : parts) {
    for (CopyPiece p : part.pieces) {
      p.start[axis] += out.dims[axis];
      out.pieces.push_back(std::move(p));
    }
    out.dims[axis] += part.dims[axis];
  }
  if (out.pieces.size() > kMaxCopyPieces) return std::nullopt;
  return out;
}

std::optional<CopyPieces> reshaped_copy(const CopyPieces& value, const Dims& dims) {
  // Dims of length 1 are left out, and come again at the end; of the others, neighbours on both sides that
  // have the same product are joined and split.
  CopyPieces out{{}, value.pieces};
  std::vector<std::size_t> position(value.dims.size(), 0);
  for (std::size_t d = 0; d < value.dims.size(); ++d) {
    position[d] = out.dims.size();
    if (value.dims[d] != 1) out.dims.push_back(value.dims[d]);
  }
  for (CopyPiece& p : out.pieces) {
    std::erase_if(p.axes, [](const Axis& a) { return a.size == 1; });
    for (Axis& a : p.axes) a.along = position[a.along];
    Dims start;
    for (std::size_t d = 0; d < value.dims.size(); ++d)
      if (value.dims[d] != 1) start.push_back(p.start[d]);
    p.start = std::move(start);
  }
  Dims wanted;
  std::copy_if(dims.begin(), dims.end(), std::back_inserter(wanted), [](std::int64_t d) { return d != 1; });
  for (std::size_t d = 0; d < wanted.size(); ++d) {
    if (d >= out.dims.size()) return std::nullopt;
    // Join until axis d holds a whole number of the wanted axis.
    while (out.dims[d] % wanted[d] != 0) {
      if (d + 1 >= out.dims.size()) return std::nullopt;
      const std::int64_t inner = out.dims[d + 1];
      for (CopyPiece& p : out.pieces) {
        for (Axis& a : p.axes) {
          if (a.along == d) a.step *= inner;
          if (a.along > d) --a.along;
        }
        p.start[d] = p.start[d] * inner + p.start[d + 1];
        p.start.erase(p.start.begin() + static_cast<std::ptrdiff_t>(d) + 1);
      }
      out.dims[d] *= inner;
      out.dims.erase(out.dims.begin() + static_cast<std::ptrdiff_t>(d) + 1);
    }
    const std::int64_t inner = out.dims[d] / wanted[d];
    if (inner == 1) continue;
    std::vector<CopyPiece> parts;
    for (CopyPiece& p : out.pieces) {
      for (Axis& a : p.axes)
        if (a.along > d) ++a.along;
      p.start.insert(p.start.begin() + static_cast<std::ptrdiff_t>(d) + 1, 0);
      if (!split(p, d, wanted[d], inner, parts) || parts.size() > kMaxCopyPieces) return std::nullopt;
    }
    out.pieces = std::move(parts);
    out.dims[d] = wanted[d];
    out.dims.insert(out.dims.begin() + static_cast<std::ptrdiff_t>(d) + 1, inner);
  }
  if (out.dims != wanted) return std::nullopt;
  std::vector<std::size_t> back;
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (dims[d] != 1) back.push_back(d);
  for (CopyPiece& p : out.pieces) {
    Dims start(dims.size(), 0);
    for (std::size_t d = 0; d < back.size(); ++d) start[back[d]] = p.start[d];
    p.start = std::move(start);
    for (Axis& a : p.axes) a.along = back[a.along];
  }
  out.dims = dims;
  return out;
}

std::vector<ops::CopyBox> copy_boxes(const CopyPieces& value) {
  const Dims strides = ops::row_major_strides(value.dims);
  std::vector<ops::CopyBox> out;
  std::int64_t elements = 0;
  for (const CopyPiece& p : value.pieces) {
    ops::CopyBox box;
    box.src_offset = p.source;
    for (std::size_t d = 0; d < strides.size(); ++d) box.dst_offset += p.start[d] * strides[d];
    for (const Axis& a : p.axes) {
      box.dims.push_back(a.size);
      box.src_strides.push_back(a.source);
      box.dst_strides.push_back(a.step * strides[a.along]);
    }
    elements += element_count(box.dims);
    out.push_back(std::move(box));
  }
  ATC_CHECK(elements == element_count(value.dims), "pieces that do not cover their value");
  return out;
}

}  // namespace atc::passes
