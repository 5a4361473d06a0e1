#include "driver/memplan.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "atc/base/file.h"
#include "driver/memory_csv.h"
#include "driver/tool_command.h"

namespace atc::driver {
namespace {

struct Options {
  std::string input, output;
  std::int64_t capacity = 0;  // 0: not given
  bool json = false;
};

// Steps of the search: more than a compilation spends, as the problem is the only thing to solve.
constexpr std::int64_t kSteps = 150'000'000;

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

StatusOr<bool> solve(const Options& options) {
  ATC_ASSIGN(const MemoryProblem problem, read_memory_csv(options.input));
  const auto start = std::chrono::steady_clock::now();
  const plan::MemoryLayout first = plan::plan_by_size(problem.buffers, 1);
  const double first_ms = since(start);
  const bool enough = options.capacity > 0 && first.height <= options.capacity;
  const plan::MemoryLayout layout =
      enough ? first : plan::plan_memory(problem.buffers, 1, {options.capacity, kSteps});
  const double time_ms = since(start);
  if (!options.output.empty()) ATC_TRY(write_file(options.output, memory_csv_text(problem, layout)));
  if (options.json) {
    const nlohmann::ordered_json json = {{"height", layout.height},
                                         {"lower_bound", layout.lower_bound},
                                         {"time_ms", time_ms},
                                         {"first_height", first.height},
                                         {"first_ms", first_ms}};
    std::printf("%s\n", json.dump().c_str());
  } else {
    std::printf(
        "height       %lld\nlower_bound  %lld\ntime_ms      %.3f\nfirst_height %lld\nfirst_ms     %.3f\n",
        static_cast<long long>(layout.height), static_cast<long long>(layout.lower_bound), time_ms,
        static_cast<long long>(first.height), first_ms);
  }
  const bool fits = options.capacity == 0 || layout.height <= options.capacity;
  if (!fits)
    std::fprintf(stderr, "memplan: no packing within %lld found: %lld are needed%s\n",
                 static_cast<long long>(options.capacity), static_cast<long long>(layout.height),
                 layout.lower_bound > options.capacity ? ", and there is none (see lower_bound)" : "");
  return fits;
}

}  // namespace

int memplan_main(int argc, char** argv) {
  CLI::App app("Places buffers of known lifetimes in one arena, as the compiler does.", "memplan");
  Options options;
  app.add_option("--input", options.input, "CSV file: id,lower,upper,size")->required();
  app.add_option("--capacity", options.capacity, "Height that is low enough; exit code 1 above it")
      ->check(CLI::Validator(
          [](const std::string& text) {
            return text.starts_with('-') || text.find_first_not_of('0') == std::string::npos
                       ? "Value " + text + " is not a positive number of bytes"
                       : std::string();
          },
          "POSITIVE"));
  app.add_option("--output", options.output, "CSV file for the problem with its offsets");
  app.add_flag("--json", options.json, "Print one JSON object");
  return run_tool(app, argc, argv, 1, [&]() -> StatusOr<int> {
    ATC_ASSIGN(const bool fits, solve(options));
    return fits ? 0 : 1;
  });
}

}  // namespace atc::driver
