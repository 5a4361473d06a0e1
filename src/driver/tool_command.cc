#include "driver/tool_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <new>

#include "atc/base/check.h"
#include "driver/process.h"
#include "driver/tool_error.h"

namespace atc::driver {
namespace {

StatusOr<int> guarded(const std::function<StatusOr<int>()>& body) {
  try {
    return body();
  } catch (const InternalError& bug) {
    return Status::error("E19999", bug.what());
  } catch (const std::bad_alloc&) {
    return Status::error("E10059", "not enough memory");
  }
}

}  // namespace

int run_tool(CLI::App& app, int argc, char** argv, int fault_code,
             const std::function<StatusOr<int>()>& body) {
  report_file_size_limit();
  const std::string name = app.get_name();
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
    return 0;
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "%s: error: %s\n  Run %s --help for the options.\n", name.c_str(), error.what(),
                 name.c_str());
    return fault_code;
  }
  const StatusOr<int> code = guarded(body);
  if (code.ok()) return *code;
  std::fputs(tool_error_text(name, code.status()).c_str(), stderr);
  return fault_code;
}

}  // namespace atc::driver
