#include "atc/host_launch.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ascendc/launch.h"
#include "atc/base/bytes.h"
#include "custom/chip_info.h"
#include "custom/guarded_memory.h"
#include "custom/kernel_profile.h"
#include "custom/launch_guard.h"
#include "custom/tracked_kernel.h"
#include "profile/launch_profile.h"

namespace {

using atc::MutableBytes;
using atc::custom::GuardedMemory;

/// Global Memory of the program, by address.
struct Memory {
  struct Stretch {
    std::size_t bytes = 0;
    std::string name;
    std::optional<GuardedMemory> own;  // of what was allocated here
  };
  std::mutex mutex;
  std::map<void*, Stretch> stretches;
  int allocated = 0;
};

Memory& memory() {
  static Memory m;
  return m;
}

std::atomic<int> g_errors{0};
/// Of the last launch with errors.
std::string g_error_text;
bool g_measures = false;
double g_us = 0;

/// The time of a launch on the chip.
double us_of(const atc::ascendc::Outcome& outcome, const atc::soc::Chip& on, int blocks) {
  const bool cube = std::any_of(outcome.cores.begin(), outcome.cores.end(), [](const auto& core) {
    return core.name.find("cubecore") != std::string::npos;
  });
  return atc::profile::launch_us(on, blocks) +
         static_cast<double>(outcome.stats.cycles) / (cube ? on.cube_mhz : on.vector_mhz);
}

const atc::soc::Chip* chip() {
  const char* name = std::getenv("ATC_SOC_VERSION");
  const auto found = atc::soc::find_chip(name == nullptr ? "Ascend910B3" : name);
  if (found.ok()) return *found;
  std::fprintf(stderr, "ATC_SOC_VERSION: %s\n", found.status().to_string().c_str());
  return nullptr;
}

/// Of all launches of the program; null without ATC_PROFILE.
atc::custom::KernelProfile* kernel_profile(const atc::soc::Chip& on) {
  const char* folder = std::getenv("ATC_PROFILE");
  if (folder == nullptr || *folder == '\0') return nullptr;
  static atc::custom::KernelProfile profile(on, folder);
  return &profile;
}

/// Stores that went past the memory they were meant for. The number of errors.
int report_overwritten(const std::string& who) {
  const std::lock_guard lock(memory().mutex);
  int errors = 0;
  for (auto& [data, stretch] : memory().stretches) {
    if (!stretch.own) continue;
    const auto at = stretch.own->overwritten();
    if (!at) continue;
    const bool before = *at < 0;
    const std::ptrdiff_t distance = before ? -*at : *at - static_cast<std::ptrdiff_t>(stretch.bytes);
    std::fprintf(stderr, "%s: error: memory %td bytes %s of %s (%zu bytes) was written [gm-bounds]\n",
                 who.c_str(), distance, before ? "before the start" : "beyond the end", stretch.name.c_str(),
                 stretch.bytes);
    ++errors;
  }
  return errors;
}

/// A program whose kernels failed does not end well, whether it looks at its launches' results or not.
void fail_after_errors(int status, void*) {
  if (status != 0 || g_errors.load() == 0) return;
  std::fflush(nullptr);
  _exit(1);
}

void fail_at_exit() {
  static const int registered = on_exit(fail_after_errors, nullptr);
  static_cast<void>(registered);
}

/// The launch of `name<<<...>>>` reaches us as "(name)".
std::string plain(std::string name) {
  if (name.size() > 2 && name.front() == '(' && name.back() == ')') name = name.substr(1, name.size() - 2);
  return name;
}

/// The number of errors.
int add_to(atc::custom::KernelProfile& profile, const std::string& name, const atc::ascendc::Outcome& outcome,
           int blocks) {
  const atc::Status status = profile.add(name, outcome, blocks);
  if (status.ok())
    std::fputs(profile.verdict().c_str(), stderr);
  else
    std::fprintf(stderr, "ATC_PROFILE: %s\n", status.to_string().c_str());
  return status.ok() ? 0 : 1;
}

}  // namespace

extern "C" {

void* atc_gm_alloc(size_t bytes) {
  if (bytes == 0) return nullptr;
  try {
    GuardedMemory own(bytes);
    const std::lock_guard lock(memory().mutex);
    void* data = own.data();
    memory().stretches.emplace(
        data, Memory::Stretch{bytes, "allocation " + std::to_string(memory().allocated++), std::move(own)});
    return data;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

int atc_gm_free(void* data) {
  if (data == nullptr) return 0;
  const std::lock_guard lock(memory().mutex);
  const auto at = memory().stretches.find(data);
  if (at != memory().stretches.end() && at->second.own) {
    memory().stretches.erase(at);
    return 0;
  }
  fail_at_exit();
  ++g_errors;
  std::fprintf(stderr,
               "error: %p is freed, which is no allocation in Global Memory, or one that has been freed "
               "[gm-free]\n",
               data);
  return 1;
}

void atc_gm_register(void* data, size_t bytes, const char* name) {
  const std::lock_guard lock(memory().mutex);
  memory().stretches.erase(data);
  memory().stretches.emplace(
      data, Memory::Stretch{bytes, name == nullptr ? "memory of the program" : name, std::nullopt});
}

void atc_gm_forget(void* data) {
  const std::lock_guard lock(memory().mutex);
  memory().stretches.erase(data);
}

const AtcCustomChip* atc_host_chip(void) {
  static const atc::soc::Chip* const on = chip();
  if (on == nullptr) return nullptr;
  static const AtcCustomChip described = atc::custom::describe(*on);
  return &described;
}

const char* atc_host_soc(void) {
  static const atc::soc::Chip* const on = chip();
  return on == nullptr ? "" : on->name.data();
}

int atc_host_errors(void) { return g_errors.load(); }

const char* atc_host_error_text(void) { return g_error_text.c_str(); }

void atc_host_measure(void) { g_measures = true; }

double atc_host_us(void) { return g_us; }

void atc_gm_usage(size_t* used, size_t* total) {
  static const atc::soc::Chip* const on = chip();
  const std::lock_guard lock(memory().mutex);
  *used = 0;
  for (const auto& [data, stretch] : memory().stretches)
    if (stretch.own) *used += stretch.bytes;
  *total = on == nullptr ? *used : std::max(*used, static_cast<std::size_t>(on->global_memory));
}

size_t atc_gm_reach(const void* at) {
  const std::lock_guard lock(memory().mutex);
  auto next = memory().stretches.upper_bound(const_cast<void*>(at));
  if (next == memory().stretches.begin()) return 0;
  const auto& [data, stretch] = *--next;
  const auto offset =
      static_cast<std::size_t>(static_cast<const std::byte*>(at) - static_cast<std::byte*>(data));
  return stretch.own && offset < stretch.bytes ? stretch.bytes - offset : 0;
}

int atc_host_launch(const AtcHostLaunch* request) {
  fail_at_exit();
  const atc::soc::Chip* on = chip();
  if (on == nullptr) return g_errors += 1, 1;
  static atc::ThreadPool pool(0);
  const std::string name = request->name == nullptr ? "kernel" : plain(request->name);
  int errors = report_overwritten("before the launch of " + name);
  atc::ascendc::Launch launch;
  launch.block_dim = static_cast<int>(request->block_dim);
  launch.tiling_key = request->tiling_key;
  if (request->kernel_type >= 0) launch.type = request->kernel_type;
  atc::custom::KernelProfile* profile = kernel_profile(*on);
  launch.trace = profile != nullptr;
  launch.timing = launch.trace || g_measures;
  launch.args.assign(request->args, request->args + request->arg_count);
  {
    const std::lock_guard lock(memory().mutex);
    for (const auto& [data, stretch] : memory().stretches)
      launch.memory.push_back(
          {static_cast<std::byte*>(data), static_cast<std::int64_t>(stretch.bytes), stretch.name});
  }
  MutableBytes system(static_cast<std::size_t>(atc::custom::system_workspace(*on)));
  launch.system_workspace = system.data();
  launch.system_workspace_bytes = static_cast<std::int64_t>(system.size());
  launch.memory.push_back({system.data(), launch.system_workspace_bytes, "the system workspace"});
  const atc::ascendc::Outcome outcome = [&] {
    const atc::custom::LaunchGuard guard(name, launch.memory, atc::custom::launch_limit_ms());
    launch.kernel = atc::custom::tracked(request->kernel);
    return atc::ascendc::run(*on, launch, pool);
  }();
  std::fputs(outcome.printed.c_str(), stdout);
  if (!outcome.ok()) g_error_text.clear();
  for (const atc::ascendc::Diagnostic& d : outcome.diagnostics) {
    const std::string text = atc::ascendc::to_string(d) + "\n";
    std::fputs(text.c_str(), stderr);
    errors += d.error ? 1 : 0;
    if (d.error) g_error_text += text;
  }
  if (launch.timing) g_us += us_of(outcome, *on, launch.block_dim);
  errors += report_overwritten(name);
  if (profile != nullptr && errors == 0) errors += add_to(*profile, name, outcome, launch.block_dim);
  g_errors += errors;
  return errors;
}

}  // extern "C"
