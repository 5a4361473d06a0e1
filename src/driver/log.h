#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace atc::driver {

/// Levels of --log, the most talkative first.
enum class LogLevel : std::uint8_t { Debug, Info, Warning, Error, Null };

std::optional<LogLevel> log_level_from_name(std::string_view name);

/// Sends log lines of this level and above to stderr. Before the first call nothing is logged.
void start_log(LogLevel level);
void log(LogLevel level, std::string_view text);

}  // namespace atc::driver
