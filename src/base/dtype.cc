#include "atc/base/dtype.h"

#include <array>
#include <cstdint>
#include <limits>

#include "atc/base/check.h"

namespace atc {
namespace {

enum class Kind : std::uint8_t { Other, Float, Signed, Unsigned };

struct Row {
  DType dtype;
  std::string_view name;
  std::string_view onnx_name;
  int bits;
  Kind kind;
};

constexpr std::array<Row, kDTypeCount> kRows = {{
    {DType::Undefined, "undefined", "UNDEFINED", 0, Kind::Other},
    {DType::F32, "f32", "FLOAT", 32, Kind::Float},
    {DType::U8, "u8", "UINT8", 8, Kind::Unsigned},
    {DType::I8, "i8", "INT8", 8, Kind::Signed},
    {DType::U16, "u16", "UINT16", 16, Kind::Unsigned},
    {DType::I16, "i16", "INT16", 16, Kind::Signed},
    {DType::I32, "i32", "INT32", 32, Kind::Signed},
    {DType::I64, "i64", "INT64", 64, Kind::Signed},
    {DType::String, "string", "STRING", 0, Kind::Other},
    {DType::Bool, "bool", "BOOL", 8, Kind::Other},
    {DType::F16, "f16", "FLOAT16", 16, Kind::Float},
    {DType::F64, "f64", "DOUBLE", 64, Kind::Float},
    {DType::U32, "u32", "UINT32", 32, Kind::Unsigned},
    {DType::U64, "u64", "UINT64", 64, Kind::Unsigned},
    {DType::C64, "c64", "COMPLEX64", 64, Kind::Other},
    {DType::C128, "c128", "COMPLEX128", 128, Kind::Other},
    {DType::BF16, "bf16", "BFLOAT16", 16, Kind::Float},
    {DType::F8E4M3FN, "f8e4m3fn", "FLOAT8E4M3FN", 8, Kind::Float},
    {DType::F8E4M3FNUZ, "f8e4m3fnuz", "FLOAT8E4M3FNUZ", 8, Kind::Float},
    {DType::F8E5M2, "f8e5m2", "FLOAT8E5M2", 8, Kind::Float},
    {DType::F8E5M2FNUZ, "f8e5m2fnuz", "FLOAT8E5M2FNUZ", 8, Kind::Float},
    {DType::U4, "u4", "UINT4", 4, Kind::Unsigned},
    {DType::I4, "i4", "INT4", 4, Kind::Signed},
    {DType::F4E2M1, "f4e2m1", "FLOAT4E2M1", 4, Kind::Float},
    {DType::F8E8M0, "f8e8m0", "FLOAT8E8M0", 8, Kind::Float},
    {DType::U2, "u2", "UINT2", 2, Kind::Unsigned},
    {DType::I2, "i2", "INT2", 2, Kind::Signed},
}};

constexpr bool rows_in_order() {
  for (std::size_t i = 0; i < kRows.size(); ++i)
    if (static_cast<std::size_t>(kRows[i].dtype) != i) return false;
  return true;
}
static_assert(rows_in_order());

const Row& row(DType t) {
  const auto index = static_cast<std::size_t>(t);
  ATC_CHECK(index < kRows.size(), "no such dtype: " + std::to_string(index));
  return kRows[index];
}

}  // namespace

int bit_width(DType t) { return row(t).bits; }

std::size_t byte_size(DType t, std::size_t count) {
  const auto bits = static_cast<std::size_t>(row(t).bits);
  std::size_t bytes = 0;
  if (bits >= 8) {
    ATC_CHECK(!__builtin_mul_overflow(count, bits / 8, &bytes), "byte_size overflows");
  } else if (bits > 0) {
    const std::size_t per_byte = 8 / bits;
    bytes = count / per_byte + (count % per_byte != 0 ? 1 : 0);
  }
  ATC_CHECK(bytes <= static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()),
            "byte_size overflows");
  return bytes;
}

std::string_view name(DType t) { return row(t).name; }

std::optional<DType> dtype_from_name(std::string_view text) {
  for (const Row& r : kRows)
    if (r.name == text) return r.dtype;
  return std::nullopt;
}

std::string_view onnx_name(DType t) { return row(t).onnx_name; }

bool is_float(DType t) { return row(t).kind == Kind::Float; }
bool is_integer(DType t) { return row(t).kind == Kind::Signed || row(t).kind == Kind::Unsigned; }
bool is_signed(DType t) {
  return row(t).kind == Kind::Signed || (row(t).kind == Kind::Float && t != DType::F8E8M0);
}

}  // namespace atc
