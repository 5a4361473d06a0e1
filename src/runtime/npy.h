#pragma once

#include <string>

#include "atc/base/bytes.h"
#include "atc/base/status.h"
#include "atc/base/tensor.h"

namespace atc::runtime {

/// Reads a NumPy .npy file, format 1 to 3, C order, either byte order. E13005 otherwise.
/// NumPy has no bfloat16, 8-bit floats or packed types: raw records ('V1', 'V2') become `wanted` when
/// that has their width, and int8/uint8 files become `wanted` when that is a 4- or 2-bit integer (one
/// element a byte in the file). `wanted` has no other effect.
StatusOr<Tensor> decode_npy(const Bytes& file, DType wanted);

/// The header of a .npy file (format 1, or 2 when it is long); the array follows. E10055 for strings.
StatusOr<std::string> encode_npy_head(const Tensor& tensor);

/// The tensor as its .npy file holds it: packed integers one a byte, 4-bit floats as f32; others as
/// they are.
Tensor npy_form(const Tensor& tensor);

}  // namespace atc::runtime
