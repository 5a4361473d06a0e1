#pragma once

#include <cstdint>

namespace atc::aicore {

/// Cross-core flags a task has, and the one that SyncAll uses beside them.
inline constexpr int kCrossCoreFlags = 12;
inline constexpr int kSyncAllFlag = 11;

/// How a core reaches the other blocks of its task. Times are cycles of the core's clock.
class BlockSync {
 public:
  virtual ~BlockSync() = default;
  /// The block sets the flag at this time.
  virtual void set(int flag, std::int64_t at) = 0;
  /// Returns when every block has set the flag as often as this block has waited for it, with the time at
  /// which this block goes on.
  virtual std::int64_t wait(int flag) = 0;
};

}  // namespace atc::aicore
