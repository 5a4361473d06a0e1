#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>

namespace atc::runtime {

/// Protocol buffer wire types that may appear in a message.
enum class WireType : std::uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

/// Reads the fields of one protocol buffer message. Trusts no byte: a malformed field makes `next`
/// return false and `ok` false.
class WireReader {
 public:
  explicit WireReader(std::span<const std::byte> message) : left_(message) {}

  /// Moves to the next field; false at the end or at a malformed one.
  bool next() {
    if (left_.empty() || !ok_) return false;
    const std::optional<std::uint64_t> key = varint(left_);
    if (!key || *key >> 3 == 0 || *key >> 3 > 0x1fffffff) return fail();
    field_ = static_cast<int>(*key >> 3);
    switch (*key & 7) {
      case 0: {
        type_ = WireType::Varint;
        const auto value = varint(left_);
        if (!value) return fail();
        value_ = *value;
        return true;
      }
      case 1:
        type_ = WireType::Fixed64;
        return take(8);
      case 2: {
        type_ = WireType::Bytes;
        const auto size = varint(left_);
        return size && *size <= left_.size() ? take(static_cast<std::size_t>(*size)) : fail();
      }
      case 5:
        type_ = WireType::Fixed32;
        return take(4);
      default:
        return fail();  // groups were never used in ONNX
    }
  }

  int field() const { return field_; }
  WireType type() const { return type_; }
  std::uint64_t value() const { return value_; }               ///< of a Varint
  std::span<const std::byte> bytes() const { return bytes_; }  ///< of all others
  bool ok() const { return ok_; }

  /// Takes one varint off the front of `in`; nullopt when it does not end within ten bytes.
  static std::optional<std::uint64_t> varint(std::span<const std::byte>& in) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < in.size() && i < 10; ++i) {
      const auto b = std::to_integer<std::uint64_t>(in[i]);
      value |= (b & 0x7f) << (7 * i);
      if ((b & 0x80) == 0) {
        in = in.subspan(i + 1);
        return value;
      }
    }
    return std::nullopt;
  }

 private:
  bool fail() { return ok_ = false; }
  bool take(std::size_t n) {
    if (left_.size() < n) return fail();
    bytes_ = left_.first(n);
    left_ = left_.subspan(n);
    return true;
  }

  std::span<const std::byte> left_;
  std::span<const std::byte> bytes_;
  std::uint64_t value_ = 0;
  int field_ = 0;
  WireType type_ = WireType::Varint;
  bool ok_ = true;
};

/// Appends fields to a message.
class WireWriter {
 public:
  void varint_field(int field, std::uint64_t value) {
    key(field, WireType::Varint);
    varint(value);
  }
  void bytes_field(int field, std::string_view value) {
    key(field, WireType::Bytes);
    varint(value.size());
    out_.append(value);
  }
  /// The key and length of a bytes field whose `size` bytes the caller writes after `take()`.
  void bytes_field_header(int field, std::size_t size) {
    key(field, WireType::Bytes);
    varint(size);
  }
  std::string take() { return std::move(out_); }

 private:
  void key(int field, WireType type) {
    varint(static_cast<std::uint64_t>(field) << 3 | static_cast<std::uint64_t>(type));
  }
  void varint(std::uint64_t v) {
    for (; v >= 0x80; v >>= 7) out_.push_back(static_cast<char>(v | 0x80));
    out_.push_back(static_cast<char>(v));
  }
  std::string out_;
};

}  // namespace atc::runtime
