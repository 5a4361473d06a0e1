#pragma once

namespace atc::driver {

/// Makes a write beyond the file size limit (ulimit -f) fail like one on a full disk, with a diagnostic and
/// without a leftover file, instead of ending the process. Each program calls it first.
void report_file_size_limit();

}  // namespace atc::driver
