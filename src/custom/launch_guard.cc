#include "custom/launch_guard.h"

#include <dlfcn.h>
#include <link.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "atc/base/file.h"
#include "custom/crash.h"
#include "custom/fault_text.h"
#include "custom/source_line.h"

namespace atc::custom {
namespace {

constexpr double kDefaultSeconds = 60, kMostSeconds = 1e6;
/// In which the reporter has told everything; a crash may have left it without memory to do so.
constexpr int kReporterMs = 20000;

std::mutex g_one;
CrashPage g_page;
sem_t g_crashed;
Launch g_launch;
ChildEnd g_end;

/// "add.cpp:31" of an instruction of this process.
std::string line_of(std::uint64_t instruction) {
  Dl_info info;
  link_map* object = nullptr;
  if (dladdr1(reinterpret_cast<const void*>(instruction), &info, reinterpret_cast<void**>(&object),
              RTLD_DL_LINKMAP) == 0 ||
      object == nullptr)
    return {};
  // The program itself has no name in the list of objects. Lines of the system's libraries (abort) say
  // nothing.
  const std::string file = object->l_name[0] == '\0' ? "/proc/self/exe" : object->l_name;
  if (file.starts_with("/lib") || file.starts_with("/usr/lib")) return {};
  const auto bytes = map_file(file);
  if (!bytes.ok()) return {};
  return source_line(bytes->span(), instruction - object->l_addr);
}

/// Waits for a crash and tells it, in a thread of its own: a signal handler may do next to nothing.
void report_crashes() {
  while (sem_wait(&g_crashed) != 0) {
  }
  g_end.line = line_of(g_page.instruction);
  const std::string text = fault_text(g_page, g_end).to_string() + "\n";
  (void)!write(STDERR_FILENO, text.data(), text.size());
  _exit(1);
}

// In a signal handler.
void end_program() {
  sem_post(&g_crashed);
  poll(nullptr, 0, kReporterMs);
  constexpr char kText[] = "a kernel crashed, and the program is too damaged to say where\n";
  (void)!write(STDERR_FILENO, kText, sizeof kText - 1);
  _exit(1);
}

bool start_reporter() {
  sem_init(&g_crashed, 0, 0);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread(report_crashes).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return true;
}

bool is_debugged() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "TracerPid:") return status >> word && word != "0";
  return false;
}

}  // namespace

std::uint32_t launch_limit_ms() {
  if (is_debugged()) return 0;
  const char* given = std::getenv("ATC_KERNEL_TIMEOUT");
  if (given == nullptr || *given == '\0') return static_cast<std::uint32_t>(kDefaultSeconds * 1000);
  char* end = nullptr;
  const double seconds = std::strtod(given, &end);
  if (*end == '\0' && seconds >= 0 && seconds <= kMostSeconds)
    return static_cast<std::uint32_t>(seconds * 1000);
  std::fprintf(stderr, "ATC_KERNEL_TIMEOUT: '%s' is no number of seconds, %g s count\n", given,
               kDefaultSeconds);
  return static_cast<std::uint32_t>(kDefaultSeconds * 1000);
}

LaunchGuard::LaunchGuard(const std::string& kernel, const std::vector<ascendc::GmRange>& memory,
                         std::uint32_t limit_ms)
    : one_(g_one) {
  static const bool started = start_reporter();
  static_cast<void>(started);
  g_launch.args.clear();
  for (const ascendc::GmRange& range : memory)
    g_launch.args.push_back(
        {range.name, reinterpret_cast<std::uint64_t>(range.data), range.bytes, /*output=*/true});
  g_end = {};
  g_end.who = "Kernel '" + kernel + "'";
  g_end.launch = &g_launch;
  g_end.limit_ms = limit_ms;
  std::fflush(nullptr);  // what the program has printed must not be lost
  install_crash_handlers(&g_page, CrashScope::Blocks, end_program);
  start_alarm(limit_ms);
}

LaunchGuard::~LaunchGuard() {
  stop_alarm();
  remove_crash_handlers();
}

}  // namespace atc::custom
