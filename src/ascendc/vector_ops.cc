#include "ascendc/vector_ops.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "aicore/vector_ops.h"
#include "aicore/vector_table.h"
#include "ascendc/elements.h"

namespace atc::ascendc {
namespace {

using aicore::LoopOperand;
using aicore::VecOp;

constexpr const char* kNames[ATC_VEC_OP_COUNT] = {"Add",
                                                  "Sub",
                                                  "Mul",
                                                  "Div",
                                                  "Max",
                                                  "Min",
                                                  "And",
                                                  "Or",
                                                  "AddRelu",
                                                  "SubRelu",
                                                  "MulAddDst",
                                                  "FusedMulAdd",
                                                  "FusedMulAddRelu",
                                                  "AddReluCast",
                                                  "SubReluCast",
                                                  "MulCast",
                                                  "Adds",
                                                  "Muls",
                                                  "Maxs",
                                                  "Mins",
                                                  "LeakyRelu",
                                                  "ShiftLeft",
                                                  "ShiftRight",
                                                  "Axpy",
                                                  "Exp",
                                                  "Ln",
                                                  "Abs",
                                                  "Reciprocal",
                                                  "Sqrt",
                                                  "Rsqrt",
                                                  "Relu",
                                                  "Not",
                                                  "Cast",
                                                  "CastDeq",
                                                  "Copy",
                                                  "Duplicate",
                                                  "ArithProgression",
                                                  "Compare",
                                                  "CompareScalar",
                                                  "Select",
                                                  "ReduceSum",
                                                  "ReduceMax",
                                                  "ReduceMin",
                                                  "WholeReduceSum",
                                                  "WholeReduceMax",
                                                  "WholeReduceMin",
                                                  "BlockReduceSum",
                                                  "BlockReduceMax",
                                                  "BlockReduceMin",
                                                  "PairReduceSum",
                                                  "Brcb",
                                                  "Sigmoid",
                                                  "Tanh",
                                                  "Erf",
                                                  "Power",
                                                  "Sin",
                                                  "Cos",
                                                  "Tan",
                                                  "Floor",
                                                  "Ceil",
                                                  "Round",
                                                  "Trunc",
                                                  "Sign",
                                                  "Xor",
                                                  "Swish",
                                                  "Gelu",
                                                  "Erfc",
                                                  "Sinh",
                                                  "Cosh",
                                                  "Asin",
                                                  "Acos",
                                                  "Atan",
                                                  "Asinh",
                                                  "Acosh",
                                                  "Atanh",
                                                  "Lgamma",
                                                  "Digamma",
                                                  "Frac",
                                                  "Log2",
                                                  "Log10",
                                                  "FasterGeluV2",
                                                  "Hypot"};

// The vector unit's own loops, where they have the operation: in float.
std::optional<VecOp> table_op(std::uint32_t op) {
  switch (op) {
    case ATC_ADD:
    case ATC_ADDS:
      return VecOp::Add;
    case ATC_SUB:
      return VecOp::Sub;
    case ATC_MUL:
    case ATC_MULS:
      return VecOp::Mul;
    case ATC_DIV:
      return VecOp::Div;
    case ATC_MAX:
    case ATC_MAXS:
      return VecOp::Max;
    case ATC_MIN:
    case ATC_MINS:
      return VecOp::Min;
    case ATC_LEAKY_RELU:
      return VecOp::PRelu;
    case ATC_EXP:
      return VecOp::Exp;
    case ATC_LN:
      return VecOp::Log;
    case ATC_ABS:
      return VecOp::Abs;
    case ATC_RECIPROCAL:
      return VecOp::Reciprocal;
    case ATC_SQRT:
      return VecOp::Sqrt;
    case ATC_RSQRT:
      return VecOp::Rsqrt;
    case ATC_RELU:
      return VecOp::Relu;
    case ATC_SIGMOID:
      return VecOp::Sigmoid;
    case ATC_TANH:
      return VecOp::Tanh;
    case ATC_ERF:
      return VecOp::Erf;
    case ATC_POWER:
      return VecOp::Pow;
    case ATC_SIN:
      return VecOp::Sin;
    case ATC_COS:
      return VecOp::Cos;
    case ATC_TAN:
      return VecOp::Tan;
    case ATC_FLOOR:
      return VecOp::Floor;
    case ATC_CEIL:
      return VecOp::Ceil;
    case ATC_ROUND:
      return VecOp::RoundEven;
    case ATC_SIGN:
      return VecOp::Sign;
    default:
      return std::nullopt;
  }
}

// The logarithmic derivative of the gamma function: recurrence up to 6, then the asymptotic series; reflected
// below 0.
double digamma(double x) {
  if (x <= 0.0 && x == std::floor(x)) return std::numeric_limits<double>::quiet_NaN();
  if (x < 0.0) return digamma(1.0 - x) - std::numbers::pi / std::tan(std::numbers::pi * x);
  double shift = 0.0;
  for (; x < 6.0; x += 1.0) shift -= 1.0 / x;
  const double r = 1.0 / (x * x);
  return shift + std::log(x) - 0.5 / x -
         r * (1.0 / 12.0 - r * (1.0 / 120.0 - r * (1.0 / 252.0 - r * (1.0 / 240.0 - r / 132.0))));
}

// x * Phi(x) with the normal distribution as two parabolas.
double gelu_v2(double x) {
  const double rest = std::min(std::abs(0.7071 * x), 1.769) - 1.769;
  const double half = 0.5 - 0.1444 * rest * rest;
  return x * (0.5 + (x > 0.0 ? half : x < 0.0 ? -half : 0.0));
}

// Functions of one element that are computed in double; null: none of them.
double (*double_function(std::uint32_t op))(double) {
  switch (op) {
    case ATC_ERFC:
      return std::erfc;
    case ATC_SINH:
      return std::sinh;
    case ATC_COSH:
      return std::cosh;
    case ATC_ASIN:
      return std::asin;
    case ATC_ACOS:
      return std::acos;
    case ATC_ATAN:
      return std::atan;
    case ATC_ASINH:
      return std::asinh;
    case ATC_ACOSH:
      return std::acosh;
    case ATC_ATANH:
      return std::atanh;
    case ATC_LGAMMA:
      return std::lgamma;
    case ATC_DIGAMMA:
      return digamma;
    case ATC_FRAC:
      return [](double x) { return x - std::trunc(x); };
    case ATC_LOG2:
      return std::log2;
    case ATC_LOG10:
      return std::log10;
    case ATC_GELU_V2:
      return gelu_v2;
    default:
      return nullptr;
  }
}

bool takes_scalar(std::uint32_t op) { return op >= ATC_ADDS && op <= ATC_AXPY; }

// The others on floats: dst, a and b are dense, d holds what was there before.
bool float_op(const AtcVector& v, float* d, const float* a, const float* b, std::int64_t n) {
  const auto s = static_cast<float>(v.scalar);
  auto each = [&](auto f) {
    for (std::int64_t i = 0; i < n; ++i) d[i] = f(i);
    return true;
  };
  // A fused multiply-add rounds once; the product is exact in double.
  auto fma = [](float x, float y, float z) {
    return static_cast<float>(static_cast<double>(x) * static_cast<double>(y) + static_cast<double>(z));
  };
  switch (v.op) {
    case ATC_ADD_RELU:
    case ATC_ADD_RELU_CAST:
      return each([&](std::int64_t i) { return std::max(a[i] + b[i], 0.0f); });
    case ATC_SUB_RELU:
    case ATC_SUB_RELU_CAST:
      return each([&](std::int64_t i) { return std::max(a[i] - b[i], 0.0f); });
    case ATC_MUL_ADD_DST:
      return each([&](std::int64_t i) { return fma(a[i], b[i], d[i]); });
    case ATC_FUSED_MUL_ADD:
      return each([&](std::int64_t i) { return fma(a[i], d[i], b[i]); });
    case ATC_FUSED_MUL_ADD_RELU:
      return each([&](std::int64_t i) { return std::max(fma(a[i], d[i], b[i]), 0.0f); });
    case ATC_MUL_CAST:
      return each([&](std::int64_t i) { return a[i] * b[i]; });
    case ATC_AXPY:
      return each([&](std::int64_t i) { return fma(a[i], s, d[i]); });
    // In double: the vector unit's expansions are exact to a few units in the last place.
    case ATC_SWISH:
      return each([&](std::int64_t i) {
        const auto x = static_cast<double>(a[i]);
        return static_cast<float>(x / (1.0 + std::exp(-v.scalar * x)));
      });
    case ATC_GELU:
      return each([&](std::int64_t i) {
        const auto x = static_cast<double>(a[i]);
        return static_cast<float>(x / (1.0 + std::exp(-1.5957691216057308 * (x + 0.044715 * x * x * x))));
      });
    case ATC_TRUNC:
      return each([&](std::int64_t i) { return std::trunc(a[i]); });
    case ATC_HYPOT:
      return each([&](std::int64_t i) { return std::hypot(a[i], b[i]); });
    default:
      break;
  }
  if (double (*const f)(double) = double_function(v.op); f != nullptr)
    return each([&](std::int64_t i) { return static_cast<float>(f(static_cast<double>(a[i]))); });
  const auto op = table_op(v.op);
  if (!op) return false;
  LoopOperand second{b, n, 1};
  if (takes_scalar(v.op) || (v.op == ATC_POWER && b == nullptr)) second = {&s, 0, 0};
  return aicore::vector_table().elementwise(*op, aicore::RegType::F32, d, {a, n, 1}, second, {}, 0.0, 1, n);
}

// In 16-bit floats: widened, computed in float, rounded once.
template <class T>
bool narrow_op(const AtcVector& v, const LaneData& d) {
  constexpr std::int64_t kChunk = 512;
  std::array<float, kChunk> a{}, b{}, r{};
  for (std::int64_t at = 0; at < d.n; at += kChunk) {
    const auto n = static_cast<std::size_t>(std::min(kChunk, d.n - at));
    convert(reinterpret_cast<const T*>(d.a) + at, a.data(), n);
    if (d.b != nullptr) convert(reinterpret_cast<const T*>(d.b) + at, b.data(), n);
    if (accumulates(v.op)) convert(reinterpret_cast<const T*>(d.dst) + at, r.data(), n);
    if (!float_op(v, r.data(), a.data(), d.b != nullptr ? b.data() : nullptr, static_cast<std::int64_t>(n)))
      return false;
    convert(r.data(), reinterpret_cast<T*>(d.dst) + at, n);
  }
  return true;
}

template <class T>
bool integer_op(const AtcVector& v, const LaneData& d) {
  using U = std::make_unsigned_t<T>;
  auto* out = reinterpret_cast<T*>(d.dst);
  const auto* a = reinterpret_cast<const T*>(d.a);
  const auto* b = reinterpret_cast<const T*>(d.b);
  const T s = static_cast<T>(v.integer);
  auto wrap = [](auto x) { return static_cast<T>(x); };
  auto each = [&](auto f) {
    for (std::int64_t i = 0; i < d.n; ++i) out[i] = f(i);
    return true;
  };
  // Sums and products in 64 bits, then wrapped: no overflow of the host's types.
  auto wide = [](T x) { return static_cast<std::int64_t>(x); };
  const int bits = static_cast<int>(sizeof(T) * 8);
  switch (v.op) {
    case ATC_ADD:
      return each([&](std::int64_t i) { return wrap(wide(a[i]) + wide(b[i])); });
    case ATC_SUB:
      return each([&](std::int64_t i) { return wrap(wide(a[i]) - wide(b[i])); });
    case ATC_MUL:
      return each([&](std::int64_t i) { return wrap(wide(a[i]) * wide(b[i])); });
    case ATC_MAX:
      return each([&](std::int64_t i) { return std::max(a[i], b[i]); });
    case ATC_MIN:
      return each([&](std::int64_t i) { return std::min(a[i], b[i]); });
    case ATC_AND:
      return each([&](std::int64_t i) { return wrap(a[i] & b[i]); });
    case ATC_OR:
      return each([&](std::int64_t i) { return wrap(a[i] | b[i]); });
    case ATC_XOR:
      return each([&](std::int64_t i) { return wrap(a[i] ^ b[i]); });
    case ATC_NOT:
      return each([&](std::int64_t i) { return wrap(~a[i]); });
    case ATC_ADD_RELU:
      return each([&](std::int64_t i) { return wrap(std::max<std::int64_t>(wide(a[i]) + wide(b[i]), 0)); });
    case ATC_SUB_RELU:
      return each([&](std::int64_t i) { return wrap(std::max<std::int64_t>(wide(a[i]) - wide(b[i]), 0)); });
    case ATC_ADDS:
      return each([&](std::int64_t i) { return wrap(wide(a[i]) + wide(s)); });
    case ATC_MULS:
      return each([&](std::int64_t i) { return wrap(wide(a[i]) * wide(s)); });
    case ATC_MAXS:
      return each([&](std::int64_t i) { return std::max(a[i], s); });
    case ATC_MINS:
      return each([&](std::int64_t i) { return std::min(a[i], s); });
    case ATC_RELU:
      return each([&](std::int64_t i) { return std::max(a[i], T{0}); });
    case ATC_ABS:
      return each([&](std::int64_t i) { return a[i] < 0 ? wrap(U{0} - static_cast<U>(a[i])) : a[i]; });
    case ATC_SHIFT_LEFT:
      return each([&](std::int64_t i) {
        return v.integer >= bits ? T{0} : wrap(static_cast<std::uint64_t>(static_cast<U>(a[i])) << v.integer);
      });
    case ATC_SHIFT_RIGHT:
      return each([&](std::int64_t i) {
        const std::int64_t shift = std::min<std::int64_t>(v.integer, 63);
        const std::int64_t x = wide(a[i]);
        const std::int64_t half = v.mode != 0 && shift > 0 ? std::int64_t{1} << (shift - 1) : 0;
        return wrap((x + half) >> shift);
      });
    default:
      return false;
  }
}

template <class T>
void arange(const AtcVector& v, const LaneData& d) {
  auto* out = reinterpret_cast<T*>(d.dst);
  for (std::int64_t i = 0; i < d.n; ++i) {
    if constexpr (std::is_integral_v<T>)
      out[i] = static_cast<T>(v.integer + i * v.integer1);
    else
      out[i] = stored<T>(static_cast<arithmetic_t<T>>(v.scalar + static_cast<double>(i) * v.scalar1));
  }
}

}  // namespace

const char* name_of(std::uint32_t op) { return op < ATC_VEC_OP_COUNT ? kNames[op] : "vector instruction"; }

int passes_of(std::uint32_t op) {
  // Muls, Exp, Adds, Div; with the polynomial of the tanh form.
  if (op == ATC_SWISH) return 10;
  if (op == ATC_GELU) return 14;
  // A polynomial after a reduction of the range.
  if (double_function(op) != nullptr || op == ATC_HYPOT) return 16;
  const auto known = table_op(op);
  return known ? aicore::vector_passes(*known, aicore::RegType::F32) : 1;
}

bool accumulates(std::uint32_t op) {
  return op == ATC_MUL_ADD_DST || op == ATC_FUSED_MUL_ADD || op == ATC_FUSED_MUL_ADD_RELU || op == ATC_AXPY;
}

bool compute(const AtcVector& v, const LaneData& d) {
  const std::uint8_t type = v.src0.type, to = v.dst.type;
  if (v.op == ATC_COPY) {
    std::memmove(d.dst, d.a, static_cast<std::size_t>(bytes_for(type, d.n)));
    return true;
  }
  if (v.op == ATC_DUPLICATE) {
    const auto size = static_cast<std::size_t>(bits_of(to) / 8);
    if (size == 4)
      std::fill_n(reinterpret_cast<std::uint32_t*>(d.dst), d.n, static_cast<std::uint32_t>(v.integer));
    else
      for (std::int64_t i = 0; i < d.n; ++i)
        std::memcpy(d.dst + static_cast<std::size_t>(i) * size, &v.integer, size);
    return true;
  }
  if (v.op == ATC_ARANGE) return with_type(to, [&]<class T>(T) { arange<T>(v, d); });
  if (to != type) {
    // float accumulators of half operands; the other mixed forms end in a cast.
    constexpr std::int64_t kChunk = 512;
    std::array<float, kChunk> a{}, b{}, r{};
    if (type != ATC_F16 && type != ATC_F32) return false;
    for (std::int64_t at = 0; at < d.n; at += kChunk) {
      const std::int64_t n = std::min(kChunk, d.n - at);
      auto widen = [&](const std::byte* from, float* into) {
        if (from == nullptr) return;
        if (type == ATC_F16)
          convert(reinterpret_cast<const Half*>(from) + at, into, static_cast<std::size_t>(n));
        else
          std::memcpy(into, from + at * 4, static_cast<std::size_t>(n) * 4);
      };
      widen(d.a, a.data());
      widen(d.b, b.data());
      if (accumulates(v.op)) {
        if (to != ATC_F32) return false;
        std::memcpy(r.data(), d.dst + at * 4, static_cast<std::size_t>(n) * 4);
      }
      if (!float_op(v, r.data(), a.data(), d.b != nullptr ? b.data() : nullptr, n)) return false;
      std::byte* out = d.dst + bytes_for(to, at);
      if (!convert_elements(to, ATC_F32, 0, 1.0f,
                            {out, reinterpret_cast<const std::byte*>(r.data()), nullptr, n}))
        return false;
    }
    return true;
  }
  switch (type) {
    case ATC_F32:
      return float_op(v, reinterpret_cast<float*>(d.dst), reinterpret_cast<const float*>(d.a),
                      reinterpret_cast<const float*>(d.b), d.n);
    case ATC_F16:
      return narrow_op<Half>(v, d);
    case ATC_I8:
    case ATC_U8:
      // Bits alone: there is no arithmetic of bytes.
      if (v.op != ATC_AND && v.op != ATC_OR) return false;
      return integer_op<std::uint8_t>(v, d);
    case ATC_I16:
      return integer_op<std::int16_t>(v, d);
    case ATC_U16:
      return integer_op<std::uint16_t>(v, d);
    case ATC_I32:
      return integer_op<std::int32_t>(v, d);
    case ATC_U32:
      return integer_op<std::uint32_t>(v, d);
    default:
      return false;
  }
}

}  // namespace atc::ascendc
