#pragma once

#include "plan/plan.h"
#include "profile/launch_profile.h"
#include "runtime/simulate.h"
#include "soc/chip.h"

namespace atc::report {

/// What the simulator said of a task, with SimulateOptions::profile, as a launch that begins at `start_us`.
profile::LaunchProfile profile_of(const plan::PlanTask& task, const runtime::TaskSimulation& simulated,
                                  const soc::Chip& chip, double start_us);

}  // namespace atc::report
