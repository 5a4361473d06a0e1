#pragma once

#include <filesystem>
#include <optional>

#include "atc/base/tensor.h"

namespace atc::conformance {

/// Reads a test data set's `input_N.pb` or `output_N.pb`: an onnx.TensorProto, parsed by protobuf.
/// nullopt when the file holds something else (a sequence, an optional).
std::optional<Tensor> read_tensor_file(const std::filesystem::path& file);

}  // namespace atc::conformance
