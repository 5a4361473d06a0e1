#pragma once

#include <string>
#include <vector>

#include "driver/compile.h"
#include "driver/tuning_bank.h"

namespace atc::driver {

/// Fills `bank` from the folders of options.banks. A folder without a bank for the chip is a warning, unless
/// aoe is about to write it; E10001 for a folder that is not there, and what read_bank refuses.
Status read_banks(const CompileOptions& options, kernels::PlanBank& bank, std::vector<Diagnostic>& warnings);

/// After a compilation: a warning when nothing of the bank was of use; for aoe the bank is written and what
/// the tuning has gained goes to the console.
Status finish_banks(const CompileOptions& options, const kernels::PlanBank& bank, CompileResult& result);

/// The arguments of aoe as those of atc: without --job_type, of which 2 (operators) is required, and with
/// --op_bank_path, of which $TUNE_BANK_PATH is the default.
StatusOr<std::vector<std::string>> arguments_of_aoe(const std::vector<std::string>& arguments);

}  // namespace atc::driver
