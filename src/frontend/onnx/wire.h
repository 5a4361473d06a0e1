#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace atc::frontend {

/// Where a `raw_data` field lies in the model file, in bytes.
struct RawSpan {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// Why bytes are not a serialised ModelProto.
struct WireFault {
  enum class Kind {
    Truncated,  ///< a top-level field needs more bytes than the file has
    Malformed,  ///< not the protobuf wire format
    TooDeep,    ///< more nested messages than protobuf accepts
    TooLarge,   ///< more than 2 GiB besides raw_data
  };
  Kind kind = Kind::Malformed;
  std::uint64_t offset = 0;  ///< of the field at fault
  std::string detail;
};

/// A ModelProto without its bulk: each `raw_data` holds an encoded RawSpan instead of the data; doc
/// strings, metadata, value_info, quantization annotations and training info are left out.
struct Skeleton {
  std::string bytes;
  std::optional<WireFault> fault;
};

/// One walk over the serialised model. Reads the bytes of tags, lengths and small fields only, so the
/// pages of raw_data are never touched. Safe on any input: bounds are checked, nesting is limited.
Skeleton strip_raw_data(std::span<const std::byte> model);

/// Reads back what strip_raw_data wrote into a `raw_data` field; nullopt when it is no such text.
std::optional<RawSpan> decode_raw_span(std::string_view placeholder);

}  // namespace atc::frontend
