#include "ops/cast_elements.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "ops/integer_math.h"
#include "ops/reference_util.h"

namespace atc::ops {
namespace {

bool is_small_float(DType t) {
  switch (t) {
    case DType::F8E4M3FN:
    case DType::F8E4M3FNUZ:
    case DType::F8E5M2:
    case DType::F8E5M2FNUZ:
    case DType::F4E2M1:
    case DType::F8E8M0:
      return true;
    default:
      return false;
  }
}

/// The value to encode: a finite one out of range where an infinity is to saturate like it.
double saturable(double v, DType to, const CastOptions& options) {
  const bool fnuz = to == DType::F8E4M3FNUZ || to == DType::F8E5M2FNUZ;
  if (!fnuz || !options.saturate_fnuz_infinity || options.overflow != Overflow::Saturate || !std::isinf(v))
    return v;
  return std::copysign(std::numeric_limits<double>::max(), v);
}

Tensor doubles_to_small_float(const std::vector<double>& values, const Dims& shape, DType to,
                              const CastOptions& options) {
  MutableTensor y(to, shape);
  auto bytes = y.bytes();
  const std::size_t bits = static_cast<std::size_t>(bit_width(to));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const unsigned code = to == DType::F8E8M0
                              ? encode_e8m0(values[i], options.round, options.overflow)
                              : encode_small_float(to, saturable(values[i], to, options), options.overflow);
    std::byte& target = bytes[i * bits / 8];
    target |= static_cast<std::byte>(code << (i * bits % 8));
  }
  return std::move(y).freeze();
}

Tensor doubles_to(const std::vector<double>& values, const Dims& shape, DType to,
                  const CastOptions& options) {
  if (is_small_float(to)) return doubles_to_small_float(values, shape, to, options);
  if (!dispatchable(to)) {  // packed integers
    std::vector<std::int64_t> whole;
    for (double v : values) whole.push_back(double_to<std::int64_t>(v));
    return from_int64s(to, shape, whole);
  }
  MutableTensor y(to, shape);
  dispatch(to, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::ranges::transform(values, y.as<T>().begin(), double_to<T>);
  });
  return std::move(y).freeze();
}

/// From bool and integers: integer targets wrap exactly, float targets round once.
Tensor integers_to(const Tensor& x, DType to, const CastOptions& options) {
  const std::vector<std::int64_t> values = to_int64s(x);
  const bool is_u64 = x.dtype == DType::U64;
  auto real = [is_u64](std::int64_t v) {
    return is_u64 ? static_cast<double>(static_cast<std::uint64_t>(v)) : static_cast<double>(v);
  };
  if (to == DType::F32) {  // not through double, which would round 64-bit integers twice
    MutableTensor y(to, x.shape);
    std::ranges::transform(values, y.as<float>().begin(), [is_u64](std::int64_t v) {
      return is_u64 ? static_cast<float>(static_cast<std::uint64_t>(v)) : static_cast<float>(v);
    });
    return std::move(y).freeze();
  }
  if (is_float(to)) {
    std::vector<double> reals;
    for (std::int64_t v : values) reals.push_back(real(v));
    return doubles_to(reals, x.shape, to, options);
  }
  if (!dispatchable(to)) return from_int64s(to, x.shape, values);
  MutableTensor y(to, x.shape);
  dispatch(to, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::ranges::transform(values, y.as<T>().begin(), [](std::int64_t v) {
      if constexpr (kIsFloating<T>)
        return narrow<T>(static_cast<double>(v));
      else if constexpr (std::is_same_v<T, Bool8>)
        return Bool8(v != 0);
      else
        return static_cast<T>(v);
    });
  });
  return std::move(y).freeze();
}

template <class T>
std::string number_text(T v) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(v)) return "NaN";
    if (std::isinf(v)) return v > 0 ? "INF" : "-INF";
  }
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, v).ptr;
  return {text, end};
}

/// Shortest decimal text that reads back as the same element of its own type.
Tensor to_strings(const Tensor& x) {
  Tensor y;
  y.dtype = DType::String;
  y.shape = x.shape;
  if (x.dtype == DType::F32)
    for (float v : x.as<float>()) y.strings.push_back(number_text(v));
  else if (is_float(x.dtype))
    for (double v : to_doubles(x)) y.strings.push_back(number_text(v));
  else if (x.dtype == DType::U64)
    for (std::uint64_t v : x.as<std::uint64_t>()) y.strings.push_back(number_text(v));
  else
    for (std::int64_t v : to_int64s(x)) y.strings.push_back(number_text(v));
  return y;
}

std::optional<double> parse_real(std::string text, DType to) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (text.starts_with('+')) text.erase(0, 1);
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf" || text == "infinity") return std::numeric_limits<double>::infinity();
  if (text == "-inf" || text == "-infinity") return -std::numeric_limits<double>::infinity();
  const char* end = text.data() + text.size();
  double wide = 0;
  float single = 0;  // an f32 target is rounded once, from the text
  const auto result =
      to == DType::F32 ? std::from_chars(text.data(), end, single) : std::from_chars(text.data(), end, wide);
  const bool overflow = result.ec == std::errc::result_out_of_range;
  if ((result.ec != std::errc() && !overflow) || result.ptr != end) return std::nullopt;
  if (overflow) return std::strtod(text.c_str(), nullptr);
  return to == DType::F32 ? static_cast<double>(single) : wide;
}

std::optional<std::uint64_t> parse_integer(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const char* end = text.data() + text.size();
  std::int64_t value = 0;
  if (auto r = std::from_chars(text.data(), end, value); r.ec == std::errc() && r.ptr == end)
    return static_cast<std::uint64_t>(value);
  std::uint64_t large = 0;
  if (auto r = std::from_chars(text.data(), end, large); r.ec == std::errc() && r.ptr == end) return large;
  return std::nullopt;
}

Status not_a_number(const std::string& text, DType to) {
  return Status::error("E16006",
                       "the string '" + text + "' is not a number of type " + std::string(name(to)));
}

StatusOr<Tensor> strings_to(const Tensor& x, DType to, const CastOptions& options) {
  if (is_integer(to)) {
    std::vector<std::int64_t> values;
    for (const std::string& text : x.strings) {
      const auto v = parse_integer(text);
      if (!v) return not_a_number(text, to);
      values.push_back(static_cast<std::int64_t>(*v));
    }
    return from_int64s(to, x.shape, values);
  }
  std::vector<double> values;
  for (const std::string& text : x.strings) {
    const auto v = parse_real(text, to);
    if (!v) return not_a_number(text, to);
    values.push_back(*v);
  }
  return doubles_to(values, x.shape, to, options);
}

}  // namespace

StatusOr<Tensor> cast_elements(const Tensor& x, DType to, const CastOptions& options) {
  if (x.dtype == to) return x;
  if (x.dtype == DType::String) return strings_to(x, to, options);
  if (to == DType::String) return to_strings(x);
  if (is_float(x.dtype)) return doubles_to(to_doubles(x), x.shape, to, options);
  return integers_to(x, to, options);
}

}  // namespace atc::ops
