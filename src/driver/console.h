#pragma once

#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "atc/base/status.h"

namespace atc::driver {

/// "2025-01-31-08:00:00.123.456", the local time with milliseconds and microseconds as ATC writes it.
std::string timestamp();
/// "[PID: 42] 2025-01-31-08:00:00.123.456 ", the head of a line in an error block.
std::string message_head();

/// What `atc` prints around its work, all on one stream: the start line, then "..." and the success line with
/// warnings after it, or the failure line with the error block.
class Console {
 public:
  /// `program` is the name by which atc was called; `head` is replaced in tests.
  Console(std::ostream& out, std::string_view program, std::function<std::string()> head = message_head);

  /// --diagnostics=json: each diagnostic is one JSON object on a line of its own, in place of the block.
  void use_json(bool json) { json_ = json; }
  void start();
  /// The name, as the last part of a path, by which the program was called.
  const std::string& program() const { return program_; }
  std::ostream& out() { return out_; }
  void success(std::span<const Diagnostic> warnings);
  void failure(const Diagnostic& error);

 private:
  void print(const Diagnostic& diagnostic);

  std::ostream& out_;
  std::string program_;
  std::function<std::string()> head_;
  bool json_ = false;
};

/// The error block of one diagnostic: "<head><Title>(CODE): <message>", then notes, possible cause, solution
/// and context, indented by 8. Causes and solutions that the diagnostic leaves open come from the table of
/// codes. Inner errors begin with "E19999: Inner Error!". Control characters are escaped.
std::string error_block(const Diagnostic& diagnostic, std::string_view head);

}  // namespace atc::driver
