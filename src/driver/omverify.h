#pragma once

namespace atc::driver {

/// The `omverify` command: compiles, runs and compares case folders. Returns the exit code: 0 when there
/// is neither FAIL nor ERROR, else 1.
int omverify_main(int argc, char** argv);

}  // namespace atc::driver
