#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "atc/base/bytes.h"
#include "atc/base/status.h"
#include "frontend/onnx/context.h"

namespace atc::frontend {

/// The external data files of one model, each mapped once.
class ExternalFiles {
 public:
  ExternalFiles(const Context& context, std::filesystem::path base_dir)
      : context_(context), base_dir_(base_dir.empty() ? "." : std::move(base_dir)) {}

  /// The bytes of the file at `location`, relative to the model's folder; "/" separates folders.
  /// `who` names the tensor in diagnostics. E10041: the path is absolute, leaves the folder (also by a
  /// symbolic link), or is no regular file; E13000/E13001: it is missing or unreadable.
  StatusOr<Bytes> open(const std::string& location, const std::string& who);

 private:
  StatusOr<std::filesystem::path> resolve(const std::string& location, const std::string& who) const;

  const Context& context_;
  std::filesystem::path base_dir_;
  std::map<std::string, Bytes> by_location_;
  std::map<std::filesystem::path, Bytes> by_path_;
};

}  // namespace atc::frontend
