#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

namespace atc::plan {

/// The bytes of one buffer that have been written, as disjoint, merged ranges.
class WrittenRanges {
 public:
  /// Marks [begin, end). Precondition: begin <= end.
  void add(std::int64_t begin, std::int64_t end) {
    if (begin == end) return;
    auto at = ranges_.upper_bound(begin);
    if (at != ranges_.begin() && std::prev(at)->second >= begin) --at;
    while (at != ranges_.end() && at->first <= end) {
      begin = std::min(begin, at->first);
      end = std::max(end, at->second);
      at = ranges_.erase(at);
    }
    ranges_.emplace_hint(at, begin, end);
  }

  /// True when every byte of [begin, end) has been written.
  bool contains(std::int64_t begin, std::int64_t end) const {
    if (begin == end) return true;
    const auto after = ranges_.upper_bound(begin);
    return after != ranges_.begin() && std::prev(after)->second >= end;
  }

 private:
  std::map<std::int64_t, std::int64_t> ranges_;  ///< begin -> end
};

}  // namespace atc::plan
