#include "kernels/in_place.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "atc/base/math.h"
#include "kernels/in_place_rules.h"
#include "kernels/tile_program.h"

namespace atc::kernels {
namespace {

struct Rule {
  std::string_view kernel;
  bool (*may_share)(const Task&, std::size_t, std::size_t);
};
constexpr std::array kRules = {
    Rule{"cube_conv", conv_may_share},  Rule{"cube_matmul", matmul_may_share},
    Rule{"scatter", scatter_may_share}, Rule{"vector_program", vector_program_may_share},
    Rule{"window", window_may_share},
};

}  // namespace

bool may_share(const Task& task, std::size_t input, std::size_t output) {
  const Operand& in = task.operands[input];
  const Operand& out = task.operands[output];
  if (in.output || !out.output || bit_width(in.dtype) != bit_width(out.dtype) || bit_width(in.dtype) < 8)
    return false;
  const auto rule =
      std::find_if(kRules.begin(), kRules.end(), [&](const Rule& r) { return r.kernel == task.kernel; });
  return rule != kRules.end() && rule->may_share(task, input, output);
}

bool one_to_one(const Dims& extents, const Dims& strides) {
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // stride, extent
  for (std::size_t i = 0; i < extents.size(); ++i)
    if (extents[i] > 1) steps.emplace_back(std::abs(strides[i]), extents[i]);
  std::sort(steps.begin(), steps.end());
  std::int64_t reach = 0;
  for (const auto& [stride, extent] : steps) {
    if (stride <= reach) return false;
    const auto span = checked_mul(stride, extent - 1);
    const auto sum = span ? checked_add(reach, *span) : std::nullopt;
    if (!sum) return false;
    reach = *sum;
  }
  return true;
}

void add_matrix(Dims& extents, Dims& strides, std::int64_t rows, std::int64_t cols, std::int64_t row_stride,
                std::int64_t col_stride, std::int64_t block_stride) {
  extents.push_back(rows);
  strides.push_back(row_stride);
  if (block_stride != 0) {
    extents.push_back(ceil_div(cols, kBlockCols));
    strides.push_back(block_stride);
  }
  extents.push_back(block_stride != 0 ? kBlockCols : cols);
  strides.push_back(col_stride);
}

bool reads_before_writes(const VectorProgram& program, std::size_t input, DType dtype, std::size_t output) {
  std::vector<bool> aliased(static_cast<std::size_t>(program.registers), false);
  std::vector<std::size_t> made(aliased.size(), 0);
  std::size_t last_read = 0, first_write = program.code.size();
  for (std::size_t i = 0; i < program.code.size(); ++i) {
    const VecInstr& instr = program.code[i];
    const int regs[] = {instr.a, instr.b, instr.c};
    for (int k = 0; k < aicore::register_operands(instr.op); ++k)
      if (aliased[static_cast<std::size_t>(regs[k])]) last_read = i;
    if (instr.op == VecOp::Store) {
      if (static_cast<std::size_t>(instr.dst) != output) continue;
      const std::size_t maker = made[static_cast<std::size_t>(instr.a)];
      const VecOp op = program.code[maker].op;
      first_write = std::min(first_write, op == VecOp::Load || op == VecOp::Acc ? i : maker);
      continue;
    }
    made[static_cast<std::size_t>(instr.dst)] = i;
    if (instr.op != VecOp::Load) continue;
    if (static_cast<std::size_t>(instr.a) == output) return false;
    if (static_cast<std::size_t>(instr.a) != input) continue;
    last_read = i;
    aliased[static_cast<std::size_t>(instr.dst)] = is_direct(dtype, instr.type);
  }
  if (first_write == program.code.size() || last_read > first_write) return false;
  // The vector unit computes in place; its Cast wants two buffers.
  return last_read < first_write || program.code[first_write].op != VecOp::Cast;
}

}  // namespace atc::kernels
