#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "ascendc/global_memory.h"
#include "custom/launch.h"

namespace atc::custom {

/// While it lives, a kernel runs in the user's own program: if it crashes, or goes on beyond the limit, the
/// program ends with a diagnostic on stderr and exit code 1. Crashes outside of the kernel's blocks are left
/// to the program. One launch at a time.
class LaunchGuard {
 public:
  /// `limit_ms` 0: no limit.
  LaunchGuard(const std::string& kernel, const std::vector<ascendc::GmRange>& memory, std::uint32_t limit_ms);
  ~LaunchGuard();
  LaunchGuard(const LaunchGuard&) = delete;
  LaunchGuard& operator=(const LaunchGuard&) = delete;

 private:
  std::lock_guard<std::mutex> one_;
};

/// The limit that the environment variable ATC_KERNEL_TIMEOUT gives in seconds (0: none), else 60 s; none
/// under a debugger, where time passes at breakpoints.
std::uint32_t launch_limit_ms();

}  // namespace atc::custom
