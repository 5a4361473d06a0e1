#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "atc/base/dtype.h"

namespace onnx {
class TensorProto;
}

namespace atc::frontend {

/// Where TensorProto keeps elements of a dtype when not in raw_data.
struct TypedField {
  std::string_view name;     ///< "int32_data"; empty: the dtype has none
  std::size_t expected = 0;  ///< entries that `elements` elements take
  std::size_t found = 0;     ///< entries that the message has
};

/// Complex types take two entries (real, imaginary) for an element; 4- and 2-bit types have 2 and 4
/// elements in an entry of int32_data, low bits first.
TypedField typed_field(const onnx::TensorProto& proto, DType dtype, std::size_t elements);

/// Writes the entries in the memory form of `dtype`, low bits kept. Preconditions: found == expected,
/// out.size() == byte_size(dtype, elements), not String.
void decode_typed(const onnx::TensorProto& proto, DType dtype, std::span<std::byte> out);

/// The typed field that is not empty, "" when none is; for diagnostics.
std::string_view filled_typed_field(const onnx::TensorProto& proto);

}  // namespace atc::frontend
