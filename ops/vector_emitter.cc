#include "ops/vector_emitter.h"

namespace atc::ops {

using kernels::RegType;
using kernels::VecOp;

VectorEmitter::Reg VectorEmitter::binary(VecOp op, Reg a, Reg b) { return program_.emit(op, type(a), a, b); }

VectorEmitter::Reg VectorEmitter::unary(VecOp op, Reg a) { return program_.emit(op, type(a), a); }

VectorEmitter::Reg VectorEmitter::select(Reg condition, Reg a, Reg b) {
  return program_.emit(VecOp::Select, type(a), a, b, condition);
}

VectorEmitter::Reg VectorEmitter::cast(Reg a, RegType type_to) {
  return type(a) == type_to ? a : program_.emit(VecOp::Cast, type_to, a);
}

}  // namespace atc::ops
