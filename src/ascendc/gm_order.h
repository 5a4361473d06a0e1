#pragma once

#include <array>
#include <cstdint>
#include <deque>

#include "ascendc/pipes.h"

namespace atc::ascendc {

/// What one instruction touches of Global Memory: `count` rows of `bytes`, `pitch` bytes apart.
struct GmRows {
  std::uintptr_t begin = 0;
  std::int64_t count = 1, pitch = 0, bytes = 0;
  std::uintptr_t end() const { return begin + static_cast<std::uintptr_t>((count - 1) * pitch + bytes); }
};

/// The accesses of one core's copy pipes to Global Memory that other pipes may still meet: pipes run beside
/// each other, so a copy may read what an earlier one has not written yet, unless flags order the two.
class GmOrder {
 public:
  struct Conflict {
    bool found = false, other_wrote = false;
    Pipe other = Pipe::S;
    int other_site = 0;
  };
  /// The next instruction of pipe `p` (MTE2 reads; MTE3 and FIX write) touches the rows. Gives an earlier
  /// access to some of the bytes that nothing orders before it, one of the two writing.
  Conflict touch(const Pipes& pipes, Pipe p, const GmRows& rows, int site);

 private:
  struct Access {
    GmRows rows;
    Pipes::Number number = 0;
    int site = 0;
  };
  using List = std::deque<Access>;  ///< in the order of the instructions
  List& of(Pipe p) { return lists_[p == Pipe::MTE2 ? 0 : p == Pipe::MTE3 ? 1 : 2]; }
  std::array<List, 3> lists_;
};

}  // namespace atc::ascendc
