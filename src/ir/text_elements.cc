#include "text_elements.h"

#include <bit>
#include <cstring>

#include "atc/base/half.h"
#include "text_format.h"

namespace atc::ir::text {
namespace {

std::uint64_t sign_extended(std::uint64_t bits, int width) {
  const int shift = 64 - width;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << shift) >> shift);
}

std::string hex(std::uint64_t bits) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  do {
    out.insert(out.begin(), kHex[bits & 15]);
    bits >>= 4;
  } while (bits != 0);
  return "0x" + out;
}

/// 16-bit floats: through float, which holds them exactly; their nans by their own bits.
std::string half_text(float v, std::uint64_t bits, std::uint64_t default_nan) {
  if (v == v) return number(v);
  return bits == default_nan ? "nan" : "nan(" + hex(bits) + ")";
}

}  // namespace

ElementBits element_bits(const Tensor& t, std::size_t i) {
  const auto width = static_cast<std::size_t>(bit_width(t.dtype));
  const std::byte* data = t.data.data();
  ElementBits out;
  if (width < 8) {
    const std::size_t bit = i * width;
    const auto byte = std::to_integer<std::uint64_t>(data[bit / 8]);
    out.first = (byte >> (bit % 8)) & ((1u << width) - 1u);
  } else if (width == 128) {
    std::memcpy(&out.first, data + i * 16, 8);
    std::memcpy(&out.second, data + i * 16 + 8, 8);
  } else if (t.dtype == DType::C64) {
    std::memcpy(&out.first, data + i * 8, 4);
    std::memcpy(&out.second, data + i * 8 + 4, 4);
  } else {
    std::memcpy(&out.first, data + i * (width / 8), width / 8);
  }
  return out;
}

void set_element_bits(MutableTensor& t, DType dtype, std::size_t i, const ElementBits& bits) {
  const auto width = static_cast<std::size_t>(bit_width(dtype));
  std::byte* data = t.bytes().data();
  if (width < 8) {
    const std::size_t bit = i * width;
    data[bit / 8] |= static_cast<std::byte>((bits.first & ((1u << width) - 1u)) << (bit % 8));
  } else if (width == 128) {
    std::memcpy(data + i * 16, &bits.first, 8);
    std::memcpy(data + i * 16 + 8, &bits.second, 8);
  } else if (dtype == DType::C64) {
    std::memcpy(data + i * 8, &bits.first, 4);
    std::memcpy(data + i * 8 + 4, &bits.second, 4);
  } else {
    std::memcpy(data + i * (width / 8), &bits.first, width / 8);
  }
}

std::string element_text(DType dtype, const ElementBits& bits) {
  const auto f32 = [](std::uint64_t b) {
    return number(std::bit_cast<float>(static_cast<std::uint32_t>(b)));
  };
  const auto f64 = [](std::uint64_t b) { return number(std::bit_cast<double>(b)); };
  const auto bits16 = static_cast<std::uint16_t>(bits.first);
  if (is_raw(dtype)) return hex(bits.first);
  switch (dtype) {
    case DType::F32:
      return f32(bits.first);
    case DType::F64:
      return f64(bits.first);
    case DType::C64:
      return "(" + f32(bits.first) + "," + f32(bits.second) + ")";
    case DType::C128:
      return "(" + f64(bits.first) + "," + f64(bits.second) + ")";
    case DType::F16:
      return half_text(to_float(Half{bits16}), bits.first, 0x7e00);
    case DType::BF16:
      return half_text(to_float(BFloat16{bits16}), bits.first, 0x7fc0);
    default:
      break;
  }
  // Bool too: a byte other than 0 and 1 must survive.
  if (is_signed(dtype))
    return std::to_string(static_cast<std::int64_t>(sign_extended(bits.first, bit_width(dtype))));
  return std::to_string(bits.first);
}

}  // namespace atc::ir::text
