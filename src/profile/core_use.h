#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "aicore/core.h"

namespace atc::profile {

using aicore::Cycle;

/// What one pipe of a core did in one launch; times in cycles of the core.
struct PipeUse {
  Cycle busy = 0;
  Cycle wait = 0;  ///< the rest of the core's time: for data, for a free buffer, or with nothing left to do
  Cycle overlap = 0;  ///< of `busy`: beside another pipe that was busy too
  std::int64_t instructions = 0;
  std::int64_t bytes = 0;  ///< that its instructions worked on
};

/// What one core did in one launch.
struct CoreUse {
  Cycle cycles = 0;  ///< to the end of its last instruction
  std::array<PipeUse, aicore::kPipeCount> pipes{};
  Cycle copy = 0;     ///< some pipe moved data between the core and Global Memory
  Cycle compute = 0;  ///< the cube or the vector unit worked
  Cycle both = 0;     ///< copy and compute at once: what double buffering is for

  const PipeUse& operator[](aicore::Pipe p) const { return pipes[static_cast<std::size_t>(p)]; }
  /// Another block that the core ran behind this one.
  CoreUse& operator+=(const CoreUse& next);
};

/// The use of a core whose instructions were traced. `events` in any order; those of one pipe do not overlap,
/// as pipes work in order. `cycles`: the end of the block, at least that of the last event. Waiting for other
/// blocks (SyncAll, CrossCoreWaitFlag) is no work.
CoreUse core_use(std::span<const aicore::TraceEvent> events, Cycle cycles);

/// Whether the pipe moves data between the core and Global Memory: MTE2, MTE3, FIX.
bool is_copy(aicore::Pipe p);
/// Whether it computes: V, M.
bool is_compute(aicore::Pipe p);

}  // namespace atc::profile
