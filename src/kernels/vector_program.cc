#include "kernels/vector_program.h"

#include <sstream>

namespace atc::kernels {

RegType VectorProgram::type_of(int reg) const {
  for (const VecInstr& i : code) {
    if (i.op == VecOp::Store || i.dst != reg) continue;
    const bool to_bool = aicore::is_comparison(i.op) || i.op == VecOp::IsNaN || i.op == VecOp::IsInf;
    return to_bool ? RegType::B8 : i.type;
  }
  ATC_CHECK(false, "register " + std::to_string(reg) + " is not assigned");
}

bool VectorProgram::has_reduction() const {
  for (const VecInstr& i : code)
    if (aicore::is_reduction(i.op)) return true;
  return false;
}

std::string VectorProgram::to_string() const {
  constexpr std::string_view kTypes[] = {"f32", "i32", "i64", "b8"};
  std::ostringstream out;
  for (const VecInstr& i : code) {
    if (i.op == VecOp::Store) {
      out << "store #" << i.dst << ", r" << i.a << "\n";
      continue;
    }
    out << "r" << i.dst << " = " << name(i.op) << "." << kTypes[static_cast<int>(i.type)];
    if (i.op == VecOp::Load) {
      out << " #" << i.a;
    } else {
      const int regs[] = {i.a, i.b, i.c};
      for (int k = 0; k < aicore::register_operands(i.op); ++k) out << (k ? ", r" : " r") << regs[k];
    }
    if (i.op == VecOp::Const || i.imm != 0) out << " " << i.imm;
    out << "\n";
  }
  return out.str();
}

Dims broadcast_strides(const Dims& dims, const Dims& space) {
  Dims strides(space.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::size_t d = dims.size() - 1 - i, s = space.size() - 1 - i;
    strides[s] = dims[d] == 1 ? 0 : stride;
    stride *= dims[d];
  }
  return strides;
}

}  // namespace atc::kernels
