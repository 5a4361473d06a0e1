#pragma once

#include <cstdint>

namespace atc::aicore {

/// Cross-core flags a task has, and the one that SyncAll uses beside them.
inline constexpr int kCrossCoreFlags = 12;
inline constexpr int kSyncAllFlag = 11;

/// Whom a cross-core flag is for: each of them may go on when all of the setters have set it.
enum class FlagReach : std::uint8_t {
  Kind,        ///< every core of the same kind, once all of them have set it
  VectorPair,  ///< the vector cores of one team, once all of them have set it
  Partner,     ///< from the cube core of a team to its vector cores, and from all of these to it
  All,         ///< every core of the task
};
inline constexpr int kFlagReaches = 4;

/// Where a core stands in a task with cores of two kinds: a team is a cube core and its vector cores.
struct BlockPlace {
  int team = 0;
  bool cube = false;
};

/// Whether `setter` is one of those that must set a flag before it arrives at `to`.
constexpr bool sets_for(BlockPlace setter, BlockPlace to, FlagReach reach) {
  switch (reach) {
    case FlagReach::Kind:
      return setter.cube == to.cube;
    case FlagReach::VectorPair:
      return setter.team == to.team && !setter.cube && !to.cube;
    case FlagReach::Partner:
      return setter.team == to.team && setter.cube != to.cube;
    case FlagReach::All:
      return true;
  }
  return false;
}

/// How a core reaches the other blocks of its task. Times are cycles of the core's clock.
class BlockSync {
 public:
  virtual ~BlockSync() = default;
  /// The block sets the flag at this time.
  virtual void set(int flag, FlagReach reach, std::int64_t at) = 0;
  /// Returns when the flag has reached this block as often as the block has waited for it, with the time at
  /// which the block goes on.
  virtual std::int64_t wait(int flag) = 0;
};

}  // namespace atc::aicore
