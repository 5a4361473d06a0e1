#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atc {

/// What went wrong, in the form in which `atc` prints it.
/// `code` is one of the codes of `src/base/error_codes.def` (E10001, E16002, ...).
struct Diagnostic {
  std::string code;
  std::string message;
  std::vector<std::string> notes;    ///< where the bad value came from, one line each
  std::string possible_cause;        ///< printed as "Possible Cause: ..." when not empty
  std::string solution;              ///< printed as "Solution: ..." when not empty
  std::vector<std::string> context;  ///< outermost last: "while compiling x.onnx", ...
};

/// Result of an operation that a user's input can make fail. Bugs of our own use ATC_CHECK.
class [[nodiscard]] Status {
 public:
  Status() = default;
  static Status ok_status() { return {}; }
  static Status error(std::string code, std::string message);

  bool ok() const { return diagnostic_ == nullptr; }
  explicit operator bool() const { return ok(); }
  /// Precondition: !ok().
  const Diagnostic& diagnostic() const;

  Status&& note(std::string text) &&;
  Status&& cause(std::string text) &&;
  Status&& solution(std::string text) &&;
  /// Adds a frame that says what was being done; no-op on success.
  Status&& while_doing(std::string text) &&;

  /// "CODE: message" and its notes; "" on success.
  std::string to_string() const;

 private:
  std::shared_ptr<Diagnostic> diagnostic_;
};

/// A value or the Status that tells why there is none.
template <class T>
class [[nodiscard]] StatusOr {
 public:
  StatusOr(Status status) : status_(std::move(status)) {}  // NOLINT(google-explicit-constructor)
  StatusOr(T value) : value_(std::move(value)) {}          // NOLINT(google-explicit-constructor)

  bool ok() const { return status_.ok(); }
  const Status& status() const& { return status_; }
  Status&& status() && { return std::move(status_); }
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return *std::move(value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace atc

#define ATC_CONCAT_INNER(a, b) a##b
#define ATC_CONCAT(a, b) ATC_CONCAT_INNER(a, b)

/// Returns the Status from the enclosing function unless it is ok.
#define ATC_TRY(expr)                                                     \
  do {                                                                    \
    if (auto atc_status_ = (expr); !atc_status_.ok()) return atc_status_; \
  } while (false)

// NOLINTBEGIN(bugprone-macro-parentheses): `lhs` may be a declaration.
/// `ATC_ASSIGN(auto x, f());` - the value of a StatusOr, or return its Status.
#define ATC_ASSIGN(lhs, expr) ATC_ASSIGN_IMPL(ATC_CONCAT(atc_or_, __LINE__), lhs, expr)
#define ATC_ASSIGN_IMPL(tmp, lhs, expr)          \
  auto tmp = (expr);                             \
  if (!tmp.ok()) return std::move(tmp).status(); \
  lhs = std::move(tmp).value()
// NOLINTEND(bugprone-macro-parentheses)
