#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace atc {

/// Element types; the numbers are those of onnx.TensorProto.DataType (onnx.proto, IR version 13).
enum class DType : std::uint8_t {
  Undefined = 0,
  F32 = 1,
  U8 = 2,
  I8 = 3,
  U16 = 4,
  I16 = 5,
  I32 = 6,
  I64 = 7,
  String = 8,
  Bool = 9,
  F16 = 10,
  F64 = 11,
  U32 = 12,
  U64 = 13,
  C64 = 14,
  C128 = 15,
  BF16 = 16,
  F8E4M3FN = 17,
  F8E4M3FNUZ = 18,
  F8E5M2 = 19,
  F8E5M2FNUZ = 20,
  U4 = 21,
  I4 = 22,
  F4E2M1 = 23,
  F8E8M0 = 24,
  U2 = 25,
  I2 = 26,
};
inline constexpr int kDTypeCount = 27;

/// Bits of one element; 0 for Undefined and String.
int bit_width(DType t);
/// Bytes that `count` elements take when packed (4- and 2-bit types share bytes, low bits first).
std::size_t byte_size(DType t, std::size_t count);
/// Short name as `.air` prints it: "f32", "i64", "bool", "f8e4m3fn", ...
std::string_view name(DType t);
std::optional<DType> dtype_from_name(std::string_view name);
/// "FLOAT", "INT64", ... as ATC and ONNX users write it.
std::string_view onnx_name(DType t);

bool is_float(DType t);    ///< every floating type, 8 and 4 bit included
bool is_integer(DType t);  ///< signed or unsigned integer, not Bool
bool is_signed(DType t);   ///< can be negative: signed integers, floats but F8E8M0

}  // namespace atc
