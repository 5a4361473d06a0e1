#pragma once

namespace atc::driver {

/// The `omrun` command: loads an .om, runs it on the simulated AI Core (or only its timing model), writes
/// outputs and measurements. Returns the exit code: 0, or 1 with the error on stderr.
int omrun_main(int argc, char** argv);

}  // namespace atc::driver
