#include "atc/ir/type.h"

#include <algorithm>
#include <array>
#include <utility>

#include "atc/base/check.h"
#include "atc/base/math.h"

namespace atc::ir {
namespace {

constexpr std::array<std::pair<Format, std::string_view>, 6> kFormatNames = {{
    {Format::ND, "ND"},
    {Format::NC1HWC0, "NC1HWC0"},
    {Format::FRACTAL_Z, "FRACTAL_Z"},
    {Format::FRACTAL_NZ, "FRACTAL_NZ"},
    {Format::NC1HWC0_C04, "NC1HWC0_C04"},
    {Format::FRACTAL_Z_C04, "FRACTAL_Z_C04"},
}};

/// Rows of one fractal.
constexpr std::int64_t kFractalRows = 16;
/// Channels in a block of the _C04 formats.
constexpr std::int64_t kSmallBlock = 4;

// ceil_div on sizes from a file could overflow in a + b - 1.
std::int64_t blocks(std::int64_t n, std::int64_t block) { return n / block + (n % block != 0 ? 1 : 0); }

}  // namespace

std::string_view name(Format f) {
  for (const auto& [format, text] : kFormatNames)
    if (format == f) return text;
  internal_error(__FILE__, __LINE__, "unknown storage format");
}

std::optional<Format> format_from_name(std::string_view name) {
  for (const auto& [format, text] : kFormatNames)
    if (text == name) return format;
  return std::nullopt;
}

std::int64_t c0_of(DType dtype) { return dtype == DType::I8 || dtype == DType::U8 ? 32 : 16; }

std::int64_t c0_of(Format format, DType dtype) {
  return format == Format::NC1HWC0_C04 ? kSmallBlock : c0_of(dtype);
}

Dims storage_dims(Format format, DType dtype, const Dims& dims) {
  const std::int64_t c0 = c0_of(format, dtype);
  const std::size_t rank = dims.size();
  switch (format) {
    case Format::ND:
      return dims;
    case Format::NC1HWC0:
    case Format::NC1HWC0_C04: {
      ATC_CHECK(rank >= 3,
                std::string(name(format)) + " needs rank >= 3, dims are [" + atc::to_string(dims) + "]");
      Dims out = dims;
      out[1] = blocks(dims[1], c0);
      out.push_back(c0);
      return out;
    }
    case Format::FRACTAL_Z: {
      // Logical O, I, spatial... -> I1 * spatial, O1, 16, C0.
      ATC_CHECK(rank >= 2, "FRACTAL_Z needs rank >= 2, dims are [" + atc::to_string(dims) + "]");
      std::int64_t rows = blocks(dims[1], c0);
      for (std::size_t i = 2; i < rank; ++i) {
        const auto product = checked_mul(rows, dims[i]);
        ATC_CHECK(product.has_value(), "FRACTAL_Z: size of [" + atc::to_string(dims) + "] overflows");
        rows = *product;
      }
      return {rows, blocks(dims[0], kFractalRows), kFractalRows, c0};
    }
    case Format::FRACTAL_Z_C04: {
      // Logical O, I, spatial...: taps of one depth side by side, four lanes of I each.
      ATC_CHECK(rank >= 3, "FRACTAL_Z_C04 needs rank >= 3, dims are [" + atc::to_string(dims) + "]");
      std::int64_t lanes = kSmallBlock;
      for (std::size_t i = std::max<std::size_t>(2, rank - 2); i < rank; ++i) {
        const auto product = checked_mul(lanes, dims[i]);
        ATC_CHECK(product.has_value(), "FRACTAL_Z_C04: size of [" + atc::to_string(dims) + "] overflows");
        lanes = *product;
      }
      const auto rows = checked_mul(blocks(lanes, c0), rank == 5 ? dims[2] : 1);
      ATC_CHECK(rows.has_value(), "FRACTAL_Z_C04: size of [" + atc::to_string(dims) + "] overflows");
      return {*rows, blocks(dims[0], kFractalRows), kFractalRows, c0};
    }
    case Format::FRACTAL_NZ: {
      ATC_CHECK(rank >= 2, "FRACTAL_NZ needs rank >= 2, dims are [" + atc::to_string(dims) + "]");
      Dims out(dims.begin(), dims.end() - 2);
      out.push_back(blocks(dims[rank - 1], c0));
      out.push_back(blocks(dims[rank - 2], kFractalRows));
      out.push_back(kFractalRows);
      out.push_back(c0);
      return out;
    }
  }
  internal_error(__FILE__, __LINE__, "unknown storage format");
}

TensorType tensor_type(DType dtype, const Dims& dims, Format format) {
  return TensorType{dtype, to_shape(dims), format};
}

std::string to_string(const TensorType& type) {
  std::string out(type.dtype == DType::Undefined ? std::string_view("?") : atc::name(type.dtype));
  out += '[';
  out += type.shape ? to_string(*type.shape) : "*";
  out += ']';
  if (type.format != Format::ND) {
    out += ' ';
    out += name(type.format);
  }
  return out;
}

}  // namespace atc::ir
