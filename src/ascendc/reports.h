#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "atc/core_api.h"

namespace atc::ascendc {

/// What a kernel does wrong, or what looks wrong.
struct Diagnostic {
  bool error = true;  ///< else a warning
  std::string rule;   ///< a short stable name: "copy-length", "race", ...
  std::string file;   ///< of the user's source; empty: unknown
  int line = 0;
  int block = -1;  ///< the lowest core that did it; -1: the launch
  std::string text;
  std::int64_t times = 1;  ///< at this place, over all cores
};
/// "add.cpp:31: error: <text> [rule] (block 3)".
std::string to_string(const Diagnostic& d);

/// Thrown where a kernel cannot go on; the diagnostic is kept already.
struct KernelStop {};

/// The diagnostics of one core: each rule once for each line.
class Reports {
 public:
  explicit Reports(int block) : block_(block) {}
  void add(bool error, std::string_view rule, const AtcSite* site, std::string text);
  /// Whether this rule has been reported at this line: then it is counted only.
  bool seen(std::string_view rule, const AtcSite* site);
  const std::vector<Diagnostic>& list() const { return list_; }

 private:
  int block_;
  std::vector<Diagnostic> list_;
};

/// Joins the lists of all cores: by rule and line, in the order of the cores.
std::vector<Diagnostic> merge(const std::vector<const Reports*>& cores);

/// The name of what a call at this place sets up, read from the source when it is there: the first argument
/// of `call(...)`, or the object of `object.call(...)`; `nth` of several such calls on the line. Empty when
/// it cannot be told.
std::string name_at(const AtcSite& site, std::string_view call, bool object, int nth = 0);
/// "add.cpp:31", the file without its folders.
std::string place(const AtcSite& site);

}  // namespace atc::ascendc
