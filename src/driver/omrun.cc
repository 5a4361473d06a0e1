#include "driver/omrun.h"

#include <sys/resource.h>
#include <time.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "atc/base/file.h"
#include "atc/base/strings.h"
#include "driver/run_report.h"
#include "driver/tool_command.h"
#include "om/reader.h"
#include "report/profile_report.h"
#include "runtime/random_input.h"
#include "runtime/session.h"

namespace atc::driver {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string model;
  std::string input;
  std::string output;
  std::string outfmt = "BIN";
  int loop = 1;
  int warmup = 0;
  int threads = 0;
  std::string dims, profile;
  bool json = false;
  std::uint64_t seed = 0;
  bool dry_run = false;
};

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double cpu_ms() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) / 1e6;
}

double peak_rss_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

Status not_in_this_version(const std::string& option) {
  return Status::error("E10055", option + " is not supported in this version");
}

/// The file of each input, "" for those that the user left to chance. Entries are files in the order of
/// the model's inputs, or name=file.
StatusOr<std::vector<std::string>> assign_files(const std::string& list,
                                                const std::vector<runtime::TensorSpec>& specs) {
  std::vector<std::string> files(specs.size());
  if (list.empty()) return files;
  std::size_t next = 0;
  for (const std::string& entry : split(list, ',')) {
    std::size_t index = specs.size();
    std::string file = entry;
    for (std::size_t i = 0; i < specs.size(); ++i)
      if (entry.starts_with(specs[i].name + "=")) {
        index = i;
        file = entry.substr(specs[i].name.size() + 1);
      }
    if (index == specs.size()) {
      index = next++;
      if (index >= specs.size())
        return Status::error("E10001", "--input names more files than the model has inputs (" +
                                           std::to_string(specs.size()) + ")");
    }
    if (file.empty()) return Status::error("E10004", "--input has an empty file name");
    if (!files[index].empty())
      return Status::error("E10001", "--input names two files for input '" + specs[index].name + "'");
    files[index] = file;
  }
  return files;
}

StatusOr<std::vector<Tensor>> make_inputs(const Options& options, RunReport& report) {
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < report.inputs.size(); ++i) {
    PortReport& port = report.inputs[i];
    if (port.file.empty()) {
      tensors.push_back(runtime::random_tensor(port.spec, options.seed, i));
    } else {
      ATC_ASSIGN(Tensor tensor, runtime::read_tensor(port.file, port.spec));
      tensors.push_back(std::move(tensor));
    }
    port.range = range_of(tensors.back());
  }
  return tensors;
}

/// Files are called as msame calls them: <model>_output_<i>.<extension>.
Status write_outputs(const Options& options, const std::vector<Tensor>& outputs, RunReport& report) {
  const runtime::TensorFormat format = *runtime::tensor_format_from_name(options.outfmt);
  std::error_code error;
  fs::create_directories(options.output, error);
  if (error)
    return Status::error("E13001",
                         "cannot create the folder '" + options.output + "' of --output: " + error.message());
  const std::string stem = fs::path(options.model).stem().string();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const fs::path path = fs::path(options.output) /
                          (stem + "_output_" + std::to_string(i) + std::string(runtime::extension(format)));
    ATC_TRY(runtime::write_tensor(path, format, report.outputs[i].spec.name, outputs[i]));
    report.outputs[i].file = path.string();
  }
  return {};
}

Status execute(const Options& options, std::shared_ptr<const runtime::PreparedPlan> prepared, Bytes weights,
               Clock::time_point start, RunReport& report) {
  runtime::SessionOptions session_options;
  session_options.threads = options.threads;
  ATC_ASSIGN(const std::unique_ptr<runtime::Session> session,
             runtime::Session::create(std::move(prepared), std::move(weights), session_options));
  report.load_ms = ms_since(start);
  report.threads = session->threads();
  ATC_ASSIGN(const std::vector<Tensor> inputs, make_inputs(options, report));
  std::vector<Tensor> outputs;
  for (int i = 0; i < options.warmup + options.loop; ++i) {
    const Clock::time_point begin = Clock::now();
    const double cpu_begin = cpu_ms();
    ATC_TRY(session->run(inputs, outputs));
    const double wall = ms_since(begin);
    if (i == 0) report.first_ms = wall;
    if (i < options.warmup) continue;
    report.wall_ms.push_back(wall);
    report.cpu_ms.push_back(cpu_ms() - cpu_begin);
  }
  ATC_ASSIGN(report.simulation, session->region_simulation());
  for (const auto& [engine, total] : report.simulation.by_engine)
    (engine == "ai_cpu" ? report.ai_cpu_tasks : report.ai_core_tasks) += total.tasks;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    report.outputs[i].spec.shape = outputs[i].shape;  // where it depends on the data
    report.outputs[i].range = range_of(outputs[i]);
  }
  return options.output.empty() ? Status() : write_outputs(options, outputs, report);
}

std::int64_t batch_of(const std::vector<runtime::TensorSpec>& inputs) {
  for (const runtime::TensorSpec& spec : inputs)
    if (!spec.shape.empty()) return spec.shape[0];
  return 1;
}

StatusOr<RunReport> run(const Options& options) {
  if (!options.dims.empty()) return not_in_this_version("--dims");
  if (!runtime::tensor_format_from_name(options.outfmt))
    return Status::error(
        "E10001", "value '" + options.outfmt + "' of --outfmt is invalid: it takes BIN, NPY, TXT or PB");
  RunReport report;
  report.model = options.model;
  report.seed = options.seed;
  const Clock::time_point start = Clock::now();
  ATC_ASSIGN(Bytes file, map_file(options.model));
  ATC_ASSIGN(om::LoadedOm loaded, om::load_om(std::move(file)));
  ATC_ASSIGN(const std::shared_ptr<const runtime::PreparedPlan> prepared,
             runtime::prepare(std::move(loaded.plan)));
  report.load_ms = ms_since(start);
  report.soc_version = prepared->plan.soc_version;
  for (const plan::PlanTask& task : prepared->plan.tasks)
    ++(task.engine == plan::Engine::AiCpu    ? report.ai_cpu_tasks
       : task.engine == plan::Engine::Region ? report.regions
                                             : report.ai_core_tasks);

  const std::vector<runtime::TensorSpec> specs = prepared->input_specs();
  ATC_ASSIGN(const std::vector<std::string> files, assign_files(options.input, specs));
  for (std::size_t i = 0; i < specs.size(); ++i) report.inputs.push_back({specs[i], files[i], {}});
  for (const runtime::TensorSpec& spec : prepared->output_specs()) report.outputs.push_back({spec, "", {}});
  report.batch = batch_of(specs);

  if (!options.dry_run) ATC_TRY(execute(options, prepared, loaded.weights, start, report));
  ATC_ASSIGN(runtime::Simulation plan, runtime::simulate(*prepared, {.profile = !options.profile.empty()}));
  if (!options.profile.empty()) {
    const report::ProfileReport profile{*prepared, plan};
    ATC_TRY(report::write_profile(profile, options.profile));
    report.profile = report::profile_table(profile);
  }
  runtime::add_runs(report.simulation, plan, 1, *prepared->chip);
  for (std::size_t t = 0; t < plan.tasks.size(); ++t)
    if (plan.tasks[t].from_data)
      report.custom.push_back({prepared->plan.tasks[t].name, prepared->plan.tasks[t].op_type,
                               plan.tasks[t].cycles, plan.tasks[t].us});
  report.simulation.tasks = std::move(plan.tasks);
  for (const plan::PlanTask& task : prepared->plan.tasks) report.task_names.push_back(task.name);
  report.peak_rss_mb = peak_rss_mb();
  return report;
}

void declare(CLI::App& app, Options& o) {
  app.add_option("--model", o.model, "The .om file to run")->required();
  app.add_option(
      "--input", o.input,
      "Files for the model's inputs, separated by commas: in the order of the inputs, or name=file. .npy "
      "and .pb (ONNX TensorProto) by extension, all others raw. Without: seeded random values");
  app.add_option("--output", o.output, "Folder for the outputs: <model>_output_<i>.<ext>");
  app.add_option("--outfmt", o.outfmt, "BIN, NPY, TXT or PB")->capture_default_str();
  app.add_option("--loop", o.loop, "Timed runs")->check(CLI::Range(1, 1000000))->capture_default_str();
  app.add_option("--warmup", o.warmup, "Runs before them")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  app.add_option("--threads", o.threads, "Threads that run blocks; 0: one for each hardware thread")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("--seed", o.seed, "Of the random inputs: floats in [-1, 1), integers 0 to 9")
      ->check(CLI::Validator(
          [](const std::string& text) {
            return text.starts_with('-') ? "Value " + text + " is negative" : std::string();
          },
          "NONNEGATIVE"))
      ->capture_default_str();
  app.add_flag("--json", o.json, "Print one JSON object");
  app.add_flag("--dry-run", o.dry_run, "Simulated time only; no values are computed");
  app.add_option("--dims", o.dims, "Shapes for dynamic models; not supported in this version");
  app.add_option("--profile", o.profile,
                 "Folder for a profile of the simulated run: msprof's tables (op_summary.csv, ...), "
                 "PipeUtilization.csv, "
                 "trace.json for trace viewers, profile.json with what bounds each task");
}

}  // namespace

int omrun_main(int argc, char** argv) {
  CLI::App app("Runs a compiled model (.om) on the simulated AI Core.", "omrun");
  Options options;
  declare(app, options);
  return run_tool(app, argc, argv, 1, [&]() -> StatusOr<int> {
    ATC_ASSIGN(const RunReport report, run(options));
    std::fputs((options.json ? to_json(report) : to_table(report)).c_str(), stdout);
    return std::fflush(stdout) == 0 ? 0 : 1;
  });
}

}  // namespace atc::driver
