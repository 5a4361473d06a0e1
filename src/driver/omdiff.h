#pragma once

namespace atc::driver {

/// The `omdiff` command: what changed between two compiled models or reports on them. Returns the exit code:
/// 0 within the thresholds given, 1 beyond one, 2 on an error.
int omdiff_main(int argc, char** argv);

}  // namespace atc::driver
