#include "frontend/onnx/wire.h"

#include <array>
#include <limits>

namespace atc::frontend {
namespace {

/// The messages in which tensors can lie. Fields are numbered as in onnx.proto (IR version 13).
enum class Message : std::uint8_t { Model, Graph, Node, Attribute, Tensor, SparseTensor, Function };

struct Action {
  enum class Kind : std::uint8_t { Drop, Copy, Enter, Raw };
  Kind kind = Kind::Drop;
  Message message = Message::Model;  ///< what Enter enters
};

constexpr Action kDrop{};
constexpr Action kCopy{Action::Kind::Copy};
constexpr Action kRaw{Action::Kind::Raw};
constexpr Action enter(Message m) { return {Action::Kind::Enter, m}; }

Action model_field(std::uint32_t number) {
  switch (number) {
    case 7:
      return enter(Message::Graph);
    case 25:
      return enter(Message::Function);
    case 1:  // ir_version
    case 2:  // producer_name
    case 3:  // producer_version
    case 8:  // opset_import
      return kCopy;
    default:
      return kDrop;
  }
}

Action graph_field(std::uint32_t number) {
  switch (number) {
    case 1:
      return enter(Message::Node);
    case 5:
      return enter(Message::Tensor);  // initializer
    case 15:
      return enter(Message::SparseTensor);  // sparse_initializer
    case 2:                                 // name
    case 11:                                // input
    case 12:                                // output
      return kCopy;
    default:
      return kDrop;
  }
}

Action node_field(std::uint32_t number) {
  if (number == 5) return enter(Message::Attribute);
  // input, output, name, op_type, domain, overload
  return number <= 4 || number == 7 || number == 8 ? kCopy : kDrop;
}

Action attribute_field(std::uint32_t number) {
  switch (number) {
    case 5:   // t
    case 10:  // tensors
      return enter(Message::Tensor);
    case 6:   // g
    case 11:  // graphs
      return enter(Message::Graph);
    case 22:  // sparse_tensor
    case 23:  // sparse_tensors
      return enter(Message::SparseTensor);
    case 13:
      return kDrop;  // doc_string
    default:
      return number <= 21 ? kCopy : kDrop;
  }
}

Action tensor_field(std::uint32_t number) {
  if (number == 9) return kRaw;
  return number <= 14 && number != 12 ? kCopy : kDrop;  // 12 is doc_string
}

Action sparse_field(std::uint32_t number) {
  if (number == 1 || number == 2) return enter(Message::Tensor);  // values, indices
  return number == 3 ? kCopy : kDrop;
}

Action function_field(std::uint32_t number) {
  switch (number) {
    case 7:
      return enter(Message::Node);
    case 11:
      return enter(Message::Attribute);  // attribute_proto
    case 1:                              // name
    case 4:                              // input
    case 5:                              // output
    case 6:                              // attribute
    case 9:                              // opset_import
    case 10:                             // domain
    case 13:                             // overload
      return kCopy;
    default:
      return kDrop;
  }
}

Action action_of(Message message, std::uint32_t number) {
  switch (message) {
    case Message::Model:
      return model_field(number);
    case Message::Graph:
      return graph_field(number);
    case Message::Node:
      return node_field(number);
    case Message::Attribute:
      return attribute_field(number);
    case Message::Tensor:
      return tensor_field(number);
    case Message::SparseTensor:
      return sparse_field(number);
    case Message::Function:
      return function_field(number);
  }
  return kDrop;
}

constexpr std::uint32_t kVarint = 0;
constexpr std::uint32_t kFixed64 = 1;
constexpr std::uint32_t kBytes = 2;
constexpr std::uint32_t kGroup = 3;
constexpr std::uint32_t kEndGroup = 4;
constexpr std::uint32_t kFixed32 = 5;

constexpr int kMaxDepth = 100;           // protobuf's own limit
constexpr std::size_t kLengthBytes = 5;  // lengths of rewritten messages: varints of fixed width
constexpr std::size_t kPlaceholderBytes = 16;
constexpr std::size_t kMaxSkeleton = std::numeric_limits<std::int32_t>::max() - 64;

void put_fixed_varint(char* at, std::uint64_t value) {
  for (std::size_t i = 0; i + 1 < kLengthBytes; ++i)
    at[i] = static_cast<char>(0x80 | ((value >> (7 * i)) & 0x7f));
  at[kLengthBytes - 1] = static_cast<char>(value >> (7 * (kLengthBytes - 1)));
}

std::string encode_raw_span(RawSpan span) {
  std::string out(kPlaceholderBytes, '\0');
  for (std::size_t i = 0; i < 8; ++i) {
    out[i] = static_cast<char>(span.offset >> (8 * i));
    out[8 + i] = static_cast<char>(span.size >> (8 * i));
  }
  return out;
}

class Walker {
 public:
  Walker(std::span<const std::byte> data, Skeleton& out) : data_(data), out_(out) {}

  bool walk(Message message, std::size_t at, std::size_t end, int depth) {
    if (depth > kMaxDepth)
      return fail(WireFault::Kind::TooDeep, at, "messages are nested more than 100 deep");
    while (at < end) {
      const std::size_t field_begin = at;
      Field field;
      if (!read_field(at, end, field)) return false;
      const Action action = action_of(message, field.number);
      const bool delimited = field.wire == kBytes;
      if (action.kind == Action::Kind::Copy && field.wire != kGroup) {
        append(field_begin, at - field_begin);
      } else if (action.kind == Action::Kind::Raw && delimited) {
        append(field_begin, field.tag_bytes);
        out_.bytes.push_back(static_cast<char>(kPlaceholderBytes));
        out_.bytes += encode_raw_span({field.payload, at - field.payload});
      } else if (action.kind == Action::Kind::Enter && delimited) {
        append(field_begin, field.tag_bytes);
        const std::size_t length_at = out_.bytes.size();
        out_.bytes.append(kLengthBytes, '\0');
        if (!walk(action.message, field.payload, at, depth + 1)) return false;
        put_fixed_varint(out_.bytes.data() + length_at, out_.bytes.size() - length_at - kLengthBytes);
      }
      if (out_.bytes.size() > kMaxSkeleton)
        return fail(WireFault::Kind::TooLarge, field_begin, "more than 2 GiB besides raw_data");
    }
    return true;
  }

 private:
  struct Field {
    std::uint32_t number = 0;
    std::uint32_t wire = 0;
    std::size_t tag_bytes = 0;
    std::size_t payload = 0;  ///< offset of the payload of a length-delimited field
  };

  bool fail(WireFault::Kind kind, std::size_t offset, std::string detail) {
    out_.fault = WireFault{kind, offset, std::move(detail)};
    return false;
  }

  /// A field that ends behind `end`: the file is too short when `end` is the file's end.
  bool overrun(std::size_t field_begin, std::size_t end, std::uint64_t needed, std::size_t from) {
    if (end == data_.size())
      return fail(WireFault::Kind::Truncated, field_begin,
                  "the field at byte " + std::to_string(field_begin) + " needs " + std::to_string(needed) +
                      " bytes from byte " + std::to_string(from) + " on, but the file ends at byte " +
                      std::to_string(end));
    return fail(WireFault::Kind::Malformed, field_begin, "a field is longer than the message around it");
  }

  bool read_varint(std::size_t field_begin, std::size_t& at, std::size_t end, std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      if (at >= end) return overrun(field_begin, end, 1, at);
      const auto byte = std::to_integer<std::uint64_t>(data_[at++]);
      if (shift < 64) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return fail(WireFault::Kind::Malformed, field_begin, "a varint has more than 10 bytes");
  }

  bool skip(std::size_t field_begin, std::size_t& at, std::size_t end, std::uint64_t count) {
    if (count > end - at) return overrun(field_begin, end, count, at);
    at += static_cast<std::size_t>(count);
    return true;
  }

  bool read_tag(std::size_t& at, std::size_t end, Field& field) {
    const std::size_t begin = at;
    std::uint64_t tag = 0;
    if (!read_varint(begin, at, end, tag)) return false;
    if (tag > std::numeric_limits<std::uint32_t>::max() || (tag >> 3) == 0)
      return fail(WireFault::Kind::Malformed, begin, "no field has number " + std::to_string(tag >> 3));
    field.number = static_cast<std::uint32_t>(tag >> 3);
    field.wire = static_cast<std::uint32_t>(tag & 7);
    field.tag_bytes = at - begin;
    return true;
  }

  /// Moves `at` behind the field that begins there.
  bool read_field(std::size_t& at, std::size_t end, Field& field) {
    const std::size_t begin = at;
    if (!read_tag(at, end, field)) return false;
    if (field.wire == kGroup) return skip_group(begin, at, end);
    if (field.wire == kEndGroup)
      return fail(WireFault::Kind::Malformed, begin, "a group ends that never began");
    return skip_payload(begin, at, end, field);
  }

  bool skip_payload(std::size_t begin, std::size_t& at, std::size_t end, Field& field) {
    std::uint64_t value = 0;
    switch (field.wire) {
      case kVarint:
        return read_varint(begin, at, end, value);
      case kFixed64:
        return skip(begin, at, end, 8);
      case kFixed32:
        return skip(begin, at, end, 4);
      case kBytes:
        if (!read_varint(begin, at, end, value)) return false;
        field.payload = at;
        return skip(begin, at, end, value);
      default:
        return fail(WireFault::Kind::Malformed, begin,
                    "no wire type has number " + std::to_string(field.wire));
    }
  }

  /// Groups are no part of ONNX: skipped, with all that is nested in them.
  bool skip_group(std::size_t begin, std::size_t& at, std::size_t end) {
    for (int open = 1; open > 0;) {
      Field inner;
      const std::size_t inner_begin = at;
      if (!read_tag(at, end, inner)) return false;
      if (inner.wire == kGroup) {
        if (++open > kMaxDepth)
          return fail(WireFault::Kind::TooDeep, begin, "groups are nested more than 100 deep");
      } else if (inner.wire == kEndGroup) {
        --open;
      } else if (!skip_payload(inner_begin, at, end, inner)) {
        return false;
      }
    }
    return true;
  }

  void append(std::size_t at, std::size_t count) {
    out_.bytes.append(reinterpret_cast<const char*>(data_.data()) + at, count);
  }

  std::span<const std::byte> data_;
  Skeleton& out_;
};

}  // namespace

Skeleton strip_raw_data(std::span<const std::byte> model) {
  Skeleton out;
  Walker(model, out).walk(Message::Model, 0, model.size(), 0);
  return out;
}

std::optional<RawSpan> decode_raw_span(std::string_view placeholder) {
  if (placeholder.size() != kPlaceholderBytes) return std::nullopt;
  RawSpan span;
  for (std::size_t i = 0; i < 8; ++i) {
    span.offset |= std::uint64_t{static_cast<unsigned char>(placeholder[i])} << (8 * i);
    span.size |= std::uint64_t{static_cast<unsigned char>(placeholder[8 + i])} << (8 * i);
  }
  return span;
}

}  // namespace atc::frontend
