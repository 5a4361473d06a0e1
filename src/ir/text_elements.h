#pragma once

#include <cstdint>
#include <string>

#include "atc/base/tensor.h"

/// Elements of a tensor as raw bits, and those bits as text: exact for every dtype.
namespace atc::ir::text {

/// Bits of one element; complex numbers have two parts.
struct ElementBits {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  friend bool operator==(const ElementBits&, const ElementBits&) = default;
};

/// Precondition: not String, i < count.
ElementBits element_bits(const Tensor& t, std::size_t i);
void set_element_bits(MutableTensor& t, DType dtype, std::size_t i, const ElementBits& bits);

/// "1.5", "-3", "0x7f" (types without a decimal form here), "(1.0,2.0)".
std::string element_text(DType dtype, const ElementBits& bits);

}  // namespace atc::ir::text
