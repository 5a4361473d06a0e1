#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "atc/base/status.h"
#include "atc/base/tensor.h"

namespace atc::runtime {

/// File forms of a tensor: raw little-endian elements, NumPy, text, `onnx.TensorProto`.
enum class TensorFormat : std::uint8_t { Bin, Npy, Txt, Pb };

/// "BIN", "npy", ...; any case. nullopt when unknown.
std::optional<TensorFormat> tensor_format_from_name(std::string_view name);
/// ".bin", ".npy", ".txt", ".pb".
std::string_view extension(TensorFormat format);

/// What a model's input asks for.
struct TensorSpec {
  std::string name;
  DType dtype = DType::Undefined;
  Dims shape;
};

/// "input 'x' (FLOAT[1,3])", for diagnostics.
std::string describe(const TensorSpec& spec);

/// E13025 when dtype or shape are not those of `spec`, or the data is not as long as they say.
Status check_tensor(const Tensor& tensor, const TensorSpec& spec);

/// Reads a tensor for one input of a model: .npy and .pb by their extension (with their own dtype and
/// shape, which must be the input's), every other file as raw elements of the input's dtype and shape.
/// E13000, E13001, E13003 (file), E13005 (content), E13025 (other dtype, shape or size).
StatusOr<Tensor> read_tensor(const std::filesystem::path& path, const TensorSpec& spec);

/// Writes a tensor. TXT has one line for each row of the last axis, elements separated by spaces.
/// Strings exist as TXT and PB only (E10055). E13001, E13004 from the file system.
Status write_tensor(const std::filesystem::path& path, TensorFormat format, std::string_view name,
                    const Tensor& tensor);

/// The text form.
std::string to_text(const Tensor& tensor);

}  // namespace atc::runtime
