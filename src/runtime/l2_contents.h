#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace atc::runtime {

/// Which bytes of Global Memory L2 holds: ranges in the order of their last use. What was used longest ago
/// (of one use, the lowest address) is evicted first; written bytes go back to memory when they are evicted
/// (write-back, write-allocate).
class L2Contents {
 public:
  explicit L2Contents(std::int64_t capacity) : capacity_(capacity) {}

  struct Traffic {
    std::int64_t hits = 0;          ///< bytes of the range that were here
    std::int64_t written_back = 0;  ///< bytes of any range that had to leave for it
  };
  /// Reads or writes [begin, begin + bytes). Ranges of different address spaces must not overlap.
  Traffic touch(std::int64_t begin, std::int64_t bytes, bool write);
  std::int64_t used() const { return used_; }

 private:
  struct Piece {
    std::int64_t end = 0;
    std::int64_t stamp = 0;
    bool dirty = false;
  };
  using Pieces = std::map<std::int64_t, Piece>;  // by begin, disjoint
  std::int64_t cut(std::int64_t begin, std::int64_t end, bool& dirty);
  void insert(std::int64_t begin, const Piece& piece);
  void erase(Pieces::iterator it);
  std::int64_t evict();

  std::int64_t capacity_;
  std::int64_t used_ = 0, clock_ = 0;
  Pieces pieces_;
  std::set<std::pair<std::int64_t, std::int64_t>> by_age_;  // stamp, begin
};

}  // namespace atc::runtime
