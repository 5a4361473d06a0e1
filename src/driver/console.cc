#include "driver/console.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <ostream>
#include <utility>

#include "atc/base/error_codes.h"
#include "atc/base/strings.h"
#include "driver/diagnostic_json.h"

namespace atc::driver {
namespace {

constexpr std::string_view kIndent = "        ";

std::string base_name(std::string_view path) {
  const auto slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  return name.empty() ? "atc" : std::string(name);
}

/// Names from a model file may hold anything; none of it may steer the terminal. Lines of ours are indented.
std::string indented(std::string_view text) {
  std::vector<std::string> lines = split(text, '\n');
  for (std::string& line : lines) line = printable(line);
  return join(lines, "\n" + std::string(kIndent));
}

void add_line(std::string& block, std::string_view label, std::string_view text) {
  block += kIndent;
  block += label;
  block += indented(text);
  block += '\n';
}

bool is_inner(std::string_view code) { return code == "E19999"; }

}  // namespace

std::string timestamp() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto micros =
      std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count() % 1'000'000;
  std::tm local{};
  ::localtime_r(&seconds, &local);
  std::array<char, 40> date{};
  std::strftime(date.data(), date.size(), "%Y-%m-%d-%H:%M:%S", &local);
  std::array<char, 16> fraction{};
  std::snprintf(fraction.data(), fraction.size(), ".%03d.%03d", static_cast<int>(micros / 1000),
                static_cast<int>(micros % 1000));
  return std::string(date.data()) + fraction.data();
}

std::string message_head() { return "[PID: " + std::to_string(::getpid()) + "] " + timestamp() + " "; }

std::string error_block(const Diagnostic& diagnostic, std::string_view head) {
  const ErrorCode* known = find_error_code(diagnostic.code);
  const std::string_view title = known != nullptr ? known->title : std::string_view("Error");
  std::string block;
  if (is_inner(diagnostic.code)) block += "E19999: Inner Error!\n";
  block += head;
  block += title;
  block += '(' + diagnostic.code + "): " + indented(diagnostic.message) + '\n';
  for (const std::string& note : diagnostic.notes) add_line(block, "", note);
  const auto usual = [&](const std::string& own, std::string_view ErrorCode::*field) {
    return own.empty() && known != nullptr ? known->*field : std::string_view(own);
  };
  if (const auto cause = usual(diagnostic.possible_cause, &ErrorCode::cause); !cause.empty())
    add_line(block, "Possible Cause: ", cause);
  if (const auto solution = usual(diagnostic.solution, &ErrorCode::solution); !solution.empty())
    add_line(block, "Solution: ", solution);
  if (!diagnostic.context.empty()) {
    add_line(block, "TraceBack (most recent call last):", "");
    for (auto frame = diagnostic.context.rbegin(); frame != diagnostic.context.rend(); ++frame)
      add_line(block, "", *frame);
  }
  return block;
}

Console::Console(std::ostream& out, std::string_view program, std::function<std::string()> head)
    : out_(out), program_(base_name(program)), head_(std::move(head)) {}

void Console::start() { out_ << "ATC start working now, please wait for a moment.\n" << std::flush; }

void Console::success(std::span<const Diagnostic> warnings) {
  out_ << "...\nATC run success, welcome to the next use.\n";
  for (const Diagnostic& warning : warnings) print(warning);
  out_ << std::flush;
}

void Console::failure(const Diagnostic& error) {
  out_ << "...\nATC run failed, Please check the detail log, Try '" << program_
       << " --help' for more information\n";
  print(error);
  out_ << '\n' << std::flush;
}

void Console::print(const Diagnostic& diagnostic) {
  if (json_) {
    out_ << diagnostic_json(diagnostic) << '\n';
  } else if (diagnostic.code.starts_with('W')) {
    // A warning is its first line.
    const ErrorCode* known = find_error_code(diagnostic.code);
    out_ << head_() << (known != nullptr ? known->title : std::string_view("Warning")) << '('
         << diagnostic.code << "): " << indented(diagnostic.message) << '\n';
  } else {
    out_ << error_block(diagnostic, head_());
  }
}

}  // namespace atc::driver
