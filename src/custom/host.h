#pragma once

#include <memory>
#include <string>
#include <vector>

#include "atc/base/status.h"
#include "custom/child.h"
#include "custom/protocol.h"

namespace atc::custom {

struct HostOptions {
  std::vector<std::shared_ptr<SharedMemory>> memory;  ///< that kernels work on
  int threads = 1;                                    ///< that run blocks; <= 0: one for each hardware thread
  std::uint32_t limit_ms = 60000;                     ///< for each request
};

/// The tool's side of a child process that holds libraries of custom operators: the only place where their
/// code runs. A request that ends the child is an error that says how; the next one starts a new child. Not
/// thread-safe.
class Host {
 public:
  Host(std::vector<LibraryImage> libraries, HostOptions options);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  /// Starts the child unless it lives. E13029, E13030 when a library does not load.
  Status start();
  /// Precondition: start() went well.
  const std::vector<LibraryInfo>& infos() const { return infos_; }

  /// Each starts the child when there is none. E40021 when the child crashed or took too long.
  StatusOr<std::vector<TensorInfo>> infer(std::uint32_t library, std::uint32_t combination, const Call& call);
  StatusOr<Tiling> tile(std::uint32_t library, const Call& call, const std::string& soc_version);
  StatusOr<std::vector<AttrValue>> parse(std::uint32_t library, const Call& call);
  StatusOr<LaunchStats> launch(const Launch& launch);

 private:
  StatusOr<Response> ask(const Request& request, const std::string& doing);
  StatusOr<Response> receive(const std::string& doing, const Launch* launch);
  Status death(const std::string& doing, const Launch* launch, bool timed_out);
  std::string name_of(std::uint32_t library, std::uint32_t op) const;
  void stop();

  std::vector<LibraryImage> libraries_;
  HostOptions options_;
  std::vector<LibraryInfo> infos_;
  std::shared_ptr<SharedMemory> page_;
  pid_t pid_ = -1;
  int socket_ = -1;
};

}  // namespace atc::custom
