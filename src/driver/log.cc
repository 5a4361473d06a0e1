#include "driver/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace atc::driver {
namespace {

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::Debug:
      return spdlog::level::debug;
    case LogLevel::Info:
      return spdlog::level::info;
    case LogLevel::Warning:
      return spdlog::level::warn;
    case LogLevel::Error:
      return spdlog::level::err;
    case LogLevel::Null:
      break;
  }
  return spdlog::level::off;
}

std::shared_ptr<spdlog::logger>& logger() {
  static std::shared_ptr<spdlog::logger> instance;
  return instance;
}

}  // namespace

std::optional<LogLevel> log_level_from_name(std::string_view name) {
  if (name == "debug") return LogLevel::Debug;
  if (name == "info") return LogLevel::Info;
  if (name == "warning") return LogLevel::Warning;
  if (name == "error") return LogLevel::Error;
  if (name == "null") return LogLevel::Null;
  return std::nullopt;
}

void start_log(LogLevel level) {
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  auto created = std::make_shared<spdlog::logger>("atc", std::move(sink));
  // ATC's line: [LEVEL] MODULE(pid,process):date-time text
  created->set_pattern("[%l] GE(%P,%n):%Y-%m-%d-%H:%M:%S.%e.%f %v");
  created->set_level(spdlog_level(level));
  logger() = std::move(created);
}

void log(LogLevel level, std::string_view text) {
  if (logger() != nullptr) logger()->log(spdlog_level(level), text);
}

}  // namespace atc::driver
