#pragma once

#include <array>

#include "kernels/attention.h"
#include "kernels/program_params.h"
#include "soc/chip.h"

namespace atc::kernels {

/// How an attention is cut: query blocks of `q_rows` rows of one head are the task's tiles; each walks the
/// key positions `kv_cols` at a time.
struct AttentionTiling {
  AttentionSpec spec;
  std::int64_t q_rows = 16, kv_cols = 16;
  int qk_slice = 1, pv_slice = 1;  ///< fractals of each product's reduction in L0 at once
  bool resident = false;           ///< L1 holds all of a key head; else two pairs of tiles take turns
  std::array<DType, 2> mask_dtypes = {DType::Undefined, DType::Undefined};  ///< of mask and bias

  std::int64_t group() const { return spec.heads / spec.kv_heads; }
  std::int64_t q_blocks() const;
  std::int64_t tiles() const { return spec.batch * spec.heads * q_blocks(); }
  std::int64_t kv_tiles() const;  ///< no tile crosses from one segment to the next
  /// The spec's mask (0) or bias (1).
  const AttentionMask& mask(std::size_t i) const { return i == 0 ? spec.mask : spec.bias; }
  Lanes mask_lanes(std::size_t i) const;
};

/// Bytes of each memory that a block of such tiles allocates.
struct AttentionBuffers {
  std::int64_t acc = 0, dense = 0, half = 0, out = 0, row = 0;  ///< UB
  std::array<std::int64_t, 2> mask = {}, mask_stored = {};      ///< UB: of mask and bias
  std::int64_t q = 0, p = 0, k = 0, v = 0;                      ///< L1
  std::int64_t l0a = 0, l0b = 0;                                ///< each of two
  std::int64_t scores = 0, product = 0;                         ///< L0C
};
inline constexpr int kAttentionRowBuffers = 6;
inline constexpr int kAttentionScalars = 4;
AttentionBuffers attention_buffers(const AttentionTiling& tiling, int element_bytes);

/// The cheapest tile by estimated cycles; false when none fits. Fills q_rows, kv_cols, slices, resident.
bool choose_attention_tile(AttentionTiling& tiling, int element_bytes, const soc::Chip& chip);

template <class Archive>
void io_head(Archive& ar, HeadAddress& a) {
  ar.io(a.offset);
  ar.io(a.batch_stride);
  ar.io(a.head_stride);
  ar.io(a.row_stride);
  ar.io(a.block_stride);
}
inline void io_mask_kind(ParamWriter& ar, AttentionMask::Kind& v) { ar.io(static_cast<int>(v)); }
inline void io_mask_kind(ParamReader& ar, AttentionMask::Kind& v) {
  int x = 0;
  ar.io(x);
  if (x < 0 || x > 3) return ar.fail();
  v = static_cast<AttentionMask::Kind>(x);
}

template <class Archive>
void io_mask(Archive& ar, AttentionMask& m) {
  io_mask_kind(ar, m.kind);
  ar.io(m.offset);
  ar.io(m.batch_stride);
  ar.io(m.head_stride);
  ar.io(m.row_stride);
  ar.io(m.col_stride);
  ar.io(m.fill);
}

template <class Archive>
void io_attention(Archive& ar, AttentionTiling& t) {
  AttentionSpec& s = t.spec;
  ar.io(s.batch);
  ar.io(s.heads);
  ar.io(s.kv_heads);
  ar.io(s.rows);
  ar.io(s.d);
  ar.io(s.dv);
  ar.io(s.k_transposed);
  ar.io(s.scale);
  ar.io(s.softcap);
  ar.io(s.causal);
  ar.io(s.causal_offset);
  ar.io(s.hidden_rows_are_zero);
  io_head(ar, s.q);
  io_head(ar, s.out);
  io_mask(ar, s.mask);
  io_mask(ar, s.bias);
  ar.io(s.bias_behind_mask);
  io_list(ar, s.segments, [](auto& a, KvSegment& x) {
    a.io(x.length);
    io_head(a, x.k);
    io_head(a, x.v);
  });
  ar.io(t.q_rows);
  ar.io(t.kv_cols);
  ar.io(t.qk_slice);
  ar.io(t.pv_slice);
  ar.io(t.resident);
}

}  // namespace atc::kernels
