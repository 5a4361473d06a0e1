#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "atc/base/status.h"
#include "kernels/plan_bank.h"
#include "soc/chip.h"

namespace atc::driver {

/// Where the bank of a chip is in a folder: FOLDER/Ascend910B3_tiles.json.
std::filesystem::path bank_file(const std::filesystem::path& folder, const soc::Chip& chip);

/// A bank as text: JSON with "format", "version", "soc_version" and "tasks", by the key of each task in
/// order. Equal banks give equal bytes.
std::string bank_text(const kernels::PlanBank& bank, const soc::Chip& chip);

/// Adds what a bank file has to `bank`. E10032 for what is no JSON, E10001 for another format, version or
/// chip, and for entries whose fields are missing, unknown or out of range; `option` is the one that named
/// the folder.
Status read_bank(std::string_view text, const std::string& file, std::string_view option,
                 const soc::Chip& chip, kernels::PlanBank& bank);

}  // namespace atc::driver
