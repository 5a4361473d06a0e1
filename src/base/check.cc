#include "atc/base/check.h"

#include <string_view>

namespace atc {

void internal_error(const char* file, int line, const std::string& what) {
  // Only the file's name: where the sources were built is nobody's business.
  std::string_view name(file);
  if (const auto slash = name.rfind('/'); slash != std::string_view::npos) name.remove_prefix(slash + 1);
  throw InternalError(std::string(name) + ":" + std::to_string(line) + ": " + what);
}

}  // namespace atc
