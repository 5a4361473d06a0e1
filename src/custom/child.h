#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "atc/base/bytes.h"
#include "custom/crash.h"
#include "custom/shared_memory.h"

namespace atc::custom {

/// A library as a file's bytes.
struct LibraryImage {
  std::string name;  ///< for messages: "rope.so"
  Bytes bytes;
};

/// What a child is started with; it is a fork, so all of it is memory.
struct ChildSetup {
  std::vector<LibraryImage> libraries;
  std::vector<std::shared_ptr<SharedMemory>> memory;  ///< Global Memory, locked but for a kernel's operands
  int threads = 1;
  std::uint32_t limit_ms = 0;  ///< for each request
  CrashPage* page = nullptr;
};

/// Loads the libraries, answering with one Response for each, then serves requests until the socket closes.
/// The life of a child process: does not return.
[[noreturn]] void child_main(const ChildSetup& setup, int socket);

}  // namespace atc::custom
