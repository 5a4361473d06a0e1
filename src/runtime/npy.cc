#include "runtime/npy.h"

#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "atc/base/strings.h"

namespace atc::runtime {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

Status malformed(const std::string& what) {
  return Status::error("E13005", "not a valid .npy file: " + what);
}

struct Kind {
  DType dtype;
  std::string_view code;  // NumPy's, without byte order
};
constexpr std::array kKinds = {Kind{DType::Bool, "b1"}, Kind{DType::I8, "i1"},   Kind{DType::U8, "u1"},
                               Kind{DType::I16, "i2"},  Kind{DType::U16, "u2"},  Kind{DType::I32, "i4"},
                               Kind{DType::U32, "u4"},  Kind{DType::I64, "i8"},  Kind{DType::U64, "u8"},
                               Kind{DType::F16, "f2"},  Kind{DType::F32, "f4"},  Kind{DType::F64, "f8"},
                               Kind{DType::C64, "c8"},  Kind{DType::C128, "c16"}};

/// The Python dictionary of a header. Values are kept as text.
struct Header {
  std::string descr;
  bool fortran = false;
  Dims shape;
};

class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : left_(text) {}

  std::optional<Header> parse() {
    Header h;
    int seen = 0;
    if (!eat('{')) return std::nullopt;
    while (!eat('}')) {
      std::string key;
      if (!string(key) || !eat(':')) return std::nullopt;
      bool good = false;
      if (key == "descr") {
        good = string(h.descr);
        seen |= 1;
      } else if (key == "fortran_order") {
        good = boolean(h.fortran);
        seen |= 2;
      } else if (key == "shape") {
        good = tuple(h.shape);
        seen |= 4;
      }
      if (!good) return std::nullopt;
      if (!eat(',') && peek() != '}') return std::nullopt;
    }
    return seen == 7 ? std::optional(std::move(h)) : std::nullopt;
  }

 private:
  void skip_space() {
    while (!left_.empty() && (left_[0] == ' ' || left_[0] == '\n')) left_.remove_prefix(1);
  }
  char peek() {
    skip_space();
    return left_.empty() ? '\0' : left_[0];
  }
  bool eat(char c) {
    if (peek() != c) return false;
    left_.remove_prefix(1);
    return true;
  }
  bool string(std::string& out) {
    const char quote = peek();
    if (quote != '\'' && quote != '"') return false;
    const std::size_t end = left_.find(quote, 1);
    if (end == std::string_view::npos) return false;
    out = left_.substr(1, end - 1);
    left_.remove_prefix(end + 1);
    return true;
  }
  bool boolean(bool& out) {
    skip_space();
    out = left_.starts_with("True");
    if (!out && !left_.starts_with("False")) return false;
    left_.remove_prefix(out ? 4 : 5);
    return true;
  }
  bool tuple(Dims& out) {
    if (!eat('(')) return false;
    while (!eat(')')) {
      skip_space();
      std::int64_t dim = 0;
      const auto [end, error] = std::from_chars(left_.data(), left_.data() + left_.size(), dim);
      if (error != std::errc() || dim < 0) return false;
      left_.remove_prefix(static_cast<std::size_t>(end - left_.data()));
      if (peek() == 'L') left_.remove_prefix(1);  // Python 2 wrote long integers so
      out.push_back(dim);
      if (!eat(',') && peek() != ')') return false;
    }
    return true;
  }

  std::string_view left_;
};

/// "<f4" to a dtype; raw records to `wanted` where the width fits.
std::optional<DType> dtype_of(std::string_view code, DType wanted) {
  if (code == "V1" || code == "V2")
    return bit_width(wanted) == (code == "V1" ? 8 : 16) ? std::optional(wanted) : std::nullopt;
  if (code == "?") return DType::Bool;
  for (const Kind& k : kKinds)
    if (k.code == code) return k.dtype;
  return std::nullopt;
}

Bytes swapped(std::span<const std::byte> data, std::size_t width) {
  MutableBytes out(data.size());
  for (std::size_t at = 0; at + width <= data.size(); at += width)
    for (std::size_t i = 0; i < width; ++i) out.data()[at + i] = data[at + width - 1 - i];
  return std::move(out).freeze();
}

Bytes aligned(const Bytes& file, std::span<const std::byte> part) {
  if (reinterpret_cast<std::uintptr_t>(part.data()) % 64 != 0) return Bytes::copy_of(part);
  return file.subspan(static_cast<std::size_t>(part.data() - file.data()), part.size());
}

}  // namespace

StatusOr<Tensor> decode_npy(const Bytes& file, DType wanted) {
  const std::span<const std::byte> all = file.span();
  const std::string_view text(reinterpret_cast<const char*>(all.data()), all.size());
  if (!text.starts_with(kMagic) || all.size() < 10) return malformed("it does not begin with \\x93NUMPY");
  const int major = std::to_integer<int>(all[6]);
  if (major < 1 || major > 3) return malformed("format version " + std::to_string(major) + " is not known");
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t head = 8 + length_bytes;
  if (all.size() < head) return malformed("the header is cut off");
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i)
    length |= std::to_integer<std::size_t>(all[8 + i]) << (8 * i);
  if (length > all.size() - head) return malformed("the header is cut off");

  const std::optional<Header> header = HeaderParser(text.substr(head, length)).parse();
  if (!header) return malformed("the header is not a dictionary of descr, fortran_order and shape");
  if (header->fortran && header->shape.size() > 1)
    return Status::error("E13005", "the .npy file is in Fortran order")
        .solution("Save it in C order: numpy.save(file, numpy.ascontiguousarray(array)).");
  const std::string_view descr = header->descr;
  const bool has_order = !descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos;
  const std::string_view code = has_order ? descr.substr(1) : descr;
  const std::optional<DType> dtype = dtype_of(code, wanted);
  if (!dtype) return malformed("element type '" + header->descr + "' is not supported here");

  const std::int64_t count = element_count(header->shape);
  const std::span<const std::byte> data = all.subspan(head + length);
  const std::size_t width = static_cast<std::size_t>(bit_width(*dtype)) / 8;
  if (count < 0 || static_cast<std::uint64_t>(count) != data.size() / width || data.size() % width != 0)
    return malformed("shape [" + to_string(header->shape) + "] of " + header->descr +
                     " does not fit its data of " + std::to_string(data.size()) + " bytes");

  const bool big_endian = descr.starts_with('>') && width > 1;
  const bool is_complex = *dtype == DType::C64 || *dtype == DType::C128;
  Tensor t;
  t.dtype = *dtype;
  t.shape = header->shape;
  t.data = big_endian ? swapped(data, is_complex ? width / 2 : width) : aligned(file, data);
  if (is_integer(wanted) && bit_width(wanted) < 8 && bit_width(*dtype) == 8 && is_integer(*dtype))
    return from_int64s(wanted, t.shape, to_int64s(t));
  return t;
}

Tensor npy_form(const Tensor& tensor) {
  const int bits = bit_width(tensor.dtype);
  if (bits >= 8 || bits == 0) return tensor;
  if (is_float(tensor.dtype)) return from_doubles(DType::F32, tensor.shape, to_doubles(tensor));
  return from_int64s(is_signed(tensor.dtype) ? DType::I8 : DType::U8, tensor.shape, to_int64s(tensor));
}

StatusOr<std::string> encode_npy_head(const Tensor& tensor) {
  if (tensor.dtype == DType::String)
    return Status::error("E10055", "a string tensor cannot be written as .npy")
        .solution("Use --outfmt TXT or PB.");
  const Tensor form = npy_form(tensor);
  const int bits = bit_width(form.dtype);
  std::string code = bits == 8 ? "V1" : "V2";
  for (const Kind& k : kKinds)
    if (k.dtype == form.dtype) code = k.code;
  std::string shape;
  for (const std::int64_t d : form.shape) shape += std::to_string(d) + ", ";
  if (form.shape.size() > 1) shape.resize(shape.size() - 2);  // one element keeps its comma: (3,)
  if (form.shape.size() == 1) shape.pop_back();
  std::string dict = "{'descr': '" + std::string(bits == 8 || code[0] == 'V' ? "|" : "<") + code +
                     "', 'fortran_order': False, 'shape': (" + shape + "), }";
  const bool v2 = dict.size() + 64 > 0xffff;
  const std::size_t head = kMagic.size() + 2 + (v2 ? 4 : 2);
  const std::size_t total = (head + dict.size() + 1 + 63) / 64 * 64;  // data starts 64-byte aligned
  dict.append(total - head - dict.size() - 1, ' ');
  dict.push_back('\n');
  std::string out(kMagic);
  out.push_back(v2 ? '\2' : '\1');
  out.push_back('\0');
  for (std::size_t i = 0; i < (v2 ? 4U : 2U); ++i) out.push_back(static_cast<char>(dict.size() >> (8 * i)));
  return out + dict;
}

}  // namespace atc::runtime
