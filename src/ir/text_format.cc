#include "text_format.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>

namespace atc::ir::text {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

template <class Float, class Bits>
std::string float_text(Float v, Bits default_nan) {
  if (std::isnan(v)) {
    const Bits bits = std::bit_cast<Bits>(v);
    if (bits == default_nan) return "nan";
    std::array<char, 24> hex{};
    const auto end = std::to_chars(hex.data(), hex.data() + hex.size(), bits, 16).ptr;
    return "nan(0x" + std::string(hex.data(), end) + ")";
  }
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  std::array<char, 64> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), v).ptr;
  std::string out(buffer.data(), end);
  // A float is told from an integer by its point or exponent.
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

}  // namespace

bool is_identifier(std::string_view text) {
  if (text.empty()) return false;
  if (text[0] == '?' ? text.size() < 2 : !is_letter(text[0])) return false;
  for (char c : text.substr(1))
    if (!is_letter(c) && !is_digit(c) && c != '.') return false;
  return text != "_";
}

std::string quoted(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
  return out;
}

std::string word(std::string_view text) { return is_identifier(text) ? std::string(text) : quoted(text); }

std::string number(float v) { return float_text<float, std::uint32_t>(v, 0x7fc00000u); }
std::string number(double v) { return float_text<double, std::uint64_t>(v, 0x7ff8000000000000u); }

std::string type(const TensorType& t) {
  std::string out(t.dtype == DType::Undefined ? std::string_view("?") : atc::name(t.dtype));
  out += '[';
  if (!t.shape) {
    out += '*';
  } else {
    for (std::size_t i = 0; i < t.shape->size(); ++i) {
      if (i != 0) out += ',';
      const Dim& d = (*t.shape)[i];
      out += d.known() ? std::to_string(d.value) : word(d.symbol);
    }
  }
  out += ']';
  if (t.format != Format::ND) {
    out += ' ';
    out += name(t.format);
  }
  return out;
}

std::size_t splat_bytes(DType dtype, std::size_t count, std::size_t string_size) {
  if (dtype != DType::String) return byte_size(dtype, count);
  return count * (sizeof(std::string) + string_size);
}

bool is_raw(DType dtype) {
  switch (dtype) {
    case DType::F8E4M3FN:
    case DType::F8E4M3FNUZ:
    case DType::F8E5M2:
    case DType::F8E5M2FNUZ:
    case DType::F8E8M0:
    case DType::F4E2M1:
      return true;
    default:
      return false;
  }
}

}  // namespace atc::ir::text
