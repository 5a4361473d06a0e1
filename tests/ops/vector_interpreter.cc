#include "ops/vector_interpreter.h"

#include <cmath>

#include "atc/base/check.h"
#include "atc/base/half.h"

namespace atc::ops {
namespace {

using kernels::RegType;
using kernels::VecInstr;
using kernels::VecOp;

double cast(double v, RegType to) {
  if (to == RegType::B8) return v != 0 ? 1 : 0;
  return to == RegType::F32 ? v : std::trunc(v);
}

double divide(double a, double b, RegType type) {
  if (type == RegType::F32) return a / b;
  return b == 0 ? 0 : std::trunc(a / b);
}

double floor_modulo(double a, double b) {
  const double m = std::fmod(a, b);
  return m != 0 && (m < 0) != (b < 0) ? m + b : m;
}

double bits(VecOp op, double a, double b) {
  const auto x = static_cast<std::int64_t>(a);
  const auto y = static_cast<std::int64_t>(b);
  switch (op) {
    case VecOp::BitAnd:
      return static_cast<double>(x & y);
    case VecOp::BitOr:
      return static_cast<double>(x | y);
    case VecOp::BitXor:
      return static_cast<double>(x ^ y);
    case VecOp::ShiftLeft:
      return static_cast<double>(x << y);
    default:
      return static_cast<double>(x >> y);
  }
}

double evaluate(const VecInstr& i, double a, double b, double c) {
  switch (i.op) {
    case VecOp::Const:
      return i.imm;
    case VecOp::Cast:
      return cast(a, i.type);
    case VecOp::Round16:
      return static_cast<double>(to_float(to_half(a)));
    case VecOp::Add:
      return a + b;
    case VecOp::Sub:
      return a - b;
    case VecOp::Mul:
      return a * b;
    case VecOp::Div:
      return divide(a, b, i.type);
    case VecOp::Max:
      return std::isnan(a) || a > b ? a : b;
    case VecOp::Min:
      return std::isnan(a) || a < b ? a : b;
    case VecOp::Pow:
      return std::pow(a, b);
    case VecOp::Mod:
      return floor_modulo(a, b);
    case VecOp::FMod:
      return std::fmod(a, b);
    case VecOp::BitAnd:
    case VecOp::BitOr:
    case VecOp::BitXor:
    case VecOp::ShiftLeft:
    case VecOp::ShiftRight:
      return bits(i.op, a, b);
    case VecOp::PRelu:
      return a < 0 ? a * b : a;
    case VecOp::Equal:
      return a == b;
    case VecOp::Less:
      return a < b;
    case VecOp::LessEqual:
      return a <= b;
    case VecOp::Greater:
      return a > b;
    case VecOp::GreaterEqual:
      return a >= b;
    case VecOp::And:
      return a != 0 && b != 0;
    case VecOp::Or:
      return a != 0 || b != 0;
    case VecOp::Xor:
      return (a != 0) != (b != 0);
    case VecOp::Not:
      return a == 0;
    case VecOp::Abs:
      return std::fabs(a);
    case VecOp::Neg:
      return -a;
    case VecOp::Sign:
      return a > 0 ? 1 : a < 0 ? -1 : a;
    case VecOp::Relu:
      return a < 0 ? 0 : a;
    case VecOp::BitNot:
      return static_cast<double>(~static_cast<std::int64_t>(a));
    case VecOp::Exp:
      return std::exp(a);
    case VecOp::Log:
      return std::log(a);
    case VecOp::Sqrt:
      return std::sqrt(a);
    case VecOp::Rsqrt:
      return 1 / std::sqrt(a);
    case VecOp::Reciprocal:
      return 1 / a;
    case VecOp::Tanh:
      return std::tanh(a);
    case VecOp::Sigmoid:
      return 1 / (1 + std::exp(-a));
    case VecOp::Erf:
      return std::erf(a);
    case VecOp::Sin:
      return std::sin(a);
    case VecOp::Cos:
      return std::cos(a);
    case VecOp::Tan:
      return std::tan(a);
    case VecOp::Asin:
      return std::asin(a);
    case VecOp::Acos:
      return std::acos(a);
    case VecOp::Atan:
      return std::atan(a);
    case VecOp::Sinh:
      return std::sinh(a);
    case VecOp::Cosh:
      return std::cosh(a);
    case VecOp::Asinh:
      return std::asinh(a);
    case VecOp::Acosh:
      return std::acosh(a);
    case VecOp::Atanh:
      return std::atanh(a);
    case VecOp::Floor:
      return std::floor(a);
    case VecOp::Ceil:
      return std::ceil(a);
    case VecOp::RoundEven:
      return std::nearbyint(a);
    case VecOp::Softplus:
      return a > 30 ? a : std::log1p(std::exp(a));
    case VecOp::IsNaN:
      return std::isnan(a);
    case VecOp::IsInf:
      return std::isinf(a) && ((a > 0 ? 1 : 2) & static_cast<int>(i.imm)) != 0;
    case VecOp::Select:
      return c != 0 ? a : b;
    default:
      ATC_CHECK(false, "instruction without a meaning for one position");
  }
}

}  // namespace

std::vector<double> interpret(const kernels::VectorProgram& program, const std::vector<double>& inputs) {
  std::vector<double> value = inputs;
  value.resize(static_cast<std::size_t>(program.registers));
  auto at = [&](int r) { return r < 0 ? 0 : value[static_cast<std::size_t>(r)]; };
  for (const VecInstr& i : program.code)
    if (i.op != VecOp::Load) value[static_cast<std::size_t>(i.dst)] = evaluate(i, at(i.a), at(i.b), at(i.c));
  return value;
}

}  // namespace atc::ops
