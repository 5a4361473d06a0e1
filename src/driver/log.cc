#include "driver/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "atc/base/strings.h"
#include "driver/console.h"

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

std::string_view label(LogLevel level) {
  switch (level) {
    case LogLevel::Debug:
      return "DEBUG";
    case LogLevel::Info:
      return "INFO";
    case LogLevel::Warning:
      return "WARNING";
    case LogLevel::Error:
      return "ERROR";
    case LogLevel::Null:
      break;
  }
  return "";
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
  created->set_pattern("%v");
  created->set_level(spdlog_level(level));
  logger() = std::move(created);
}

void log(LogLevel level, std::string_view text) {
  if (logger() == nullptr || !logger()->should_log(spdlog_level(level))) return;
  // ATC's line: [LEVEL] MODULE(pid,process):date-time text
  logger()->log(spdlog_level(level), "[" + std::string(label(level)) + "] GE(" + std::to_string(::getpid()) +
                                         ",atc):" + timestamp() + " " + printable(text));
}

}  // namespace atc::driver
