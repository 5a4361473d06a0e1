#include "passes/plan_info.h"

#include "passes/precision.h"

namespace atc::passes {
namespace {

constexpr const char* kPrecision = "precision";
constexpr const char* kSwitches = "switches";
constexpr const char* kNodePrecisions = "node_precisions";

/// Reads one entry by `read`, which gives nullopt for a text that it does not know.
template <class T, class Read>
Status read_entry(const std::map<std::string, std::string>& info, const char* key, const Read& read, T& out) {
  const auto entry = info.find(key);
  if (entry == info.end()) return {};
  auto value = read(entry->second);
  if (!value)
    return Status::error("E10041",
                         "the plan has the unknown " + std::string(key) + " '" + entry->second + "'");
  out = *std::move(value);
  return {};
}

}  // namespace

void write_plan_info(const PassOptions& options, std::map<std::string, std::string>& info) {
  info[kPrecision] = std::string(precision_name(options.precision));
  if (std::string text = options.switches.to_text(); !text.empty()) info[kSwitches] = std::move(text);
  if (!options.node_precisions.empty()) info[kNodePrecisions] = options.node_precisions.to_text();
}

Status read_plan_info(const std::map<std::string, std::string>& info, PassOptions& options) {
  ATC_TRY(read_entry(info, kPrecision, precision_from_name, options.precision));
  ATC_TRY(read_entry(info, kSwitches, Switches::from_text, options.switches));
  return read_entry(info, kNodePrecisions, NodePrecisions::from_text, options.node_precisions);
}

}  // namespace atc::passes
