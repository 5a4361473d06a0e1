#include "runtime/custom_runner.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "atc/base/file.h"
#include "atc/base/sha256.h"
#include "atc/base/strings.h"

namespace atc::runtime {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> places_of(const plan::PlanLibrary& library) {
  std::vector<fs::path> out = {library.path, library.name};
  if (const char* list = std::getenv("ASCEND_CUSTOM_OPP_PATH"); list != nullptr)
    for (const std::string& folder : split(list, ':'))
      if (!folder.empty()) out.push_back(fs::path(folder) / library.name);
  return out;
}

StatusOr<custom::LibraryImage> image_of(const plan::PlanLibrary& library) {
  if (!library.bytes.empty()) return custom::LibraryImage{library.name, library.bytes};
  std::string other;
  for (const fs::path& place : places_of(library)) {
    std::error_code ignored;
    if (!fs::is_regular_file(place, ignored)) continue;
    ATC_ASSIGN(Bytes bytes, map_file(place));
    const std::string hash = sha256(bytes.span());
    if (hash == library.sha256) return custom::LibraryImage{library.name, Bytes::copy_of(bytes.span())};
    if (other.empty()) other = place.string() + " has " + hash;
  }
  if (!other.empty())
    return Status::error("E10041", "The library " + library.name +
                                       " is not the one that the model was compiled with: " +
                                       "the model expects the SHA-256 " + library.sha256 + ", " + other)
        .solution("Compile the model again, or bring the library back.");
  return Status::error("E13000", "The library " + library.name +
                                     " of custom operators is not found: the model refers to '" +
                                     library.path + "' and does not embed it")
      .solution(
          "Put the library there or in a folder of ASCEND_CUSTOM_OPP_PATH, or compile with "
          "--custom_op_embed=1.");
}

}  // namespace

bool has_custom_tasks(const plan::Plan& plan) {
  return std::any_of(plan.tasks.begin(), plan.tasks.end(),
                     [](const plan::PlanTask& t) { return t.engine == plan::Engine::Custom; });
}

CustomRunner::CustomRunner(const PreparedPlan& plan, std::unique_ptr<custom::Host> host)
    : plan_(plan), host_(std::move(host)) {}

StatusOr<std::unique_ptr<CustomRunner>> CustomRunner::create(const PreparedPlan& plan,
                                                             CustomRunnerOptions options) {
  std::vector<custom::LibraryImage> images;
  for (const plan::PlanLibrary& library : plan.plan.libraries) {
    ATC_ASSIGN(custom::LibraryImage image, image_of(library));
    images.push_back(std::move(image));
  }
  custom::HostOptions host;
  host.memory = std::move(options.memory);
  host.threads = options.threads;
  std::unique_ptr<CustomRunner> runner(
      new CustomRunner(plan, std::make_unique<custom::Host>(std::move(images), std::move(host))));
  ATC_TRY(runner->host_->start());
  ATC_TRY(runner->check_tasks());
  return runner;
}

const custom::OpInfo* CustomRunner::find(const plan::CustomTask& task, std::uint32_t& op) const {
  const std::vector<custom::OpInfo>& ops = host_->infos()[static_cast<std::size_t>(task.library)].ops;
  for (op = 0; op < ops.size(); ++op)
    if (ops[op].type == task.op) return &ops[op];
  return nullptr;
}

Status CustomRunner::check_tasks() {
  for (const plan::PlanTask& task : plan_.plan.tasks) {
    if (task.engine != plan::Engine::Custom) continue;
    std::uint32_t number = 0;
    const custom::OpInfo* op = find(task.custom, number);
    const std::string& library = plan_.plan.libraries[static_cast<std::size_t>(task.custom.library)].name;
    const auto broken = [&](const std::string& what) {
      return Status::error("E10041", "Failed to load the model: task '" + task.name + "' runs " +
                                         task.custom.op + " of " + library + ", " + what);
    };
    if (op == nullptr) return broken("which the library does not list");
    if (task.custom.combination >= op->combinations)
      return broken("combination " + std::to_string(task.custom.combination) + ", it has " +
                    std::to_string(op->combinations));
    if (task.custom.args.size() != op->inputs.size() + op->outputs.size() + 1)
      return broken("with " + std::to_string(task.custom.args.size()) + " arguments, it has " +
                    std::to_string(op->inputs.size()) + " inputs, " + std::to_string(op->outputs.size()) +
                    " outputs and a workspace");
  }
  return {};
}

StatusOr<custom::LaunchStats> CustomRunner::run(std::size_t index, std::span<const aicore::Gm> operands,
                                                bool timing, bool trace) {
  ATC_TRY(host_->start());
  const plan::PlanTask& task = plan_.plan.tasks[index];
  custom::Launch launch;
  const custom::OpInfo* op = find(task.custom, launch.op);
  ATC_CHECK(op != nullptr, "a library has changed between two loads");
  launch.library = static_cast<std::uint32_t>(task.custom.library);
  launch.combination = task.custom.combination;
  launch.tiling = task.custom.tiling;
  launch.soc_version = std::string(plan_.chip->name);
  launch.timing = timing;
  launch.trace = trace;
  // A run that measures comes beside the one on the user's data: its checks speak, its kernel does not.
  launch.checks = launch.quiet = timing;
  for (std::size_t a = 0; a < task.custom.args.size(); ++a) {
    custom::LaunchArg& arg = launch.args.emplace_back();
    const bool input = a < op->inputs.size();
    arg.output = !input;
    arg.name = input                                        ? op->inputs[a].name
               : a < op->inputs.size() + op->outputs.size() ? op->outputs[a - op->inputs.size()].name
                                                            : "workspace";
    if (task.custom.args[a] < 0) continue;
    const aicore::Gm& gm = operands[static_cast<std::size_t>(task.custom.args[a])];
    arg.address = reinterpret_cast<std::uintptr_t>(gm.data);
    arg.bytes = gm.bytes;
  }
  return host_->launch(launch);
}

}  // namespace atc::runtime
