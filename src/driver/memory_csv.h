#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "atc/base/status.h"
#include "plan/memory.h"

namespace atc::driver {

/// A static memory problem as public benchmark sets write it: a heading `id,lower,upper,size` (in any order),
/// then a line for each buffer; alive in the half-open range [lower, upper).
struct MemoryProblem {
  std::vector<std::string> ids;
  std::vector<plan::Lifetime> buffers;
};

/// E13005, naming `name` and the line: no such heading, another number of fields, no integer, a negative
/// size or time, an end that is not after the start, sizes whose sum leaves 64 bits.
StatusOr<MemoryProblem> parse_memory_csv(std::string_view text, const std::string& name);
/// The same from a file: E13000, E13001 or E13003 when it cannot be read.
StatusOr<MemoryProblem> read_memory_csv(const std::filesystem::path& path);
/// The problem with a last column `offset`.
std::string memory_csv_text(const MemoryProblem& problem, const plan::MemoryLayout& layout);

}  // namespace atc::driver
