#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "atc/base/tensor.h"

namespace atc::ir {

/// One axis length: a number, or a symbol ("batch", "?3") while it is not bound.
struct Dim {
  std::int64_t value = -1;  ///< >= 0 when known
  std::string symbol;       ///< not empty when not known

  static Dim of(std::int64_t v) { return Dim{v, {}}; }
  static Dim named(std::string s) { return Dim{-1, std::move(s)}; }
  bool known() const { return value >= 0; }
  friend bool operator==(const Dim&, const Dim&) = default;
};

/// A shape of known rank.
using Shape = std::vector<Dim>;

Shape to_shape(const Dims& dims);
bool is_static(const Shape& shape);
/// Precondition: is_static(shape).
Dims to_dims(const Shape& shape);
/// "1,3,h,w".
std::string to_string(const Shape& shape);

}  // namespace atc::ir
