#pragma once

#include <string>
#include <string_view>

#include "atc/base/bytes.h"
#include "atc/base/status.h"
#include "atc/base/tensor.h"

namespace atc::runtime {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// Reads an `onnx.TensorProto` (the content of a test data set's .pb file): raw_data or the typed
/// fields, packed or not, every dtype of DType. E13005 when it is not one, when its data is not as
/// long as its dims say, or when its data is external or segmented.
/// The tensor shares the bytes of `file` where they are aligned.
StatusOr<NamedTensor> decode_tensor_proto(const Bytes& file);

/// The message up to the bytes of the tensor, which follow it and end the message; strings are in the
/// message itself.
std::string encode_tensor_proto_head(std::string_view name, const Tensor& tensor);

}  // namespace atc::runtime
