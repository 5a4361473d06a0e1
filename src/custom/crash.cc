#include "custom/crash.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "aicore/block_group.h"
#include "ascendc/core_block.h"

namespace atc::custom {
namespace {

constexpr std::size_t kSignalStackBytes = std::size_t{64} << 10;
constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGALRM};

/// Blocks that run, by the place of their RunningBlock on the stack they run on: a block that waits goes on
/// upon another thread, but never on another stack. Blocks beyond the table go unnamed in a report.
struct Running {
  std::atomic<std::uintptr_t> stack{0};
  std::uintptr_t low = 0;  ///< the end of that stack
  const ascendc::Block* block = nullptr;
};
constexpr std::size_t kBlocks = 1024;
constexpr std::uintptr_t kClaimed = 1;
std::array<Running, kBlocks> g_blocks;
/// How far below the stack pointer a call, or a frame that is being set up, touches.
constexpr std::uintptr_t kBelowStack = std::uintptr_t{64} << 10;
/// The largest frame that is taken for one of the stack above it.
constexpr std::uintptr_t kLargestFrame = std::uintptr_t{256} << 20;

/// Threads that have run blocks.
constexpr std::size_t kThreads = 1024;
std::array<std::atomic<pid_t>, kThreads> g_threads;
std::atomic<std::size_t> g_thread_count{0};
/// Time in which one of them answers an alarm.
constexpr int kAnswerMs = 500;

CrashPage* g_page = nullptr;
CrashScope g_scope = CrashScope::Process;
void (*g_end)() = nullptr;
std::atomic<bool> g_reported{false}, g_asked{false};
std::array<struct sigaction, kSignals.size()> g_before;
itimerval g_timer_before;

/// Nothing is ever mapped below.
constexpr std::uintptr_t kNullPage = 65536;

/// The calling thread's own stack; a block that waits for others has another.
struct Stack {
  std::uintptr_t low = 0, high = 0;
};
thread_local Stack t_stack;

struct Code {
  std::uintptr_t base = 0, begin = 0, end = 0;
};
constexpr std::size_t kLibraries = 64;
std::array<Code, kLibraries> g_code;

// What follows runs in signal handlers: only what POSIX allows there.

/// The block whose stack this is; `reach`: how far below that stack's end the pointer may be.
const Running* block_on(std::uintptr_t sp, std::uintptr_t reach) {
  const Running* nearest = nullptr;
  for (const Running& r : g_blocks) {
    const std::uintptr_t at = r.stack.load();
    if (at <= kClaimed || sp > at || sp + reach < r.low) continue;
    if (nearest == nullptr || at < nearest->stack.load()) nearest = &r;
  }
  return nearest;
}

struct Registers {
  std::uintptr_t pc = 0, sp = 0;
};
Registers registers_of(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return {static_cast<std::uintptr_t>(machine.gregs[REG_RIP]),
          static_cast<std::uintptr_t>(machine.gregs[REG_RSP])};
#elif defined(__aarch64__)
  return {machine.pc, machine.sp};
#else
  return {};
#endif
}

void describe(const ascendc::Block& block, CrashPage& page) {
  page.block = static_cast<std::int32_t>(block.block_idx);
  const AtcSite site = block.last_site;
  if (site.file == nullptr) return;
  const char* name = std::strrchr(site.file, '/');
  name = name == nullptr ? site.file : name + 1;
  std::memcpy(page.file.data(), name, std::min(std::strlen(name), page.file.size() - 1));
  page.line = site.line;
}

[[noreturn]] void wait_for_end() {
  for (;;) poll(nullptr, 0, 1000);
}

[[noreturn]] void report(CrashPage::Kind kind, int signal, std::uintptr_t address, const Running* running,
                         Registers at) {
  // The first fault counts, what follows may be its consequence; it waits for the process to end.
  if (g_reported.exchange(true)) wait_for_end();
  CrashPage& page = *g_page;
  page.signal = signal;
  page.address = address;
  page.instruction = at.pc;
  page.block = page.library = -1;
  page.running = 0;
  for (const Running& r : g_blocks) page.running += r.stack.load() > kClaimed ? 1 : 0;
  if (running != nullptr) {
    describe(*running->block, page);
    const bool own = address + kBelowStack >= at.sp && address < running->stack.load();
    page.stack_overflow = address != 0 && own ? 1 : 0;
  }
  for (std::size_t i = 0; i < kLibraries; ++i) {
    if (at.pc < g_code[i].begin || at.pc >= g_code[i].end) continue;
    page.library = static_cast<std::int32_t>(i);
    page.offset = at.pc - g_code[i].base;
  }
  page.kind.store(kind);
  g_end();
  _exit(70);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  // Of an address that no process can have the system does not say which it was.
  const bool memory = (signal == SIGSEGV || signal == SIGBUS) && info->si_code != SI_KERNEL;
  const auto address = memory ? reinterpret_cast<std::uintptr_t>(info->si_addr) : 0;
  const Registers at = registers_of(context);
  const Running* running = block_on(at.sp, kBelowStack);
  if (running == nullptr && address + kBelowStack >= at.sp) running = block_on(at.sp, kLargestFrame);
  if (running == nullptr && g_scope == CrashScope::Blocks) {
    // Not a kernel's: as if we were not here. The instruction is tried again, or the signal sent again.
    const auto known = std::find(kSignals.begin(), kSignals.end(), signal);
    sigaction(signal, &g_before[static_cast<std::size_t>(known - kSignals.begin())], nullptr);
    if (info->si_code <= 0) raise(signal);
    return;
  }
  if (g_reported.load()) wait_for_end();
  g_page->null_pointer = memory && address < kNullPage ? 1 : 0;
  report(CrashPage::Signal, signal, address, running, at);
}

// The thread that the alarm comes to may be one that waits: then it asks the others.
void on_alarm(int, siginfo_t*, void* context) {
  const Registers at = registers_of(context);
  const Running* running = block_on(at.sp, 0);
  if (running != nullptr) report(CrashPage::TimedOut, 0, 0, running, at);
  if (g_asked.exchange(true)) return;
  const auto own = static_cast<pid_t>(syscall(SYS_gettid));
  for (std::size_t i = 0; i < std::min(g_thread_count.load(), kThreads); ++i)
    if (const pid_t thread = g_threads[i].load(); thread != 0 && thread != own)
      syscall(SYS_tgkill, getpid(), thread, SIGALRM);
  poll(nullptr, 0, kAnswerMs);
  report(CrashPage::TimedOut, 0, 0, nullptr, at);
}

}  // namespace

RunningBlock::RunningBlock(const AtcBlock& block) : slot_(0) {
  for (; slot_ < kBlocks; ++slot_) {
    std::uintptr_t unused = 0;
    if (!g_blocks[slot_].stack.compare_exchange_strong(unused, kClaimed)) continue;
    const auto here = reinterpret_cast<std::uintptr_t>(this);
    const bool threads_own = here >= t_stack.low && here < t_stack.high;
    g_blocks[slot_].low = threads_own ? t_stack.low : here - aicore::kBlockStackBytes;
    g_blocks[slot_].block = static_cast<const ascendc::Block*>(&block);
    g_blocks[slot_].stack.store(here);
    return;
  }
}

RunningBlock::~RunningBlock() {
  if (slot_ < kBlocks) g_blocks[slot_].stack.store(0);
}

void add_library_code(std::int32_t library, std::uintptr_t base, std::uintptr_t begin, std::uintptr_t end) {
  if (library >= 0 && static_cast<std::size_t>(library) < kLibraries)
    g_code[static_cast<std::size_t>(library)] = {base, begin, end};
}

void install_crash_handlers(CrashPage* page, CrashScope scope, void (*end)()) {
  g_page = page;
  g_scope = scope;
  g_end = end;
  g_asked.store(false);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction action = {};
    action.sa_sigaction = kSignals[i] == SIGALRM ? on_alarm : on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(kSignals[i], &action, &g_before[i]);
  }
  use_signal_stack();
}

void remove_crash_handlers() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &g_before[i], nullptr);
}

void use_signal_stack() {
  thread_local bool has = false;
  if (has) return;
  has = true;
  if (const std::size_t n = g_thread_count.fetch_add(1); n < kThreads)
    g_threads[n].store(static_cast<pid_t>(syscall(SYS_gettid)));
  if (pthread_attr_t attributes; pthread_getattr_np(pthread_self(), &attributes) == 0) {
    void* low = nullptr;
    std::size_t bytes = 0;
    pthread_attr_getstack(&attributes, &low, &bytes);
    pthread_attr_destroy(&attributes);
    t_stack.low = reinterpret_cast<std::uintptr_t>(low);
    t_stack.high = t_stack.low + bytes;
  }
  void* stack = mmap(nullptr, kSignalStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED) return;
  const stack_t alternate = {stack, 0, kSignalStackBytes};
  sigaltstack(&alternate, nullptr);
}

void start_alarm(std::uint32_t milliseconds) {
  itimerval timer = {};
  timer.it_value.tv_sec = milliseconds / 1000;
  timer.it_value.tv_usec = static_cast<suseconds_t>(milliseconds % 1000 * 1000);
  setitimer(ITIMER_REAL, &timer, &g_timer_before);
}

void stop_alarm() { setitimer(ITIMER_REAL, &g_timer_before, nullptr); }

}  // namespace atc::custom
