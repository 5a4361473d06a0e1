#include "om/type_map.h"

#include <array>
#include <utility>

#include "atc/base/check.h"

namespace atc::om {
namespace {

struct TypeRow {
  DType dtype;
  int ge;  ///< ge.proto.DataType; 4 (uint8) where there is none up to 31
  bool exact;
  int runtime;  ///< aclDataType; -1: none
};

// ge.proto and the AscendCL headers number the same types differently.
constexpr std::array<TypeRow, kDTypeCount> kTypes = {{
    {DType::Undefined, 0, true, 28},   {DType::F32, 1, true, 0},      {DType::U8, 4, true, 4},
    {DType::I8, 3, true, 2},           {DType::U16, 6, true, 7},      {DType::I16, 5, true, 6},
    {DType::I32, 7, true, 3},          {DType::I64, 8, true, 9},      {DType::String, 13, true, 13},
    {DType::Bool, 11, true, 12},       {DType::F16, 2, true, 1},      {DType::F64, 12, true, 11},
    {DType::U32, 9, true, 8},          {DType::U64, 10, true, 10},    {DType::C64, 16, true, 16},
    {DType::C128, 17, true, 17},       {DType::BF16, 27, true, 27},   {DType::F8E4M3FN, 4, false, 36},
    {DType::F8E4M3FNUZ, 4, false, -1}, {DType::F8E5M2, 4, false, 35}, {DType::F8E5M2FNUZ, 4, false, -1},
    {DType::U4, 4, false, -1},         {DType::I4, 28, true, 29},     {DType::F4E2M1, 4, false, 40},
    {DType::F8E8M0, 4, false, 37},     {DType::U2, 31, true, 32},     {DType::I2, 30, true, 31},
}};
constexpr bool in_order() {
  for (std::size_t i = 0; i < kTypes.size(); ++i)
    if (kTypes[i].dtype != static_cast<DType>(i)) return false;
  return true;
}
static_assert(in_order(), "row i describes DType i");

constexpr std::int32_t kOwnTypes = 1000;

constexpr std::array<std::pair<std::int32_t, std::string_view>, 10> kFormats = {{
    {0, "NCHW"},
    {1, "NHWC"},
    {2, "ND"},
    {3, "NC1HWC0"},
    {4, "FRACTAL_Z"},
    {12, "NC1HWC0_C04"},
    {13, "FRACTAL_Z_C04"},
    {27, "NDHWC"},
    {29, "FRACTAL_NZ"},
    {30, "NCDHW"},
}};

const TypeRow& row(DType dtype) {
  const auto i = static_cast<std::size_t>(dtype);
  ATC_CHECK(i < kTypes.size(), "dtype " + std::to_string(i) + " is not in the type table");
  return kTypes[i];
}

}  // namespace

GeType ge_type(DType dtype) { return {row(dtype).ge, row(dtype).exact}; }

std::int32_t runtime_type(DType dtype) {
  const TypeRow& r = row(dtype);
  return r.runtime >= 0 ? r.runtime : kOwnTypes + static_cast<std::int32_t>(dtype);
}

std::string runtime_type_name(std::int32_t number) {
  for (const TypeRow& r : kTypes)
    if (runtime_type(r.dtype) == number) return std::string(onnx_name(r.dtype));
  return "type " + std::to_string(number);
}

std::int32_t runtime_format(ir::Format format, std::string_view layout) {
  const std::string_view wanted = format == ir::Format::ND && !layout.empty() ? layout : ir::name(format);
  for (const auto& [number, text] : kFormats)
    if (text == wanted) return number;
  internal_error(__FILE__, __LINE__, "no number for format " + std::string(wanted));
}

std::string runtime_format_name(std::int32_t number) {
  for (const auto& [n, text] : kFormats)
    if (n == number) return std::string(text);
  return "format " + std::to_string(number);
}

std::string_view axes_name(std::string_view input_format, std::size_t rank) {
  if (input_format == "NCHW" && rank == 4) return "NCHW";
  if (input_format == "NCDHW" && rank == 5) return "NCDHW";
  return {};
}

}  // namespace atc::om
