#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace atc::om::test {

/// A protobuf message taken apart without any schema, by the wire format's rules alone: an oracle that
/// shares nothing with the code under test. Throws std::runtime_error on malformed bytes.
class Wire {
 public:
  struct Field {
    std::uint32_t number = 0;
    std::uint32_t type = 0;   ///< wire type
    std::uint64_t value = 0;  ///< of varint and fixed fields
    std::string_view bytes;   ///< of length-delimited fields
  };

  explicit Wire(std::string_view bytes) {
    std::size_t at = 0;
    while (at < bytes.size()) {
      const std::uint64_t tag = varint(bytes, at);
      Field f{static_cast<std::uint32_t>(tag >> 3), static_cast<std::uint32_t>(tag & 7), 0, {}};
      if (f.number == 0) throw std::runtime_error("field number 0");
      switch (f.type) {
        case 0:
          f.value = varint(bytes, at);
          break;
        case 1:
          f.bytes = take(bytes, at, 8);
          break;
        case 2:
          f.bytes = take(bytes, at, varint(bytes, at));
          break;
        case 5:
          f.bytes = take(bytes, at, 4);
          break;
        default:
          throw std::runtime_error("wire type " + std::to_string(f.type));
      }
      fields_.push_back(f);
    }
  }

  const std::vector<Field>& fields() const { return fields_; }
  std::vector<std::string_view> all(std::uint32_t number) const {
    std::vector<std::string_view> out;
    for (const Field& f : fields_)
      if (f.number == number) out.push_back(f.bytes);
    return out;
  }
  /// The last occurrence, as proto3 has it; "" or 0 when absent.
  std::string text(std::uint32_t number) const {
    std::string_view found;
    for (const Field& f : fields_)
      if (f.number == number) found = f.bytes;
    return std::string(found);
  }
  std::int64_t integer(std::uint32_t number) const {
    std::uint64_t found = 0;
    for (const Field& f : fields_)
      if (f.number == number) found = f.value;
    return static_cast<std::int64_t>(found);
  }
  bool has(std::uint32_t number) const {
    for (const Field& f : fields_)
      if (f.number == number) return true;
    return false;
  }
  /// A repeated integer, packed or not.
  std::vector<std::int64_t> integers(std::uint32_t number) const {
    std::vector<std::int64_t> out;
    for (const Field& f : fields_) {
      if (f.number != number) continue;
      if (f.type == 0) out.push_back(static_cast<std::int64_t>(f.value));
      for (std::size_t at = 0; f.type == 2 && at < f.bytes.size();)
        out.push_back(static_cast<std::int64_t>(varint(f.bytes, at)));
    }
    return out;
  }

 private:
  static std::uint64_t varint(std::string_view bytes, std::size_t& at) {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (at >= bytes.size()) throw std::runtime_error("varint ends early");
      const auto byte = static_cast<unsigned char>(bytes[at++]);
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    throw std::runtime_error("varint is too long");
  }
  static std::string_view take(std::string_view bytes, std::size_t& at, std::uint64_t count) {
    if (count > bytes.size() - at) throw std::runtime_error("field ends early");
    const auto part = bytes.substr(at, count);
    at += count;
    return part;
  }
  std::vector<Field> fields_;
};

}  // namespace atc::om::test
