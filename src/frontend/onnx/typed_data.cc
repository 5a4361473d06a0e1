#include "frontend/onnx/typed_data.h"

#include <cstring>

#include "atc/base/check.h"
#include "frontend/onnx/proto.h"

namespace atc::frontend {
namespace {

template <class Repeated>
void copy_entries(const Repeated& entries, std::span<std::byte> out) {
  if (!out.empty()) std::memcpy(out.data(), entries.data(), out.size());
}

/// The low bytes of each entry (little-endian hosts).
template <class Repeated>
void narrow_entries(const Repeated& entries, std::size_t width, std::span<std::byte> out) {
  for (int i = 0; i < entries.size(); ++i) {
    const auto value = entries.Get(i);
    std::memcpy(out.data() + static_cast<std::size_t>(i) * width, &value, width);
  }
}

}  // namespace

TypedField typed_field(const onnx::TensorProto& proto, DType dtype, std::size_t elements) {
  const auto size = [](const auto& repeated) { return static_cast<std::size_t>(repeated.size()); };
  switch (dtype) {
    case DType::Undefined:
      return {};
    case DType::F32:
      return {"float_data", elements, size(proto.float_data())};
    case DType::C64:
      return {"float_data", 2 * elements, size(proto.float_data())};
    case DType::F64:
      return {"double_data", elements, size(proto.double_data())};
    case DType::C128:
      return {"double_data", 2 * elements, size(proto.double_data())};
    case DType::I64:
      return {"int64_data", elements, size(proto.int64_data())};
    case DType::U32:
    case DType::U64:
      return {"uint64_data", elements, size(proto.uint64_data())};
    case DType::String:
      return {"string_data", elements, size(proto.string_data())};
    default:
      // 8-, 16- and 32-bit types have one element in an entry, packed ones fill the low byte of it.
      return {"int32_data", bit_width(dtype) < 8 ? byte_size(dtype, elements) : elements,
              size(proto.int32_data())};
  }
}

void decode_typed(const onnx::TensorProto& proto, DType dtype, std::span<std::byte> out) {
  switch (dtype) {
    case DType::F32:
    case DType::C64:
      return copy_entries(proto.float_data(), out);
    case DType::F64:
    case DType::C128:
      return copy_entries(proto.double_data(), out);
    case DType::I64:
      return copy_entries(proto.int64_data(), out);
    case DType::U64:
      return copy_entries(proto.uint64_data(), out);
    case DType::I32:
      return copy_entries(proto.int32_data(), out);
    case DType::U32:
      return narrow_entries(proto.uint64_data(), 4, out);
    default: {
      ATC_CHECK(dtype != DType::String && dtype != DType::Undefined, "decode_typed: no numbers");
      const auto width = static_cast<std::size_t>(bit_width(dtype) <= 8 ? 1 : bit_width(dtype) / 8);
      return narrow_entries(proto.int32_data(), width, out);
    }
  }
}

std::string_view filled_typed_field(const onnx::TensorProto& proto) {
  if (proto.float_data_size() > 0) return "float_data";
  if (proto.int32_data_size() > 0) return "int32_data";
  if (proto.string_data_size() > 0) return "string_data";
  if (proto.int64_data_size() > 0) return "int64_data";
  if (proto.double_data_size() > 0) return "double_data";
  if (proto.uint64_data_size() > 0) return "uint64_data";
  return {};
}

}  // namespace atc::frontend
