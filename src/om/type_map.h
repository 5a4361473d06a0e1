#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "atc/base/dtype.h"
#include "atc/ir/type.h"

namespace atc::om {

/// A dtype in the numbering of ge.proto.DataType.
struct GeType {
  int number = 0;
  /// False: the vendor's numbers up to 31 (all that its viewers take) have no such type, and `number`
  /// is that of a type of raw bytes.
  bool exact = true;
};
GeType ge_type(DType dtype);

/// dtype in the numbering of the vendor's runtime (aclDataType), as MODEL_INOUT_INFO has it. Types that
/// it does not know are 1000 + the ONNX number.
std::int32_t runtime_type(DType dtype);
/// "FLOAT16", ...; "type 77" of a number that we do not know.
std::string runtime_type_name(std::int32_t number);

/// Storage format in the numbering of the vendor's runtime (aclFormat) and its name. `layout` is what
/// the user calls the axes of an ND tensor ("NCHW", "NCDHW"), "" when nothing.
std::int32_t runtime_format(ir::Format format, std::string_view layout);
std::string runtime_format_name(std::int32_t number);

/// How the axes of a graph input of this rank are called under --input_format: "NCHW" for rank 4,
/// "NCDHW" for rank 5 when that is the option's value, else "".
std::string_view axes_name(std::string_view input_format, std::size_t rank);

}  // namespace atc::om
