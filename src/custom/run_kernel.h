#pragma once

#include "atc/base/status.h"
#include "atc/base/thread_pool.h"
#include "atc/core_api.h"
#include "custom/launch.h"

namespace atc::custom {

/// Runs the kernel's blocks on simulated AI Cores, in the calling process. E40021 with what the AI Core says
/// of a fault; E10001 for a chip that is not known.
StatusOr<LaunchStats> run_kernel(AtcKernel kernel, const Launch& launch, ThreadPool& pool);

}  // namespace atc::custom
