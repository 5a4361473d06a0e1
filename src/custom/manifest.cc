#include "custom/manifest.h"

#include <algorithm>
#include <array>
#include <utility>

#include "atc/custom_op.h"

namespace atc::custom {
namespace {

constexpr std::array<std::pair<DType, std::int32_t>, 13> kTypes = {{{DType::F32, ATC_DT_FLOAT},
                                                                    {DType::F16, ATC_DT_FLOAT16},
                                                                    {DType::I8, ATC_DT_INT8},
                                                                    {DType::I32, ATC_DT_INT32},
                                                                    {DType::U8, ATC_DT_UINT8},
                                                                    {DType::I16, ATC_DT_INT16},
                                                                    {DType::U16, ATC_DT_UINT16},
                                                                    {DType::U32, ATC_DT_UINT32},
                                                                    {DType::I64, ATC_DT_INT64},
                                                                    {DType::U64, ATC_DT_UINT64},
                                                                    {DType::F64, ATC_DT_DOUBLE},
                                                                    {DType::Bool, ATC_DT_BOOL},
                                                                    {DType::BF16, ATC_DT_BF16}}};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

bool is_consistent(const LibraryInfo& info) {
  const auto params_fit = [](const std::vector<ParamInfo>& params, std::uint32_t combinations) {
    return std::all_of(params.begin(), params.end(), [&](const ParamInfo& p) {
      return p.dtypes.size() == combinations && p.formats.size() == combinations &&
             std::all_of(p.dtypes.begin(), p.dtypes.end(), [](DType t) { return acl_dtype(t) >= 0; });
    });
  };
  return std::all_of(info.ops.begin(), info.ops.end(), [&](const OpInfo& op) {
    return op.combinations > 0 && !op.outputs.empty() && params_fit(op.inputs, op.combinations) &&
           params_fit(op.outputs, op.combinations) &&
           std::all_of(op.attrs.begin(), op.attrs.end(), [](const AttrInfo& a) {
             return static_cast<std::uint32_t>(a.value.kind) < kAttrKinds;
           });
  });
}

std::int32_t acl_dtype(DType dtype) {
  for (const auto& [ours, number] : kTypes)
    if (ours == dtype) return number;
  return -1;
}

std::optional<DType> dtype_from_acl(std::int32_t number) {
  for (const auto& [ours, known] : kTypes)
    if (known == number) return ours;
  return std::nullopt;
}

bool chip_matches(const OpInfo& op, std::string_view soc_version) {
  return op.chips.empty() || std::any_of(op.chips.begin(), op.chips.end(), [&](const std::string& chip) {
           return chip.size() <= soc_version.size() &&
                  std::equal(chip.begin(), chip.end(), soc_version.begin(),
                             [](char a, char b) { return lower(a) == lower(b); });
         });
}

}  // namespace atc::custom
