#include "driver/omverify.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "atc/base/file.h"
#include "driver/isolate.h"
#include "driver/tool_command.h"
#include "driver/verify_report.h"

namespace atc::driver {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> paths;
  std::string json, atc;
  int jobs = 0;
  int timeout_s = 60;
  VerifyOptions verify;
};

/// A folder for the files of all cases, removed at the end.
class ScratchFolder {
 public:
  static StatusOr<std::unique_ptr<ScratchFolder>> create() {
    std::error_code error;
    std::string pattern = (fs::temp_directory_path(error) / "omverify-XXXXXX").string();
    if (error || mkdtemp(pattern.data()) == nullptr)
      return Status::error("E13001", "cannot create a temporary folder: " + pattern);
    return std::unique_ptr<ScratchFolder>(new ScratchFolder(pattern));
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  fs::path of_case(std::size_t i) const { return path_ / std::to_string(i); }

 private:
  explicit ScratchFolder(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

CaseResult result_of(const IsolatedResult& run, int timeout_s) {
  CaseResult result;
  switch (run.end) {
    case IsolatedResult::End::Finished:
      if (!decode_result(run.result, result)) result.reason = "it ended without a result";
      break;
    case IsolatedResult::End::TimedOut:
      result.reason = "no result after " + std::to_string(timeout_s) + " s";
      break;
    case IsolatedResult::End::Crashed:
      result.reason = "crashed with " + run.crash;
      if (!run.last_line.empty()) result.reason += ": " + run.last_line;
      break;
  }
  return result;
}

StatusOr<VerifyTotals> verify_all(Options& options) {
  ATC_ASSIGN(options.verify.atc, split_options(options.atc));
  ATC_ASSIGN(const std::vector<CaseFolder> folders, find_cases(options.paths));
  ATC_ASSIGN(const std::unique_ptr<ScratchFolder> scratch, ScratchFolder::create());
  std::vector<CaseResult> results;
  VerifyTotals totals;
  const auto work = [&](std::size_t i) {
    std::error_code error;  // verify_case reports a folder that is not there
    fs::create_directory(scratch->of_case(i), error);
    return encode_result(verify_case(folders[i], options.verify, scratch->of_case(i)));
  };
  const auto done = [&](std::size_t i, const IsolatedResult& run) {
    results.push_back(result_of(run, options.timeout_s));
    totals.add(results.back().status);
    std::printf("%s\n", result_line(folders[i], results.back()).c_str());
    std::fflush(stdout);
    std::error_code ignored;
    fs::remove_all(scratch->of_case(i), ignored);
  };
  run_isolated(folders.size(), options.jobs, std::chrono::seconds(options.timeout_s), work, done);
  if (!options.json.empty())
    ATC_TRY(write_file(options.json, verify_json(options.verify, folders, results, totals)));
  return totals;
}

void declare(CLI::App& app, Options& o) {
  app.add_option("cases", o.paths,
                 "Case folders (model.onnx, test_data_set_*, meta.json), or folders of such")
      ->required();
  app.add_option("--json", o.json, "File for the results as JSON");
  app.add_option("--soc", o.verify.soc_version, "Chip to compile for")->capture_default_str();
  app.add_option("--precision", o.verify.precision, "origin or fp16, unless the options of a case say more")
      ->check(CLI::IsMember({"origin", "fp16"}))
      ->capture_default_str();
  app.add_option("--atc", o.atc, "More options for atc, as one argument");
  app.add_option("--rtol", o.verify.rtol, "Relative tolerance; meta.json wins")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--atol", o.verify.atol, "Absolute tolerance; meta.json wins")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--steps", o.verify.steps,
                 "For quantized models, in place of the tolerances and of fp16's cosine: quantization steps "
                 "within which 99.9 % of an output's elements must be. A step is 1 in 8 bits, the scale "
                 "where an output was dequantized last, else 1/255 of the expected range; \"steps\", "
                 "\"rtol\" and \"atol\" of meta.json win")
      ->check(CLI::PositiveNumber);
  app.add_option("--threads", o.verify.threads, "Threads of each case's compiler and run")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--jobs", o.jobs, "Cases at once; 0: one for each hardware thread")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("--timeout", o.timeout_s, "Seconds for a case")
      ->check(CLI::Range(1, 86400))
      ->capture_default_str();
}

}  // namespace

int omverify_main(int argc, char** argv) {
  CLI::App app(
      "Compiles models, runs them on the simulated AI Core and compares the outputs with what is expected.",
      "omverify");
  Options options;
  declare(app, options);
  return run_tool(app, argc, argv, 1, [&]() -> StatusOr<int> {
    if (options.jobs == 0) options.jobs = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    ATC_ASSIGN(const VerifyTotals totals, verify_all(options));
    std::printf("%s\n", totals_line(totals).c_str());
    return totals.failed == 0 ? 0 : 1;
  });
}

}  // namespace atc::driver
