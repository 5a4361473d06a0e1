#pragma once

#include <atomic>
#include <cstdint>

#include "atc/core_api.h"

namespace atc::custom {

/// What a dying child leaves in memory that it shares with the tool.
struct CrashPage {
  enum Kind : std::uint32_t { None, Signal, TimedOut };
  std::atomic<std::uint32_t> kind;
  std::int32_t signal;
  std::uint64_t address;  ///< of a memory fault
  std::int32_t block;     ///< that ran on the thread, or, timed out, the first that was running; -1: none
  std::int32_t running;   ///< blocks that were running
  std::int32_t library;   ///< whose code the thread was in; -1: of none
  std::uint64_t offset;   ///< of the instruction, as the library's file counts
};

/// Tells the signal handlers which block the calling thread runs, while it lives.
class RunningBlock {
 public:
  explicit RunningBlock(std::int32_t block);
  ~RunningBlock();
  RunningBlock(const RunningBlock&) = delete;
  RunningBlock& operator=(const RunningBlock&) = delete;
};

/// The code of a loaded library, for reports.
void add_library_code(std::int32_t library, std::uintptr_t base, std::uintptr_t begin, std::uintptr_t end);

/// From here on a crash of this process writes `page` and ends it; so does an alarm that runs out.
void install_crash_handlers(CrashPage* page);
/// Gives the calling thread a stack for signal handlers (once): the kernel's own may be what overflowed.
void use_signal_stack();
/// Ends the process with a report after this time unless stop_alarm comes first.
void start_alarm(std::uint32_t milliseconds);
void stop_alarm();

}  // namespace atc::custom
