#include "custom/crash.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <cstddef>

namespace atc::custom {
namespace {

constexpr std::size_t kSignalStackBytes = std::size_t{64} << 10;
constexpr std::array kFatal = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};

/// The block of each thread that runs one, plus 1. Threads beyond the table go unnamed in a report.
constexpr std::size_t kThreads = 1024;
std::array<std::atomic<std::int32_t>, kThreads> g_blocks;
std::atomic<std::size_t> g_threads{0};
CrashPage* g_page = nullptr;

struct Code {
  std::uintptr_t base = 0, begin = 0, end = 0;
};
constexpr std::size_t kLibraries = 64;
std::array<Code, kLibraries> g_code;

thread_local std::size_t t_slot = kThreads;

/// Only what POSIX allows in a signal handler.
void report(CrashPage::Kind kind, int signal, std::uint64_t address, std::int32_t block, std::uintptr_t pc) {
  std::uint32_t none = CrashPage::None;
  // The first fault counts; what follows may be its consequence.
  if (g_page != nullptr && g_page->kind.load() == none) {
    std::int32_t running = 0, lowest = -1;
    for (std::size_t i = 0; i < g_threads.load() && i < kThreads; ++i) {
      const std::int32_t b = g_blocks[i].load() - 1;
      if (b < 0) continue;
      ++running;
      lowest = lowest < 0 || b < lowest ? b : lowest;
    }
    g_page->signal = signal;
    g_page->address = address;
    g_page->block = kind == CrashPage::TimedOut ? lowest : block;
    g_page->running = running;
    g_page->library = -1;
    for (std::size_t i = 0; i < kLibraries; ++i) {
      if (pc < g_code[i].begin || pc >= g_code[i].end) continue;
      g_page->library = static_cast<std::int32_t>(i);
      g_page->offset = pc - g_code[i].base;
    }
    g_page->kind.compare_exchange_strong(none, kind);
  }
  _exit(70);
}

std::uintptr_t instruction_of(const void* context) {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<const ucontext_t*>(context)->uc_mcontext.pc;
#else
  return 0;
#endif
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const bool memory = signal == SIGSEGV || signal == SIGBUS;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const std::int32_t block = t_slot < kThreads ? g_blocks[t_slot].load() - 1 : -1;
  report(CrashPage::Signal, signal, memory ? address : 0, block, instruction_of(context));
}

void on_alarm(int, siginfo_t*, void* context) {
  report(CrashPage::TimedOut, 0, 0, -1, instruction_of(context));
}

}  // namespace

RunningBlock::RunningBlock(std::int32_t block) {
  if (t_slot == kThreads) t_slot = g_threads.fetch_add(1);
  if (t_slot < kThreads) g_blocks[t_slot].store(block + 1);
}

RunningBlock::~RunningBlock() {
  if (t_slot < kThreads) g_blocks[t_slot].store(0);
}

void add_library_code(std::int32_t library, std::uintptr_t base, std::uintptr_t begin, std::uintptr_t end) {
  if (library >= 0 && static_cast<std::size_t>(library) < kLibraries)
    g_code[static_cast<std::size_t>(library)] = {base, begin, end};
}

void install_crash_handlers(CrashPage* page) {
  g_page = page;
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (const int signal : kFatal) sigaction(signal, &action, nullptr);
  struct sigaction alarm = {};
  alarm.sa_sigaction = on_alarm;
  alarm.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&alarm.sa_mask);
  sigaction(SIGALRM, &alarm, nullptr);
  use_signal_stack();
}

void use_signal_stack() {
  thread_local bool has = false;
  if (has) return;
  has = true;
  void* stack = mmap(nullptr, kSignalStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED) return;
  const stack_t alternate = {stack, 0, kSignalStackBytes};
  sigaltstack(&alternate, nullptr);
}

void start_alarm(std::uint32_t milliseconds) {
  itimerval timer = {};
  timer.it_value.tv_sec = milliseconds / 1000;
  timer.it_value.tv_usec = static_cast<suseconds_t>(milliseconds % 1000 * 1000);
  setitimer(ITIMER_REAL, &timer, nullptr);
}

void stop_alarm() {
  const itimerval off = {};
  setitimer(ITIMER_REAL, &off, nullptr);
}

}  // namespace atc::custom
