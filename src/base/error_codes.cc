#include "atc/base/error_codes.h"

#include <algorithm>
#include <array>

namespace atc {
namespace {

constexpr std::array kCodes = {
#define ATC_ERROR_CODE(code, title, meaning, cause, solution) \
  ErrorCode{code, title, meaning, cause, solution},
#include "base/error_codes.def"
#undef ATC_ERROR_CODE
};

constexpr bool by_code(const ErrorCode& a, const ErrorCode& b) { return a.code < b.code; }
static_assert(std::is_sorted(kCodes.begin(), kCodes.end(), by_code));

}  // namespace

std::span<const ErrorCode> error_codes() { return kCodes; }

const ErrorCode* find_error_code(std::string_view code) {
  const auto* const found =
      std::lower_bound(kCodes.begin(), kCodes.end(), ErrorCode{code, {}, {}, {}, {}}, by_code);
  return found != kCodes.end() && found->code == code ? &*found : nullptr;
}

}  // namespace atc
