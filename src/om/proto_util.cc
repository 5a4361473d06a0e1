#include "om/proto_util.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message_lite.h>
#include <google/protobuf/stubs/logging.h>

#include <limits>

#include "atc/base/check.h"

namespace atc::om {
namespace {

constexpr std::size_t kMaxMessageBytes = std::numeric_limits<int>::max();

bool is_continuation(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
}

/// Bytes of the well-formed UTF-8 character at `at` (Unicode 15, table 3-7); 0 when there is none.
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4 || !is_continuation(text, at + 1)) return 0;
  if (lead < 0xE0) return 2;
  const auto second = static_cast<unsigned char>(text[at + 1]);
  if (!is_continuation(text, at + 2)) return 0;
  if (lead < 0xF0) {
    const bool overlong = lead == 0xE0 && second < 0xA0;
    const bool surrogate = lead == 0xED && second > 0x9F;
    return overlong || surrogate ? 0 : 3;
  }
  const bool out_of_range = (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F);
  return out_of_range || !is_continuation(text, at + 3) ? 0 : 4;
}

}  // namespace

StatusOr<std::string> serialize(const google::protobuf::MessageLite& message, std::string_view section) {
  const std::size_t size = message.ByteSizeLong();
  if (size > kMaxMessageBytes)
    return Status::error("E13023", "section " + std::string(section) + " of the .om file takes " +
                                       std::to_string(size) + " bytes, at most 2147483647 are possible");
  std::string out;
  out.reserve(size);
  {
    google::protobuf::io::StringOutputStream stream(&out);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    message.SerializeWithCachedSizes(&coded);
    ATC_CHECK(!coded.HadError(), "a protobuf message cannot be written to memory");
  }
  return out;
}

bool parse(google::protobuf::MessageLite& message, std::span<const std::byte> bytes) {
  if (bytes.size() > kMaxMessageBytes) return false;
  const google::protobuf::LogSilencer silencer;
  return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

std::string to_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t n = utf8_length(text, i);
    if (n == 0) {
      out += "\xEF\xBF\xBD";
      ++i;
    } else {
      out += text.substr(i, n);
      i += n;
    }
  }
  return out;
}

std::string padding_field(std::size_t bytes) {
  constexpr std::size_t kTagAndLength = 4;
  ATC_CHECK(bytes >= kTagAndLength && bytes < 16384, "padding of " + std::to_string(bytes) + " bytes");
  const std::size_t zeros = bytes - kTagAndLength;
  std::string out;
  out += "\xC2\x3E";  // field 1000, length-delimited
  // Two bytes of varint even for short lengths, so that the size of the whole is free to choose.
  out.push_back(static_cast<char>((zeros & 0x7F) | 0x80));
  out.push_back(static_cast<char>(zeros >> 7));
  out.append(zeros, '\0');
  return out;
}

}  // namespace atc::om
