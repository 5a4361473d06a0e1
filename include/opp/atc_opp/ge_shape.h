#pragma once

// ge::Shape, as functions that compute tilings take it.
#include <cstdint>
#include <utility>
#include <vector>

namespace ge {

class Shape {
 public:
  Shape() = default;
  explicit Shape(std::vector<std::int64_t> dims) : dims_(std::move(dims)) {}
  std::size_t GetDimNum() const { return dims_.size(); }
  std::int64_t GetDim(std::size_t i) const { return i < dims_.size() ? dims_[i] : 0; }
  std::int64_t SetDim(std::size_t i, std::int64_t value) {
    if (i < dims_.size()) dims_[i] = value;
    return 0;
  }
  std::vector<std::int64_t> GetDims() const { return dims_; }
  /// Elements; 0 without dimensions.
  std::int64_t GetShapeSize() const {
    if (dims_.empty()) return 0;
    std::int64_t n = 1;
    for (const std::int64_t d : dims_) n *= d;
    return n;
  }

 private:
  std::vector<std::int64_t> dims_;
};

}  // namespace ge
