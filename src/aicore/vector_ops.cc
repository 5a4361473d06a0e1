#include "aicore/vector_ops.h"

#include <array>

namespace atc::aicore {
namespace {

struct OpRow {
  VecOp op;
  std::string_view name;
  int operands;  // registers read
  int passes;    // over f32 data
};

// Passes are modelled: one for what the vector unit does in one instruction, four for its iterative ones
// (Exp, Ln, Div, Sqrt), and for the others the number that their usual expansion into those takes.
constexpr std::array<OpRow, kVecOpCount> kOps = {{
    {VecOp::Load, "load", 0, 0},
    {VecOp::Store, "store", 1, 0},
    {VecOp::Const, "const", 0, 0},
    {VecOp::Acc, "acc", 0, 0},
    {VecOp::Cast, "cast", 1, 1},
    {VecOp::Round16, "round16", 1, 2},
    {VecOp::WrapInt, "wrap", 1, 2},
    {VecOp::Add, "add", 2, 1},
    {VecOp::Sub, "sub", 2, 1},
    {VecOp::Mul, "mul", 2, 1},
    {VecOp::Div, "div", 2, 4},
    {VecOp::Max, "max", 2, 1},
    {VecOp::Min, "min", 2, 1},
    {VecOp::Pow, "pow", 2, 10},
    {VecOp::Mod, "mod", 2, 9},
    {VecOp::FMod, "fmod", 2, 7},
    {VecOp::BitAnd, "bitand", 2, 1},
    {VecOp::BitOr, "bitor", 2, 1},
    {VecOp::BitXor, "bitxor", 2, 3},
    {VecOp::ShiftLeft, "shl", 2, 1},
    {VecOp::ShiftRight, "shr", 2, 1},
    {VecOp::PRelu, "prelu", 2, 3},
    {VecOp::Equal, "eq", 2, 1},
    {VecOp::Less, "lt", 2, 1},
    {VecOp::LessEqual, "le", 2, 1},
    {VecOp::Greater, "gt", 2, 1},
    {VecOp::GreaterEqual, "ge", 2, 1},
    {VecOp::And, "and", 2, 1},
    {VecOp::Or, "or", 2, 1},
    {VecOp::Xor, "xor", 2, 3},
    {VecOp::Not, "not", 1, 1},
    {VecOp::Abs, "abs", 1, 1},
    {VecOp::Neg, "neg", 1, 1},
    {VecOp::Sign, "sign", 1, 4},
    {VecOp::Relu, "relu", 1, 1},
    {VecOp::BitNot, "bitnot", 1, 1},
    {VecOp::Exp, "exp", 1, 4},
    {VecOp::Log, "log", 1, 4},
    {VecOp::Sqrt, "sqrt", 1, 4},
    {VecOp::Rsqrt, "rsqrt", 1, 8},
    {VecOp::Reciprocal, "reciprocal", 1, 4},
    {VecOp::Tanh, "tanh", 1, 12},
    {VecOp::Sigmoid, "sigmoid", 1, 10},
    {VecOp::Erf, "erf", 1, 18},
    {VecOp::Sin, "sin", 1, 16},
    {VecOp::Cos, "cos", 1, 16},
    {VecOp::Tan, "tan", 1, 24},
    {VecOp::Asin, "asin", 1, 24},
    {VecOp::Acos, "acos", 1, 24},
    {VecOp::Atan, "atan", 1, 20},
    {VecOp::Sinh, "sinh", 1, 12},
    {VecOp::Cosh, "cosh", 1, 12},
    {VecOp::Asinh, "asinh", 1, 16},
    {VecOp::Acosh, "acosh", 1, 14},
    {VecOp::Atanh, "atanh", 1, 14},
    {VecOp::Floor, "floor", 1, 1},
    {VecOp::Ceil, "ceil", 1, 1},
    {VecOp::RoundEven, "round", 1, 1},
    {VecOp::Softplus, "softplus", 1, 14},
    {VecOp::IsNaN, "isnan", 1, 1},
    {VecOp::IsInf, "isinf", 1, 2},
    {VecOp::Select, "select", 3, 1},
    {VecOp::ReduceSum, "reduce_sum", 1, 1},
    {VecOp::ReduceMax, "reduce_max", 1, 1},
    {VecOp::ReduceMin, "reduce_min", 1, 1},
    {VecOp::ReduceProd, "reduce_prod", 1, 1},
}};

constexpr bool in_order() {
  for (int i = 0; i < kVecOpCount; ++i)
    if (static_cast<int>(kOps[static_cast<std::size_t>(i)].op) != i) return false;
  return true;
}
static_assert(in_order(), "kOps lists every VecOp in the order of the enumeration");

const OpRow& row(VecOp op) { return kOps[static_cast<std::size_t>(op)]; }

}  // namespace

std::optional<RegType> reg_type_of(DType dtype) {
  switch (dtype) {
    case DType::F32:
    case DType::F16:
    case DType::BF16:
      return RegType::F32;
    case DType::I8:
    case DType::U8:
    case DType::I16:
    case DType::U16:
    case DType::I32:
      return RegType::I32;
    case DType::I64:
    case DType::U32:
      return RegType::I64;
    case DType::Bool:
      return RegType::B8;
    default:
      return std::nullopt;
  }
}

int reg_bytes(RegType t) {
  switch (t) {
    case RegType::F32:
    case RegType::I32:
      return 4;
    case RegType::I64:
      return 8;
    case RegType::B8:
      return 1;
  }
  return 4;
}

std::string_view name(VecOp op) { return row(op).name; }
bool is_reduction(VecOp op) { return op >= VecOp::ReduceSum && op <= VecOp::ReduceProd; }
bool is_comparison(VecOp op) { return op >= VecOp::Equal && op <= VecOp::GreaterEqual; }
int register_operands(VecOp op) { return row(op).operands; }

std::int64_t lane_count(Lanes lanes, std::int64_t rows, std::int64_t cols) {
  switch (lanes) {
    case Lanes::Full:
      return rows * cols;
    case Lanes::PerRow:
      return rows;
    case Lanes::PerCol:
      return cols;
    case Lanes::Scalar:
      return 1;
  }
  return 1;
}

int vector_passes(VecOp op, RegType type) {
  // 64-bit integers are pairs of 32-bit words for the vector unit.
  return row(op).passes * (type == RegType::I64 ? 2 : 1);
}

}  // namespace atc::aicore
