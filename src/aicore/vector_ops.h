#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "atc/base/dtype.h"

namespace atc::aicore {

/// Types in which the vector unit computes here. Storage dtypes are widened by the Cast on load (f16,
/// bf16 to F32; 8- and 16-bit integers to I32; Bool to B8) and narrowed on store (floats to nearest
/// even, integers wrap).
enum class RegType : std::uint8_t { F32, I32, I64, B8 };
std::optional<RegType> reg_type_of(DType dtype);  ///< nullopt: the dtype has no vector arithmetic
int reg_bytes(RegType t);

/// Operations of a vector program: dst = op(a, b, c).
enum class VecOp : std::uint8_t {
  Load,     ///< dst = operand[a] at the tile's position
  Store,    ///< operand[dst] = register a
  Const,    ///< dst = imm (a scalar register)
  Acc,      ///< dst = the accumulator tile of a cube or window kernel (epilogue programs only)
  Cast,     ///< dst = a converted to type; F32 to integers truncates toward zero; any to B8 is a != 0
  Round16,  ///< dst = a rounded to fp16 (a rounding point)
  WrapInt,  ///< dst = a wrapped to the narrow integer dtype whose number is imm
  // binary, F32 / I32 / I64 (integer Div truncates as C, x/0 = 0; Mod is ONNX's, sign of b; FMod sign of a)
  Add,
  Sub,
  Mul,
  Div,
  Max,
  Min,
  Pow,
  Mod,
  FMod,
  BitAnd,
  BitOr,
  BitXor,
  ShiftLeft,
  ShiftRight,
  PRelu,  ///< a < 0 ? a * b : a
  // comparisons: a, b of any type, dst B8
  Equal,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  // logic on B8
  And,
  Or,
  Xor,
  Not,
  // unary, F32 (Abs, Neg, Sign, Relu on integers too; BitNot integers)
  Abs,
  Neg,
  Sign,
  Relu,
  BitNot,
  Exp,
  Log,
  Sqrt,
  Rsqrt,
  Reciprocal,
  Tanh,
  Sigmoid,
  Erf,
  Sin,
  Cos,
  Tan,
  Asin,
  Acos,
  Atan,
  Sinh,
  Cosh,
  Asinh,
  Acosh,
  Atanh,
  Floor,
  Ceil,
  RoundEven,
  Softplus,
  IsNaN,   ///< dst B8
  IsInf,   ///< dst B8; imm: bit 0 detect positive, bit 1 detect negative
  Select,  ///< c (B8) ? a : b
  // reductions of a tile along the program's reduce axis: dst has one element a row (or a column)
  ReduceSum,
  ReduceMax,
  ReduceMin,
  ReduceProd,
};
inline constexpr int kVecOpCount = static_cast<int>(VecOp::ReduceProd) + 1;

std::string_view name(VecOp op);
bool is_reduction(VecOp op);
bool is_comparison(VecOp op);
/// How many register operands (a, b, c) the op reads; Load, Const and Acc read none.
int register_operands(VecOp op);
/// Passes over the data that the operation takes on the vector unit: 1 for Add, more for those that
/// expand into several instructions (modelled: Exp, Log, Div, Sqrt 4; the rest by their expansions).
int vector_passes(VecOp op, RegType type);

/// How a register's elements map to the rows x cols of a tile.
enum class Lanes : std::uint8_t { Full, PerRow, PerCol, Scalar };
/// Elements of a register with these lanes in a tile of rows x cols.
std::int64_t lane_count(Lanes lanes, std::int64_t rows, std::int64_t cols);

}  // namespace atc::aicore
