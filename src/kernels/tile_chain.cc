// Fast mode runs neighbouring elementwise instructions of a tile as one pass over it (aicore/chain.h).

#include <algorithm>

#include "aicore/chain.h"
#include "aicore/core.h"
#include "atc/base/check.h"
#include "kernels/tile_program.h"

namespace atc::kernels {

using aicore::Buffer;
using aicore::ChainStep;
using aicore::Core;

namespace {

bool commutes(VecOp op) { return op == VecOp::Add || op == VecOp::Mul; }

}  // namespace

// A chain begins with any instruction that can be a step and goes on with the only reader of its result. It
// runs where its last member stands, so nothing in between may touch what the members read.
void TileProgram::find_chains() {
  const std::vector<VecInstr>& code = program_.code;
  chain_of_.assign(code.size(), -1);
  std::vector<int> uses(registers_.size(), 0), reader(registers_.size(), -1);
  for (std::size_t i = 0; i < code.size(); ++i) {
    const int regs[] = {code[i].a, code[i].b, code[i].c};
    for (int k = 0; k < aicore::register_operands(code[i].op); ++k) {
      ++uses[static_cast<std::size_t>(regs[k])];
      reader[static_cast<std::size_t>(regs[k])] = static_cast<int>(i);
    }
  }
  const auto reg = [&](int r) -> const Register& { return registers_[static_cast<std::size_t>(r)]; };
  // The step that instruction i is when `source` comes from the one before, -1: from anywhere.
  const auto step = [&](std::size_t i, int source) -> ChainMember {
    const VecInstr& instr = code[i];
    const int arity = aicore::register_operands(instr.op);
    if (instr.type != RegType::F32 || arity < 1 || arity > 2 || !aicore::in_chain(instr.op, Lanes::Full) ||
        reg(instr.dst).lanes != Lanes::Full)
      return {};
    ChainMember m{i, instr.a, arity == 2 ? instr.b : -1};
    const bool fits = source < 0 ? reg(m.source).lanes == Lanes::Full : m.source == source;
    if (!fits && arity == 2 && commutes(instr.op)) std::swap(m.source, m.operand);
    if (source < 0 ? reg(m.source).lanes != Lanes::Full : m.source != source) return {};
    if (m.operand >= 0 && !aicore::in_chain(instr.op, reg(m.operand).lanes)) return {};
    return m;
  };
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (chain_of_[i] >= 0 || code[i].op == VecOp::Store) continue;
    const ChainMember first = step(i, -1);
    if (first.operand == kNoMember) continue;
    std::vector<ChainMember> members = {first};
    while (members.size() < static_cast<std::size_t>(aicore::kMaxChain)) {
      const int result = code[members.back().instr].dst;
      if (uses[static_cast<std::size_t>(result)] != 1) break;
      const std::size_t next = static_cast<std::size_t>(reader[static_cast<std::size_t>(result)]);
      if (code[next].op == VecOp::Store || chain_of_[next] >= 0) break;
      const ChainMember m = step(next, result);
      if (m.operand == kNoMember || !stays_until(members, next)) break;
      members.push_back(m);
    }
    if (members.size() < 2) continue;
    for (const ChainMember& m : members) chain_of_[m.instr] = static_cast<int>(chains_.size());
    chains_.push_back(std::move(members));
  }
}

// Whether what the members read is still there before instruction `end`, and so is what they would have left
// to others.
bool TileProgram::stays_until(const std::vector<ChainMember>& members, std::size_t end) const {
  const auto slot = [&](int r) { return r < 0 ? -1 : registers_[static_cast<std::size_t>(r)].slot; };
  for (std::size_t i = members.front().instr + 1; i < end; ++i) {
    if (std::ranges::any_of(members, [&](const ChainMember& m) { return m.instr == i; })) continue;
    const VecInstr& instr = program_.code[i];
    // A Store may write memory that a member reads in place.
    if (instr.op == VecOp::Store || stored_by_[i] >= 0) return false;
    const int written = slot(instr.dst);
    if (written < 0 || registers_[static_cast<std::size_t>(instr.dst)].constant) continue;
    if (slot(members.front().source) == written ||
        std::ranges::any_of(members, [&](const ChainMember& m) { return slot(m.operand) == written; }))
      return false;
  }
  return true;
}

void TileProgram::execute_chain(const std::vector<ChainMember>& members, Buffers::Set& set,
                                const Chunk& chunk, Core& core) const {
  std::array<ChainStep, aicore::kMaxChain> steps;
  int count = 0;
  for (const ChainMember& m : members) {
    ChainStep& step = steps[static_cast<std::size_t>(count++)];
    step.op = program_.code[m.instr].op;
    if (m.operand < 0) continue;
    const aicore::VecRef operand = place(m.operand, set, chunk);
    step.lanes = operand.lanes;
    step.operand = operand.buffer->as<float>();
  }
  // Sources first: writable() may turn an in-place destination back into its own memory.
  const float* source = place(members.front().source, set, chunk).buffer->as<float>();
  Buffer& dst = *place(program_.code[members.back().instr].dst, set, chunk).buffer;
  ATC_CHECK(chunk.rows * chunk.cols * 4 <= dst.bytes, "vector result beyond its buffer");
  aicore::run_chain(reinterpret_cast<float*>(core.writable(dst)), source, steps.data(), count, chunk.rows,
                    chunk.cols);
}

}  // namespace atc::kernels
