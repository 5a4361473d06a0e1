#include "kernels/attention_tiling.h"

#include <algorithm>

#include "atc/base/math.h"
#include "kernels/tile_program.h"
#include "soc/chip.h"

namespace atc::kernels {

std::int64_t AttentionSpec::positions() const {
  std::int64_t n = 0;
  for (const KvSegment& s : segments) n += s.length;
  return n;
}

std::int64_t AttentionTiling::q_blocks() const { return ceil_div(spec.rows, q_rows); }

std::int64_t AttentionTiling::kv_tiles() const {
  std::int64_t n = 0;
  for (const KvSegment& s : spec.segments) n += ceil_div(s.length, kv_cols);
  return n;
}

Lanes AttentionTiling::mask_lanes(std::size_t i) const {
  return lanes_of(mask(i).row_stride, mask(i).col_stride, spec.rows, spec.positions());
}

AttentionBuffers attention_buffers(const AttentionTiling& t, int e) {
  const AttentionSpec& s = t.spec;
  const std::int64_t m16 = round_up(t.q_rows, 16), n16 = round_up(t.kv_cols, 16);
  const std::int64_t d16 = round_up(s.d, 16), dv16 = round_up(s.dv, 16);
  AttentionBuffers b;
  b.acc = t.q_rows * std::max(n16, dv16) * 4;
  // Rows of the accumulator are padded to fractals; tails are made dense before rows are reduced.
  const bool dense = s.dv % 16 != 0 || t.kv_cols % 16 != 0 ||
                     std::any_of(s.segments.begin(), s.segments.end(),
                                 [](const KvSegment& x) { return x.length % 16 != 0; });
  b.dense = dense ? t.q_rows * std::max(t.kv_cols, s.dv) * 4 : 0;
  b.half = e == 2 ? t.q_rows * std::max(t.kv_cols, s.dv) * e : 0;
  for (std::size_t i = 0; i < 2; ++i) {
    if (t.mask(i).kind == AttentionMask::Kind::None) continue;
    const std::int64_t lanes = aicore::lane_count(t.mask_lanes(i), t.q_rows, t.kv_cols);
    const std::int64_t stored = bit_width(t.mask_dtypes[i]) / 8;
    b.mask[i] = lanes * (t.mask_dtypes[i] == DType::Bool ? 1 : 4);
    b.mask_stored[i] = stored == 2 ? lanes * stored : 0;
  }
  b.out = t.q_rows * s.dv * 4;
  b.row = t.q_rows * 4;
  b.q = t.q_rows * d16 * e;
  b.p = t.q_rows * n16 * e;
  b.k = d16 * n16 * e;
  b.v = n16 * dv16 * e;
  b.l0a = m16 * 16 * std::max(t.qk_slice, t.pv_slice) * e;
  b.l0b = std::max(n16 * t.qk_slice, dv16 * t.pv_slice) * 16 * e;
  b.scores = m16 * n16 * 4;
  b.product = m16 * dv16 * 4;
  return b;
}

namespace {

bool fits(AttentionTiling& t, int e, const soc::Chip& chip) {
  const AttentionSpec& s = t.spec;
  const std::int64_t m16 = round_up(t.q_rows, 16), n16 = round_up(t.kv_cols, 16);
  const std::int64_t d16 = round_up(s.d, 16), dv16 = round_up(s.dv, 16);
  auto slice = [&](std::int64_t columns, std::int64_t reduction) {
    return static_cast<int>(std::min<std::int64_t>(
        {chip.l0a / 2 / (m16 * 16 * e), chip.l0b / 2 / (columns * 16 * e), reduction / 16, 64}));
  };
  t.qk_slice = slice(n16, d16);
  t.pv_slice = slice(dv16, n16);
  if (t.qk_slice < 1 || t.pv_slice < 1) return false;
  const AttentionBuffers b = attention_buffers(t, e);
  if (2 * b.l0a > chip.l0a || 2 * b.l0b > chip.l0b) return false;
  if (round_up(b.scores, 1024) + round_up(b.product, 1024) > chip.l0c) return false;
  const std::int64_t ub = b.acc + b.dense + b.half + b.mask[0] + b.mask[1] + b.mask_stored[0] +
                          b.mask_stored[1] + b.out + b.row * kAttentionRowBuffers +
                          32 * (16 + kAttentionScalars);
  if (ub > chip.ub) return false;
  constexpr std::int64_t kSlack = 1024;  // of alignment
  const std::int64_t l1 = chip.l1 - kSlack - b.q - b.p;
  const std::int64_t pair = b.k + b.v;
  if (2 * pair > l1) return false;
  t.resident = t.kv_tiles() * (pair + 64) <= l1;
  return true;
}

// Estimated cycles of the slowest core. The steps of a tile depend on each other, so they add up.
std::int64_t cost(const AttentionTiling& t, int e, const soc::Chip& chip) {
  const AttentionSpec& s = t.spec;
  const std::int64_t m1 = ceil_div(t.q_rows, 16), n1 = ceil_div(t.kv_cols, 16);
  const std::int64_t d1 = ceil_div(s.d, 16), dv1 = ceil_div(s.dv, 16);
  const std::int64_t cube = m1 * n1 * (d1 + dv1) * (e == 4 ? 4 : 1);
  const std::int64_t mte1 =
      (m1 * d1 + m1 * n1) * 256 * e / chip.l1_to_l0a + (n1 * d1 + n1 * dv1) * 256 * e / chip.l1_to_l0b;
  constexpr std::int64_t kScorePasses = 11, kOutPasses = 3, kIssues = 20 * 8;
  const std::int64_t vector =
      (t.q_rows * t.kv_cols * kScorePasses + t.q_rows * s.dv * kOutPasses) * 4 / chip.vector_bytes +
      t.q_rows * n1 + kIssues;
  const std::int64_t out = m1 * 16 * (n1 + dv1) * 64 / chip.l0c_out;
  const std::int64_t load = t.kv_cols * (s.d + s.dv) * e / chip.l2_read + 64;
  const std::int64_t waves = ceil_div(t.tiles(), chip.cube_blocks());
  const std::int64_t loads = t.resident ? ceil_div(waves, t.q_blocks()) : waves;
  return t.kv_tiles() * (waves * (cube + mte1 + vector + out) + loads * load) + waves * 200;
}

}  // namespace

bool choose_attention_tile(AttentionTiling& t, int e, const soc::Chip& chip) {
  AttentionTiling best = t;
  std::int64_t lowest = -1;
  const std::int64_t longest =
      std::max_element(t.spec.segments.begin(), t.spec.segments.end(), [](const auto& a, const auto& b) {
        return a.length < b.length;
      })->length;
  // Large tiles first: a smaller one must be clearly better, for it moves keys and values more often.
  for (std::int64_t rows : {256, 128, 96, 64, 48, 32, 16}) {
    if (rows > 16 && rows >= round_up(t.spec.rows, 16) + 16) continue;
    for (std::int64_t cols : {512, 256, 128, 64, 32, 16}) {
      if (cols > 16 && cols >= round_up(longest, 16) * 2) continue;
      AttentionTiling c = t;
      c.q_rows = std::min(rows, t.spec.rows);
      c.kv_cols = std::min(cols, longest);
      if (!fits(c, e, chip)) continue;
      const std::int64_t cycles = cost(c, e, chip);
      if (lowest >= 0 && cycles + cycles / 4 >= lowest) continue;
      lowest = cycles;
      best = c;
    }
  }
  if (lowest >= 0) t = best;
  return lowest >= 0;
}

}  // namespace atc::kernels
