#pragma once

#include <string>
#include <vector>

#include "profile/core_use.h"

namespace atc::profile {

/// One launch as a whole.
struct LaunchUse {
  double us = 0;         ///< from the end of the task before to its own
  double launch_us = 0;  ///< of it before the first core works
  int blocks = 0;
  int chip_cores = 0;          ///< that could work
  std::vector<CoreUse> cores;  ///< those that worked
};

/// What limits a launch.
enum class Bound : std::uint8_t {
  Launch,   ///< half of the time passes before the cores work
  CopyIn,   ///< Global Memory to the core, MTE2
  CopyOut,  ///< the core to Global Memory, MTE3 or FIX
  Cube,
  Vector,
  Feed,  ///< L1 to L0, MTE1
  Scalar,
  Waiting,  ///< no pipe is busy for three quarters of the time: they wait for each other
};
std::string_view name(Bound b);

/// What limits it, and what to try.
struct Verdict {
  Bound bound = Bound::Waiting;
  double share = 0;  ///< of the longest core's time (of the launch's for Launch) that the limit is at work
  std::vector<std::string> advice;  ///< sentences, the most promising first
};

/// Judged by the core that ends last. No cores: a launch and nothing else.
Verdict judge(const LaunchUse& launch);

}  // namespace atc::profile
