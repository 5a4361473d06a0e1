#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "aicore/core.h"
#include "atc/core_api.h"

namespace atc::ascendc {

using aicore::Cycle;
using aicore::kPipeCount;
using aicore::Pipe;

inline constexpr int kEvents = 8;

/// The order of a core's pipes as the program's flags and barriers make it: when an instruction may begin,
/// and which instructions of the other pipes are known to be done then (vector clocks).
class Pipes {
 public:
  using Number = std::uint32_t;
  using Clock = std::array<Number, kPipeCount>;

  explicit Pipes(aicore::Core& core) : core_(core) {}

  /// The number of the next instruction of a pipe.
  Number next(Pipe p) const { return issued_[index(p)] + 1; }
  /// Whether instruction `n` of pipe `of` is done before the next one of `p` begins.
  bool ordered(Pipe p, Pipe of, Number n) const;
  /// Instructions of the pipe before this number are behind a barrier.
  Number drained(Pipe p) const { return drained_[index(p)]; }

  /// The scalar unit gives an instruction to a pipe.
  void issue(Pipe p, Cycle duration, std::string_view what, std::int64_t bytes);
  /// Work of the scalar unit.
  void scalar(Cycle cycles, std::string_view what = "Scalar");

  struct Flag {
    bool set = false;
    AtcSite by{};
    Cycle at = 0;
    Clock clock{};
  };
  Flag& flag(Pipe from, Pipe to, int event) {
    return flags_[index(from)][index(to)][static_cast<std::size_t>(event)];
  }
  void set(Flag& flag, Pipe from, const AtcSite& by);
  void wait(Flag& flag, Pipe to);
  void barrier(Pipe p);
  void barrier_all();

  /// What a pipe has done so far, for hand-made orders (queues).
  void snapshot(Pipe from, Cycle& at, Clock& clock) const;
  void join(Pipe to, Cycle at, const Clock& clock);
  /// Nothing begins before `at` (another core's flag), all that was given is done.
  void release_all(Cycle at);

 private:
  static std::size_t index(Pipe p) { return static_cast<std::size_t>(p); }

  aicore::Core& core_;
  std::array<Number, kPipeCount> issued_{};
  std::array<Number, kPipeCount> drained_{};
  std::array<Clock, kPipeCount> seen_{};
  std::array<Cycle, kPipeCount> after_{};
  std::array<std::array<std::array<Flag, kEvents>, kPipeCount>, kPipeCount> flags_{};
};

}  // namespace atc::ascendc
