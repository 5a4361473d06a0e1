#pragma once

// Shapes and tensors as tiling and inference functions see them: namespace gert.
#include <array>
#include <cstddef>
#include <cstdint>

#include "atc_opp/ge_types.h"

namespace gert {

class Shape {
 public:
  static constexpr std::size_t kMaxDimNum = 25;
  static constexpr std::int64_t kInvalidDimValue = INT64_MIN;

  Shape() = default;
  Shape(std::initializer_list<std::int64_t> dims) {
    for (const std::int64_t d : dims) AppendDim(d);
  }
  std::size_t GetDimNum() const { return rank_; }
  void SetDimNum(std::size_t rank) { rank_ = rank < kMaxDimNum ? rank : kMaxDimNum; }
  std::int64_t GetDim(std::size_t i) const { return i < rank_ ? dims_[i] : kInvalidDimValue; }
  std::int64_t operator[](std::size_t i) const { return GetDim(i); }
  std::int64_t& operator[](std::size_t i) { return dims_[i < kMaxDimNum ? i : kMaxDimNum - 1]; }
  void SetDim(std::size_t i, std::int64_t value) {
    if (i >= kMaxDimNum) return;
    dims_[i] = value;
    if (i >= rank_) rank_ = i + 1;
  }
  Shape& AppendDim(std::int64_t value) {
    if (rank_ < kMaxDimNum) dims_[rank_++] = value;
    return *this;
  }
  void SetScalar() { rank_ = 0; }
  bool IsScalar() const { return rank_ == 0; }
  /// Product of the dims; -1 when one is not known.
  std::int64_t GetShapeSize() const {
    std::int64_t n = 1;
    for (std::size_t i = 0; i < rank_; ++i) {
      if (dims_[i] < 0) return -1;
      n *= dims_[i];
    }
    return n;
  }
  friend bool operator==(const Shape& a, const Shape& b) {
    if (a.rank_ != b.rank_) return false;
    for (std::size_t i = 0; i < a.rank_; ++i)
      if (a.dims_[i] != b.dims_[i]) return false;
    return true;
  }
  friend bool operator!=(const Shape& a, const Shape& b) { return !(a == b); }

 private:
  std::size_t rank_ = 0;
  std::array<std::int64_t, kMaxDimNum> dims_{};
};

/// Tensors are ND here: the shape in storage is the shape itself.
class StorageShape {
 public:
  StorageShape() = default;
  explicit StorageShape(const Shape& shape) : origin_(shape), storage_(shape) {}
  const Shape& GetOriginShape() const { return origin_; }
  const Shape& GetStorageShape() const { return storage_; }
  Shape& MutableOriginShape() { return origin_; }
  Shape& MutableStorageShape() { return storage_; }

 private:
  Shape origin_, storage_;
};

class StorageFormat {
 public:
  StorageFormat() = default;
  explicit StorageFormat(ge::Format format) : format_(format) {}
  ge::Format GetOriginFormat() const { return format_; }
  ge::Format GetStorageFormat() const { return format_; }

 private:
  ge::Format format_ = ge::FORMAT_ND;
};

class CompileTimeTensorDesc {
 public:
  CompileTimeTensorDesc() = default;
  CompileTimeTensorDesc(ge::DataType type, ge::Format format) : type_(type), format_(format) {}
  ge::DataType GetDataType() const { return type_; }
  ge::Format GetOriginFormat() const { return format_.GetOriginFormat(); }
  ge::Format GetStorageFormat() const { return format_.GetStorageFormat(); }
  const StorageFormat& GetFormat() const { return format_; }

 private:
  ge::DataType type_ = ge::DT_UNDEFINED;
  StorageFormat format_;
};

/// An input with its elements, when it is a constant.
class Tensor {
 public:
  Tensor() = default;
  Tensor(const Shape& shape, ge::DataType type, ge::Format format, const void* data, std::size_t bytes)
      : shape_(shape), desc_(type, format), data_(data), bytes_(bytes) {}
  const Shape& GetOriginShape() const { return shape_.GetOriginShape(); }
  const Shape& GetStorageShape() const { return shape_.GetStorageShape(); }
  const StorageShape& GetShape() const { return shape_; }
  std::int64_t GetShapeSize() const { return GetStorageShape().GetShapeSize(); }
  ge::DataType GetDataType() const { return desc_.GetDataType(); }
  ge::Format GetOriginFormat() const { return desc_.GetOriginFormat(); }
  ge::Format GetStorageFormat() const { return desc_.GetStorageFormat(); }
  std::size_t GetSize() const { return bytes_; }
  /// Null when the elements are not known before the model runs.
  template <class T>
  const T* GetData() const {
    return static_cast<const T*>(data_);
  }
  const void* GetAddr() const { return data_; }

 private:
  StorageShape shape_;
  CompileTimeTensorDesc desc_;
  const void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace gert
