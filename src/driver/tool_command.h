#pragma once

#include <functional>

#include "atc/base/status.h"

namespace CLI {
class App;
}

namespace atc::driver {

/// The command of a tool other than `atc`: parses the arguments, prints help, runs `body`, and prints its
/// fault. Returns the exit code: body's, 0 for help, `fault_code` for wrong arguments or a fault.
int run_tool(CLI::App& app, int argc, char** argv, int fault_code,
             const std::function<StatusOr<int>()>& body);

}  // namespace atc::driver
