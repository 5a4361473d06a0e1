#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "atc/base/status.h"

namespace google::protobuf {
class MessageLite;
}

namespace atc::om {

/// The message's bytes, the same for equal messages: map entries are sorted by key.
/// E13023 naming `section` beyond protobuf's limit of 2 GiB.
StatusOr<std::string> serialize(const google::protobuf::MessageLite& message, std::string_view section);

/// False when the bytes are not such a message; prints nothing.
bool parse(google::protobuf::MessageLite& message, std::span<const std::byte> bytes);

/// `text` with every byte that is not part of a UTF-8 character replaced by U+FFFD: what a protobuf
/// `string` may hold.
std::string to_utf8(std::string_view text);

/// A field that every reader skips (number 1000, bytes, zeros) of exactly `bytes` bytes, to append to
/// a serialized message. Precondition: 4 <= bytes < 16384.
std::string padding_field(std::size_t bytes);

}  // namespace atc::om
