#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "custom/host.h"

namespace atc::custom {

/// A library of custom operators as the compiler uses it: its bytes, what it lists, and a child process that
/// answers for its functions. Thread-safe.
class Library {
 public:
  /// E13000 for a path without a file, E13029 and E13030 for what is not a library of custom operators.
  static StatusOr<std::shared_ptr<Library>> open(const std::filesystem::path& path);

  const std::string& path() const { return path_; }  ///< as the user wrote it
  const std::string& name() const { return name_; }  ///< the file's
  const std::string& sha256() const { return sha256_; }
  const Bytes& bytes() const { return bytes_; }
  const LibraryInfo& info() const { return info_; }
  /// The operator's index; -1: the library does not list it.
  int find(std::string_view type) const;

  /// As Host's. Shape inference and tiling are pure functions: a repeated call gives the first answer.
  StatusOr<std::vector<TensorInfo>> infer(std::uint32_t combination, const Call& call);
  StatusOr<Tiling> tile(const Call& call, const std::string& soc_version);
  StatusOr<std::vector<AttrValue>> parse(const Call& call);

 private:
  Library(std::string path, Bytes bytes);

  std::string path_, name_, sha256_;
  Bytes bytes_;
  LibraryInfo info_;
  std::mutex mutex_;
  std::unique_ptr<Host> host_;
  std::map<std::string, std::vector<TensorInfo>> inferred_;  // by the request's bytes
};

/// The library with these bytes, while somebody holds it; null otherwise. Nodes of a graph name their library
/// by its hash, so that graphs stay text.
std::shared_ptr<Library> find_library(std::string_view sha256);

}  // namespace atc::custom
