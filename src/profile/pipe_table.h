#pragma once

#include <iosfwd>
#include <span>

#include "profile/launch_profile.h"

namespace atc::profile {

/// PipeUtilization.csv: a line for each core of each launch: launch, core, cycles, microseconds, and for each
/// pipe the cycles that it was busy, waited, and was busy beside another one; then copy, compute and both at
/// once.
void write_pipe_table(std::ostream& out, std::span<const LaunchProfile> launches);

/// A field of a CSV file (RFC 4180): in quotes where it needs them.
std::string csv_field(std::string_view text);

}  // namespace atc::profile
