// What TileProgram::create finds out about a program before any tile runs.

#include <algorithm>
#include <map>

#include "kernels/kernel_list.h"
#include "kernels/tile_program.h"

namespace atc::kernels {
namespace {

Lanes join(Lanes a, Lanes b) {
  if (a == Lanes::Scalar) return b;
  if (b == Lanes::Scalar || a == b) return a;
  return Lanes::Full;
}

bool result_is_bool(VecOp op) {
  return aicore::is_comparison(op) || op == VecOp::IsNaN || op == VecOp::IsInf;
}

// Of registers with one element a position of the reduced axis.
Lanes lanes_along(ReduceMode mode) { return mode == ReduceMode::Rows ? Lanes::PerCol : Lanes::PerRow; }

}  // namespace

// Types, lanes, levels; refuses programs that are not SSA or mix types.
Status TileProgram::analyse() {
  const int operands = static_cast<int>(dtypes_.size());
  for (std::size_t k = 0; k < dtypes_.size(); ++k)
    if (is_blocked(k) && (operand_lanes_[k] != Lanes::Full || is_turned(k) || bit_width(dtypes_[k]) < 8))
      return bad_params("vector_program", "operand " + std::to_string(k) + " in blocks is no whole tile");
  auto bad = [&](std::size_t i, std::string_view why) {
    return bad_params("vector_program", "instruction " + std::to_string(i) + ": " + std::string(why));
  };
  if (program_.registers < 0 || program_.registers > 1 << 16) return bad(0, "register count");
  registers_.assign(static_cast<std::size_t>(program_.registers), {});
  std::vector<bool> assigned(registers_.size(), false);
  auto known = [&](int r) {
    return r >= 0 && r < program_.registers && assigned[static_cast<std::size_t>(r)];
  };

  for (std::size_t i = 0; i < program_.code.size(); ++i) {
    const VecInstr& instr = program_.code[i];
    const int arity = aicore::register_operands(instr.op);
    const int regs[] = {instr.a, instr.b, instr.c};
    for (int k = 0; k < arity; ++k)
      if (!known(regs[k])) return bad(i, "reads a register that is not assigned");
    auto reg = [&](int r) -> Register& { return registers_[static_cast<std::size_t>(r)]; };

    if (instr.op == VecOp::Store) {
      if (instr.dst < 0 || instr.dst >= operands) return bad(i, "stores to an operand that does not exist");
      const std::size_t k = static_cast<std::size_t>(instr.dst);
      if (aicore::reg_type_of(dtypes_[k]) != reg(instr.a).type)
        return bad(i, "stores a register of another type");
      if (join(operand_lanes_[k], reg(instr.a).lanes) != operand_lanes_[k])
        return bad(i, "stores more than the operand holds");
      continue;
    }
    if (instr.dst < 0 || instr.dst >= program_.registers || assigned[static_cast<std::size_t>(instr.dst)])
      return bad(i, "assigns a register twice or one that does not exist");
    Register& dst = reg(instr.dst);
    dst.type = result_is_bool(instr.op) ? RegType::B8 : instr.type;
    switch (instr.op) {
      case VecOp::Load: {
        if (instr.a < 0 || instr.a >= operands) return bad(i, "loads an operand that does not exist");
        const std::size_t k = static_cast<std::size_t>(instr.a);
        if (aicore::reg_type_of(dtypes_[k]) != instr.type) return bad(i, "loads another type than is stored");
        dst.lanes = operand_lanes_[k];
        break;
      }
      case VecOp::Acc:
        if ((instr.type != RegType::F32 && instr.type != RegType::I32) || mode_ != ReduceMode::None)
          return bad(i, "accumulators are f32 or i32 tiles");
        dst.acc = true;
        dst.lanes = Lanes::Full;
        break;
      case VecOp::Const:
        dst.constant = true;
        break;
      default: {
        for (int k = 0; k < arity; ++k) {
          dst.lanes = join(dst.lanes, reg(regs[k]).lanes);
          dst.level = std::max(dst.level, reg(regs[k]).level);
          dst.chunked = dst.chunked || reg(regs[k]).chunked;
        }
        if (arity == 2 && reg(instr.a).type != reg(instr.b).type)
          return bad(i, "operands of different types");
        if (instr.op == VecOp::Select && (reg(instr.c).type != RegType::B8 ||
                                          reg(instr.a).type != instr.type || reg(instr.b).type != instr.type))
          return bad(i, "select of different types");
        if (instr.op != VecOp::Cast && !result_is_bool(instr.op) && instr.op != VecOp::Select &&
            reg(instr.a).type != instr.type)
          return bad(i, "result of another type than its operand");
        if (aicore::is_reduction(instr.op)) {
          if (mode_ == ReduceMode::None) return bad(i, "reduces in a space without a reduced axis");
          // What only moves along the reduced axis has one result for the whole tile.
          if (reg(instr.a).lanes == lanes_along(mode_))
            dst.lanes = Lanes::Scalar;
          else
            dst.lanes = mode_ == ReduceMode::Rows ? Lanes::PerRow : Lanes::PerCol;
          dst.level += 1;
          dst.chunked = false;
          levels_ = std::max(levels_, dst.level);
        }
      }
    }
    if (!aicore::is_reduction(instr.op) && mode_ != ReduceMode::None) {
      dst.chunked = dst.chunked || dst.lanes == Lanes::Full || dst.lanes == lanes_along(mode_);
    }
    assigned[static_cast<std::size_t>(instr.dst)] = true;
  }
  return {};
}

// Linear scan: a slot is free again after the last use of its register. Registers that outlive a pass
// (reduced ones and constants) keep their slots.
void TileProgram::assign_slots() {
  std::vector<int> last_use(registers_.size(), -1);
  std::vector<int> def(registers_.size(), -1);
  stored_by_.assign(program_.code.size(), -1);
  for (std::size_t i = 0; i < program_.code.size(); ++i) {
    const VecInstr& instr = program_.code[i];
    const int regs[] = {instr.a, instr.b, instr.c};
    for (int k = 0; k < aicore::register_operands(instr.op); ++k)
      last_use[static_cast<std::size_t>(regs[k])] = static_cast<int>(i);
    if (instr.op != VecOp::Store) def[static_cast<std::size_t>(instr.dst)] = static_cast<int>(i);
  }
  // A result that a Store moves out as it is may be written to Global Memory at once.
  for (std::size_t i = 0; i < program_.code.size(); ++i) {
    const VecInstr& instr = program_.code[i];
    if (instr.op != VecOp::Store) continue;
    const std::size_t k = static_cast<std::size_t>(instr.dst), r = static_cast<std::size_t>(instr.a);
    const VecOp maker = program_.code[static_cast<std::size_t>(def[r])].op;
    if (is_direct(dtypes_[k], registers_[r].type) && registers_[r].lanes == Lanes::Full &&
        operand_lanes_[k] == Lanes::Full && maker != VecOp::Load && maker != VecOp::Acc &&
        stored_by_[static_cast<std::size_t>(def[r])] < 0)
      stored_by_[static_cast<std::size_t>(def[r])] = static_cast<int>(i);
  }

  std::map<std::pair<int, int>, std::vector<int>> free;
  for (std::size_t i = 0; i < program_.code.size(); ++i) {
    const VecInstr& instr = program_.code[i];
    const int regs[] = {instr.a, instr.b, instr.c};
    auto release = [&] {
      for (int k = 0; k < aicore::register_operands(instr.op); ++k) {
        const std::size_t r = static_cast<std::size_t>(regs[k]);
        Register& reg = registers_[r];
        if (last_use[r] != static_cast<int>(i) || reg.constant || reg.slot < 0) continue;
        if (mode_ != ReduceMode::None && !reg.chunked) continue;
        last_use[r] = -2;  // once, even when an instruction reads it twice
        free[{static_cast<int>(reg.lanes), aicore::reg_bytes(reg.type)}].push_back(reg.slot);
      }
    };
    if (instr.op == VecOp::Store) {
      release();
      continue;
    }
    // Elementwise results of the operands' own lanes may take their place; others are kept apart.
    const bool in_place = !aicore::is_reduction(instr.op) && instr.op != VecOp::Cast;
    if (in_place) release();
    Register& dst = registers_[static_cast<std::size_t>(instr.dst)];
    if (dst.acc) continue;
    auto& pool = free[{static_cast<int>(dst.lanes), aicore::reg_bytes(dst.type)}];
    const bool reusable = !dst.constant && (mode_ == ReduceMode::None || dst.chunked);
    if (reusable && !pool.empty()) {
      dst.slot = pool.back();
      pool.pop_back();
    } else {
      dst.slot = static_cast<int>(slots_.size());
      slots_.push_back({dst.lanes, aicore::reg_bytes(dst.type)});
    }
    if (!in_place) release();
    if (last_use[static_cast<std::size_t>(instr.dst)] == -1 && reusable)
      free[{static_cast<int>(dst.lanes), aicore::reg_bytes(dst.type)}].push_back(dst.slot);  // never read
  }
  // Broadcast registers are spread over the tile before they are reduced or stored in full.
  spread_slot_.assign(program_.code.size(), -1);
  for (std::size_t i = 0; i < program_.code.size(); ++i) {
    const VecInstr& instr = program_.code[i];
    const bool reduces = aicore::is_reduction(instr.op);
    if (!reduces && instr.op != VecOp::Store) continue;
    const Register& reg = registers_[static_cast<std::size_t>(instr.a)];
    const Lanes wanted = reduces ? Lanes::Full : operand_lanes_[static_cast<std::size_t>(instr.dst)];
    if (reg.lanes == wanted || (reduces && reg.lanes == lanes_along(mode_))) continue;
    spread_slot_[i] = static_cast<int>(slots_.size());
    slots_.push_back({wanted, aicore::reg_bytes(reg.type)});
  }
}

// AddRelu, SubRelu and, when the result is stored in fp16, AddReluCast and SubReluCast: an addition whose
// result only the Relu behind it reads, and that one's only the Store.
void TileProgram::find_fused() {
  fused_.assign(program_.code.size(), 0);
  std::vector<int> uses(registers_.size(), 0);
  for (const VecInstr& instr : program_.code) {
    const int regs[] = {instr.a, instr.b, instr.c};
    for (int k = 0; k < aicore::register_operands(instr.op); ++k) ++uses[static_cast<std::size_t>(regs[k])];
  }
  const auto only = [&](int reg, const VecInstr& reader) {
    return reader.a == reg && uses[static_cast<std::size_t>(reg)] == 1;
  };
  for (std::size_t i = 0; i + 1 < program_.code.size(); ++i) {
    const VecInstr &add = program_.code[i], &relu = program_.code[i + 1];
    if ((add.op != VecOp::Add && add.op != VecOp::Sub) || add.type != RegType::F32 ||
        relu.op != VecOp::Relu || !only(add.dst, relu) ||
        registers_[static_cast<std::size_t>(add.dst)].lanes != Lanes::Full)
      continue;
    fused_[i] = 2;
    if (i + 2 == program_.code.size()) break;
    const VecInstr& store = program_.code[i + 2];
    if (store.op == VecOp::Store && only(relu.dst, store) && spread_slot_[i + 2] < 0 &&
        dtypes_[static_cast<std::size_t>(store.dst)] == DType::F16)
      fused_[i] = 3;
  }
}

// What each pass over the chunks computes: pass L feeds the reductions of level L + 1, the last one the
// stores. Registers that do not depend on the chunk are computed once, before the pass of their level.
void TileProgram::find_needed() {
  needed_.assign(static_cast<std::size_t>(levels_) + 1, std::vector<bool>(program_.code.size(), false));
  for (int level = 0; level <= levels_; ++level) {
    std::vector<bool>& need = needed_[static_cast<std::size_t>(level)];
    std::vector<bool> wanted(registers_.size(), false);
    for (std::size_t i = program_.code.size(); i-- > 0;) {
      const VecInstr& instr = program_.code[i];
      bool run = false;
      if (instr.op == VecOp::Store) {
        run = level == levels_;
      } else {
        const Register& dst = registers_[static_cast<std::size_t>(instr.dst)];
        run = aicore::is_reduction(instr.op) ? dst.level == level + 1
                                             : dst.chunked && wanted[static_cast<std::size_t>(instr.dst)];
      }
      if (!run) continue;
      need[i] = true;
      const int regs[] = {instr.a, instr.b, instr.c};
      for (int k = 0; k < aicore::register_operands(instr.op); ++k)
        wanted[static_cast<std::size_t>(regs[k])] = true;
    }
  }
}

}  // namespace atc::kernels
