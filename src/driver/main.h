#pragma once

namespace atc::driver {

/// The whole of `atc`: parses, works, prints on stdout. Returns the exit code: 0, or 255 on failure.
int run_atc(int argc, char** argv);

}  // namespace atc::driver
