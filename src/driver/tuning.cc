#include "driver/tuning.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "atc/base/file.h"
#include "driver/option_errors.h"
#include "driver/option_table.h"
#include "driver/path_checks.h"

namespace atc::driver {
namespace {

namespace fs = std::filesystem;

void warn(std::vector<Diagnostic>& warnings, std::string text) {
  Diagnostic& warning = warnings.emplace_back();
  warning.code = "W10001";
  warning.message = std::move(text);
}

/// Name of an option that an argument begins with, canonical; "" when it is none.
std::string option_of(const std::string& argument) {
  if (argument.size() < 2 || argument[0] != '-') return "";
  const std::size_t begin = argument[1] == '-' ? 2 : 1;
  return canonical_name(argument.substr(begin, argument.find('=') - begin));
}

std::string gains(const kernels::PlanBank& bank) {
  std::string text;
  double before = 0, after = 0;
  std::size_t better = 0;
  const std::map<std::string, kernels::BankEntry> entries = bank.entries();
  const std::set<std::string> taken = bank.all_taken();
  for (const std::string& key : taken) {
    const kernels::BankEntry& e = entries.at(key);
    before += e.default_us;
    after += e.us;
    better += e.us < e.default_us ? 1 : 0;
  }
  char line[160];
  std::snprintf(
      line, sizeof line,
      "tuned %zu different tasks, %zu got faster: %.1f us -> %.1f us in all (modelled, each once)\n",
      taken.size(), better, before, after);
  return line;
}

}  // namespace

Status read_banks(const CompileOptions& options, kernels::PlanBank& bank, std::vector<Diagnostic>& warnings) {
  for (const CompileOptions::Bank& from : options.banks) {
    const bool is_written = options.tune && &from == &options.banks.back();
    const fs::path file = bank_file(from.folder, *options.chip);
    std::error_code ignored;
    if (!fs::is_directory(from.folder, ignored) && !(is_written && !fs::exists(from.folder, ignored)))
      return invalid_value("E10001", from.option, from.folder.string(), "it is no folder")
          .solution("Give the folder that aoe has written its bank to.");
    if (!fs::exists(file, ignored)) {
      if (!is_written)
        warn(warnings, "--" + from.option + " has no bank of tiles for " + std::string(options.chip->name) +
                           ": " + file.string() + " is not there, tiles are searched for as usual.");
      continue;
    }
    ATC_ASSIGN(const Bytes bytes, map_file(file));
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    ATC_TRY(read_bank(text, file.string(), from.option, *options.chip, bank));
  }
  return {};
}

Status finish_banks(const CompileOptions& options, const kernels::PlanBank& bank, CompileResult& result) {
  if (options.tune) {
    const fs::path file = bank_file(options.banks.back().folder, *options.chip);
    ATC_TRY(create_folder_of(file));
    ATC_TRY(write_file(file, bank_text(bank, *options.chip)));
    result.console += gains(bank);
    return {};
  }
  if (!bank.entries().empty() && bank.all_taken().empty())
    warn(result.warnings,
         "--" + options.banks.back().option +
             " has no effect: no task of the model is in the bank. Shapes, precision and fusions "
             "must be those that were tuned.");
  return {};
}

StatusOr<std::vector<std::string>> arguments_of_aoe(const std::vector<std::string>& arguments) {
  std::vector<std::string> rest;
  std::string job;
  bool has_bank = false, asks = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string name = option_of(arguments[i]);
    has_bank = has_bank || name == "op_bank_path";
    asks = asks || name == "help" || name == "h" || name == "explain" || name == "list";
    if (name != "job_type") {
      rest.push_back(arguments[i]);
      continue;
    }
    const std::size_t equals = arguments[i].find('=');
    if (equals != std::string::npos)
      job = arguments[i].substr(equals + 1);
    else if (i + 1 < arguments.size())
      job = arguments[++i];
  }
  if (asks) return rest;
  if (job.empty()) return missing_option("job_type");
  if (job == "1")
    return Status::error("E10055", "--job_type=1, the tuning of subgraphs, is not supported in this version.")
        .solution("Use --job_type=2; fusions are chosen by atc itself, see --list=passes.");
  if (job != "2") return invalid_value("E10001", "job_type", job, "it must be 2, the tuning of operators");
  if (has_bank) return rest;
  const char* folder = std::getenv("TUNE_BANK_PATH");
  if (folder == nullptr || *folder == '\0') return missing_option("op_bank_path");
  rest.push_back(std::string("--op_bank_path=") + folder);
  return rest;
}

}  // namespace atc::driver
