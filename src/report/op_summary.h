#pragma once

#include <iosfwd>
#include <span>

#include "profile/launch_profile.h"
#include "runtime/prepared_plan.h"
#include "runtime/simulate.h"

namespace atc::report {

// msprof's tables of a profile, in its columns. Times are in microseconds from the beginning of the run.

/// op_summary.csv: a line a task, shapes, types and formats of its operands, and the PipeUtilization group of
/// the PMU: aic_ and aiv_ columns on chips with separate cores, plain ones on others. Cycles of pipes are
/// means over the cores that worked. Instruction caches are not simulated: N/A.
void write_op_summary(std::ostream& out, const runtime::PreparedPlan& prepared,
                      const runtime::Simulation& simulation,
                      std::span<const profile::LaunchProfile> launches);

/// op_statistic.csv: a line for each operator type and kind of core, the longest total first.
void write_op_statistic(std::ostream& out, const runtime::PreparedPlan& prepared,
                        const runtime::Simulation& simulation);

/// task_time.csv: a line a task.
void write_task_time(std::ostream& out, const runtime::PreparedPlan& prepared,
                     const runtime::Simulation& simulation);

}  // namespace atc::report
