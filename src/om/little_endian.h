#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>

namespace atc::om {

/// Appends `value` to `out`, least significant byte first.
template <class T>
void put(std::string& out, T value) {
  auto bits = static_cast<std::uint64_t>(static_cast<std::make_unsigned_t<T>>(value));
  for (std::size_t i = 0; i < sizeof(T); ++i, bits >>= 8) out.push_back(static_cast<char>(bits & 0xFF));
}

/// Reads a T at `offset`. Precondition: it lies within `bytes`.
template <class T>
T get(std::span<const std::byte> bytes, std::size_t offset) {
  std::uint64_t bits = 0;
  for (std::size_t i = sizeof(T); i-- > 0;)
    bits = bits << 8 | std::to_integer<std::uint64_t>(bytes[offset + i]);
  return static_cast<T>(bits);
}

/// Walks bytes that nobody vouches for: a read past the end gives zeros and clears ok().
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  bool ok() const { return ok_; }
  std::size_t left() const { return bytes_.size() - at_; }

  template <class T>
  T read() {
    if (left() < sizeof(T)) return fail<T>();
    const T value = get<T>(bytes_, at_);
    at_ += sizeof(T);
    return value;
  }
  std::span<const std::byte> take(std::size_t count) {
    if (left() < count) return fail<std::span<const std::byte>>();
    const auto part = bytes_.subspan(at_, count);
    at_ += count;
    return part;
  }
  std::string text(std::size_t count) {
    const auto part = take(count);
    return {reinterpret_cast<const char*>(part.data()), part.size()};
  }

 private:
  template <class T>
  T fail() {
    ok_ = false;
    at_ = bytes_.size();
    return T{};
  }
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace atc::om
