#include "custom/fault_text.h"

#include <signal.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstring>

namespace atc::custom {
namespace {

/// Farther from an operand than this, an address says nothing about it.
constexpr std::uint64_t kNear = std::uint64_t{64} << 20;

std::string hex(std::uint64_t v) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(v));
  return text;
}

std::string label(const LaunchArg& arg) {
  return "'" + arg.name + "' (" + std::to_string(arg.bytes) + " bytes)";
}

/// "4 bytes beyond the end of 'y' (64 bytes)", of the nearest operand.
std::string place(std::uint64_t address, const Launch& launch) {
  const LaunchArg* nearest = nullptr;
  std::uint64_t distance = kNear;
  bool before = false;
  for (const LaunchArg& arg : launch.args) {
    if (arg.address == 0) continue;
    const std::uint64_t end = arg.address + static_cast<std::uint64_t>(arg.bytes);
    if (address >= arg.address && address < end) {
      if (arg.output) continue;
      return "it writes at offset " + std::to_string(address - arg.address) + " of " + label(arg) +
             ", which is an input";
    }
    const bool is_before = address < arg.address;
    const std::uint64_t d = is_before ? arg.address - address : address - end;
    if (d >= distance) continue;
    nearest = &arg;
    distance = d;
    before = is_before;
  }
  if (nearest == nullptr) return "no operand of the kernel is near this address";
  return "the address is " + std::to_string(distance) + " bytes " +
         (before ? "before the start" : "beyond the end") + " of " + label(*nearest);
}

std::string block_text(const CrashPage& page) {
  if (page.block < 0) return {};
  return " in block " + std::to_string(page.block);
}

std::string seconds(std::uint32_t ms) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", ms / 1000.0);
  return text;
}

/// ", its last instruction was at add.cpp:31".
std::string last_instruction(const CrashPage& page) {
  if (page.line <= 0) return {};
  return ", its last instruction was at " + std::string(page.file.data()) + ":" + std::to_string(page.line);
}

}  // namespace

Status fault_text(const CrashPage& page, const ChildEnd& end) {
  const std::uint32_t kind = page.kind.load();
  const std::string when =
      (end.doing.empty() ? "" : " while " + end.doing) + (end.line.empty() ? "" : ", at " + end.line);
  if (kind == CrashPage::TimedOut || end.killed_late) {
    Status status = Status::error(
        "E40021", end.who + " did not come to an end within " + seconds(end.limit_ms) + " s" + when);
    if (kind == CrashPage::TimedOut && page.block >= 0)
      status = std::move(status).note(std::to_string(page.running) +
                                      (page.running == 1 ? " block" : " blocks") + " had not ended; block " +
                                      std::to_string(page.block) + " was running" + last_instruction(page));
    return std::move(status).solution("Look for a loop without an end.");
  }
  int signal = kind == CrashPage::Signal ? page.signal : 0;
  if (signal == 0 && WIFSIGNALED(end.wait_status)) signal = WTERMSIG(end.wait_status);
  if (signal == 0)
    return Status::error("E40021", end.who + " ended its process with exit code " +
                                       std::to_string(WEXITSTATUS(end.wait_status)) + when);
  const std::string crashed = end.who + " crashed" + block_text(page) + when + ": ";
  if (kind == CrashPage::Signal && page.stack_overflow != 0)
    return Status::error("E40021", crashed + "its stack overflowed" + last_instruction(page))
        .solution(
            "Look for a recursion without an end, or for a large local array: a core's stack has 32 "
            "KB, data belongs in a TBuf.");
  Status status =
      Status::error("E40021", crashed + "signal " + std::to_string(signal) + " (" + strsignal(signal) + ")" +
                                  (signal == SIGFPE ? ", an integer division by zero" : "") +
                                  (page.address != 0 ? " at address " + hex(page.address) : ""));
  if (kind == CrashPage::Signal && page.null_pointer != 0)
    status = std::move(status).note("the address comes of a null pointer");
  else if (page.address != 0 && end.launch != nullptr)
    status = std::move(status).note(place(page.address, *end.launch));
  if (end.line.empty() && page.line > 0)
    status = std::move(status).note("block " + std::to_string(page.block) + last_instruction(page));
  return status;
}

}  // namespace atc::custom
