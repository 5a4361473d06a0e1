#include "driver/header_copies.h"

#include <sstream>

#include "atc/base/file.h"
#include "driver/launch_rewrite.h"

namespace atc::driver {
namespace {

namespace fs = std::filesystem;

bool needs_rewriting(std::string_view text) {
  return text.find("<<<") != std::string_view::npos || text.find("g_coreType") != std::string_view::npos;
}

/// The name in `#include "name"`; empty for every other line.
std::string_view included(std::string_view line) {
  const auto skip = [&](std::string_view token) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.starts_with(token)) return false;
    line.remove_prefix(token.size());
    return true;
  };
  if (!skip("#") || !skip("include") || !skip("\"")) return {};
  return line.substr(0, line.find('"'));
}

}  // namespace

HeaderCopies::Copy HeaderCopies::find(const std::string& name, const fs::path& includer) const {
  std::error_code error;
  std::vector<fs::path> places = {includer.parent_path() / name};
  for (const fs::path& folder : search_) places.push_back(folder / name);
  for (const fs::path& place : places)
    if (fs::is_regular_file(place, error)) return fs::canonical(place, error);
  return std::nullopt;
}

StatusOr<HeaderCopies::Copy> HeaderCopies::copy_of(const fs::path& header) {
  // A header that includes itself in the end is taken as it is there.
  const auto [entry, fresh] = known_.try_emplace(header, std::nullopt);
  if (!fresh) return entry->second;
  ATC_ASSIGN(const Bytes bytes, map_file(header.string()));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  bool copies = false;
  ATC_ASSIGN(const std::string rewritten, rewrite(text, header, copies));
  if (!copies && !needs_rewriting(text)) return Copy();
  const fs::path folder = folder_ / ("header_" + std::to_string(known_.size()));
  std::error_code error;
  fs::create_directories(folder, error);
  const fs::path copy = folder / header.filename();
  ATC_TRY(write_file(copy, rewritten));
  return known_[header] = copy;
}

StatusOr<std::string> HeaderCopies::rewrite(std::string_view text, const fs::path& file, bool& copies) {
  ATC_ASSIGN(const std::string rewritten, rewrite_launches(text, file.string()));
  std::string out;
  std::istringstream lines(rewritten);
  for (std::string line; std::getline(lines, line);) {
    const std::string name(included(line));
    if (const Copy header = name.empty() ? Copy() : find(name, file)) {
      ATC_ASSIGN(const Copy copy, copy_of(*header));
      copies = copies || copy.has_value();
      line = "#include \"" + copy.value_or(*header).string() + "\"";
    }
    out += line + "\n";
  }
  return out;
}

StatusOr<std::string> HeaderCopies::rewrite(std::string_view text, const fs::path& file) {
  bool copies = false;
  return rewrite(text, file, copies);
}

}  // namespace atc::driver
