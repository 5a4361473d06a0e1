#include "atc/base/tensor.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "atc/base/math.h"

namespace atc {

std::int64_t element_count(std::span<const std::int64_t> dims) {
  std::int64_t count = 1;
  bool overflow = false;
  for (const std::int64_t dim : dims) {
    if (dim == 0) return 0;  // even beside dims whose product does not fit
    if (dim < 0) overflow = true;
    const auto product = overflow ? std::nullopt : checked_mul(count, dim);
    if (product) count = *product;
    overflow = !product;
  }
  return overflow ? -1 : count;
}

std::string to_string(std::span<const std::int64_t> dims) {
  std::string text;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) text += ',';
    text += std::to_string(dims[i]);
  }
  return text;
}

MutableTensor::MutableTensor(DType dtype, Dims shape) : dtype_(dtype), shape_(std::move(shape)) {
  const std::int64_t count = element_count(shape_);
  ATC_CHECK(count >= 0, "MutableTensor: bad shape " + to_string(shape_));
  bytes_ = MutableBytes(byte_size(dtype_, static_cast<std::size_t>(count)));
}

bool is_aligned(const Tensor& t) {
  const auto alignment = static_cast<std::uintptr_t>(std::clamp(bit_width(t.dtype) / 8, 1, 8));
  return reinterpret_cast<std::uintptr_t>(t.data.data()) % alignment == 0;
}

Tensor aligned(const Tensor& t) {
  if (is_aligned(t)) return t;
  MutableBytes copy(t.data.size());
  std::memcpy(copy.data(), t.data.data(), t.data.size());
  return {t.dtype, t.shape, std::move(copy).freeze(), t.strings};
}

Tensor MutableTensor::freeze() && { return {dtype_, std::move(shape_), std::move(bytes_).freeze(), {}}; }

}  // namespace atc
