#include "kernels/tile_program.h"

#include <algorithm>
#include <map>

#include "atc/base/math.h"
#include "kernels/kernel_list.h"

namespace atc::kernels {

using aicore::Buffer;
using aicore::Burst;
using aicore::Core;
using aicore::lane_count;
using aicore::Memory;
using aicore::VecRef;

bool is_direct(DType dtype, RegType type) {
  return aicore::reg_type_of(dtype) == type && bit_width(dtype) == aicore::reg_bytes(type) * 8;
}

Lanes lanes_of(std::int64_t row_stride, std::int64_t col_stride, std::int64_t rows, std::int64_t cols) {
  // Along an axis of one position an operand need not move to cover it.
  const bool by_col = col_stride != 0 || cols == 1;
  const bool by_row = row_stride != 0 || rows == 1;
  if (by_col && by_row) return Lanes::Full;
  if (by_col) return Lanes::PerCol;
  return by_row ? Lanes::PerRow : Lanes::Scalar;
}

StatusOr<TileProgram> TileProgram::create(const VectorProgram& program, std::vector<Lanes> lanes,
                                          std::vector<DType> dtypes, ReduceMode mode,
                                          std::vector<bool> turned, std::vector<bool> blocked) {
  TileProgram out;
  out.turned_ = std::move(turned);
  out.blocked_ = std::move(blocked);
  out.program_ = program;
  out.operand_lanes_ = std::move(lanes);
  out.dtypes_ = std::move(dtypes);
  out.mode_ = mode;
  ATC_TRY(out.analyse());
  out.assign_slots();
  out.find_fused();
  out.find_needed();
  out.find_chains();
  return out;
}

std::int64_t TileProgram::ub_bytes(std::int64_t rows, std::int64_t cols) const {
  std::int64_t bytes = 0;
  for (const Slot& s : slots_) bytes += round_up(lane_count(s.lanes, rows, cols) * s.bytes, 32);
  for (std::size_t k = 0; k < dtypes_.size(); ++k)
    bytes += round_up(lane_count(operand_lanes_[k], rows, cols) * bit_width(dtypes_[k]) / 8, 32) *
             (is_turned(k) ? 2 : 1);
  return 2 * bytes + round_up(rows_bytes(rows, cols), 32);
}

std::int64_t TileProgram::rows_bytes(std::int64_t rows, std::int64_t cols) const {
  std::int64_t bytes = 0;
  for (std::size_t k = 0; k < dtypes_.size(); ++k)
    if (is_blocked(k)) bytes = std::max(bytes, rows * cols * bit_width(dtypes_[k]) / 8);
  return bytes;
}

TileProgram::Buffers::Buffers(const TileProgram& program, Core& core, std::int64_t rows, std::int64_t cols)
    : sets_{Set(core.scratch()), Set(core.scratch())}, max_rows_(rows), max_cols_(cols) {
  // The vector unit alone uses it, one operand after the other.
  const std::int64_t rows_bytes = program.rows_bytes(rows, cols);
  Buffer* one_operand = rows_bytes > 0 ? &core.alloc(Memory::UB, rows_bytes) : nullptr;
  for (Set& set : sets_) {
    set.rows = one_operand;
    set.slots.reserve(program.slots_.size());
    set.staging.reserve(program.dtypes_.size());
    set.turned.reserve(program.dtypes_.size());
    for (const Slot& s : program.slots_)
      set.slots.push_back(&core.alloc(Memory::UB, lane_count(s.lanes, rows, cols) * s.bytes));
    for (std::size_t k = 0; k < program.dtypes_.size(); ++k) {
      const std::int64_t bytes =
          lane_count(program.operand_lanes_[k], rows, cols) * bit_width(program.dtypes_[k]) / 8;
      set.staging.push_back(&core.alloc(Memory::UB, bytes));
      set.turned.push_back(program.is_turned(k) ? &core.alloc(Memory::UB, bytes) : nullptr);
    }
    for (const VecInstr& instr : program.program_.code) {
      if (instr.op != VecOp::Const) continue;
      const Register& r = program.registers_[static_cast<std::size_t>(instr.dst)];
      const float f = static_cast<float>(instr.imm);
      const std::int64_t i64 = static_cast<std::int64_t>(instr.imm);
      const std::int32_t i32 = static_cast<std::int32_t>(i64);
      const std::uint8_t b8 = instr.imm != 0 ? 1 : 0;
      const void* value = r.type == RegType::F32   ? static_cast<const void*>(&f)
                          : r.type == RegType::I32 ? static_cast<const void*>(&i32)
                          : r.type == RegType::I64 ? static_cast<const void*>(&i64)
                                                   : static_cast<const void*>(&b8);
      core.fill(*set.slots[static_cast<std::size_t>(r.slot)], 0, 1, aicore::reg_bytes(r.type), value);
    }
  }
}

void TileProgram::run(Core& core, Buffers& buffers, std::span<const aicore::Gm> operands,
                      std::span<const TileAddress> at, std::int64_t rows, std::int64_t cols,
                      Buffer* acc) const {
  Buffers::Set& set = buffers.sets_[buffers.next_];
  buffers.next_ ^= 1;
  Chunk whole{operands, at, 0, rows, 0, cols, true, acc, cols};
  const std::int64_t axis = mode_ == ReduceMode::Cols ? rows : cols;
  const std::int64_t limit = mode_ == ReduceMode::Cols ? buffers.max_rows_ : buffers.max_cols_;
  if (mode_ == ReduceMode::None || axis <= limit) {
    std::size_t fused_end = 0;  // behind the instructions that are one
    const bool chains = core.values() == aicore::Values::Fast && !core.timing();
    for (std::size_t i = 0; i < program_.code.size(); ++i) {
      if (chains && chain_of_[i] >= 0) {
        const std::vector<ChainMember>& chain = chains_[static_cast<std::size_t>(chain_of_[i])];
        if (i != chain.back().instr) continue;
        if (stored_by_[i] >= 0) alias_store(static_cast<std::size_t>(stored_by_[i]), core, set, whole);
        execute_chain(chain, set, whole, core);
        continue;
      }
      if (stored_by_[i] >= 0) alias_store(static_cast<std::size_t>(stored_by_[i]), core, set, whole);
      if (fused_[i] > 0) {
        core.begin_fused();
        fused_end = i + static_cast<std::size_t>(fused_[i]);
      }
      execute(i, core, set, whole);  // a Store ends the instruction before its move
      if (i + 1 == fused_end && program_.code[i].op != VecOp::Store) core.end_fused("AddRelu");
    }
    return;
  }
  for (int level = 0; level <= levels_; ++level) {
    run_pass(core, set, whole, level, true);
    for (std::int64_t p = 0; p < axis; p += limit) {
      Chunk chunk = whole;
      const std::int64_t n = std::min(limit, axis - p);
      if (mode_ == ReduceMode::Cols) {
        chunk.row0 = p;
        chunk.rows = n;
      } else {
        chunk.col0 = p;
        chunk.cols = n;
      }
      chunk.first = p == 0;
      run_pass(core, set, chunk, level, false);
    }
  }
}

void TileProgram::run_pass(Core& core, Buffers::Set& set, const Chunk& chunk, int level, bool once) const {
  const std::vector<bool>& need = needed_[static_cast<std::size_t>(level)];
  for (std::size_t i = 0; i < program_.code.size(); ++i) {
    const VecInstr& instr = program_.code[i];
    if (instr.op == VecOp::Store) {
      const bool chunked = registers_[static_cast<std::size_t>(instr.a)].chunked ||
                           operand_lanes_[static_cast<std::size_t>(instr.dst)] == Lanes::Full;
      if (need[i] && chunked != once) execute(i, core, set, chunk);
      continue;
    }
    const Register& dst = registers_[static_cast<std::size_t>(instr.dst)];
    if (once) {
      if (!dst.chunked && !aicore::is_reduction(instr.op) && dst.level == level) execute(i, core, set, chunk);
    } else if (need[i]) {
      if (stored_by_[i] >= 0 && need[static_cast<std::size_t>(stored_by_[i])])
        alias_store(static_cast<std::size_t>(stored_by_[i]), core, set, chunk);
      execute(i, core, set, chunk);
    }
  }
}

namespace {

// The bytes of operand k that a chunk covers, as bursts; `contiguous` when one burst does.
struct Window {
  std::int64_t offset = 0;  // bytes
  std::int64_t rows = 1, cols = 1;
  std::int64_t row_stride = 0, col_stride = 1;  // elements
  std::int64_t present = 1;                     // columns that exist, of `cols`
};

Window window_of(const TileAddress& a, Lanes lanes, std::int64_t row0, std::int64_t rows, std::int64_t col0,
                 std::int64_t cols, std::int64_t e) {
  Window w;
  w.row_stride = a.row_stride;
  w.col_stride = a.col_stride == 0 ? 1 : a.col_stride;
  std::int64_t offset = a.offset;
  if (lanes == Lanes::Full || lanes == Lanes::PerRow) {
    w.rows = rows;
    offset += row0 * a.row_stride;
  }
  if (lanes == Lanes::Full || lanes == Lanes::PerCol) {
    w.cols = cols;
    offset += a.to_col(col0);
  }
  w.present = a.cols == 0 ? w.cols : std::min(w.cols, a.cols);
  w.offset = offset * e;
  return w;
}

bool is_contiguous(const Window& w) {
  return w.present == w.cols && (w.cols == 1 || w.col_stride == 1) && (w.rows == 1 || w.row_stride == w.cols);
}

template <class F>
void for_bursts(const Window& w, std::int64_t e, F move) {
  if (is_contiguous(w)) {
    move(0, w.offset, Burst{1, w.rows * w.cols * e, 0, 0});
  } else if (w.cols == 1 || w.col_stride == 1) {
    move(0, w.offset, Burst{w.rows, w.present * e, w.row_stride * e, w.cols * e});
  } else {
    for (std::int64_t r = 0; r < w.rows; ++r)
      move(r * w.cols * e, w.offset + r * w.row_stride * e, Burst{w.present, e, w.col_stride * e, e});
  }
}

// The columns of a turned operand, one behind the other in UB.
Burst column_burst(const Window& w, std::int64_t e) {
  return {w.present, w.rows * e, w.col_stride * e, w.rows * e};
}

// The blocks of an operand in FRACTAL_NZ, one behind the other in UB; columns are whole blocks.
Burst block_burst(const Window& w, std::int64_t block_stride, std::int64_t e) {
  const std::int64_t bytes = w.rows * kBlockCols * e;
  return {w.cols / kBlockCols, bytes, block_stride * e, bytes};
}

// Between such blocks in UB and rows: of each block its rows.
template <class F>
void for_blocks(const Window& w, F copy) {
  for (std::int64_t b = 0; b < w.cols / kBlockCols; ++b) copy(b * w.rows * kBlockCols, b * kBlockCols);
}

}  // namespace

void TileProgram::alias_store(std::size_t index, Core& core, Buffers::Set& set, const Chunk& chunk) const {
  const VecInstr& instr = program_.code[index];
  const std::size_t k = static_cast<std::size_t>(instr.dst);
  const std::int64_t e = bit_width(dtypes_[k]) / 8;
  const Window w = window_of(chunk.at[k], Lanes::Full, chunk.row0, chunk.rows, chunk.col0, chunk.cols, e);
  if (is_blocked(k) || !is_contiguous(w)) return;
  const Register& reg = registers_[static_cast<std::size_t>(instr.a)];
  core.alias_out(*set.slots[static_cast<std::size_t>(reg.slot)], chunk.operands[k], w.offset,
                 w.rows * w.cols * e);
}

void TileProgram::load(const VecInstr& instr, Core& core, Buffers::Set& set, const Chunk& chunk) const {
  const std::size_t k = static_cast<std::size_t>(instr.a);
  const Register& reg = registers_[static_cast<std::size_t>(instr.dst)];
  Buffer& slot = *set.slots[static_cast<std::size_t>(reg.slot)];
  const std::int64_t e = bit_width(dtypes_[k]) / 8;
  const Window w = window_of(chunk.at[k], reg.lanes, chunk.row0, chunk.rows, chunk.col0, chunk.cols, e);
  const bool direct = is_direct(dtypes_[k], reg.type);
  Buffer& target = direct ? slot : *set.staging[k];
  if (const TileAddress& a = chunk.at[k]; a.index >= 0) {
    const std::size_t index = static_cast<std::size_t>(a.index);
    aicore::GatherTile rows;
    rows.element_bytes = static_cast<int>(e);
    rows.count = chunk.rows;
    rows.inner = chunk.cols;
    rows.axis = a.table_rows;
    rows.row_stride = a.row_stride;
    core.gather_rows(target, chunk.operands[k], a.offset + chunk.col0, chunk.operands[index],
                     a.first_index + chunk.row0, dtypes_[index], rows);
  } else if (is_turned(k) && w.rows > 1) {
    Buffer& columns = *set.turned[k];
    core.copy_in(columns, 0, chunk.operands[k], w.offset, column_burst(w, e));
    core.copy_ub(target, 0, columns, 0, static_cast<int>(e), w.rows, w.present, w.cols, 1, w.rows);
  } else if (is_blocked(k)) {
    load_blocks(k, core, set, chunk, slot, reg.type);
    return;
  } else {
    for_bursts(w, e, [&](std::int64_t local, std::int64_t gm, const Burst& burst) {
      core.copy_in(target, local, chunk.operands[k], gm, burst);
    });
  }
  if (!direct) core.cast_in(slot, reg.type, target, dtypes_[k], w.rows * w.cols);
}

// A Cast reads 32-byte blocks at a distance of their own: what turns blocks into rows is the Cast itself.
void TileProgram::load_blocks(std::size_t k, Core& core, Buffers::Set& set, const Chunk& chunk, Buffer& slot,
                              RegType type) const {
  const std::int64_t e = bit_width(dtypes_[k]) / 8;
  const Window w = window_of(chunk.at[k], Lanes::Full, chunk.row0, chunk.rows, chunk.col0, chunk.cols, e);
  const bool cast = !is_direct(dtypes_[k], type);
  Buffer &blocks = *set.staging[k], &rows = cast ? *set.rows : slot;
  core.copy_in(blocks, 0, chunk.operands[k], w.offset, block_burst(w, chunk.at[k].block_stride, e));
  if (cast) core.begin_fused();
  for_blocks(w, [&](std::int64_t block, std::int64_t col) {
    core.copy_ub(rows, col * e, blocks, block * e, static_cast<int>(e), w.rows, kBlockCols, w.cols,
                 kBlockCols, 1);
  });
  if (!cast) return;
  core.cast_in(slot, type, rows, dtypes_[k], w.rows * w.cols);
  core.end_fused("Cast");
}

void TileProgram::store(std::size_t index, Core& core, Buffers::Set& set, const Chunk& chunk) const {
  const VecInstr& instr = program_.code[index];
  const std::size_t k = static_cast<std::size_t>(instr.dst);
  const Register& reg = registers_[static_cast<std::size_t>(instr.a)];
  if (!chunk.at[k].stores) return;
  const Lanes lanes = operand_lanes_[k];
  const std::int64_t e = bit_width(dtypes_[k]) / 8;
  const Window w = window_of(chunk.at[k], lanes, chunk.row0, chunk.rows, chunk.col0, chunk.cols, e);
  Buffer* from = place(instr.a, set, chunk).buffer;
  if (spread_slot_[index] >= 0) from = spread(index, instr.a, lanes, core, set, chunk);
  const bool cast = !is_direct(dtypes_[k], reg.type), with_add = index >= 2 && fused_[index - 2] == 3;
  if (is_blocked(k) && cast && !with_add) core.begin_fused();
  if (cast) {
    Buffer* stored = is_blocked(k) ? set.rows : set.staging[k];
    core.cast_out(*stored, dtypes_[k], *from, reg.type, w.rows * w.cols);
    from = stored;
  }
  if (is_blocked(k)) {
    // As in load_blocks, a Cast writes blocks apart.
    Buffer& blocks = *set.staging[k];
    for_blocks(w, [&](std::int64_t block, std::int64_t col) {
      core.copy_ub(blocks, block * e, *from, col * e, static_cast<int>(e), w.rows, kBlockCols, kBlockCols,
                   w.cols, 1);
    });
    if (cast) core.end_fused(with_add ? "AddReluCast" : "Cast");
    core.copy_out(chunk.operands[k], w.offset, blocks, 0, block_burst(w, chunk.at[k].block_stride, e));
    return;
  }
  if (with_add) core.end_fused("AddReluCast");
  if (is_turned(k) && w.rows > 1) {
    Buffer& columns = *set.turned[k];
    core.copy_ub(columns, 0, *from, 0, static_cast<int>(e), w.present, w.rows, w.rows, 1, w.cols);
    core.copy_out(chunk.operands[k], w.offset, columns, 0, column_burst(w, e));
    return;
  }
  for_bursts(w, e, [&](std::int64_t local, std::int64_t gm, const Burst& burst) {
    core.copy_out(chunk.operands[k], gm, *from, local, burst);
  });
}

VecRef TileProgram::place(int reg, Buffers::Set& set, const Chunk& chunk) const {
  const Register& r = registers_[static_cast<std::size_t>(reg)];
  return {r.acc ? chunk.acc : set.slots[static_cast<std::size_t>(r.slot)], r.lanes};
}

Buffer* TileProgram::spread(std::size_t index, int reg, Lanes lanes, Core& core, Buffers::Set& set,
                            const Chunk& chunk) const {
  const RegType type = registers_[static_cast<std::size_t>(reg)].type;
  Buffer* to = set.slots[static_cast<std::size_t>(spread_slot_[index])];
  const VecRef source = place(reg, set, chunk);
  // max(x, x) and x | x are copies that the vector unit can broadcast.
  core.vector(type == RegType::B8 ? VecOp::Or : VecOp::Max, type, {to, lanes}, source, source, {}, 0,
              static_cast<int>(chunk.rows), static_cast<int>(chunk.cols), type);
  return to;
}

void TileProgram::execute(std::size_t index, Core& core, Buffers::Set& set, const Chunk& chunk) const {
  const VecInstr& instr = program_.code[index];
  switch (instr.op) {
    case VecOp::Load:
      return load(instr, core, set, chunk);
    case VecOp::Store:
      return store(index, core, set, chunk);
    case VecOp::Const:  // filled with the buffers
    case VecOp::Acc:    // read where it is
      return;
    default:
      break;
  }
  const Register& dst = registers_[static_cast<std::size_t>(instr.dst)];
  const int rows = static_cast<int>(chunk.rows), cols = static_cast<int>(chunk.cols);
  const int arity = aicore::register_operands(instr.op);
  VecRef a = place(instr.a, set, chunk);
  const RegType operand_type = registers_[static_cast<std::size_t>(instr.a)].type;
  if (aicore::is_reduction(instr.op)) {
    if (dst.lanes == Lanes::Scalar) {
      core.reduce(instr.op, dst.type, *set.slots[static_cast<std::size_t>(dst.slot)], *a.buffer, true, 1,
                  mode_ == ReduceMode::Rows ? cols : rows, !chunk.first);
      return;
    }
    if (spread_slot_[index] >= 0) a.buffer = spread(index, instr.a, Lanes::Full, core, set, chunk);
    core.reduce(instr.op, dst.type, *set.slots[static_cast<std::size_t>(dst.slot)], *a.buffer,
                mode_ == ReduceMode::Rows, rows, cols, !chunk.first);
    return;
  }
  core.vector(instr.op, dst.type, place(instr.dst, set, chunk), a,
              arity > 1 ? place(instr.b, set, chunk) : VecRef{},
              arity > 2 ? place(instr.c, set, chunk) : VecRef{}, instr.imm, rows, cols, operand_type);
}

}  // namespace atc::kernels
