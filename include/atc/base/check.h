#pragma once

#include <stdexcept>
#include <string>

namespace atc {

/// A bug of ours (never of the user's): reported as E19999, exit code 255. Thrown by ATC_CHECK and
/// by the AI Core on a plan that breaks its rules; caught only where a program or a task begins.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void internal_error(const char* file, int line, const std::string& what);

}  // namespace atc

/// Stays on in release builds. `what` is any expression convertible to std::string.
#define ATC_CHECK(cond, what)                            \
  do {                                                   \
    if (!(cond)) [[unlikely]]                            \
      ::atc::internal_error(__FILE__, __LINE__, (what)); \
  } while (false)
