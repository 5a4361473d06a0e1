// Elements of any numeric dtype as double or int64, and back.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "atc/base/half.h"
#include "atc/base/tensor.h"
#include "base/small_float.h"

namespace atc {
namespace {

/// C++ type whose array is the tensor's data, for dtypes that have one.
template <class T>
struct Tag {
  using Type = T;
};

/// Calls f with the Tag of the storage type; false for packed, small-float and non-numeric dtypes.
template <class F>
bool with_storage(DType dtype, const F& f) {
  switch (dtype) {
    case DType::F32:
      return f(Tag<float>{}), true;
    case DType::F64:
      return f(Tag<double>{}), true;
    case DType::F16:
      return f(Tag<Half>{}), true;
    case DType::BF16:
      return f(Tag<BFloat16>{}), true;
    case DType::U8:
      return f(Tag<std::uint8_t>{}), true;
    case DType::I8:
      return f(Tag<std::int8_t>{}), true;
    case DType::U16:
      return f(Tag<std::uint16_t>{}), true;
    case DType::I16:
      return f(Tag<std::int16_t>{}), true;
    case DType::I32:
      return f(Tag<std::int32_t>{}), true;
    case DType::U32:
      return f(Tag<std::uint32_t>{}), true;
    case DType::I64:
      return f(Tag<std::int64_t>{}), true;
    case DType::U64:
      return f(Tag<std::uint64_t>{}), true;
    case DType::Bool:
      return f(Tag<bool>{}), true;
    default:
      return false;
  }
}

bool is_small_float(DType t) { return is_float(t) && bit_width(t) <= 8; }
bool is_packed_integer(DType t) { return is_integer(t) && bit_width(t) < 8; }

template <class T>
T load(const std::byte* data, std::size_t i) {
  if constexpr (std::is_same_v<T, bool>) {
    return data[i] != std::byte{0};  // any non-zero byte of a model file is true
  } else {
    T v;
    std::memcpy(&v, data + i * sizeof(T), sizeof(T));
    return v;
  }
}

std::uint8_t load_packed(const std::byte* data, std::size_t i, int bits) {
  const auto per_byte = static_cast<std::size_t>(8 / bits);
  const auto byte = std::to_integer<unsigned>(data[i / per_byte]);
  return static_cast<std::uint8_t>((byte >> (i % per_byte * static_cast<std::size_t>(bits))) &
                                   ((1U << bits) - 1U));
}

void store_packed(std::byte* data, std::size_t i, int bits, std::uint64_t code) {
  const auto per_byte = static_cast<std::size_t>(8 / bits);
  const auto shifted = (code & ((1U << bits) - 1U)) << (i % per_byte * static_cast<std::size_t>(bits));
  data[i / per_byte] |= static_cast<std::byte>(shifted);  // blocks begin as zeros
}

std::int64_t extended(std::uint8_t code, DType dtype) {
  const int bits = bit_width(dtype);
  const bool negative = is_signed(dtype) && ((code >> (bits - 1)) & 1) != 0;
  return negative ? std::int64_t{code} - (1 << bits) : std::int64_t{code};
}

template <class T>
double as_double(T v) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return static_cast<double>(to_float(v));
  else
    return static_cast<double>(v);
}

/// Toward zero; NaN is 0, beyond the range is the nearest end.
std::int64_t truncated(double v) {
  if (std::isnan(v)) return 0;
  if (v >= 0x1p63) return std::numeric_limits<std::int64_t>::max();
  if (v < -0x1p63) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(v);
}

/// To nearest even, modulo 2^64; NaN and infinities are 0.
std::uint64_t wrapped(double v) {
  if (!std::isfinite(v)) return 0;
  const double whole = std::fmod(std::nearbyint(v), 0x1p64);
  const auto mag = static_cast<std::uint64_t>(std::fabs(whole));
  return whole < 0 ? std::uint64_t{0} - mag : mag;
}

/// A double that rounds to any narrower type as `v` does: bits that do not fit are or-ed into the last.
double sticky_double(std::int64_t v) {
  std::uint64_t mag =
      v < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v);
  if (const int excess = 64 - std::countl_zero(mag) - 53; excess > 0) {
    const std::uint64_t lost = mag & ((std::uint64_t{1} << excess) - 1);
    mag = (mag >> excess | (lost != 0 ? 1U : 0U)) << excess;
  }
  return v < 0 ? -static_cast<double>(mag) : static_cast<double>(mag);
}

template <class T>
T from_double(double v) {
  if constexpr (std::is_same_v<T, Half>)
    return to_half(v);
  else if constexpr (std::is_same_v<T, BFloat16>)
    return to_bfloat16(v);
  else if constexpr (std::is_same_v<T, bool>)
    return v != 0;
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(v);
  else
    return static_cast<T>(wrapped(v));
}

template <class T>
T from_int64(std::int64_t v) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return from_double<T>(sticky_double(v));
  else if constexpr (std::is_same_v<T, bool>)
    return v != 0;
  else
    return static_cast<T>(v);
}

std::uint8_t small_code(DType dtype, double v) {
  return dtype == DType::F8E8M0 ? encode_e8m0(v) : encode_small_float(dtype, v);
}

std::size_t checked_count(const Tensor& t) {
  const std::int64_t count = t.count();
  ATC_CHECK(count >= 0 && t.data.size() >= t.byte_size(), "tensor data shorter than its shape");
  return static_cast<std::size_t>(count);
}

[[noreturn]] void not_numeric(DType dtype) {
  internal_error(__FILE__, __LINE__, "not a numeric dtype: " + std::string(name(dtype)));
}

}  // namespace

std::vector<double> to_doubles(const Tensor& t) {
  const std::size_t n = checked_count(t);
  const std::byte* data = t.data.data();
  std::vector<double> out(n);
  const bool plain = with_storage(t.dtype, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    for (std::size_t i = 0; i < n; ++i) out[i] = as_double(load<T>(data, i));
  });
  if (plain) return out;
  const int bits = bit_width(t.dtype);
  if (is_small_float(t.dtype))
    for (std::size_t i = 0; i < n; ++i) out[i] = decode_small_float(t.dtype, load_packed(data, i, bits));
  else if (is_packed_integer(t.dtype))
    for (std::size_t i = 0; i < n; ++i)
      out[i] = static_cast<double>(extended(load_packed(data, i, bits), t.dtype));
  else
    not_numeric(t.dtype);
  return out;
}

std::vector<std::int64_t> to_int64s(const Tensor& t) {
  const std::size_t n = checked_count(t);
  const std::byte* data = t.data.data();
  std::vector<std::int64_t> out(n);
  const bool plain = with_storage(t.dtype, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    for (std::size_t i = 0; i < n; ++i) {
      if constexpr (std::is_integral_v<T>)
        out[i] = static_cast<std::int64_t>(load<T>(data, i));  // NOLINT(bugprone-signed-char-misuse)
      else
        out[i] = truncated(as_double(load<T>(data, i)));
    }
  });
  if (plain) return out;
  const int bits = bit_width(t.dtype);
  if (is_small_float(t.dtype))
    for (std::size_t i = 0; i < n; ++i)
      out[i] = truncated(decode_small_float(t.dtype, load_packed(data, i, bits)));
  else if (is_packed_integer(t.dtype))
    for (std::size_t i = 0; i < n; ++i) out[i] = extended(load_packed(data, i, bits), t.dtype);
  else
    not_numeric(t.dtype);
  return out;
}

Tensor from_doubles(DType dtype, Dims shape, std::span<const double> values) {
  MutableTensor out(dtype, std::move(shape));
  ATC_CHECK(static_cast<std::size_t>(element_count(out.shape())) == values.size(),
            "from_doubles: count and shape differ");
  std::byte* data = out.bytes().data();
  const bool plain = with_storage(dtype, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const T v = from_double<T>(values[i]);
      std::memcpy(data + i * sizeof(T), &v, sizeof(T));
    }
  });
  if (plain) return std::move(out).freeze();
  const int bits = bit_width(dtype);
  if (is_small_float(dtype))
    for (std::size_t i = 0; i < values.size(); ++i) store_packed(data, i, bits, small_code(dtype, values[i]));
  else if (is_packed_integer(dtype))
    for (std::size_t i = 0; i < values.size(); ++i) store_packed(data, i, bits, wrapped(values[i]));
  else
    not_numeric(dtype);
  return std::move(out).freeze();
}

Tensor from_int64s(DType dtype, Dims shape, std::span<const std::int64_t> values) {
  MutableTensor out(dtype, std::move(shape));
  ATC_CHECK(static_cast<std::size_t>(element_count(out.shape())) == values.size(),
            "from_int64s: count and shape differ");
  std::byte* data = out.bytes().data();
  const bool plain = with_storage(dtype, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const T v = from_int64<T>(values[i]);
      std::memcpy(data + i * sizeof(T), &v, sizeof(T));
    }
  });
  if (plain) return std::move(out).freeze();
  const int bits = bit_width(dtype);
  if (is_small_float(dtype))
    for (std::size_t i = 0; i < values.size(); ++i)
      store_packed(data, i, bits, small_code(dtype, sticky_double(values[i])));
  else if (is_packed_integer(dtype))
    for (std::size_t i = 0; i < values.size(); ++i)
      store_packed(data, i, bits, static_cast<std::uint64_t>(values[i]));
  else
    not_numeric(dtype);
  return std::move(out).freeze();
}

Tensor scalar_tensor(DType dtype, double value) { return from_doubles(dtype, {}, {&value, 1}); }

}  // namespace atc
