#include "driver/main.h"

#include <algorithm>
#include <exception>
#include <iostream>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "atc/base/check.h"
#include "atc/base/file.h"
#include "driver/command_line.h"
#include "driver/compile.h"
#include "driver/console.h"
#include "driver/help.h"
#include "driver/listing.h"
#include "driver/log.h"
#include "driver/option_values.h"
#include "driver/options.h"
#include "driver/path_checks.h"
#include "driver/process.h"
#include "driver/tuning.h"
#include "om/info.h"
#include "om/json_dump.h"

namespace atc::driver {
namespace {

constexpr int kFailed = 255;

Status print_info(const std::filesystem::path& om, Console& console) {
  ATC_ASSIGN(const Bytes file, map_file(om));
  ATC_ASSIGN(const std::string text, om::display_info(file));
  console.out() << text;
  return {};
}

Status run_mode(const CompileOptions& options, std::vector<Diagnostic>& warnings, Console& console) {
  switch (options.mode) {
    case Mode::Info:
      return print_info(options.om, console);
    case Mode::OmToJson: {
      ATC_ASSIGN(const Bytes file, map_file(options.om));
      ATC_ASSIGN(const std::string text, om::dump_json(file));
      ATC_TRY(create_folder_of(options.json));
      return write_file(options.json, text);
    }
    case Mode::Compile:
      break;
  }
  CompileResult result;
  ATC_TRY(compile(options, result));
  console.out() << result.console;
  for (Diagnostic& warning : result.warnings) warnings.push_back(std::move(warning));
  return options.display_model_info ? print_info(options.om_output(), console) : Status();
}

Status read_and_run(const CommandLine& line, bool tune, std::vector<Diagnostic>& warnings, Console& console) {
  ATC_ASSIGN(CompileOptions options, read_options(line));
  options.tune = tune;
  start_log(options.log);
  log(LogLevel::Info, options.command_line);
  for (const Diagnostic& w : options.warnings) log(LogLevel::Warning, w.message);
  warnings = options.warnings;
  return run_mode(options, warnings, console);
}

/// No exception leaves atc: each becomes a diagnostic.
Status guarded(const CommandLine& line, bool tune, std::vector<Diagnostic>& warnings, Console& console) {
  try {
    return read_and_run(line, tune, warnings, console);
  } catch (const InternalError& e) {
    return Status::error("E19999", e.what());
  } catch (const std::bad_alloc&) {
    return Status::error("E10059", "The compilation failed: there is not enough memory.")
        .solution("Close other programs or use a machine with more memory.");
  } catch (const std::exception& e) {
    return Status::error("E19999", e.what());
  }
}

/// --help, --explain and --list; nullopt when none is asked for.
std::optional<Status> print_text(const CommandLine& line, Console& console) {
  for (const char* name : {"h", "help"})
    if (line.given(name)) {
      console.start();  // as ATC does
      console.out() << help_text(console.program());
      return Status();
    }
  if (line.given("explain")) {
    auto text = explain_text(line.text("explain"));
    if (text.ok()) console.out() << *text;
    return std::move(text).status();
  }
  if (line.given("list")) {
    Status status = check_value(line, *find_option("list"));
    if (status.ok()) console.out() << list_text(line.text("list"));
    return status;
  }
  return std::nullopt;
}

int run(std::span<const std::string> arguments, bool tune, Console& console) {
  const auto line = CommandLine::parse(arguments);
  if (!line.ok()) {
    console.start();
    console.failure(line.status().diagnostic());
    return kFailed;
  }
  console.use_json((*line).text("diagnostics") == "json");
  Status status;
  std::vector<Diagnostic> warnings;
  if (auto printed = print_text(*line, console)) {
    if (printed->ok()) return 0;
    status = *std::move(printed);
  } else {
    console.start();
    status = guarded(*line, tune, warnings, console);
  }
  if (status.ok()) {
    console.success(warnings);
    return 0;
  }
  log(LogLevel::Error, status.diagnostic().code + ": " + status.diagnostic().message);
  console.failure(status.diagnostic());
  return kFailed;
}

}  // namespace

// A full disk behind stdout is a failure as well.
int run_atc(int argc, char** argv) {
  report_file_size_limit();
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  Console console(std::cout, argc > 0 ? argv[0] : "atc");
  const int code = run(arguments, false, console);
  return std::cout.good() ? code : kFailed;
}

int run_aoe(int argc, char** argv) {
  report_file_size_limit();
  const std::vector<std::string> given(argv + std::min(argc, 1), argv + argc);
  Console console(std::cout, argc > 0 ? argv[0] : "aoe");
  int code = kFailed;
  if (const auto arguments = arguments_of_aoe(given); arguments.ok()) {
    code = run(*arguments, true, console);
  } else {
    console.start();
    console.failure(arguments.status().diagnostic());
  }
  return std::cout.good() ? code : kFailed;
}

}  // namespace atc::driver
