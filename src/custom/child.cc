#include "custom/child.h"

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <optional>

#include "atc/base/thread_pool.h"
#include "custom/chip_info.h"
#include "custom/loaded_library.h"
#include "custom/memory_guard.h"
#include "custom/protocol.h"
#include "custom/run_kernel.h"

namespace atc::custom {
namespace {

class Child {
 public:
  explicit Child(const ChildSetup& setup) : setup_(setup) {}

  /// Everything that runs the libraries' code does it here.
  Response serve(const Request& request) {
    Response response;
    try {
      set_status(response, answer(request, response));
    } catch (const std::exception& error) {
      set_status(response,
                 Status::error("E40021", std::string("The library threw an exception: ") + error.what()));
    } catch (...) {
      set_status(response, Status::error("E40021", "The library threw an exception"));
    }
    std::fflush(nullptr);  // what a kernel printed
    return response;
  }

  Response load(const LibraryImage& image) {
    Response response;
    StatusOr<LoadedLibrary> library = LoadedLibrary::load(image.name, image.bytes.span());
    if (library.ok()) {
      response.info = library->info();
      const LoadedLibrary::Code& code = library->code();
      add_library_code(static_cast<std::int32_t>(libraries_.size()), code.base, code.begin, code.end);
      libraries_.push_back(std::move(library).value());
    } else {
      set_status(response, library.status());
    }
    return response;
  }

 private:
  Status answer(const Request& request, Response& response) {
    const LoadedLibrary& library = libraries_.at(request.library);
    switch (request.kind) {
      case Request::Kind::Infer: {
        ATC_ASSIGN(response.outputs, library.infer(request.call, request.combination));
        return {};
      }
      case Request::Kind::Parse: {
        ATC_ASSIGN(response.attrs, library.parse(request.call));
        return {};
      }
      case Request::Kind::Tile: {
        ATC_ASSIGN(const soc::Chip* chip, soc::find_chip(request.soc_version));
        ATC_ASSIGN(response.tiling, library.tile(request.call, describe(*chip)));
        return {};
      }
      case Request::Kind::Launch: {
        if (!pool_) pool_.emplace(setup_.threads);
        const MemoryGuard guard(setup_.memory, request.launch);
        ATC_ASSIGN(response.stats, run_kernel(library.kernel(request.launch.op, request.launch.combination),
                                              request.launch, *pool_));
        return {};
      }
    }
    return Status::error("E19999", "a request of an unknown kind");
  }

  const ChildSetup& setup_;
  std::vector<LoadedLibrary> libraries_;
  std::optional<ThreadPool> pool_;
};

}  // namespace

void child_main(const ChildSetup& setup, int socket) {
  // A terminal's Ctrl-C ends the tool, whose end ends this process: no report of it is wanted.
  signal(SIGINT, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  dup2(STDERR_FILENO, STDOUT_FILENO);  // results of the tool are on stdout: a kernel's printf must not mix in
  install_crash_handlers(setup.page, CrashScope::Process, [] { _exit(70); });
  Child child(setup);
  for (const LibraryImage& image : setup.libraries) {
    start_alarm(setup.limit_ms);
    const Response response = child.load(image);
    stop_alarm();
    if (!send_message(socket, encode(response)) || !response.code.empty()) _exit(0);
  }
  std::string message;
  while (receive_message(socket, message, -1) == Received::Message) {
    Request request;
    if (!decode(message, request)) break;
    start_alarm(setup.limit_ms);
    const Response response = child.serve(request);
    stop_alarm();
    if (!send_message(socket, encode(response))) break;
  }
  _exit(0);  // no destructor of what the fork copied may run
}

}  // namespace atc::custom
