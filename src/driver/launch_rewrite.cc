#include "driver/launch_rewrite.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "atc/base/strings.h"

namespace atc::driver {
namespace {

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
constexpr std::string_view kConstexpr = "constexpr";

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

class Rewriter {
 public:
  Rewriter(std::string_view source, const std::string& file) : in_(source), file_(file) {}

  StatusOr<std::string> run() {
    out_ = "#line 1 \"" + file_ + "\"\n";
    while (at_ < in_.size()) {
      if (const std::size_t end = skipped(at_); end > at_) {
        copy(end);
      } else if (in_.substr(at_, 3) == "<<<") {
        ATC_TRY(launch());
      } else if (asks_for_core(at_)) {
        at_ += kConstexpr.size();
      } else {
        copy(at_ + 1);
      }
    }
    return std::move(out_);
  }

 private:
  void copy(std::size_t end) {
    out_ += in_.substr(at_, end - at_);
    at_ = end;
  }

  Status fault(const std::string& what) const {
    const auto line = std::count(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(at_), '\n') + 1;
    return Status::error("E20001", file_ + ":" + std::to_string(line) + ": the launch <<<...>>> " + what);
  }

  /// The end of a comment, a text or a character constant that begins here; `at` when none does.
  std::size_t skipped(std::size_t at) const {
    const auto until = [&](std::string_view end, std::size_t from) {
      const std::size_t found = in_.find(end, from);
      return found == std::string_view::npos ? in_.size() : found + end.size();
    };
    if (in_.substr(at, 2) == "//") return until("\n", at);
    if (in_.substr(at, 2) == "/*") return until("*/", at + 2);
    if (in_[at] == 'R' && in_.substr(at, 2) == "R\"" && (at == 0 || !is_name(in_[at - 1]))) {
      const std::size_t open = in_.find('(', at);
      if (open == std::string_view::npos) return at;
      return until(")" + std::string(in_.substr(at + 2, open - at - 2)) + "\"", open);
    }
    const char quote = in_[at];
    // A quote between digits separates them.
    const bool separator =
        quote == '\'' && at > 0 && std::isxdigit(static_cast<unsigned char>(in_[at - 1])) != 0;
    if ((quote != '"' && quote != '\'') || separator) return at;
    for (std::size_t i = at + 1; i < in_.size(); ++i) {
      if (in_[i] == '\\') {
        ++i;
      } else if (in_[i] == quote || in_[i] == '\n') {
        return i + 1;
      }
    }
    return in_.size();
  }

  /// `if constexpr (g_coreType == ...)`: which core runs is known when the kernel does.
  bool asks_for_core(std::size_t at) const {
    if (in_.substr(at, kConstexpr.size()) != kConstexpr || (at > 0 && is_name(in_[at - 1]))) return false;
    std::size_t before = out_.size();
    while (before > 0 && is_space(out_[before - 1])) --before;
    if (before < 2 || out_.compare(before - 2, 2, "if") != 0 || (before > 2 && is_name(out_[before - 3])))
      return false;
    std::size_t i = at + kConstexpr.size();
    while (i < in_.size() && is_space(in_[i])) ++i;
    const std::size_t open = i;
    int depth = 0;
    do {
      if (i >= in_.size()) return false;
      depth += in_[i] == '(' ? 1 : in_[i] == ')' ? -1 : 0;
      ++i;
    } while (depth > 0);
    return in_.substr(open, i - open).find("g_coreType") != std::string_view::npos;
  }

  /// What is launched stands at the end of what is written already: a name with :: and template arguments.
  std::size_t kernel_begin() const {
    std::size_t i = out_.size();
    const auto back_over_space = [&] {
      while (i > 0 && is_space(out_[i - 1])) --i;
    };
    back_over_space();
    if (i > 0 && out_[i - 1] == '>') {
      int depth = 0;
      do {
        --i;
        depth += out_[i] == '>' ? 1 : out_[i] == '<' ? -1 : 0;
      } while (i > 0 && depth > 0);
      back_over_space();
    }
    const std::size_t end = i;
    while (i > 0 && (is_name(out_[i - 1]) || out_[i - 1] == ':')) --i;
    return i == end ? std::string::npos : i;
  }

  Status launch() {
    const std::size_t begin = kernel_begin();
    if (begin == std::string::npos) return fault("has no kernel's name before it");
    std::vector<std::string> arguments(1);
    int depth = 0;
    std::size_t i = at_ + 3;
    for (;; ++i) {
      if (i >= in_.size()) return fault("has no closing >>>");
      if (const std::size_t end = skipped(i); end > i) {
        arguments.back() += in_.substr(i, end - i);
        i = end - 1;
        continue;
      }
      const char c = in_[i];
      if (depth == 0 && in_.substr(i, 3) == ">>>") break;
      if (depth == 0 && (c == ';' || c == '}')) return fault("has no closing >>>");
      depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
      if (depth == 0 && c == ',')
        arguments.emplace_back();
      else
        arguments.back() += c;
    }
    if (arguments.size() != 3)
      return fault("has " + std::to_string(arguments.size()) +
                   " arguments, three are expected: blocks, L2 control, stream");
    const std::string kernel(trim(out_.substr(begin)));
    out_.resize(begin);
    out_ += "ATC_KERNEL_LAUNCH((" + kernel + ")";
    for (const std::string& a : arguments) {
      if (trim(a).empty()) return fault("has an empty argument");
      out_ += ", (" + a + ")";
    }
    out_ += ")";
    at_ = i + 3;
    return {};
  }

  std::string_view in_;
  const std::string& file_;
  std::string out_;
  std::size_t at_ = 0;
};

}  // namespace

StatusOr<std::string> rewrite_launches(std::string_view source, const std::string& file) {
  return Rewriter(source, file).run();
}

}  // namespace atc::driver
