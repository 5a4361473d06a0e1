#include "custom/host.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include "custom/fault_text.h"
#include "custom/source_line.h"

namespace atc::custom {
namespace {

/// A child whose library caught the alarm is ended from outside, this much later.
constexpr int kGraceMs = 3000;

Status damaged(const std::string& doing) {
  return Status::error("E40021", "The process of custom operators was damaged while " + doing +
                                     ": its answer makes no sense")
      .solution("Look for writes beyond the memory that the library was given.");
}

}  // namespace

Host::Host(std::vector<LibraryImage> libraries, HostOptions options)
    : libraries_(std::move(libraries)),
      options_(std::move(options)),
      page_(std::make_shared<SharedMemory>(sizeof(CrashPage))) {}

Host::~Host() { stop(); }

void Host::stop() {
  if (pid_ < 0) return;
  close(socket_);
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  socket_ = -1;
}

Status Host::start() {
  if (pid_ >= 0) return {};
  const auto cannot = [](const char* what) {
    return Status::error("E10059", std::string("cannot start a process for custom operators: ") + what +
                                       ": " + std::strerror(errno));
  };
  int fds[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) return cannot("socketpair");
  auto* page = new (page_->data()) CrashPage{};
  page->library = -1;
  std::fflush(nullptr);  // or the child would print it again
  const ChildSetup setup = {libraries_, options_.memory, options_.threads, options_.limit_ms,
                            reinterpret_cast<CrashPage*>(page_->data())};
  pid_ = fork();
  if (pid_ == 0) {
    close(fds[0]);
    child_main(setup, fds[1]);
  }
  close(fds[1]);
  if (pid_ < 0) {
    close(fds[0]);
    return cannot("fork");
  }
  socket_ = fds[0];
  infos_.clear();
  for (const LibraryImage& library : libraries_) {
    const std::string doing = "loading the library " + library.name;
    StatusOr<Response> response = receive(doing, nullptr);
    Status status = response.ok() ? status_of(*response) : std::move(response).status();
    if (status.ok() && !is_consistent(response->info)) status = damaged(doing);
    if (!status.ok()) {
      stop();
      return status;
    }
    infos_.push_back(std::move(response->info));
  }
  return {};
}

std::string Host::name_of(std::uint32_t library, std::uint32_t op) const {
  return infos_.at(library).ops.at(op).type + " (" + libraries_.at(library).name + ")";
}

StatusOr<Response> Host::receive(const std::string& doing, const Launch* launch) {
  std::string message;
  const Received received = receive_message(socket_, message, static_cast<int>(options_.limit_ms) + kGraceMs);
  if (received != Received::Message) return death(doing, launch, received == Received::TimedOut);
  Response response;
  if (!decode(message, response)) {
    stop();
    return damaged(doing);
  }
  return response;
}

StatusOr<Response> Host::ask(const Request& request, const std::string& doing) {
  const Launch* launch = request.kind == Request::Kind::Launch ? &request.launch : nullptr;
  if (!send_message(socket_, encode(request))) return death(doing, launch, false);
  ATC_ASSIGN(Response response, receive(doing, launch));
  ATC_TRY(status_of(response));
  return response;
}

Status Host::death(const std::string& doing, const Launch* launch, bool timed_out) {
  if (timed_out) kill(pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  close(socket_);
  pid_ = -1;
  socket_ = -1;
  const auto& page = *reinterpret_cast<const CrashPage*>(page_->data());
  std::string line;
  if (page.kind.load() != CrashPage::None && page.library >= 0 &&
      static_cast<std::size_t>(page.library) < libraries_.size())
    line = source_line(libraries_[static_cast<std::size_t>(page.library)].bytes.span(), page.offset);
  return fault_text(page, {"The library", doing, line, launch, status, timed_out, options_.limit_ms});
}

StatusOr<std::vector<TensorInfo>> Host::infer(std::uint32_t library, std::uint32_t combination,
                                              const Call& call) {
  ATC_TRY(start());
  Request request;
  request.kind = Request::Kind::Infer;
  request.library = library;
  request.combination = combination;
  request.call = call;
  ATC_ASSIGN(Response response, ask(request, "inferring the shapes of " + name_of(library, call.op)));
  const OpInfo& info = infos_[library].ops[call.op];
  bool fits = response.outputs.size() == info.outputs.size();
  for (const TensorInfo& t : response.outputs) fits = fits && acl_dtype(t.dtype) >= 0;
  if (!fits) return damaged("inferring the shapes of " + info.type);
  return std::move(response.outputs);
}

StatusOr<Tiling> Host::tile(std::uint32_t library, const Call& call, const std::string& soc_version) {
  ATC_TRY(start());
  Request request;
  request.kind = Request::Kind::Tile;
  request.library = library;
  request.call = call;
  request.soc_version = soc_version;
  ATC_ASSIGN(Response response, ask(request, "running the tiling function of " + name_of(library, call.op)));
  return std::move(response.tiling);
}

StatusOr<std::vector<AttrValue>> Host::parse(std::uint32_t library, const Call& call) {
  ATC_TRY(start());
  Request request;
  request.kind = Request::Kind::Parse;
  request.library = library;
  request.call = call;
  ATC_ASSIGN(Response response, ask(request, "reading the attributes of " + name_of(library, call.op)));
  return std::move(response.attrs);
}

StatusOr<LaunchStats> Host::launch(const Launch& launch) {
  ATC_TRY(start());
  Request request;
  request.kind = Request::Kind::Launch;
  request.library = launch.library;
  request.launch = launch;
  ATC_ASSIGN(Response response, ask(request, "running the kernel of " + name_of(launch.library, launch.op)));
  return std::move(response.stats);
}

}  // namespace atc::custom
