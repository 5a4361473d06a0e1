#pragma once

namespace atc::driver {

/// The whole of `atc`: parses, works, prints on stdout. Returns the exit code: 0, or 255 on failure.
int run_atc(int argc, char** argv);

/// The whole of `aoe`: atc, with a search of all tiles for each task of the cube, whose results go to the
/// bank of
/// --op_bank_path ($TUNE_BANK_PATH) for later runs of atc.
int run_aoe(int argc, char** argv);

}  // namespace atc::driver
