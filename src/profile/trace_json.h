#pragma once

#include <iosfwd>
#include <span>

#include "profile/launch_profile.h"

namespace atc::profile {

/// Writes the launches as a Chrome trace (chrome://tracing, Perfetto), in the form of msopprof's simulator: a
/// process a core, a thread a pipe, a complete event ("ph": "X", "ts" and "dur" in microseconds) an
/// instruction with its bytes; the process "tasks" has an event a launch. With more than `most_events`
/// instructions, cores that did the same in a launch are shown by the first of them, whose events' "cores"
/// say how many they are.
/// Format: Google's "Trace Event Format".
void write_trace_json(std::ostream& out, std::span<const LaunchProfile> launches,
                      std::int64_t most_events = 400'000);

}  // namespace atc::profile
