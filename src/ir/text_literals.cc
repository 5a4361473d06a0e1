#include "text_literals.h"

#include <bit>
#include <charconv>
#include <limits>

#include "atc/base/half.h"
#include "text_format.h"

namespace atc::ir::text {
namespace {

template <class T>
bool parse_number(std::string_view text, T& out, int base = 10) {
  std::from_chars_result r{};
  if constexpr (std::is_floating_point_v<T>)
    r = std::from_chars(text.data(), text.data() + text.size(), out);
  else
    r = std::from_chars(text.data(), text.data() + text.size(), out, base);
  return r.ec == std::errc() && r.ptr == text.data() + text.size();
}

std::uint64_t low_bits(int width) {
  return width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
}

}  // namespace

bool LiteralReader::fail(std::size_t offset, const std::string& what) {
  if (fault_.empty()) fault_ = lexer_.place(offset) + ": " + what;
  return false;
}

bool LiteralReader::unexpected(const std::string& what) {
  const Token& t = lexer_.peek();
  const std::string found = t.kind == TokenKind::End      ? "the end of the text"
                            : t.kind == TokenKind::String ? "a string"
                                                          : quoted(t.text.substr(0, 40));
  return fail(t.offset, "expected " + what + ", found " + found);
}

bool LiteralReader::at_punct(std::string_view text) const {
  return lexer_.peek().kind == TokenKind::Punct && lexer_.peek().text == text;
}
bool LiteralReader::at_word(std::string_view text) const {
  return lexer_.peek().kind == TokenKind::Word && lexer_.peek().text == text;
}
bool LiteralReader::accept(std::string_view punct) {
  if (!at_punct(punct)) return false;
  lexer_.take();
  return true;
}
bool LiteralReader::accept_word(std::string_view word) {
  if (!at_word(word)) return false;
  lexer_.take();
  return true;
}
bool LiteralReader::expect(std::string_view punct) { return accept(punct) || unexpected(quoted(punct)); }
bool LiteralReader::expect_word(std::string_view word) {
  return accept_word(word) || unexpected(quoted(word));
}

bool LiteralReader::read_string(std::string& out) {
  if (lexer_.peek().kind != TokenKind::String) return unexpected("a string");
  const Token t = lexer_.take();
  return unescape(t.text, out) || fail(t.offset, "bad escape in a string");
}

bool LiteralReader::read_name(std::string& out) {
  if (lexer_.peek().kind == TokenKind::String) return read_string(out);
  if (lexer_.peek().kind != TokenKind::Word) return unexpected("a name");
  out = lexer_.take().text;
  return true;
}

bool LiteralReader::read_int(std::int64_t& out) {
  if (lexer_.peek().kind != TokenKind::Number) return unexpected("an integer");
  const Token t = lexer_.take();
  return parse_number(t.text, out) || fail(t.offset, "not a 64-bit integer: " + quoted(t.text.substr(0, 40)));
}

bool LiteralReader::at_float() const {
  const Token& t = lexer_.peek();
  if (t.kind == TokenKind::Word) return t.text == "nan" || t.text == "inf";
  return t.kind == TokenKind::Number && !t.text.starts_with("0x") &&
         t.text.find_first_of(".ei") != std::string_view::npos;
}

bool LiteralReader::read_hex(std::uint64_t& out, int width) {
  const Token t = lexer_.peek();
  if (t.kind != TokenKind::Number || !t.text.starts_with("0x")) return unexpected("bits as 0x...");
  lexer_.take();
  if (!parse_number(t.text.substr(2), out, 16) || (out & ~low_bits(width)) != 0)
    return fail(t.offset, "not " + std::to_string(width) + " bits: " + quoted(t.text.substr(0, 40)));
  return true;
}

/// `width` is that of the stored type: the bits inside "nan(...)" are its own.
template <class Float, class Bits>
bool LiteralReader::read_float_bits(Bits& out, int width) {
  const bool narrow = width < static_cast<int>(sizeof(Float)) * 8;
  if (accept_word("nan")) {
    out = narrow ? Bits{0} : std::bit_cast<Bits>(std::numeric_limits<Float>::quiet_NaN());
    if (!accept("(")) return true;
    std::uint64_t bits = 0;
    const std::size_t offset = lexer_.peek().offset;
    if (!read_hex(bits, width) || !expect(")")) return false;
    if (!narrow) {
      out = static_cast<Bits>(bits);
      const Float v = std::bit_cast<Float>(out);
      return v != v || fail(offset, "these bits are not a nan");
    }
    out = static_cast<Bits>(bits);
    return true;
  }
  Float v = 0;
  if (accept_word("inf")) {
    v = std::numeric_limits<Float>::infinity();
  } else {
    if (lexer_.peek().kind != TokenKind::Number) return unexpected("a number");
    const Token t = lexer_.take();
    if (t.text == "-inf")
      v = -std::numeric_limits<Float>::infinity();
    else if (!parse_number(t.text, v))
      return fail(t.offset, "not a number that fits: " + quoted(t.text.substr(0, 40)));
  }
  out = std::bit_cast<Bits>(v);
  return true;
}

bool LiteralReader::read_float(float& out) {
  std::uint32_t bits = 0;
  if (!read_float_bits<float>(bits, 32)) return false;
  out = std::bit_cast<float>(bits);
  return true;
}

bool LiteralReader::read_integer_bits(DType dtype, std::uint64_t& out) {
  if (lexer_.peek().kind != TokenKind::Number) return unexpected("an integer");
  const Token t = lexer_.take();
  const int width = bit_width(dtype);
  bool fits = false;
  if (is_signed(dtype)) {
    std::int64_t v = 0;
    const std::int64_t limit = static_cast<std::int64_t>(low_bits(width - 1));
    fits = parse_number(t.text, v) && v <= limit && v >= -limit - 1;
    out = static_cast<std::uint64_t>(v) & low_bits(width);
  } else {
    fits = parse_number(t.text, out) && (out & ~low_bits(width)) == 0;
  }
  return fits || fail(t.offset,
                      "does not fit " + std::string(atc::name(dtype)) + ": " + quoted(t.text.substr(0, 40)));
}

bool LiteralReader::read_element(DType dtype, ElementBits& out) {
  const int width = bit_width(dtype);
  if (is_raw(dtype)) return read_hex(out.first, width);
  switch (dtype) {
    case DType::F32:
    case DType::C64: {
      std::uint32_t a = 0;
      std::uint32_t b = 0;
      if (dtype == DType::C64) {
        if (!expect("(") || !read_float_bits<float>(a, 32) || !expect(",") ||
            !read_float_bits<float>(b, 32) || !expect(")"))
          return false;
      } else if (!read_float_bits<float>(a, 32)) {
        return false;
      }
      out = {a, b};
      return true;
    }
    case DType::F64:
      return read_float_bits<double>(out.first, 64);
    case DType::C128:
      return expect("(") && read_float_bits<double>(out.first, 64) && expect(",") &&
             read_float_bits<double>(out.second, 64) && expect(")");
    case DType::F16:
    case DType::BF16: {
      const bool half = dtype == DType::F16;
      const bool nan = at_word("nan");
      std::uint32_t bits = 0;
      const std::size_t offset = lexer_.peek().offset;
      if (!read_float_bits<float>(bits, 16)) return false;
      if (nan) {
        if (bits == 0) bits = half ? 0x7e00 : 0x7fc0;
        const auto b16 = static_cast<std::uint16_t>(bits);
        const float v = half ? to_float(Half{b16}) : to_float(BFloat16{b16});
        out.first = bits;
        return v != v || fail(offset, "these bits are not a nan");
      }
      const float v = std::bit_cast<float>(bits);
      out.first = half ? to_half(v).bits : to_bfloat16(v).bits;
      return true;
    }
    default:
      return read_integer_bits(dtype, out.first);
  }
}

bool LiteralReader::read_shape(TensorType& out) {
  if (!expect("[")) return false;
  if (accept("*")) return expect("]");
  out.shape.emplace();
  if (accept("]")) return true;
  do {
    Dim d;
    if (lexer_.peek().kind == TokenKind::Number) {
      const std::size_t offset = lexer_.peek().offset;
      if (!read_int(d.value)) return false;
      if (d.value < 0) return fail(offset, "a dim is negative");
    } else if (!read_name(d.symbol)) {
      return false;
    }
    out.shape->push_back(std::move(d));
  } while (accept(","));
  return expect("]");
}

bool LiteralReader::read_type(TensorType& out) {
  if (lexer_.peek().kind != TokenKind::Word) return unexpected("a type");
  const Token t = lexer_.take();
  if (t.text != "?") {
    const auto dtype = dtype_from_name(t.text);
    if (!dtype) return fail(t.offset, "no such element type: " + quoted(t.text.substr(0, 40)));
    out.dtype = *dtype;
  }
  if (!read_shape(out)) return false;
  if (lexer_.peek().kind == TokenKind::Word) {
    if (const auto format = format_from_name(lexer_.peek().text)) {
      out.format = *format;
      lexer_.take();
    }
  }
  return true;
}

bool LiteralReader::read_tensor(Tensor& out) {
  const std::size_t offset = lexer_.peek().offset;
  TensorType type;
  if (!read_type(type)) return false;
  if (!type.is_static() || type.format != Format::ND)
    return fail(offset, "a tensor literal needs plain dims");
  out.dtype = type.dtype;
  out.shape = type.dims();
  const std::int64_t count = out.count();
  // Room for the bits too: no dtype is wider than 16 bytes.
  if (count < 0 || count > (std::int64_t{1} << 58)) return fail(offset, "the tensor is too large");
  if (at_word("hash")) return fail(offset, "the constant's elements are not in the text, only their hash");
  if (at_word("splat")) return read_splat(out, static_cast<std::size_t>(count));
  return read_elements(out, static_cast<std::size_t>(count));
}

bool LiteralReader::read_splat(Tensor& out, std::size_t count) {
  const Token t = lexer_.take();
  if (out.dtype == DType::Undefined) return fail(t.offset, "a splat needs an element type");
  std::string text;
  ElementBits bits;
  const bool strings = out.dtype == DType::String;
  if (strings ? !read_string(text) : !read_element(out.dtype, bits)) return false;
  // Each factor is below 2^58 and 2^63 by far: check before multiplying all the same.
  if (count > kMaxSplatBytes || splat_bytes(out.dtype, count, text.size()) > kMaxSplatBytes - splat_bytes_)
    return fail(t.offset, "splats of more than " + std::to_string(kMaxSplatBytes) + " bytes in one text");
  splat_bytes_ += splat_bytes(out.dtype, count, text.size());
  if (strings) {
    out.strings.assign(count, text);
    return true;
  }
  MutableTensor filled(out.dtype, out.shape);
  for (std::size_t i = 0; i < count; ++i) set_element_bits(filled, out.dtype, i, bits);
  out = std::move(filled).freeze();
  return true;
}

bool LiteralReader::read_strings(Tensor& out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 0 && !expect(",")) return false;
    if (!read_string(out.strings.emplace_back())) return false;
  }
  return expect("}");
}

bool LiteralReader::read_elements(Tensor& out, std::size_t count) {
  const std::size_t offset = lexer_.peek().offset;
  if (!expect("{")) return false;
  if (out.dtype == DType::Undefined) return expect("}");
  // An element takes at least one character: refuse before making room.
  if (count > lexer_.remaining()) return fail(offset, "the list is shorter than the shape says");
  if (out.dtype == DType::String) return read_strings(out, count);
  MutableTensor filled(out.dtype, out.shape);
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 0 && !expect(",")) return false;
    ElementBits bits;
    if (!read_element(out.dtype, bits)) return false;
    set_element_bits(filled, out.dtype, i, bits);
  }
  out = std::move(filled).freeze();
  return expect("}");
}

}  // namespace atc::ir::text
