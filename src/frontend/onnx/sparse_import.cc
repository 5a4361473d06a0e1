// Densifying SparseTensorProto: TensorImporter::import_sparse.
#include <algorithm>
#include <cstring>

#include "frontend/onnx/proto.h"
#include "frontend/onnx/tensor_import.h"

namespace atc::frontend {
namespace {

/// A few bytes of a file must not make the compiler fill the memory.
constexpr std::size_t kMaxDenseBytes = std::size_t{1} << 30;

/// Copies element `from` of `src` to element `to` of a zero-filled `dst`; packed elements included.
void copy_element(int bits, std::span<const std::byte> src, std::size_t from, std::span<std::byte> dst,
                  std::size_t to) {
  if (bits >= 8) {
    const auto width = static_cast<std::size_t>(bits / 8);
    std::memcpy(dst.data() + to * width, src.data() + from * width, width);
    return;
  }
  const auto per_byte = static_cast<std::size_t>(8 / bits);
  const auto shift = [&](std::size_t i) {
    return static_cast<unsigned>(i % per_byte) * static_cast<unsigned>(bits);
  };
  const unsigned mask = (1u << bits) - 1;
  const unsigned value = (std::to_integer<unsigned>(src[from / per_byte]) >> shift(from)) & mask;
  std::byte& target = dst[to / per_byte];
  const unsigned kept = std::to_integer<unsigned>(target) & ~(mask << shift(to));
  target = static_cast<std::byte>(kept | (value << shift(to)));
}

/// Row-major position of entry `i`; -1 when it lies outside of `dims`. `indices` has the form [NNZ] (such
/// positions) or [NNZ, rank] (coordinates).
std::int64_t position_of(const Tensor& indices, std::size_t i, const Dims& dims, std::int64_t count) {
  const std::int64_t* values = indices.as<std::int64_t>().data();
  if (indices.shape.size() == 1) return values[i] >= 0 && values[i] < count ? values[i] : -1;
  std::int64_t position = 0;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const std::int64_t at = values[i * dims.size() + axis];
    if (at < 0 || at >= dims[axis]) return -1;
    position = position * dims[axis] + at;
  }
  return position;
}

}  // namespace

StatusOr<Tensor> TensorImporter::import_sparse(const onnx::SparseTensorProto& proto, const std::string& who) {
  ATC_ASSIGN(const Tensor values, import(proto.values(), who + ", values"));
  Tensor indices;
  const std::int64_t stored = values.count();
  if (proto.has_indices() || stored > 0) {
    ATC_ASSIGN(indices, import(proto.indices(), who + ", indices"));
    indices = aligned(indices);
  } else {
    indices = Tensor{DType::I64, {0}, {}, {}};
  }
  Tensor dense;
  dense.dtype = values.dtype;
  dense.shape.assign(proto.dims().begin(), proto.dims().end());
  const std::int64_t count = element_count(dense.shape);
  const bool negative = std::any_of(dense.shape.begin(), dense.shape.end(), [](auto d) { return d < 0; });
  constexpr auto kLimit = static_cast<std::int64_t>(kMaxDenseBytes);
  if (negative || count < 0 || count > kLimit ||
      byte_size(dense.dtype, static_cast<std::size_t>(count)) > kMaxDenseBytes ||
      (dense.dtype == DType::String && count > kLimit / 64))
    return context_.fault(who + ": the dense form of shape [" + to_string(dense.shape) +
                          "] is impossible or larger than 1 GiB");
  if (values.shape.size() != 1)
    return context_.fault(who + ": values must have one axis, not shape [" + to_string(values.shape) + "]");
  const Dims coordinates{stored, static_cast<std::int64_t>(dense.shape.size())};
  const bool fits =
      indices.dtype == DType::I64 && (indices.shape == values.shape || indices.shape == coordinates);
  if (!fits)
    return context_.fault(who + ": indices must be i64[" + std::to_string(stored) + "] or i64[" +
                          to_string(coordinates) + "], not " + std::string(name(indices.dtype)) + "[" +
                          to_string(indices.shape) + "]");

  const bool is_text = dense.dtype == DType::String;
  Arena::Block block;
  if (is_text) {
    dense.strings.resize(static_cast<std::size_t>(count));
  } else {
    block = arena_.allocate(byte_size(dense.dtype, static_cast<std::size_t>(count)));
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(stored); ++i) {
    const std::int64_t at = position_of(indices, i, dense.shape, count);
    if (at < 0)
      return context_.fault(who + ": index " + std::to_string(i) + " lies outside of shape [" +
                            to_string(dense.shape) + "]");
    if (is_text) {
      dense.strings[static_cast<std::size_t>(at)] = values.strings[i];
    } else {
      copy_element(bit_width(dense.dtype), values.data.span(), i, block.writable,
                   static_cast<std::size_t>(at));
    }
  }
  dense.data = block.bytes;
  return dense;
}

}  // namespace atc::frontend
