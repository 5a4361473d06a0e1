#pragma once

namespace atc::driver {

/// The `memplan` command: the compiler's static memory planner on a problem in a CSV file. Prints `height`,
/// `lower_bound` (most alive at once), `time_ms`, and `first_height` and `first_ms` of the first complete
/// answer. Returns the exit code: 0, or 1 when the height exceeds --capacity or on an error.
int memplan_main(int argc, char** argv);

}  // namespace atc::driver
