#pragma once

#include "kernels/vector_program.h"

namespace atc::kernels {

/// Lists of structures in task parameters: a count, then each element by `each(archive, element)`.
template <class T, class F>
void io_list(ParamWriter& ar, std::vector<T>& list, F each) {
  ar.io(static_cast<std::int64_t>(list.size()));
  for (T& x : list) each(ar, x);
}
template <class T, class F>
void io_list(ParamReader& ar, std::vector<T>& list, F each) {
  std::int64_t n = 0;
  ar.io(n);
  if (n < 0 || n > 1 << 16) return ar.fail();
  list.clear();
  for (std::int64_t i = 0; i < n && ar.ok(); ++i) {
    list.emplace_back();
    each(ar, list.back());
  }
}

inline void io_enum(ParamWriter& ar, VecOp& v) { ar.io(static_cast<std::int64_t>(v)); }
inline void io_enum(ParamWriter& ar, RegType& v) { ar.io(static_cast<std::int64_t>(v)); }
inline void io_enum(ParamReader& ar, VecOp& v) {
  std::int64_t x = 0;
  ar.io(x);
  if (x < 0 || x >= aicore::kVecOpCount) return ar.fail();
  v = static_cast<VecOp>(x);
}
inline void io_enum(ParamReader& ar, RegType& v) {
  std::int64_t x = 0;
  ar.io(x);
  if (x < 0 || x > static_cast<std::int64_t>(RegType::B8)) return ar.fail();
  v = static_cast<RegType>(x);
}

/// A vector program inside task parameters.
template <class Archive>
void io_program(Archive& ar, VectorProgram& program) {
  ar.io(program.registers);
  io_list(ar, program.code, [](auto& a, VecInstr& i) {
    io_enum(a, i.op);
    io_enum(a, i.type);
    a.io(i.dst);
    a.io(i.a);
    a.io(i.b);
    a.io(i.c);
    a.io(i.imm);
  });
}

/// Block boundaries are ascending and within [0, tiles].
Status check_blocks(const Task& task, std::int64_t tiles);

}  // namespace atc::kernels
