#include "frontend/onnx/tensor_import.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "atc/base/check.h"
#include "frontend/onnx/proto.h"
#include "frontend/onnx/typed_data.h"
#include "frontend/onnx/wire.h"

namespace atc::frontend {
namespace {

/// Far beyond any address space, and far from overflow when multiplied by an element's size.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 56;

/// "f32[2,3]".
std::string shape_text(const Tensor& t) {
  return std::string(name(t.dtype)) + "[" + to_string(t.shape) + "]";
}

std::string size_fault(const std::string& who, const Tensor& tensor, std::size_t needed,
                       const std::string& where, std::uint64_t found) {
  return who + ": " + shape_text(tensor) + " takes " + std::to_string(needed) + " bytes, but " + where +
         " has " + std::to_string(found);
}

/// Plain decimal digits, as onnx.proto asks for.
std::optional<std::uint64_t> parse_number(const std::string& text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

/// Fills dtype and shape; the reason when they are no tensor's.
std::string read_type(const onnx::TensorProto& proto, Tensor& tensor) {
  const int dtype = proto.data_type();
  if (dtype <= 0 || dtype >= kDTypeCount)
    return dtype == 0 ? "has no element type" : "has the unknown element type " + std::to_string(dtype);
  tensor.dtype = static_cast<DType>(dtype);
  tensor.shape.assign(proto.dims().begin(), proto.dims().end());
  const bool negative = std::any_of(tensor.shape.begin(), tensor.shape.end(), [](auto d) { return d < 0; });
  if (negative) return "has a negative dim in its shape [" + to_string(tensor.shape) + "]";
  const std::int64_t count = element_count(tensor.shape);
  if (count < 0 || count > kMaxElements) return "has the impossible shape [" + to_string(tensor.shape) + "]";
  if (proto.has_segment()) return "is one segment of a tensor, which is not supported";
  return {};
}

}  // namespace

// C++ reads a bool of any other value than 0 and 1 as it likes; ONNX says nothing about them.
Bytes TensorImporter::with_proper_bools(Bytes view) {
  const std::span<const std::byte> bytes = view.span();
  const auto is_odd = [](std::byte b) { return std::to_integer<unsigned>(b) > 1; };
  if (std::none_of(bytes.begin(), bytes.end(), is_odd)) return view;
  Arena::Block block = arena_.allocate(bytes.size());
  std::transform(bytes.begin(), bytes.end(), block.writable.begin(),
                 [](std::byte b) { return std::byte{b != std::byte{0}}; });
  return block.bytes;
}

StatusOr<Bytes> TensorImporter::external_bytes(const onnx::TensorProto& proto, std::size_t size,
                                               const std::string& who) {
  std::string location;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
  for (const auto& entry : proto.external_data()) {
    if (entry.key() == "location") {
      location = entry.value();
    } else if (entry.key() == "offset" || entry.key() == "length") {
      const auto number = parse_number(entry.value());
      if (!number)
        return context_.fault(who + ": external data " + entry.key() + " '" + entry.value() +
                              "' is not a number of bytes");
      (entry.key() == "offset" ? offset : length.emplace()) = *number;
    }
  }
  ATC_ASSIGN(const Bytes file, external_.open(location, who));
  if (offset > file.size() || size > file.size() - offset)
    return context_.fault(who + ": needs bytes " + std::to_string(offset) + " to " + std::to_string(offset) +
                          "+" + std::to_string(size) + " of external data file '" + location +
                          "', which has " + std::to_string(file.size()) + " bytes");
  if (length && *length != size)
    return context_.fault(who + ": takes " + std::to_string(size) +
                          " bytes, but its external data length is " + std::to_string(*length));
  return file.subspan(static_cast<std::size_t>(offset), size);
}

StatusOr<Bytes> TensorImporter::inline_bytes(const onnx::TensorProto& proto, const Tensor& tensor,
                                             const std::string& who) {
  const auto count = static_cast<std::size_t>(tensor.count());
  const std::size_t size = byte_size(tensor.dtype, count);
  const TypedField typed = typed_field(proto, tensor.dtype, count);
  if (proto.has_raw_data()) {
    const auto raw = decode_raw_span(proto.raw_data());
    ATC_CHECK(raw && raw->offset <= model_.size() && raw->size <= model_.size() - raw->offset,
              "raw_data was not replaced by the wire walk");
    if (raw->size == size) return model_.subspan(static_cast<std::size_t>(raw->offset), size);
    // Some writers set an empty raw_data beside the typed field.
    if (raw->size != 0 || typed.found == 0)
      return context_.fault(size_fault(who, tensor, size, "raw_data", raw->size));
  }
  if (typed.found != typed.expected) {
    const std::string_view filled = filled_typed_field(proto);
    if (filled.empty()) return context_.fault(who + ": " + shape_text(tensor) + " has no data");
    if (typed.found == 0)
      return context_.fault(who + ": " + shape_text(tensor) + " has its data in " + std::string(filled) +
                            " instead of " + std::string(typed.name));
    return context_.fault(who + ": " + shape_text(tensor) + " takes " + std::to_string(typed.expected) +
                          " entries of " + std::string(typed.name) + ", but it has " +
                          std::to_string(typed.found));
  }
  Arena::Block block = arena_.allocate(size);
  decode_typed(proto, tensor.dtype, block.writable);
  return block.bytes;
}

StatusOr<Tensor> TensorImporter::import(const onnx::TensorProto& proto, const std::string& who) {
  Tensor tensor;
  if (const std::string reason = read_type(proto, tensor); !reason.empty())
    return context_.fault(who + " " + reason);
  const bool is_external = proto.data_location() == onnx::TensorProto::EXTERNAL;
  const auto count = static_cast<std::size_t>(tensor.count());
  if (tensor.dtype == DType::String) {
    if (is_external || proto.has_raw_data()) return context_.fault(who + ": strings must be in string_data");
    if (static_cast<std::size_t>(proto.string_data_size()) != count)
      return context_.fault(who + ": " + shape_text(tensor) + " takes " + std::to_string(count) +
                            " strings, but string_data has " + std::to_string(proto.string_data_size()));
    tensor.strings.assign(proto.string_data().begin(), proto.string_data().end());
    return tensor;
  }
  ATC_ASSIGN(Bytes bytes, is_external ? external_bytes(proto, byte_size(tensor.dtype, count), who)
                                      : inline_bytes(proto, tensor, who));
  tensor.data = tensor.dtype == DType::Bool ? with_proper_bools(std::move(bytes)) : std::move(bytes);
  return tensor;
}

}  // namespace atc::frontend
