#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "atc/core_api.h"

namespace atc::custom {

/// What a dying kernel leaves: in memory that a child shares with the tool, or for another thread.
struct CrashPage {
  enum Kind : std::uint32_t { None, Signal, TimedOut };
  std::atomic<std::uint32_t> kind;
  std::int32_t signal;
  std::uint64_t address;        ///< of a memory fault
  std::uint64_t instruction;    ///< its address in the process
  std::int32_t block;           ///< that crashed, or, timed out, that was looked at; -1: none
  std::int32_t running;         ///< blocks that had not ended
  std::int32_t library;         ///< whose code the thread was in; -1: of none
  std::int32_t stack_overflow;  ///< 1: the fault lies on the block's own stack
  std::int32_t null_pointer;    ///< 1: so is the address
  std::uint64_t offset;         ///< of the instruction, as the library's file counts
  std::int32_t line;            ///< of the last instruction of the AI Core that the block gave; 0: of none
  std::array<char, 240> file;   ///< and its source
};

/// Tells the signal handlers, while it lives, that the code above it on this stack is a block's.
class RunningBlock {
 public:
  explicit RunningBlock(const AtcBlock& block);
  ~RunningBlock();
  RunningBlock(const RunningBlock&) = delete;
  RunningBlock& operator=(const RunningBlock&) = delete;

 private:
  std::size_t slot_;
};

/// The code of a loaded library, for reports.
void add_library_code(std::int32_t library, std::uintptr_t base, std::uintptr_t begin, std::uintptr_t end);

enum class CrashScope {
  Process,  ///< every crash is the library's
  Blocks,   ///< crashes outside of blocks go where they went before
};
/// From here on a crash writes `page` and calls `end`, which does not return and may do only what signal
/// handlers may; so does an alarm that runs out.
void install_crash_handlers(CrashPage* page, CrashScope scope, void (*end)());
/// Puts back what the process did before on these signals.
void remove_crash_handlers();
/// Gives the calling thread a stack for signal handlers (once): the kernel's own may be what overflowed.
void use_signal_stack();
/// Ends the process with a report after this time (0: never) unless stop_alarm comes first, which also gives
/// the process the timer back that it had set.
void start_alarm(std::uint32_t milliseconds);
void stop_alarm();

}  // namespace atc::custom
