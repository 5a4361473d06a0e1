#pragma once

#include <string>

#include "atc/base/status.h"
#include "custom/crash.h"
#include "custom/launch.h"

namespace atc::custom {

/// How a child ended, or a kernel in its program.
struct ChildEnd {
  std::string who;                 ///< "The library", "Kernel 'add'"
  std::string doing;               ///< "running the kernel of RoPE (rope.so)"; empty: who says it
  std::string line;                ///< of the source, "rope.cpp:45"; empty: unknown
  const Launch* launch = nullptr;  ///< when a kernel ran
  int wait_status = 0;             ///< of waitpid
  bool killed_late = false;        ///< it did not even react to its own alarm
  std::uint32_t limit_ms = 0;
};

/// E40021: signal, block, line, and for a memory fault where the address lies relative to the kernel's
/// operands.
Status fault_text(const CrashPage& page, const ChildEnd& end);

}  // namespace atc::custom
