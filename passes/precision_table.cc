// What each precision mode is called, and the operators that break in fp16.
#include <algorithm>
#include <array>
#include <utility>

#include "passes/precision.h"

namespace atc::passes {
namespace {

constexpr std::array<std::pair<Precision, std::string_view>, 7> kPrecisionNames = {
    {{Precision::Fp16, "fp16"},
     {Precision::Origin, "origin"},
     {Precision::Fp32, "cube_fp16in_fp32out"},
     {Precision::AllowFp32ToFp16, "allow_fp32_to_fp16"},
     {Precision::MixedFloat16, "mixed_float16"},
     {Precision::MixedBfloat16, "mixed_bfloat16"},
     {Precision::AllowFp32ToBf16, "allow_fp32_to_bf16"}}};

}  // namespace

std::string_view fp32_reason(std::string_view op) {
  constexpr std::string_view kRange = "its results leave the range of fp16";
  constexpr std::string_view kSum = "sums of many elements lose their low bits or leave the range in fp16";
  constexpr std::string_view kLog = "small differences of logarithms are lost in fp16";
  constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kOps = {{{"CumSum", kSum},
                                                                                   {"Exp", kRange},
                                                                                   {"Log", kLog},
                                                                                   {"Pow", kRange},
                                                                                   {"ReduceL1", kSum},
                                                                                   {"ReduceL2", kSum},
                                                                                   {"ReduceLogSum", kLog},
                                                                                   {"ReduceLogSumExp", kLog},
                                                                                   {"ReduceProd", kRange},
                                                                                   {"ReduceSum", kSum},
                                                                                   {"ReduceSumSquare", kSum},
                                                                                   {"Softplus", kRange}}};
  const auto at =
      std::find_if(kOps.begin(), kOps.end(), [&](const auto& entry) { return entry.first == op; });
  return at == kOps.end() ? std::string_view() : at->second;
}

std::string_view precision_name(Precision precision) {
  for (const auto& [p, name] : kPrecisionNames)
    if (p == precision) return name;
  return {};
}

std::optional<Precision> precision_from_name(std::string_view text) {
  for (const auto& [p, name] : kPrecisionNames)
    if (name == text) return p;
  return std::nullopt;
}

}  // namespace atc::passes
