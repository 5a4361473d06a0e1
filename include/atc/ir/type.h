#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "atc/base/dtype.h"
#include "atc/ir/shape.h"

namespace atc::ir {

/// Storage format of a tensor in Global Memory. `shape` of a TensorType is always the logical (ONNX)
/// shape; the format says how its elements are laid out.
enum class Format : std::uint8_t {
  ND,             ///< row-major, the logical shape as it is
  NC1HWC0,        ///< logical N,C,spatial... -> N,C1,spatial...,C0 (NDC1HWC0 and NC1L C0 alike)
  FRACTAL_Z,      ///< packed cube weights: see src/om/FORMAT.md
  FRACTAL_NZ,     ///< logical ...,M,N -> ...,N1,M1,M0,N0
  NC1HWC0_C04,    ///< NC1HWC0 with blocks of four channels, of whatever type
  FRACTAL_Z_C04,  ///< packed weights of a convolution that reads it
};

std::string_view name(Format f);
std::optional<Format> format_from_name(std::string_view name);

/// Channels (or columns) in one C0 block: 32 for 8-bit types, 16 for all others.
std::int64_t c0_of(DType dtype);
/// The same of a tensor in `format`: 4 in NC1HWC0_C04.
std::int64_t c0_of(Format format, DType dtype);
/// Whether blocks of channels are the innermost axis: NC1HWC0 and NC1HWC0_C04.
constexpr bool has_channel_blocks(Format f) { return f == Format::NC1HWC0 || f == Format::NC1HWC0_C04; }
/// Dims of the storage of a tensor with logical dims `dims`. Blocks of channels need rank >= 3, FRACTAL_NZ
/// >= 2. Unused lanes of the last C0 block exist in storage; their contents are unspecified.
Dims storage_dims(Format format, DType dtype, const Dims& dims);

struct TensorType {
  DType dtype = DType::Undefined;
  std::optional<Shape> shape;  ///< nullopt: unknown rank
  Format format = Format::ND;

  bool is_static() const { return shape && ir::is_static(*shape); }
  Dims dims() const { return to_dims(*shape); }  ///< precondition: is_static()
  friend bool operator==(const TensorType&, const TensorType&) = default;
};
TensorType tensor_type(DType dtype, const Dims& dims, Format format = Format::ND);
std::string to_string(const TensorType& type);  ///< "f32[1,3,h,w] NC1HWC0"; "f32[*]" of unknown rank

}  // namespace atc::ir
