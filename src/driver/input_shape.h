#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "atc/base/status.h"
#include "atc/base/tensor.h"

namespace atc::driver {

/// One dim as written: a number n is n..n, `lo~hi` is a range, -1 is 0..kUnbounded.
struct DimBound {
  static constexpr std::int64_t kUnbounded = -1;
  std::int64_t min = 0;
  std::int64_t max = kUnbounded;

  bool is_static() const { return min == max; }
  bool is_any() const { return min == 0 && max == kUnbounded; }  ///< written as -1
  friend bool operator==(const DimBound&, const DimBound&) = default;
};

/// The shape given to one graph input; no dims: a scalar.
struct InputShape {
  std::string name;
  std::vector<DimBound> dims;

  bool is_static() const;
  Dims static_dims() const;  ///< precondition: is_static()
};

/// `name:d0,d1,...` joined by ';'. The name may contain ':', the last one counts; nothing after it is a
/// scalar; the dims may stand in brackets; blanks around names and dims do not count, nor does a last ';'.
/// E10002 what cannot be read, E10011 dims below 1 (but -1), E10013 numbers or products too large.
StatusOr<std::vector<InputShape>> parse_input_shape(std::string_view text);
/// The same with mandatory brackets; every error is E10048.
StatusOr<std::vector<InputShape>> parse_input_shape_range(std::string_view text);

}  // namespace atc::driver
