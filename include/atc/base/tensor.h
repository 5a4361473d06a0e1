#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "atc/base/bytes.h"
#include "atc/base/check.h"
#include "atc/base/dtype.h"

namespace atc {

using Dims = std::vector<std::int64_t>;

/// Product of the dims; checked: a product that does not fit int64 is -1.
std::int64_t element_count(std::span<const std::int64_t> dims);
std::string to_string(std::span<const std::int64_t> dims);  ///< "1,3,224,224"

/// A dense row-major host tensor: constants, inputs, outputs, reference evaluation.
/// Data is shared and read-only; MutableTensor below makes one. A constant may be a view of a file, at any
/// address: `as` wants aligned elements, to_doubles and to_int64s read any.
/// Strings are kept in `strings` and have no bytes.
struct Tensor {
  DType dtype = DType::Undefined;
  Dims shape;
  Bytes data;
  std::vector<std::string> strings;

  std::int64_t count() const { return element_count(shape); }
  std::size_t byte_size() const { return atc::byte_size(dtype, static_cast<std::size_t>(count())); }
  /// Precondition: sizeof(T) is the element size, the dtype is not packed, the data is aligned for T.
  template <class T>
  std::span<const T> as() const {
    ATC_CHECK(sizeof(T) * 8 == static_cast<std::size_t>(bit_width(dtype)), "Tensor::as: wrong type");
    ATC_CHECK(reinterpret_cast<std::uintptr_t>(data.data()) % alignof(T) == 0, "Tensor::as: unaligned data");
    return {reinterpret_cast<const T*>(data.data()), static_cast<std::size_t>(count())};
  }
};

bool is_aligned(const Tensor& t);  ///< for its elements
/// The tensor itself, or a copy when its data is not aligned.
Tensor aligned(const Tensor& t);

/// Writes a Tensor once: `MutableTensor m(DType::F32, {2, 3}); m.as<float>()[0] = 1; return m.freeze();`
class MutableTensor {
 public:
  MutableTensor(DType dtype, Dims shape);
  template <class T>
  std::span<T> as() {
    ATC_CHECK(sizeof(T) * 8 == static_cast<std::size_t>(bit_width(dtype_)), "MutableTensor::as: wrong type");
    return {reinterpret_cast<T*>(bytes_.data()), static_cast<std::size_t>(element_count(shape_))};
  }
  std::span<std::byte> bytes() { return bytes_.span(); }
  const Dims& shape() const { return shape_; }
  Tensor freeze() &&;

 private:
  DType dtype_;
  Dims shape_;
  MutableBytes bytes_;
};

/// Elements as double / int64, whatever numeric dtype the tensor has (packed ones included).
/// int64 reading of floats truncates toward zero; NaN reads 0, beyond the range the nearest end.
std::vector<double> to_doubles(const Tensor& t);
std::vector<std::int64_t> to_int64s(const Tensor& t);
/// Builds a tensor of any numeric dtype; values are rounded once, to nearest even, integers wrapped (NaN and
/// infinities give 0), 8- and 4-bit floats saturate; Bool is value != 0.
Tensor from_doubles(DType dtype, Dims shape, std::span<const double> values);
Tensor from_int64s(DType dtype, Dims shape, std::span<const std::int64_t> values);
Tensor scalar_tensor(DType dtype, double value);

}  // namespace atc
