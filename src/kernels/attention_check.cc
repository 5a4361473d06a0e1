#include "kernels/attention_check.h"

#include <array>
#include <cstdlib>

#include "kernels/access.h"
#include "kernels/kernel_list.h"
#include "kernels/tile_program.h"

namespace atc::kernels {

namespace {

using Kind = AttentionMask::Kind;

bool is_cube_dtype(DType t) { return t == DType::F32 || t == DType::F16 || t == DType::BF16; }

}  // namespace

Status check_attention(const AttentionTiling& t, const std::vector<Operand>& operands) {
  const AttentionSpec& s = t.spec;
  constexpr std::int64_t kLimit = std::int64_t{1} << 31;
  for (std::int64_t v : {s.batch, s.heads, s.kv_heads, s.rows, s.d, s.dv, t.q_rows, t.kv_cols})
    if (v < 1 || v > kLimit) return bad_params(kAttentionKernel, "extent out of range");
  if (s.heads % s.kv_heads != 0) return bad_params(kAttentionKernel, "heads are no multiple of key heads");
  if (s.segments.empty() || s.segments.size() > 16) return bad_params(kAttentionKernel, "segment count");
  if (t.q_rows > 4096 || t.kv_cols > 65536 || s.d > 65536 || s.dv > 65536)
    return bad_params(kAttentionKernel, "tile out of range");
  for (int slice : {t.qk_slice, t.pv_slice})
    if (slice < 1 || slice > 4096) return bad_params(kAttentionKernel, "slice out of range");
  if (std::abs(s.causal_offset) > kLimit) return bad_params(kAttentionKernel, "causal offset out of range");
  const std::size_t segment0 = first_attention_segment(s);
  if (operands.size() != segment0 + 2 * s.segments.size())
    return bad_params(kAttentionKernel, "operand count");
  const DType dtype = operands[kAttentionQ].dtype;
  if (!is_cube_dtype(dtype) || operands[kAttentionOut].dtype != dtype)
    return bad_params(kAttentionKernel, "the cube does not take these operands");
  const std::int64_t e = bit_width(dtype) / 8;
  auto head_within = [&](const Operand& o, const HeadAddress& a, std::int64_t heads, std::int64_t rows,
                         std::int64_t cols) {
    if (a.row_stride < 0) return false;
    if (a.block_stride != 0)
      return a.block_stride > 0 && a.row_stride == kBlockCols && cols % kBlockCols == 0 &&
             within(o, e, a.offset, std::array{s.batch, heads, rows, cols / kBlockCols, kBlockCols},
                    std::array{a.batch_stride, a.head_stride, a.row_stride, a.block_stride, std::int64_t{1}});
    return within(o, e, a.offset, std::array{s.batch, heads, rows, cols},
                  std::array{a.batch_stride, a.head_stride, a.row_stride, std::int64_t{1}});
  };
  if (!head_within(operands[kAttentionQ], s.q, s.heads, s.rows, s.d) ||
      !head_within(operands[kAttentionOut], s.out, s.heads, s.rows, s.dv))
    return bad_params(kAttentionKernel, "queries or result outside their operand");
  std::int64_t positions = 0;
  for (std::size_t i = 0; i < s.segments.size(); ++i) {
    const KvSegment& x = s.segments[i];
    if (x.length < 1 || x.length > kLimit) return bad_params(kAttentionKernel, "segment length out of range");
    positions += x.length;
    const Operand &k = operands[segment0 + 2 * i], &v = operands[segment0 + 2 * i + 1];
    if (k.dtype != dtype || v.dtype != dtype)
      return bad_params(kAttentionKernel, "keys or values of another type");
    if (s.k_transposed && x.k.block_stride != 0)
      return bad_params(kAttentionKernel, "transposed keys in blocks");
    if (!head_within(k, x.k, s.kv_heads, s.k_transposed ? s.d : x.length, s.k_transposed ? x.length : s.d) ||
        !head_within(v, x.v, s.kv_heads, x.length, s.dv))
      return bad_params(kAttentionKernel, "keys or values outside their operand");
  }
  if (t.kv_tiles() > 1 << 20) return bad_params(kAttentionKernel, "too many tiles of positions");
  if (s.bias.kind != Kind::None && s.bias.kind != Kind::Add)
    return bad_params(kAttentionKernel, "a bias that is not added");
  for (std::size_t i = 0; i < 2; ++i) {
    const AttentionMask& m = t.mask(i);
    if (m.kind == Kind::None) continue;
    const Operand& o = operands[attention_mask_operand(s, i)];
    if (m.row_stride < 0 || m.col_stride < 0 || m.col_stride > 1)
      return bad_params(kAttentionKernel, "mask strides");
    const bool boolean = o.dtype == DType::Bool;
    if (boolean == (m.kind == Kind::Add) || (!boolean && !is_cube_dtype(o.dtype)))
      return bad_params(kAttentionKernel, "mask type");
    if (!within(o, bit_width(o.dtype) / 8, m.offset, std::array{s.batch, s.heads, s.rows, positions},
                std::array{m.batch_stride, m.head_stride, m.row_stride, m.col_stride}))
      return bad_params(kAttentionKernel, "mask outside its operand");
  }
  return {};
}

}  // namespace atc::kernels
