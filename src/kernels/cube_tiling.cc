#include "kernels/cube_tiling.h"

#include "kernels/kernel_list.h"

namespace atc::kernels {

Status check_cube_operands(const Task& task, const VectorProgram& epilogue, std::string_view kernel) {
  const DType dtype = task.operands[0].dtype;
  const bool known = dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16 || dtype == DType::I8;
  if (!known || task.operands[1].dtype != dtype)
    return bad_params(kernel, "the cube does not take these operands");
  const RegType accumulator = dtype == DType::I8 ? RegType::I32 : RegType::F32;
  for (const VecInstr& instr : epilogue.code)
    if (instr.op == VecOp::Acc && instr.type != accumulator)
      return bad_params(kernel, "the accumulator is of another type");
  return {};
}

}  // namespace atc::kernels
