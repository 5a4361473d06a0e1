#include "runtime/tensor_proto.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "atc/base/math.h"
#include "runtime/wire.h"

namespace atc::runtime {
namespace {

// Field numbers of onnx.TensorProto (onnx.proto).
constexpr int kDims = 1, kDataType = 2, kSegment = 3, kFloatData = 4, kInt32Data = 5, kStringData = 6,
              kInt64Data = 7, kName = 8, kRawData = 9, kDoubleData = 10, kUint64Data = 11, kExternalData = 13,
              kDataLocation = 14;

constexpr std::size_t kAlignment = 64;

Status malformed(const std::string& what) {
  return Status::error("E13005", "not a valid ONNX TensorProto: " + what);
}

/// The message as it lies in the file; data still undecoded.
struct Fields {
  Dims dims;
  std::uint64_t data_type = 0;
  std::string name;
  bool has_raw = false;
  std::span<const std::byte> raw;
  std::vector<std::byte> floats, doubles;     // bytes of float_data, double_data
  std::vector<std::uint64_t> int32s, int64s;  // int32_data; int64_data and uint64_data
  std::vector<std::string> strings;
};

/// A repeated varint field, packed or not.
bool read_varints(const WireReader& in, std::vector<std::uint64_t>& out) {
  if (in.type() == WireType::Varint) {
    out.push_back(in.value());
    return true;
  }
  if (in.type() != WireType::Bytes) return false;
  for (auto left = in.bytes(); !left.empty();) {
    const auto value = WireReader::varint(left);
    if (!value) return false;
    out.push_back(*value);
  }
  return true;
}

/// A repeated fixed-width field, packed or not.
bool read_fixed(const WireReader& in, WireType single, std::size_t width, std::vector<std::byte>& out) {
  if (in.type() != single && (in.type() != WireType::Bytes || in.bytes().size() % width != 0)) return false;
  out.insert(out.end(), in.bytes().begin(), in.bytes().end());
  return true;
}

std::string text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

StatusOr<Fields> read_fields(std::span<const std::byte> message) {
  Fields f;
  std::vector<std::uint64_t> dims;
  WireReader in(message);
  while (in.next()) {
    const bool bytes = in.type() == WireType::Bytes;
    const bool varint = in.type() == WireType::Varint;
    bool good = true;
    switch (in.field()) {
      case kDims:
        good = read_varints(in, dims);
        break;
      case kDataType:
        good = varint;
        f.data_type = in.value();
        break;
      case kSegment:
        return malformed("it is a segment of a tensor, or a sequence or optional; a whole tensor is needed");
      case kFloatData:
        good = read_fixed(in, WireType::Fixed32, 4, f.floats);
        break;
      case kDoubleData:
        good = read_fixed(in, WireType::Fixed64, 8, f.doubles);
        break;
      case kInt32Data:
        good = read_varints(in, f.int32s);
        break;
      case kInt64Data:
      case kUint64Data:
        good = read_varints(in, f.int64s);
        break;
      case kStringData:
        good = bytes;
        if (bytes) f.strings.push_back(text(in.bytes()));
        break;
      case kName:
        good = bytes;
        if (bytes) f.name = text(in.bytes());
        break;
      case kRawData:
        good = bytes;
        f.has_raw = true;
        f.raw = in.bytes();
        break;
      case kExternalData:
        return malformed("its data is in another file, which is not supported here");
      case kDataLocation:
        if (varint && in.value() == 1)
          return malformed("its data is in another file, which is not supported here");
        break;
      default:
        break;  // doc_string, metadata
    }
    if (!good) return malformed("field " + std::to_string(in.field()) + " has the wrong wire type");
  }
  if (!in.ok()) return malformed("the file is cut off or is no protocol buffer message");
  for (const std::uint64_t d : dims) {
    f.dims.push_back(static_cast<std::int64_t>(d));
    if (f.dims.back() < 0) return malformed("negative dim " + std::to_string(f.dims.back()));
  }
  return f;
}

Status wrong_count(const Fields& f, DType dtype, std::size_t found, std::string_view unit) {
  return malformed("shape [" + to_string(f.dims) + "] of " + std::string(onnx_name(dtype)) +
                   " does not fit its data of " + std::to_string(found) + " " + std::string(unit));
}

/// Bytes that the shape takes, or nullopt when `available` bytes cannot be that many (which also keeps
/// the product from overflowing).
std::optional<std::size_t> bytes_of(const Fields& f, DType dtype, std::size_t available) {
  const std::int64_t count = element_count(f.dims);
  if (count < 0 || static_cast<std::uint64_t>(count) / 8 > available) return std::nullopt;
  return byte_size(dtype, static_cast<std::size_t>(count));
}

Bytes aligned(const Bytes& file, std::span<const std::byte> part) {
  if (reinterpret_cast<std::uintptr_t>(part.data()) % kAlignment != 0) return Bytes::copy_of(part);
  return file.subspan(static_cast<std::size_t>(part.data() - file.data()), part.size());
}

/// Typed integer fields: each entry holds one element, or one byte of packed 4- and 2-bit elements.
StatusOr<Bytes> narrow(const Fields& f, DType dtype, const std::vector<std::uint64_t>& entries) {
  const std::size_t bits = static_cast<std::size_t>(bit_width(dtype));
  const std::size_t width = bits < 8 ? 1 : bits / 8;
  const auto needed = bytes_of(f, dtype, entries.size() * width);
  if (!needed || *needed != entries.size() * width) return wrong_count(f, dtype, entries.size(), "entries");
  MutableBytes out(*needed);
  for (std::size_t i = 0; i < entries.size(); ++i)  // little-endian: the low bytes come first
    std::memcpy(out.data() + i * width, &entries[i], width);
  if (dtype == DType::Bool)
    for (std::byte& b : out.span()) b = b == std::byte{0} ? b : std::byte{1};
  return std::move(out).freeze();
}

StatusOr<Bytes> typed_bytes(const Fields& f, DType dtype, std::span<const std::byte> data) {
  const auto needed = bytes_of(f, dtype, data.size());
  if (!needed || *needed != data.size()) return wrong_count(f, dtype, data.size(), "bytes");
  return Bytes::copy_of(data);
}

StatusOr<Bytes> data_of(const Bytes& file, const Fields& f, DType dtype) {
  if (f.has_raw && (!f.raw.empty() || element_count(f.dims) == 0)) {
    const auto needed = bytes_of(f, dtype, f.raw.size());
    if (!needed || *needed != f.raw.size()) return wrong_count(f, dtype, f.raw.size(), "bytes");
    return aligned(file, f.raw);
  }
  switch (dtype) {
    case DType::F32:
    case DType::C64:
      return typed_bytes(f, dtype, f.floats);
    case DType::F64:
    case DType::C128:
      return typed_bytes(f, dtype, f.doubles);
    case DType::I64:
    case DType::U32:
    case DType::U64:
      return narrow(f, dtype, f.int64s);
    default:
      return narrow(f, dtype, f.int32s);
  }
}

}  // namespace

StatusOr<NamedTensor> decode_tensor_proto(const Bytes& file) {
  ATC_ASSIGN(Fields f, read_fields(file.span()));
  if (f.data_type == 0 || f.data_type >= kDTypeCount)
    return malformed("element type " + std::to_string(f.data_type) + " is not known");
  NamedTensor result;
  result.name = std::move(f.name);
  Tensor& t = result.tensor;
  t.dtype = static_cast<DType>(f.data_type);
  if (t.dtype == DType::String) {
    if (element_count(f.dims) != static_cast<std::int64_t>(f.strings.size()))
      return wrong_count(f, t.dtype, f.strings.size(), "strings");
    t.strings = std::move(f.strings);
  } else {
    ATC_ASSIGN(t.data, data_of(file, f, t.dtype));
  }
  t.shape = std::move(f.dims);
  return result;
}

std::string encode_tensor_proto_head(std::string_view name, const Tensor& tensor) {
  WireWriter out;
  for (const std::int64_t d : tensor.shape) out.varint_field(kDims, static_cast<std::uint64_t>(d));
  out.varint_field(kDataType, static_cast<std::uint64_t>(tensor.dtype));
  if (!name.empty()) out.bytes_field(kName, name);
  if (tensor.dtype == DType::String)
    for (const std::string& s : tensor.strings) out.bytes_field(kStringData, s);
  else
    out.bytes_field_header(kRawData, tensor.byte_size());
  return out.take();
}

}  // namespace atc::runtime
