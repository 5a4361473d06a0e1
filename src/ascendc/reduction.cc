#include <algorithm>
#include <array>
#include <vector>

#include "ascendc/elements.h"
#include "ascendc/instructions.h"
#include "ascendc/lanes.h"
#include "ascendc/vector_ops.h"
#include "atc/base/math.h"

// Reductions. A repeat is summed as a binary tree over its lanes, in float, and its result is stored in the
// element type; the count form then reduces the results of the repeats in the same way.
namespace atc::ascendc {
namespace {

enum class Kind { Sum, Max, Min };

Kind kind_of(std::uint32_t op) {
  switch (op) {
    case ATC_REDUCE_MAX:
    case ATC_WHOLE_MAX:
    case ATC_BLOCK_MAX:
      return Kind::Max;
    case ATC_REDUCE_MIN:
    case ATC_WHOLE_MIN:
    case ATC_BLOCK_MIN:
      return Kind::Min;
    default:
      return Kind::Sum;
  }
}

struct Best {
  float value = 0.0f;
  std::int64_t index = 0;
};

// The first of equal ones wins; NaN wins over all.
Best extreme(Kind kind, const std::vector<float>& values, const std::vector<std::int64_t>& index) {
  Best best{values[0], index[0]};
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (std::isnan(best.value)) break;
    if (std::isnan(values[i]) || (kind == Kind::Max ? values[i] > best.value : values[i] < best.value))
      best = {values[i], index[i]};
  }
  return best;
}

float tree_sum(std::vector<float> v) {
  while (v.size() > 1) {
    const std::size_t half = (v.size() + 1) / 2;
    for (std::size_t i = 0; i + half < v.size(); ++i) v[i] += v[i + half];
    v.resize(half);
  }
  return v.empty() ? 0.0f : v[0];
}

float load(Block& b, const AtcOperand& o, std::int64_t at) {
  float v = 0.0f;
  if (o.type == ATC_F32) {
    std::memcpy(&v, b.bytes(o.local, at), 4);
  } else {
    Half h;
    std::memcpy(&h, b.bytes(o.local, at), 2);
    v = to_float(h);
  }
  return v;
}
float rounded(std::uint8_t type, float v) { return type == ATC_F16 ? to_float(to_half(v)) : v; }

std::uint64_t value_bits(std::uint8_t type, float v) {
  return type == ATC_F16 ? to_half(v).bits : std::bit_cast<std::uint32_t>(v);
}

void put(Block& b, const AtcSite& site, const char* what, const AtcLocal& t, std::int64_t at,
         std::uint64_t bits, std::int64_t n) {
  b.check_extent(site, what, t, at, at + n);
  std::memcpy(b.bytes(t, at), &bits, static_cast<std::size_t>(n));
  b.touch(site, what, Pipe::V, t, at, n, true);
  if (b.checks) b.shadow(t.memory).set_written(t.offset + at, n);
}

// The values that take part, one repeat after the other.
struct Source {
  std::vector<std::vector<float>> values;
  std::vector<std::vector<std::int64_t>> index;  ///< of the element; in the repeat: lane
};

Source read(Block& b, const AtcSite& site, const char* what, const AtcVector& v, const LaneSet& lanes,
            bool lane_index) {
  const Walk w = walk_of(v.src0, lanes);
  use_operand(b, site, what, v.src0, w, lanes, false);
  Source s;
  const std::int64_t element = bits_of(v.src0.type) / 8;
  if (b.checks && contiguous(w, lanes)) b.need_written(site, what, v.src0.local, 0, lanes.total * element);
  const bool each = b.checks && !contiguous(w, lanes);
  std::int64_t count = 0;
  for (std::int64_t r = 0; r < lanes.repeats; ++r) {
    s.values.emplace_back();
    s.index.emplace_back();
    for (int i = 0; i < lanes.per_repeat; ++i) {
      if (!lanes.active(r, i)) continue;
      if (each) b.need_written(site, what, v.src0.local, w.at(r, i), element);
      s.values.back().push_back(load(b, v.src0, w.at(r, i)));
      s.index.back().push_back(lane_index ? i : lanes.dense ? count : r * lanes.per_repeat + i);
      ++count;
    }
  }
  return s;
}

void whole(Block& b, const AtcSite& site, const AtcVector& v, Kind kind) {
  const char* what = name_of(v.op);
  const std::int64_t size = bits_of(v.dst.type) / 8;
  const AtcVector n = v;
  const LaneSet lanes = lanes_of(b, site, what, n.lanes, bits_of(v.src0.type));
  if (lanes.total <= 0) return;
  const Source s = read(b, site, what, v, lanes, true);
  enum Order { kValueIndex, kIndexValue, kOnlyValue, kOnlyIndex };
  for (std::int64_t r = 0; r < lanes.repeats; ++r) {
    const auto& values = s.values[static_cast<std::size_t>(r)];
    if (kind == Kind::Sum) {
      put(b, site, what, v.dst.local, r * v.dst.stride.repeat * size,
          value_bits(v.dst.type, tree_sum(values)), size);
      continue;
    }
    const Best best = extreme(kind, values, s.index[static_cast<std::size_t>(r)]);
    const std::uint64_t value = value_bits(v.dst.type, best.value),
                        index = static_cast<std::uint64_t>(best.index);
    const std::int64_t step = r * v.dst.stride.repeat;
    switch (v.mode) {
      case kOnlyValue:
        put(b, site, what, v.dst.local, step * size, value, size);
        break;
      case kOnlyIndex:
        put(b, site, what, v.dst.local, step * 4, index, 4);
        break;
      default:
        put(b, site, what, v.dst.local, step * 2 * size + (v.mode == kIndexValue ? size : 0), value, size);
        put(b, site, what, v.dst.local, step * 2 * size + (v.mode == kIndexValue ? 0 : size), index, size);
    }
  }
  b.pipes.issue(Pipe::V, kIssue + lanes.repeats, what, bytes_for(v.src0.type, lanes.total));
}

// Groups of `group` lanes of each repeat give one result each, side by side.
void grouped(Block& b, const AtcSite& site, const AtcVector& v, Kind kind, int group) {
  const char* what = name_of(v.op);
  const std::int64_t size = bits_of(v.dst.type) / 8;
  const LaneSet lanes = lanes_of(b, site, what, v.lanes, bits_of(v.src0.type));
  if (lanes.total <= 0) return;
  const Source s = read(b, site, what, v, lanes, true);
  const int results = lanes.per_repeat / group;
  for (std::int64_t r = 0; r < lanes.repeats; ++r)
    for (int g = 0; g < results; ++g) {
      std::vector<float> values;
      std::vector<std::int64_t> index;
      for (std::size_t i = 0; i < s.values[static_cast<std::size_t>(r)].size(); ++i) {
        const std::int64_t lane = s.index[static_cast<std::size_t>(r)][i];
        if (lane / group != g) continue;
        values.push_back(s.values[static_cast<std::size_t>(r)][i]);
        index.push_back(lane);
      }
      if (values.empty()) continue;
      const float result = kind == Kind::Sum ? tree_sum(values) : extreme(kind, values, index).value;
      put(b, site, what, v.dst.local, (r * v.dst.stride.repeat * results + g) * size,
          value_bits(v.dst.type, result), size);
    }
  b.pipes.issue(Pipe::V, kIssue + lanes.repeats, what, bytes_for(v.src0.type, lanes.total));
}

void counted(Block& b, const AtcSite& site, const AtcVector& v, Kind kind) {
  const char* what = name_of(v.op);
  const LaneSet lanes = lanes_of(b, site, what, v.lanes, bits_of(v.src0.type));
  if (lanes.total <= 0) return;
  const std::int64_t size = bits_of(v.dst.type) / 8;
  const bool with_index = v.mode != 0 && kind != Kind::Sum;
  const std::int64_t work = round_up(lanes.repeats * size * (with_index ? 2 : 1), std::int64_t{32});
  if (b.checks) {
    if (v.work.local.bytes == 0)
      b.fault(site, "count", [&] { return std::string(what) + ": the work tensor is empty"; });
    else if (v.work.local.bytes < work && v.work.local.offset != v.dst.local.offset)
      b.fault(site, "tensor-bounds", [&] {
        return std::string(what) + " of " + std::to_string(lanes.total) +
               " elements needs a work tensor of " + std::to_string(work) + " bytes, " +
               b.describe(v.work.local) + " has " + std::to_string(v.work.local.bytes);
      });
    else
      b.touch(site, what, Pipe::V, v.work.local, 0, std::min<std::int64_t>(work, v.work.local.bytes), true);
  }
  const Source s = read(b, site, what, v, lanes, false);
  std::vector<float> values;
  std::vector<std::int64_t> index;
  std::int64_t passes = lanes.repeats;
  for (std::size_t r = 0; r < s.values.size(); ++r) {
    if (s.values[r].empty()) continue;
    const Best best =
        kind == Kind::Sum ? Best{tree_sum(s.values[r]), 0} : extreme(kind, s.values[r], s.index[r]);
    values.push_back(rounded(v.dst.type, best.value));
    index.push_back(best.index);
  }
  while (kind == Kind::Sum && values.size() > 1) {
    std::vector<float> next;
    for (std::size_t i = 0; i < values.size(); i += static_cast<std::size_t>(lanes.per_repeat)) {
      const std::size_t end = std::min(values.size(), i + static_cast<std::size_t>(lanes.per_repeat));
      next.push_back(rounded(v.dst.type, tree_sum({values.begin() + static_cast<std::ptrdiff_t>(i),
                                                   values.begin() + static_cast<std::ptrdiff_t>(end)})));
      ++passes;
    }
    values = std::move(next);
  }
  const Best best = kind == Kind::Sum ? Best{values[0], 0} : extreme(kind, values, index);
  if (kind != Kind::Sum) passes += ceil_div(lanes.repeats, std::int64_t{lanes.per_repeat});
  b.reduce_value = value_bits(v.dst.type, best.value);
  b.reduce_index = static_cast<std::uint64_t>(best.index);
  put(b, site, what, v.dst.local, 0, b.reduce_value, size);
  if (with_index) put(b, site, what, v.dst.local, size, b.reduce_index, size);
  b.pipes.issue(Pipe::V, kIssue + passes, what, bytes_for(v.src0.type, lanes.total));
}

}  // namespace

void reduce(Block& b, const AtcSite& site, const AtcVector& v) {
  const Kind kind = kind_of(v.op);
  if (b.checks) b.check_aligned(site, name_of(v.op), v.dst.local, bits_of(v.dst.type) / 8);
  if (v.op <= ATC_REDUCE_MIN) return counted(b, site, v, kind);
  if (v.op <= ATC_WHOLE_MIN) return whole(b, site, v, kind);
  grouped(b, site, v, kind, v.op == ATC_PAIR_SUM ? 2 : 256 / bits_of(v.src0.type));
}

}  // namespace atc::ascendc
