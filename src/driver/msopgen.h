#pragma once

namespace atc::driver {

/// The msopgen program. Returns its exit code: 1 for wrong arguments or a fault.
int msopgen_main(int argc, char** argv);

}  // namespace atc::driver
