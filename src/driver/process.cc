#include "driver/process.h"

#include <signal.h>

namespace atc::driver {

void report_file_size_limit() { ::signal(SIGXFSZ, SIG_IGN); }

}  // namespace atc::driver
