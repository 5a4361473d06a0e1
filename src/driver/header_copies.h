#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "atc/base/status.h"

namespace atc::driver {

/// Rewrites sources in Ascend C together with their own headers: a header that launches kernels or asks
/// `if constexpr (g_coreType ...)`, or includes one that does, is copied, and the copy is what is included.
class HeaderCopies {
 public:
  /// `folder` takes the copies; headers are looked for beside the file that includes them, then in `search`.
  HeaderCopies(std::filesystem::path folder, std::vector<std::filesystem::path> search)
      : folder_(std::move(folder)), search_(std::move(search)) {}

  /// The text of `file` for the compiler. Errors as of rewrite_launches, also of a header.
  StatusOr<std::string> rewrite(std::string_view text, const std::filesystem::path& file);

 private:
  using Copy = std::optional<std::filesystem::path>;  ///< nullopt: the header stays as it is
  StatusOr<Copy> copy_of(const std::filesystem::path& header);
  Copy find(const std::string& name, const std::filesystem::path& includer) const;
  /// `copies`: whether any header was replaced.
  StatusOr<std::string> rewrite(std::string_view text, const std::filesystem::path& file, bool& copies);

  std::filesystem::path folder_;
  std::vector<std::filesystem::path> search_;
  std::map<std::filesystem::path, Copy> known_;
};

}  // namespace atc::driver
