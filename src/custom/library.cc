#include "custom/library.h"

#include <map>

#include "atc/base/file.h"
#include "atc/base/sha256.h"

namespace atc::custom {
namespace {

struct Table {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<Library>, std::less<>> by_hash;
};

Table& table() {
  static Table t;
  return t;
}

}  // namespace

Library::Library(std::string path, Bytes bytes)
    : path_(std::move(path)),
      name_(std::filesystem::path(path_).filename().string()),
      sha256_(atc::sha256(bytes.span())),
      bytes_(std::move(bytes)),
      host_(std::make_unique<Host>(std::vector<LibraryImage>{{name_, bytes_}}, HostOptions{})) {}

StatusOr<std::shared_ptr<Library>> Library::open(const std::filesystem::path& path) {
  ATC_ASSIGN(Bytes file, map_file(path));
  // A copy: whoever builds the library anew meanwhile must not change what is embedded.
  std::shared_ptr<Library> library(new Library(path.string(), Bytes::copy_of(file.span())));
  const std::lock_guard lock(table().mutex);
  std::weak_ptr<Library>& known = table().by_hash[library->sha256_];
  if (auto same = known.lock(); same != nullptr) return same;
  ATC_TRY(library->host_->start());
  library->info_ = library->host_->infos().front();
  known = library;
  return library;
}

int Library::find(std::string_view type) const {
  for (std::size_t i = 0; i < info_.ops.size(); ++i)
    if (info_.ops[i].type == type) return static_cast<int>(i);
  return -1;
}

StatusOr<std::vector<TensorInfo>> Library::infer(std::uint32_t combination, const Call& call) {
  const std::lock_guard lock(mutex_);
  const std::string key = encode(call) + std::to_string(combination);
  if (const auto known = inferred_.find(key); known != inferred_.end()) return known->second;
  ATC_ASSIGN(std::vector<TensorInfo> outputs, host_->infer(0, combination, call));
  inferred_[key] = outputs;
  return outputs;
}

StatusOr<Tiling> Library::tile(const Call& call, const std::string& soc_version) {
  const std::lock_guard lock(mutex_);
  return host_->tile(0, call, soc_version);
}

StatusOr<std::vector<AttrValue>> Library::parse(const Call& call) {
  const std::lock_guard lock(mutex_);
  return host_->parse(0, call);
}

std::shared_ptr<Library> find_library(std::string_view sha256) {
  const std::lock_guard lock(table().mutex);
  const auto at = table().by_hash.find(sha256);
  return at == table().by_hash.end() ? nullptr : at->second.lock();
}

}  // namespace atc::custom
