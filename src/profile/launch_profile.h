#pragma once

#include <memory>
#include <string>
#include <vector>

#include "profile/core_use.h"
#include "profile/verdict.h"
#include "soc/chip.h"

namespace atc::profile {

/// The instructions of one block. Blocks that do the same share one.
struct BlockTrace {
  std::vector<aicore::TraceEvent> events;  ///< cycles count from the block's beginning
  Cycle cycles = 0;
  CoreUse use;
  std::shared_ptr<const std::vector<std::string>> names;  ///< what the events' names lie in, unless literals
};

/// A core and the blocks that it ran.
struct CoreProfile {
  std::string name;  ///< "core0.cubecore0", "core3.veccore1"
  struct Placed {
    Cycle begin = 0;  ///< from the beginning of the cores' work
    std::shared_ptr<const BlockTrace> trace;
  };
  std::vector<Placed> blocks;
};

/// One launch as the simulator saw it.
struct LaunchProfile {
  std::string name;  ///< of the task or kernel
  std::string type;
  double start_us = 0, us = 0, launch_us = 0;
  double mhz = 1;  ///< of the cores' cycles
  int blocks = 0, chip_cores = 0;
  std::vector<CoreProfile> cores;
};

/// From the end of the task before to the beginning of the cores' work, in microseconds (MODEL.md).
double launch_us(const soc::Chip& chip, int blocks);

CoreUse use_of(const CoreProfile& core);
LaunchUse use_of(const LaunchProfile& launch);

}  // namespace atc::profile
