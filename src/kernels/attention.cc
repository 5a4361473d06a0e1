#include "kernels/attention.h"

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <limits>

#include "aicore/core.h"
#include "atc/base/math.h"
#include "kernels/attention_check.h"
#include "kernels/kernel_list.h"
#include "kernels/task_packing.h"
#include "kernels/tile_program.h"
#include "soc/chip.h"

namespace atc::kernels {
namespace {

using aicore::Buffer;
using aicore::Burst;
using aicore::Core;
using aicore::Memory;
using aicore::VecRef;
using Kind = AttentionMask::Kind;

// A part of the key positions.
struct KvTile {
  std::size_t segment;
  std::int64_t first;   // within the segment
  std::int64_t global;  // within all positions
  int length;
};

std::vector<KvTile> kv_tiles(const AttentionTiling& t) {
  std::vector<KvTile> out;
  std::int64_t global = 0;
  for (std::size_t s = 0; s < t.spec.segments.size(); ++s)
    for (std::int64_t p = 0; p < t.spec.segments[s].length; p += t.kv_cols) {
      const std::int64_t n = std::min(t.kv_cols, t.spec.segments[s].length - p);
      out.push_back({s, p, global, static_cast<int>(n)});
      global += n;
    }
  return out;
}

// The rows of a query block as A of a product.
void set_rows(aicore::RowMap& map, const Core::CubeTile& a, int rows, int reduction) {
  map.base.resize(static_cast<std::size_t>(rows));
  for (int r = 0; r < rows; ++r) map.base[static_cast<std::size_t>(r)] = r * a.row_stride;
  map.tap_offset = {0};
  map.b_tap = {0};
  map.k1 = static_cast<int>(ceil_div(reduction, 16));
  map.k_last = reduction - (map.k1 - 1) * 16;
  map.k1_stride = a.k1_stride;
}

/// Buffers of one block and the state of the key head that L1 holds.
struct Block {
  struct Pair {
    Buffer *k, *v;
    Core::CubeTile k_tile, v_tile;
    bool loaded = false;
  };
  explicit Block(Core& core) : pairs(core.scratch()), q_map(core.scratch()), p_map(core.scratch()) {}
  std::pmr::vector<Pair> pairs;
  std::size_t turn = 0;
  std::int64_t head = -1;  // (batch, key head) whose tiles are loaded
  Buffer *q, *p;
  Core::CubeTile q_tile;
  Buffer *scores, *product;
  Core::CubeBuffers l0;
  Buffer *acc, *dense = nullptr, *half = nullptr, *out;
  std::array<Buffer*, 2> masks = {}, stored_masks = {};  // mask and bias
  Buffer *max, *next_max, *tile_max, *sum, *tile_sum, *decay;
  Buffer *scale, *cap, *fill, *least;
  aicore::RowMap q_map, p_map;
};

class AttentionKernel final : public PreparedKernel {
 public:
  AttentionKernel(AttentionTiling tiling, DType dtype)
      : t_(std::move(tiling)), dtype_(dtype), e_(bit_width(dtype) / 8), kv_(kv_tiles(t_)) {}

  void run(Core& core, std::span<const aicore::Gm> operands, std::int64_t first,
           std::int64_t last) const override {
    Block b = make_block(core);
    for (std::int64_t tile = first; tile < last; ++tile) run_tile(core, b, operands, tile);
  }

  // The block of queries decides which positions a causal tile visits; the first one of a key head loads it.
  std::int64_t tile_key(std::int64_t tile) const override {
    const std::int64_t in_head = tile % (t_.group() * t_.q_blocks());
    const std::int64_t q_block = tile % t_.q_blocks();
    const std::int64_t shape = t_.spec.causal ? q_block : (q_block + 1 == t_.q_blocks() ? 1 : 0);
    return shape * 2 + (in_head == 0 ? 1 : 0);
  }

 private:
  Block make_block(Core& core) const {
    const AttentionBuffers n = attention_buffers(t_, static_cast<int>(e_));
    Block b(core);
    b.q = &core.alloc(Memory::L1, n.q);
    b.p = &core.alloc(Memory::L1, n.p);
    b.pairs.resize(t_.resident ? kv_.size() : 2);
    for (Block::Pair& pair : b.pairs) {
      pair.k = &core.alloc(Memory::L1, n.k);
      pair.v = &core.alloc(Memory::L1, n.v);
    }
    for (int i = 0; i < 2; ++i) {
      b.l0.l0a[i] = &core.alloc(Memory::L0A, n.l0a);
      b.l0.l0b[i] = &core.alloc(Memory::L0B, n.l0b);
    }
    b.scores = &core.alloc(Memory::L0C, n.scores);
    b.product = &core.alloc(Memory::L0C, n.product);
    b.acc = &core.alloc(Memory::UB, n.acc);
    if (n.dense > 0) b.dense = &core.alloc(Memory::UB, n.dense);
    if (n.half > 0) b.half = &core.alloc(Memory::UB, n.half);
    for (std::size_t i = 0; i < 2; ++i) {
      if (n.mask[i] > 0) b.masks[i] = &core.alloc(Memory::UB, n.mask[i]);
      if (n.mask_stored[i] > 0) b.stored_masks[i] = &core.alloc(Memory::UB, n.mask_stored[i]);
    }
    b.out = &core.alloc(Memory::UB, n.out);
    for (Buffer** row : {&b.max, &b.next_max, &b.tile_max, &b.sum, &b.tile_sum, &b.decay})
      *row = &core.alloc(Memory::UB, n.row);
    auto scalar = [&](double value) {
      Buffer* s = &core.alloc(Memory::UB, 4);
      const float f = static_cast<float>(value);
      core.fill(*s, 0, 1, 4, &f);
      return s;
    };
    const double cap = t_.spec.softcap;
    b.scale = scalar(cap > 0 ? t_.spec.scale / cap : t_.spec.scale);
    b.cap = scalar(cap);
    b.fill = scalar(t_.spec.mask.fill);
    b.least = scalar(FLT_MIN);
    return b;
  }

  void run_tile(Core& core, Block& b, std::span<const aicore::Gm> operands, std::int64_t tile) const {
    const AttentionSpec& s = t_.spec;
    const std::int64_t q_block = tile % t_.q_blocks();
    const std::int64_t head = tile / t_.q_blocks() % s.heads;
    const std::int64_t batch = tile / t_.q_blocks() / s.heads;
    const std::int64_t row0 = q_block * t_.q_rows;
    const int rows = static_cast<int>(std::min(t_.q_rows, s.rows - row0));
    if (const std::int64_t kv_head = batch * s.kv_heads + head / t_.group(); kv_head != b.head) {
      b.head = kv_head;
      for (Block::Pair& pair : b.pairs) pair.loaded = false;
    }

    const std::int64_t q0 = at(s.q, batch, head, row0);
    b.q_tile = core.load_matrix_a(*b.q, operands[kAttentionQ], q0, dtype_, rows, static_cast<int>(s.d),
                                  s.q.row_stride, false, s.q.block_stride);
    set_rows(b.q_map, b.q_tile, rows, static_cast<int>(s.d));
    const float lowest = -FLT_MAX;  // finite: a tile without a single valid score must not give inf - inf
    core.fill(*b.max, 0, rows, 4, &lowest);
    // Positions that the last row of a causal block sees; those beyond are not visited at all.
    const std::int64_t visible =
        s.causal ? std::clamp<std::int64_t>(row0 + rows + s.causal_offset, 1, s.positions()) : s.positions();
    bool first = true;
    for (std::size_t i = 0; i < kv_.size() && kv_[i].global < visible; ++i) {
      Block::Pair& pair = load(core, b, operands, i, batch, head / t_.group());
      const bool last = i + 1 == kv_.size() || kv_[i + 1].global >= visible;
      step(core, b, operands, kv_[i], pair, batch, head, row0, rows, first, last);
      first = false;
    }
    store(core, b, operands, at(s.out, batch, head, row0), rows);
  }

  static std::int64_t at(const HeadAddress& a, std::int64_t batch, std::int64_t head, std::int64_t row) {
    return a.offset + batch * a.batch_stride + head * a.head_stride + row * a.row_stride;
  }

  // The keys and values of tile i in L1.
  Block::Pair& load(Core& core, Block& b, std::span<const aicore::Gm> operands, std::size_t i,
                    std::int64_t batch, std::int64_t head) const {
    const AttentionSpec& s = t_.spec;
    Block::Pair& pair = t_.resident ? b.pairs[i] : b.pairs[b.turn ^= 1];
    if (t_.resident && pair.loaded) return pair;
    const KvTile& kv = kv_[i];
    const KvSegment& segment = s.segments[kv.segment];
    const std::size_t operand = first_attention_segment(s) + 2 * kv.segment;
    const std::int64_t k_first = s.k_transposed ? kv.first : kv.first * segment.k.row_stride;
    pair.k_tile = core.load_matrix_b(*pair.k, operands[operand], at(segment.k, batch, head, 0) + k_first,
                                     dtype_, static_cast<int>(s.d), kv.length, segment.k.row_stride,
                                     !s.k_transposed, segment.k.block_stride);
    pair.v_tile = core.load_matrix_b(*pair.v, operands[operand + 1], at(segment.v, batch, head, kv.first),
                                     dtype_, kv.length, static_cast<int>(s.dv), segment.v.row_stride, false,
                                     segment.v.block_stride);
    pair.loaded = true;
    return pair;
  }

  // One tile of positions: scores, their share of the running softmax, and its product with the values.
  void step(Core& core, Block& b, std::span<const aicore::Gm> operands, const KvTile& kv, Block::Pair& pair,
            std::int64_t batch, std::int64_t head, std::int64_t row0, int rows, bool first, bool last) const {
    const AttentionSpec& s = t_.spec;
    const int n = kv.length, panels = static_cast<int>(ceil_div(n, 16));
    core.l1_product(*b.scores, b.l0, b.q_tile, b.q_map, pair.k_tile, dtype_, panels, t_.qk_slice, false,
                    aicore::AccLayout::Rows);
    core.fixpipe(*b.acc, *b.scores, rows, 0, rows, 0, panels, aicore::AccLayout::Rows);
    Buffer* x = b.acc;
    if (n != panels * 16) {
      core.copy_ub(*b.dense, 0, *b.acc, 0, 4, rows, n, n, panels * 16, 1);
      x = b.dense;
    }
    score(core, b, operands, *x, kv, batch, head, row0, rows);

    const VecRef full{x, Lanes::Full}, next{b.next_max, Lanes::PerRow}, max{b.max, Lanes::PerRow};
    const VecRef sum{b.sum, Lanes::PerRow}, decay{b.decay, Lanes::PerRow};
    auto vector = [&](VecOp op, VecRef dst, VecRef lhs, VecRef rhs, int cols) {
      core.vector(op, RegType::F32, dst, lhs, rhs, {}, 0, rows, cols, RegType::F32);
    };
    core.reduce(VecOp::ReduceMax, RegType::F32, *b.tile_max, *x, true, rows, n, false);
    vector(VecOp::Max, next, max, {b.tile_max, Lanes::PerRow}, n);
    vector(VecOp::Sub, full, full, next, n);
    vector(VecOp::Exp, full, full, {}, n);
    if (first) {
      core.reduce(VecOp::ReduceSum, RegType::F32, *b.sum, *x, true, rows, n, false);
    } else {
      vector(VecOp::Sub, decay, max, next, n);
      vector(VecOp::Exp, decay, decay, {}, n);
      core.reduce(VecOp::ReduceSum, RegType::F32, *b.tile_sum, *x, true, rows, n, false);
      vector(VecOp::Mul, sum, sum, decay, n);
      vector(VecOp::Add, sum, sum, {b.tile_sum, Lanes::PerRow}, n);
    }
    std::swap(b.max, b.next_max);

    Buffer* stored = x;
    if (dtype_ != DType::F32) {
      core.cast_out(*b.half, dtype_, *x, RegType::F32, std::int64_t{rows} * n);
      stored = b.half;
    }
    const Core::CubeTile p = core.move_matrix_a(*b.p, *stored, dtype_, rows, n);
    set_rows(b.p_map, p, rows, n);
    const int dv = static_cast<int>(s.dv), dv_panels = static_cast<int>(ceil_div(dv, 16));
    core.l1_product(*b.product, b.l0, p, b.p_map, pair.v_tile, dtype_, dv_panels, t_.pv_slice, false,
                    aicore::AccLayout::Rows);
    core.fixpipe(*b.acc, *b.product, rows, 0, rows, 0, dv_panels, aicore::AccLayout::Rows);
    Buffer* y = b.acc;
    if (dv != dv_panels * 16) {
      core.copy_ub(*b.dense, 0, *b.acc, 0, 4, rows, dv, dv, dv_panels * 16, 1);
      y = b.dense;
    }
    const VecRef out{b.out, Lanes::Full}, part{y, Lanes::Full};
    // A row that sees something has a sum of at least 1.
    if (last && s.hidden_rows_are_zero) vector(VecOp::Max, sum, sum, {b.least, Lanes::Scalar}, dv);
    if (first && last) {
      vector(VecOp::Div, out, part, sum, dv);
      return;
    }
    if (first) {
      core.copy_ub(*b.out, 0, *y, 0, 4, 1, std::int64_t{rows} * dv, std::int64_t{rows} * dv,
                   std::int64_t{rows} * dv, 1);
    } else {
      vector(VecOp::Mul, out, out, decay, dv);
      vector(VecOp::Add, out, out, part, dv);
    }
    if (last) vector(VecOp::Div, out, out, sum, dv);
  }

  // Scale, soft cap, mask, bias and the causal edge, in place.
  void score(Core& core, Block& b, std::span<const aicore::Gm> operands, Buffer& x, const KvTile& kv,
             std::int64_t batch, std::int64_t head, std::int64_t row0, int rows) const {
    const AttentionSpec& s = t_.spec;
    const int n = kv.length;
    const VecRef full{&x, Lanes::Full};
    auto vector = [&](VecOp op, VecRef rhs, VecRef condition = {}) {
      core.vector(op, RegType::F32, full, full, rhs, condition, 0, rows, n, RegType::F32);
    };
    vector(VecOp::Mul, {b.scale, Lanes::Scalar});
    if (s.softcap > 0) {
      vector(VecOp::Tanh, {});
      vector(VecOp::Mul, {b.cap, Lanes::Scalar});
    }
    const auto add_bias = [&] {
      load_mask(core, b, operands, 1, kv, batch, head, row0, rows);
      vector(VecOp::Add, {b.masks[1], t_.mask_lanes(1)});
    };
    const bool biased = s.bias.kind != Kind::None;
    if (biased && !s.bias_behind_mask) add_bias();
    if (s.mask.kind != Kind::None) {
      load_mask(core, b, operands, 0, kv, batch, head, row0, rows);
      const VecRef mask{b.masks[0], t_.mask_lanes(0)}, fill{b.fill, Lanes::Scalar};
      if (s.mask.kind == Kind::Add)
        vector(VecOp::Add, mask);
      else if (s.mask.kind == Kind::Keep)
        vector(VecOp::Select, fill, mask);
      else
        core.vector(VecOp::Select, RegType::F32, full, fill, full, mask, 0, rows, n, RegType::F32);
    }
    if (biased && s.bias_behind_mask) add_bias();
    if (!s.causal) return;
    const float hidden = -std::numeric_limits<float>::infinity();
    for (int r = 0; r < rows; ++r) {
      const std::int64_t seen = std::clamp<std::int64_t>(row0 + r + s.causal_offset + 1 - kv.global, 0, n);
      if (seen < n) core.fill(x, (std::int64_t{r} * n + seen) * 4, n - seen, 4, &hidden);
    }
  }

  // The mask (0) or bias (1) of the tile.
  void load_mask(Core& core, Block& b, std::span<const aicore::Gm> operands, std::size_t i, const KvTile& kv,
                 std::int64_t batch, std::int64_t head, std::int64_t row0, int rows) const {
    const AttentionMask& m = t_.mask(i);
    const Lanes lanes = t_.mask_lanes(i);
    const DType dtype = t_.mask_dtypes[i];
    const std::int64_t e = bit_width(dtype) / 8;
    const std::int64_t count = lanes == Lanes::Full || lanes == Lanes::PerRow ? rows : 1;
    const std::int64_t width = lanes == Lanes::Full || lanes == Lanes::PerCol ? kv.length : 1;
    const std::int64_t from = m.offset + batch * m.batch_stride + head * m.head_stride + row0 * m.row_stride +
                              kv.global * m.col_stride;
    Buffer* stored = b.stored_masks[i];
    Buffer& target = stored != nullptr ? *stored : *b.masks[i];
    core.copy_in(target, 0, operands[attention_mask_operand(t_.spec, i)], from * e,
                 Burst{count, width * e, m.row_stride * e, width * e});
    if (stored != nullptr) core.cast_in(*b.masks[i], RegType::F32, target, dtype, count * width);
  }

  void store(Core& core, Block& b, std::span<const aicore::Gm> operands, std::int64_t element,
             int rows) const {
    const std::int64_t dv = t_.spec.dv, block_stride = t_.spec.out.block_stride;
    Buffer* from = b.out;
    const bool cast = dtype_ != DType::F32;
    if (cast && block_stride != 0) core.begin_fused();
    if (cast) {
      core.cast_out(*b.half, dtype_, *b.out, RegType::F32, rows * dv);
      from = b.half;
    }
    if (block_stride != 0) {
      // A Cast writes 32-byte blocks at a distance of their own. The accumulator is not read any more.
      const std::int64_t block = rows * kBlockCols;
      for (std::int64_t c = 0; c < dv / kBlockCols; ++c)
        core.copy_ub(*b.acc, c * block * e_, *from, c * kBlockCols * e_, static_cast<int>(e_), rows,
                     kBlockCols, kBlockCols, dv, 1);
      if (cast) core.end_fused("Cast");
      core.copy_out(operands[kAttentionOut], element * e_, *b.acc, 0,
                    Burst{dv / kBlockCols, block * e_, block_stride * e_, block * e_});
      return;
    }
    core.copy_out(operands[kAttentionOut], element * e_, *from, 0,
                  Burst{rows, dv * e_, t_.spec.out.row_stride * e_, dv * e_});
  }

  AttentionTiling t_;
  DType dtype_;
  std::int64_t e_;
  std::vector<KvTile> kv_;
};

// With one query a head, the heads that share a key head are rows of one product.
void stack_heads(AttentionSpec& s) {
  const std::int64_t group = s.heads / s.kv_heads;
  if (s.rows != 1 || group == 1 || s.causal || s.q.block_stride != 0 || s.out.block_stride != 0) return;
  s.rows = group;
  s.heads = s.kv_heads;
  for (HeadAddress* a : {&s.q, &s.out}) {
    a->row_stride = a->head_stride;
    a->head_stride *= group;
  }
  for (AttentionMask* m : {&s.mask, &s.bias}) {
    m->row_stride = m->head_stride;
    m->head_stride *= group;
  }
}

void find_mask_types(AttentionTiling& t, const std::vector<Operand>& operands) {
  for (std::size_t i = 0; i < 2; ++i)
    if (t.mask(i).kind != Kind::None) t.mask_dtypes[i] = operands[attention_mask_operand(t.spec, i)].dtype;
}

// One query that sees a prefix needs no causal edge.
void drop_causal_row(AttentionSpec& s) {
  if (!s.causal || s.rows != 1 || s.causal_offset < 0) return;
  s.causal = false;
  std::int64_t visible = s.causal_offset + 1;
  for (KvSegment& segment : s.segments) {
    segment.length = std::min(segment.length, visible);
    visible -= segment.length;
  }
}

}  // namespace

bool attention_fits(const AttentionSpec& spec, DType dtype, const soc::Chip& chip) {
  AttentionTiling t;
  t.spec = spec;
  const bool boolean = spec.mask.kind == Kind::Keep || spec.mask.kind == Kind::Drop;
  t.mask_dtypes = {boolean ? DType::Bool : DType::F32, DType::F32};
  return choose_attention_tile(t, bit_width(dtype) / 8, chip);
}

StatusOr<Task> make_attention_task(const AttentionSpec& spec, std::vector<Operand> operands,
                                   const soc::Chip& chip) {
  AttentionTiling t;
  t.spec = spec;
  drop_causal_row(t.spec);
  for (std::size_t i = t.spec.segments.size(); i-- > 0;) {
    if (t.spec.segments[i].length > 0) continue;
    t.spec.segments.erase(t.spec.segments.begin() + static_cast<std::ptrdiff_t>(i));
    const auto at = operands.begin() + static_cast<std::ptrdiff_t>(first_attention_segment(spec) + 2 * i);
    operands.erase(at, at + 2);
  }
  stack_heads(t.spec);
  find_mask_types(t, operands);
  ATC_CHECK(choose_attention_tile(t, bit_width(operands[kAttentionQ].dtype) / 8, chip),
            "no tile of the attention fits " + std::string(chip.name));
  ATC_TRY(check_attention(t, operands));
  Task task = pack_task(kAttentionKernel, std::move(operands), t.tiles(), chip.cube_blocks(),
                        [&](auto& ar) { io_attention(ar, t); });
  task.macs = spec.batch * spec.heads * spec.rows * spec.positions() * (spec.d + spec.dv);
  return task;
}

std::vector<TilingField> describe_attention(const Task& task) {
  AttentionTiling t;
  if (!unpack_params(kAttentionKernel, task, [&](auto& ar) { io_attention(ar, t); }).ok()) return {};
  return {{"query_rows", t.q_rows},
          {"key_columns", t.kv_cols},
          {"qk_slice", t.qk_slice},
          {"pv_slice", t.pv_slice}};
}

PrepareResult prepare_attention(const Task& task, const soc::Chip&) {
  AttentionTiling t;
  ATC_TRY(unpack_params(kAttentionKernel, task, [&](auto& ar) { io_attention(ar, t); }));
  ATC_TRY(check_attention(t, task.operands));
  find_mask_types(t, task.operands);
  const auto heads = checked_mul(t.spec.batch, t.spec.heads);
  const auto tiles = heads ? checked_mul(*heads, t.q_blocks()) : std::nullopt;
  if (!tiles) return bad_params(kAttentionKernel, "too many tiles");
  ATC_TRY(check_blocks(task, *tiles));
  const DType dtype = task.operands[kAttentionQ].dtype;
  return std::unique_ptr<PreparedKernel>(new AttentionKernel(std::move(t), dtype));
}

}  // namespace atc::kernels
