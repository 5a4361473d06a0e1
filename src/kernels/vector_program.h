#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aicore/vector_ops.h"
#include "atc/base/tensor.h"
#include "kernels/task.h"

namespace atc::kernels {

using aicore::Lanes;
using aicore::reg_type_of;
using aicore::RegType;
using aicore::VecOp;

/// One instruction: dst = op(a, b, c); see aicore/vector_ops.h for the operations.
struct VecInstr {
  VecOp op = VecOp::Const;
  RegType type = RegType::F32;  ///< of dst (of a for Store and comparisons)
  int dst = -1;                 ///< virtual register, or the operand index of a Store
  int a = -1, b = -1, c = -1;
  double imm = 0;
};

/// A straight-line program over virtual registers in SSA form, applied to every position of an
/// iteration space. Each register is assigned once, before it is used.
struct VectorProgram {
  std::vector<VecInstr> code;
  int registers = 0;

  int emit(VecOp op, RegType type, int a = -1, int b = -1, int c = -1, double imm = 0) {
    code.push_back({op, type, registers, a, b, c, imm});
    return registers++;
  }
  int load(int operand, RegType type) { return emit(VecOp::Load, type, operand); }
  int constant(RegType type, double value) { return emit(VecOp::Const, type, -1, -1, -1, value); }
  void store(int operand, RegType type, int reg) {
    code.push_back({VecOp::Store, type, operand, reg, -1, -1, 0});
  }
  RegType type_of(int reg) const;
  bool has_reduction() const;
  std::string to_string() const;
};

/// The iteration space of a vector-program task and how each operand is addressed in it.
/// Position (i0, ..., ir-1) of operand k is element offset[k] + sum_j i_j * strides[k][j].
struct VectorSpace {
  Dims dims;                  ///< the space; every load and store spans it (strides 0 broadcast)
  std::vector<Dims> strides;  ///< one list an operand, in elements
  std::vector<std::int64_t> offsets;
  /// Index into dims of the one axis that reductions run over, -1 without reductions. Stores of reduced
  /// registers have stride 0 on that axis.
  int reduce_axis = -1;
};

/// Builds a task. Adjacent dims that every operand walks alike are merged; tiles are chosen for the
/// chip. `operands[k]` is what Load/Store index k addresses.
StatusOr<Task> make_vector_task(const VectorProgram& program, const VectorSpace& space,
                                std::vector<Operand> operands, const soc::Chip& chip);

/// Row-major strides of `dims`, broadcast against `space` (right-aligned, stride 0 on broadcast axes).
Dims broadcast_strides(const Dims& dims, const Dims& space);

}  // namespace atc::kernels
