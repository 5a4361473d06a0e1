#include "driver/omdiff.h"

#include <CLI/CLI.hpp>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>

#include "atc/base/file.h"
#include "driver/tool_command.h"
#include "om/reader.h"
#include "report/diff.h"
#include "runtime/simulate.h"

namespace atc::driver {
namespace {

struct Options {
  std::string before, after, format = "text";
  // Percentages; absent: no limit. An empty one, of a variable that is not set, is no percentage.
  std::optional<std::string> max_latency, max_memory, max_weights, max_tasks, max_size;
  std::vector<std::string> required;
};

/// Tells contents apart, as fast as memory is read; no safeguard against intent. (FNV-1a's constants, on
/// words.)
std::uint64_t digest(std::span<const std::byte> bytes) {
  constexpr std::uint64_t kPrime = 0x100000001b3, kStart = 0xcbf29ce484222325;
  std::array<std::uint64_t, 4> lanes = {kStart, kStart + 1, kStart + 2, kStart + 3};
  std::size_t at = 0;
  const auto mix = [](std::uint64_t h, std::uint64_t word) { return std::rotl((h ^ word) * kPrime, 23); };
  for (; at + 32 <= bytes.size(); at += 32)
    for (std::size_t lane = 0; lane < 4; ++lane) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at + 8 * lane, 8);
      lanes[lane] = mix(lanes[lane], word);
    }
  for (; at < bytes.size(); ++at) lanes[0] = mix(lanes[0], static_cast<std::uint64_t>(bytes[at]));
  std::uint64_t h = bytes.size();
  for (const std::uint64_t lane : lanes) h = mix(h, lane);
  return h;
}

/// The folder of a profile, an .om by its first bytes, else a report.
StatusOr<report::Snapshot> load(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return load(path / "profile.json");
  ATC_ASSIGN(Bytes file, map_file(path));
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (!text.starts_with("IMOD")) return report::read_report(text);
  const auto file_bytes = static_cast<std::int64_t>(file.size());
  ATC_ASSIGN(om::LoadedOm loaded, om::load_om(std::move(file)));
  report::Snapshot snapshot = report::snapshot_of(loaded.plan);
  snapshot.file_bytes = file_bytes;
  snapshot.weight_contents = digest(loaded.weights.span());
  ATC_ASSIGN(const auto prepared, runtime::prepare(std::move(loaded.plan)));
  ATC_ASSIGN(const runtime::Simulation simulation, runtime::simulate(*prepared, {.load_libraries = false}));
  snapshot.us = simulation.us;
  for (std::size_t t = 0; t < simulation.tasks.size(); ++t) (*snapshot.tasks)[t].us = simulation.tasks[t].us;
  return snapshot;
}

/// "5%" or "5".
StatusOr<double> percent(const std::string& option, const std::string& text) {
  std::string number = text;
  if (number.ends_with('%')) number.pop_back();
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  if (number.empty() || *end != '\0' || !(value >= 0) || !std::isfinite(value))
    return Status::error("E10001", "Value " + text + " for parameter " + option +
                                       " is invalid. Reason: it is not a percentage such as 5%");
  return value;
}

/// What is beyond a threshold, a line each. A figure that a side does not tell cannot be held to one.
StatusOr<std::vector<std::string>> violations(const Options& o, const report::Snapshot& after,
                                              const report::Diff& d) {
  struct Limit {
    const char* option;
    const std::optional<std::string>& text;
    const report::Figure& figure;
    const char* what;
  };
  std::vector<std::string> out;
  for (const Limit& limit : {Limit{"--max-latency-increase", o.max_latency, d.us, "the modelled time"},
                             Limit{"--max-memory-increase", o.max_memory, d.arena_bytes, "the memory"},
                             Limit{"--max-weight-increase", o.max_weights, d.weight_bytes, "the weights"},
                             Limit{"--max-task-increase", o.max_tasks, d.tasks, "the number of tasks"},
                             Limit{"--max-size-increase", o.max_size, d.file_bytes, "the .om"}}) {
    if (!limit.text) continue;
    ATC_ASSIGN(const double most, percent(limit.option, *limit.text));
    if (!limit.figure.both())
      return Status::error("E10001", std::string(limit.option) + " cannot be checked: a file does not tell " +
                                         limit.what)
          .solution("Compare two .om files.");
    const double grown = limit.figure.increase_percent();
    char text[64];
    std::snprintf(text, sizeof text, " grew by %.2f %%, allowed are %g %%", grown, most);
    if (grown > most) out.push_back(limit.what + std::string(text));
  }
  if (!o.required.empty() && !after.fusions)
    return Status::error("E10001",
                         "--require-fusion cannot be checked: " + o.after + " does not tell fusions")
        .solution("Compare two compilation reports (atc --report) or fusion_result.json files.");
  for (const std::string& name : o.required) {
    const auto found = after.fusions->find(name);
    if (found == after.fusions->end() || found->second == 0)
      out.push_back("fusion " + name + " took no effect");
  }
  return out;
}

StatusOr<int> run(const Options& o) {
  std::array<report::Snapshot, 2> snapshots;
  const std::array<const std::string*, 2> files = {&o.before, &o.after};
  for (std::size_t i = 0; i < 2; ++i) {
    auto loaded = load(*files[i]);
    if (!loaded.ok()) return Status(loaded.status()).while_doing("reading " + *files[i]);
    snapshots[i] = *std::move(loaded);
  }
  const report::Diff diff = report::compare(snapshots[0], snapshots[1]);
  ATC_ASSIGN(const std::vector<std::string> beyond, violations(o, snapshots[1], diff));
  const std::string text = o.format == "json" ? report::to_json(diff)
                           : o.format == "md" ? report::to_markdown(diff)
                                              : report::to_text(diff);
  std::fputs(text.c_str(), stdout);
  for (const std::string& line : beyond) std::fprintf(stderr, "omdiff: %s\n", line.c_str());
  return beyond.empty() ? 0 : 1;
}

void declare(CLI::App& app, Options& o) {
  app.add_option("before", o.before,
                 "An .om, a compilation report (JSON), a fusion_result.json, the folder of omrun --profile "
                 "or the output "
                 "of omrun --json")
      ->required();
  app.add_option("after", o.after, "The same of the newer version")->required();
  app.add_option("--format", o.format, "text, md (for a merge request) or json")
      ->check(CLI::IsMember({"text", "md", "json"}))
      ->capture_default_str();
  app.add_option("--max-latency-increase", o.max_latency, "Of the modelled time, such as 5%");
  app.add_option("--max-memory-increase", o.max_memory, "Of the activation memory");
  app.add_option("--max-weight-increase", o.max_weights, "Of the weights");
  app.add_option("--max-task-increase", o.max_tasks, "Of the number of tasks");
  app.add_option("--max-size-increase", o.max_size, "Of the .om file");
  app.add_option("--require-fusion", o.required, "A fusion that must take effect in the newer version")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace

int omdiff_main(int argc, char** argv) {
  CLI::App app("Tells what changed between two compiled models, or two reports on them.", "omdiff");
  Options options;
  declare(app, options);
  return run_tool(app, argc, argv, 2, [&] { return run(options); });
}

}  // namespace atc::driver
