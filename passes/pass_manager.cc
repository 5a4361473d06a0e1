#include "passes/pass_manager.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "atc/base/check.h"
#include "atc/base/file.h"
#include "atc/base/strings.h"
#include "atc/ir/text.h"
#include "atc/ir/verifier.h"
#include "passes/pipeline.h"

namespace atc::passes {
namespace {

// Of a group of repeated passes. Each pass simplifies, so that two or three rounds end it; a bound keeps a
// pair that undo each other from hanging the compiler.
constexpr std::size_t kMaxRounds = 8;

void verify_after(const ir::Graph& graph, std::string_view pass) {
  const std::string fault = ir::verify(graph);
  ATC_CHECK(fault.empty(), "pass '" + std::string(pass) + "' left a broken graph: " + fault);
}

}  // namespace

PassManager::PassManager(std::vector<Pass> passes, PassManagerOptions options)
    : passes_(std::move(passes)), options_(std::move(options)) {}

Status PassManager::check_options() const {
  const std::string& wanted = options_.print_ir_after;
  if (wanted.empty() || wanted == "all" || wanted == "changed") return {};
  std::vector<std::string> names;
  for (const Pass& pass : passes_) {
    if (pass.name == wanted) return {};
    names.emplace_back(pass.name);
  }
  const std::string near = nearest(wanted, names);
  return Status::error("E10001", "Value " + wanted +
                                     " for parameter --print-ir-after is invalid. Reason: no pass has " +
                                     "this name" + (near.empty() ? "" : "; did you mean " + near + "?"))
      .solution("Give all, changed, or one of: " + join(names, ", ") + ".");
}

Status PassManager::write_dump(const ir::Graph& graph, std::string_view label) {
  const std::string text = ir::print(graph, {.max_constant_elements = options_.max_constant_elements});
  if (options_.dump_dir.empty()) {
    const std::string shown = "// after " + std::string(label) + "\n" + text;
    if (options_.print)
      options_.print(shown);
    else
      std::fwrite(shown.data(), 1, shown.size(), stdout);
    return {};
  }
  std::array<char, 16> number{};
  std::snprintf(number.data(), number.size(), "%03zu_", records_.size());
  const auto path = std::filesystem::path(options_.dump_dir) / (number.data() + std::string(label) + ".air");
  return write_file(path, text).while_doing("dumping the graph after '" + std::string(label) + "'");
}

Status PassManager::dump(const ir::Graph& graph, std::string_view pass, int changes) {
  std::string_view wanted = options_.print_ir_after;
  if (wanted.empty()) {
    if (options_.dump_dir.empty()) return {};
    wanted = "changed";
  }
  if (wanted == "all" || wanted == pass || (wanted == "changed" && changes > 0))
    return write_dump(graph, pass);
  return {};
}

Status PassManager::run(ir::Graph& graph, PassContext& context) {
  ATC_TRY(check_options());
  records_.clear();
  if (options_.verify_each) {
    const std::string fault = ir::verify(graph);
    ATC_CHECK(fault.empty(), "the graph was broken before the first pass: " + fault);
  }
  if (!options_.dump_dir.empty()) ATC_TRY(write_dump(graph, "input"));

  if (options_.trace != nullptr) options_.trace->start(graph);
  for (std::size_t first = 0; first < passes_.size();) {
    std::size_t end = first + 1;
    while (passes_[first].repeated && end < passes_.size() && passes_[end].repeated) ++end;
    // A pass of the group that found nothing after the last change of all is not run again.
    std::size_t quiet = 0;
    for (std::size_t i = 0; i < (end - first) * (passes_[first].repeated ? kMaxRounds : 1); ++i) {
      if (options_.pass_limit >= 0 && records_.size() >= static_cast<std::size_t>(options_.pass_limit)) break;
      ATC_ASSIGN(const int changes, run_one(passes_[first + i % (end - first)], graph, context));
      quiet = changes == 0 ? quiet + 1 : 0;
      if (quiet == end - first) break;
    }
    first = end;
  }
  context.current = nullptr;
  verify_after(graph, records_.empty() ? "(none)" : records_.back().name);
  return {};
}

StatusOr<int> PassManager::run_one(const Pass& pass, ir::Graph& graph, PassContext& context) {
  if (!context.options.switches.is_on(pass)) return 0;
  context.current = &pass;
  const auto start = std::chrono::steady_clock::now();
  StatusOr<int> changes = pass.run(graph, context);
  const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - start;
  if (!changes.ok())
    return std::move(changes).status().while_doing("running pass '" + std::string(pass.name) + "'");
  records_.push_back({pass.name, *changes, wall.count()});
  if (options_.trace != nullptr && *changes > 0) options_.trace->after(pass, graph);
  if (options_.on_canonical && records_.size() == canonical_passes().size()) options_.on_canonical(graph);
  if (options_.verify_each) verify_after(graph, pass.name);
  ATC_TRY(dump(graph, pass.name, *changes));
  return changes;
}

std::string timing_table(const std::vector<PassRecord>& records) {
  std::string out;
  double total = 0;
  std::array<char, 128> line{};
  for (const PassRecord& r : records) {
    std::snprintf(line.data(), line.size(), "%-28.*s %8d changes %10.3f ms\n",
                  static_cast<int>(r.name.size()), r.name.data(), r.changes, r.milliseconds);
    out += line.data();
    total += r.milliseconds;
  }
  std::snprintf(line.data(), line.size(), "%-28s %16s %10.3f ms\n", "total", "", total);
  return out + line.data();
}

std::string timing_json(const std::vector<PassRecord>& records) {
  std::string out = "{\"passes\":[";
  double total = 0;
  std::array<char, 128> line{};
  for (const PassRecord& r : records) {
    // Names of passes are plain words: nothing to escape.
    std::snprintf(line.data(), line.size(), "%s{\"name\":\"%.*s\",\"changes\":%d,\"ms\":%.3f}",
                  out.back() == '[' ? "" : ",", static_cast<int>(r.name.size()), r.name.data(), r.changes,
                  r.milliseconds);
    out += line.data();
    total += r.milliseconds;
  }
  std::snprintf(line.data(), line.size(), "],\"total_ms\":%.3f}\n", total);
  return out + line.data();
}

}  // namespace atc::passes
