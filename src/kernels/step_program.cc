#include "kernels/step_program.h"

#include <algorithm>

#include "aicore/core.h"
#include "kernels/kernel_list.h"

namespace atc::kernels {

using aicore::Buffer;
using aicore::Core;
using aicore::VecRef;

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

Lanes join(Lanes a, Lanes b) {
  if (a == Lanes::Scalar) return b;
  if (b == Lanes::Scalar || a == b) return a;
  return Lanes::Full;
}

bool result_is_bool(VecOp op) {
  return aicore::is_comparison(op) || op == VecOp::IsNaN || op == VecOp::IsInf;
}

Status bad(std::size_t instruction, std::string_view why) {
  return bad_params("step program", "instruction " + std::to_string(instruction) + ": " + std::string(why));
}

}  // namespace

StatusOr<StepProgram> StepProgram::create(const VectorProgram& program, std::vector<Port> ports) {
  StepProgram out;
  out.program_ = program;
  out.ports_ = std::move(ports);
  ATC_TRY(out.analyse());
  out.place_stores();
  ATC_TRY(out.check_order());
  out.assign_slots();
  return out;
}

// Types and lanes; refuses programs that are not SSA, mix types, or use ports for what they are not.
Status StepProgram::analyse() {
  if (program_.registers < 0 || program_.registers > 1 << 12) return bad(0, "register count");
  registers_.assign(at(program_.registers), {});
  std::vector<bool> assigned(registers_.size(), false);
  for (std::size_t i = 0; i < program_.code.size(); ++i) {
    const VecInstr& instr = program_.code[i];
    const int regs[] = {instr.a, instr.b, instr.c};
    const int arity = aicore::register_operands(instr.op);
    for (int k = 0; k < arity; ++k)
      if (regs[k] < 0 || regs[k] >= program_.registers || !assigned[at(regs[k])])
        return bad(i, "reads a register that is not assigned");
    if (instr.op == VecOp::Store) {
      if (instr.dst < 0 || instr.dst >= std::ssize(ports_) || !ports_[at(instr.dst)].writable)
        return bad(i, "stores to a port that takes nothing");
      const Port& port = ports_[at(instr.dst)];
      const Register& from = registers_[at(instr.a)];
      if (port.type != from.type || join(port.lanes, from.lanes) != port.lanes)
        return bad(i, "stores what the port does not hold");
      if (std::find(stored_.begin(), stored_.end(), instr.dst) != stored_.end())
        return bad(i, "stores to a port twice");
      stored_.push_back(instr.dst);
      continue;
    }
    if (instr.dst < 0 || instr.dst >= program_.registers || assigned[at(instr.dst)])
      return bad(i, "assigns a register twice or one that does not exist");
    if (instr.op == VecOp::Acc || aicore::is_reduction(instr.op))
      return bad(i, "has no place in a time step");
    Register& dst = registers_[at(instr.dst)];
    dst.type = result_is_bool(instr.op) ? RegType::B8 : instr.type;
    if (dst.type == RegType::I64) return bad(i, "64-bit integers have no place in a time step");
    if (instr.op == VecOp::Load) {
      if (instr.a < 0 || instr.a >= std::ssize(ports_) || !ports_[at(instr.a)].readable)
        return bad(i, "loads a port that gives nothing");
      if (ports_[at(instr.a)].type != instr.type) return bad(i, "loads another type than the port's");
      dst.lanes = ports_[at(instr.a)].lanes;
      dst.place = Place::Port;
      dst.index = instr.a;
    } else if (instr.op == VecOp::Const) {
      dst.place = Place::Constant;
      dst.index = static_cast<int>(constants_.size());
      constants_.push_back(instr);
    } else {
      for (int k = 0; k < arity; ++k) dst.lanes = join(dst.lanes, registers_[at(regs[k])].lanes);
      const RegType a = registers_[at(instr.a)].type;
      if (arity == 2 && a != registers_[at(instr.b)].type) return bad(i, "operands of different types");
      if (instr.op == VecOp::Select && (registers_[at(instr.c)].type != RegType::B8 || a != instr.type ||
                                        registers_[at(instr.b)].type != instr.type))
        return bad(i, "select of different types");
      if (instr.op != VecOp::Cast && instr.op != VecOp::Select && !result_is_bool(instr.op) &&
          a != instr.type)
        return bad(i, "result of another type than its operand");
    }
    assigned[at(instr.dst)] = true;
  }
  std::sort(stored_.begin(), stored_.end());
  return {};
}

// A result is computed in the port's buffer when nothing reads the port's old value afterwards.
void StepProgram::place_stores() {
  for (std::size_t i = 0; i < program_.code.size(); ++i) {
    const VecInstr& store = program_.code[i];
    if (store.op != VecOp::Store) continue;
    Register& reg = registers_[at(store.a)];
    if (reg.place != Place::Slot || reg.lanes != ports_[at(store.dst)].lanes) continue;
    std::size_t def = 0;
    while (program_.code[def].op == VecOp::Store || program_.code[def].dst != store.a) ++def;
    bool free = true;
    for (std::size_t k = def + 1; free && k < program_.code.size(); ++k) {
      const int regs[] = {program_.code[k].a, program_.code[k].b, program_.code[k].c};
      for (int j = 0; j < aicore::register_operands(program_.code[k].op); ++j) {
        const Register& read = registers_[at(regs[j])];
        free = free && !(read.place == Place::Port && read.index == store.dst && regs[j] != store.a);
      }
    }
    if (!free) continue;
    reg.place = Place::Port;
    reg.index = store.dst;
  }
}

// Stores that copy must not be followed by a read of what they overwrite.
Status StepProgram::check_order() const {
  std::vector<bool> overwritten(ports_.size(), false);
  for (std::size_t i = 0; i < program_.code.size(); ++i) {
    const VecInstr& instr = program_.code[i];
    const int regs[] = {instr.a, instr.b, instr.c};
    for (int k = 0; k < aicore::register_operands(instr.op); ++k) {
      const Register& read = registers_[at(regs[k])];
      if (read.place == Place::Port && overwritten[at(read.index)])
        return bad(i, "reads a port that was stored to");
    }
    if (instr.op != VecOp::Store) continue;
    const Register& from = registers_[at(instr.a)];
    if (from.place != Place::Port || from.index != instr.dst) overwritten[at(instr.dst)] = true;
  }
  return {};
}

// Linear scan. A result may take the place of an operand that is not read again and has its lanes.
void StepProgram::assign_slots() {
  std::vector<int> last_use(registers_.size(), -1);
  for (std::size_t i = 0; i < program_.code.size(); ++i) {
    const VecInstr& instr = program_.code[i];
    const int regs[] = {instr.a, instr.b, instr.c};
    for (int k = 0; k < aicore::register_operands(instr.op); ++k) last_use[at(regs[k])] = static_cast<int>(i);
  }
  std::vector<int> free;
  for (std::size_t i = 0; i < program_.code.size(); ++i) {
    const VecInstr& instr = program_.code[i];
    const int regs[] = {instr.a, instr.b, instr.c};
    std::vector<int> released;
    const bool computes = instr.op != VecOp::Store && instr.op != VecOp::Load && instr.op != VecOp::Const;
    for (int k = 0; k < aicore::register_operands(instr.op); ++k) {
      Register& reg = registers_[at(regs[k])];
      if (reg.place != Place::Slot || last_use[at(regs[k])] != static_cast<int>(i)) continue;
      last_use[at(regs[k])] = -2;
      // Only elements of one size and spread are read before their place is written.
      const bool in_place = computes && instr.op != VecOp::Cast &&
                            reg.lanes == registers_[at(instr.dst)].lanes &&
                            reg.type == registers_[at(instr.dst)].type;
      (in_place ? free : released).push_back(reg.index);
    }
    if (computes && registers_[at(instr.dst)].place == Place::Slot) {
      Register& dst = registers_[at(instr.dst)];
      if (free.empty()) free.push_back(slots_++);
      dst.index = free.back();
      free.pop_back();
      if (last_use[at(instr.dst)] == -1) released.push_back(dst.index);  // never read
    }
    free.insert(free.end(), released.begin(), released.end());
  }
}

void StepProgram::fill_constants(Core& core, std::span<Buffer* const> constants) const {
  for (std::size_t k = 0; k < constants_.size(); ++k) {
    const float f = static_cast<float>(constants_[k].imm);
    const std::int32_t i = static_cast<std::int32_t>(constants_[k].imm);
    const std::uint8_t b = constants_[k].imm != 0 ? 1 : 0;
    const RegType type = constants_[k].type;
    const void* value = type == RegType::F32   ? static_cast<const void*>(&f)
                        : type == RegType::I32 ? static_cast<const void*>(&i)
                                               : static_cast<const void*>(&b);
    core.fill(*constants[k], 0, 1, aicore::reg_bytes(type), value);
  }
}

void StepProgram::run(Core& core, std::span<Buffer* const> slots, std::span<Buffer* const> constants,
                      std::span<Buffer* const> ports, int rows, int cols) const {
  auto ref = [&](int r) -> VecRef {
    const Register& reg = registers_[at(r)];
    const std::span<Buffer* const> place = reg.place == Place::Slot       ? slots
                                           : reg.place == Place::Constant ? constants
                                                                          : ports;
    return {place[at(reg.index)], reg.lanes};
  };
  for (const VecInstr& instr : program_.code) {
    if (instr.op == VecOp::Load || instr.op == VecOp::Const) continue;
    const int arity = aicore::register_operands(instr.op);
    const VecRef a = ref(instr.a);
    const RegType operand_type = registers_[at(instr.a)].type;
    if (instr.op == VecOp::Store) {
      const VecRef to = {ports[at(instr.dst)], ports_[at(instr.dst)].lanes};
      if (to.buffer == a.buffer) continue;
      // max(x, x) and x | x are copies that the vector unit can broadcast.
      core.vector(operand_type == RegType::B8 ? VecOp::Or : VecOp::Max, operand_type, to, a, a, {}, 0, rows,
                  cols, operand_type);
      continue;
    }
    core.vector(instr.op, registers_[at(instr.dst)].type, ref(instr.dst), a,
                arity > 1 ? ref(instr.b) : VecRef{}, arity > 2 ? ref(instr.c) : VecRef{}, instr.imm, rows,
                cols, operand_type);
  }
}

}  // namespace atc::kernels
