#include "conformance/tensor_file.h"

#include <onnx/onnx_pb.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace atc::conformance {
namespace {

/// Typed fields hold one value an element, narrow ones in the low bits; a byte of packed elements each.
template <class Field>
void copy_field(const Field& field, std::span<std::byte> out) {
  if (field.empty()) return;
  const std::size_t size = out.size() / static_cast<std::size_t>(field.size());
  std::size_t at = 0;
  for (const auto value : field) {
    std::memcpy(out.data() + at, &value, std::min(size, sizeof value));
    at += size;
  }
}

Tensor strings_of(const onnx::TensorProto& proto, Dims shape) {
  Tensor t;
  t.dtype = DType::String;
  t.shape = std::move(shape);
  t.strings.assign(proto.string_data().begin(), proto.string_data().end());
  return t;
}

}  // namespace

std::optional<Tensor> read_tensor_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  onnx::TensorProto proto;
  if (!in || !proto.ParseFromString(bytes)) return std::nullopt;
  if (proto.data_type() <= 0 || proto.data_type() >= kDTypeCount) return std::nullopt;
  const auto dtype = static_cast<DType>(proto.data_type());
  Dims shape(proto.dims().begin(), proto.dims().end());
  if (element_count(shape) < 0) return std::nullopt;
  if (dtype == DType::String) {
    if (element_count(shape) != proto.string_data_size()) return std::nullopt;
    return strings_of(proto, std::move(shape));
  }

  MutableTensor t(dtype, shape);
  const auto out = t.bytes();
  const std::size_t size = byte_size(dtype, static_cast<std::size_t>(element_count(shape)));
  if (proto.has_raw_data()) {
    if (proto.raw_data().size() != size) return std::nullopt;
    std::memcpy(out.data(), proto.raw_data().data(), size);
  } else if (proto.float_data_size() > 0) {
    copy_field(proto.float_data(), out.first(size));
  } else if (proto.double_data_size() > 0) {
    copy_field(proto.double_data(), out.first(size));
  } else if (proto.int64_data_size() > 0) {
    copy_field(proto.int64_data(), out.first(size));
  } else if (proto.uint64_data_size() > 0) {
    copy_field(proto.uint64_data(), out.first(size));
  } else if (proto.int32_data_size() > 0) {
    copy_field(proto.int32_data(), out.first(size));
  } else if (size > 0) {
    return std::nullopt;
  }
  return std::move(t).freeze();
}

}  // namespace atc::conformance
