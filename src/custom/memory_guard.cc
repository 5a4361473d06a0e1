#include "custom/memory_guard.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace atc::custom {
namespace {

/// Whole pages around [begin, begin + bytes).
void protect(std::uintptr_t begin, std::uint64_t bytes, int protection) {
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  if (bytes == 0) return;
  const std::uintptr_t first = begin / page * page, last = (begin + bytes - 1) / page * page + page;
  // Refused where a mapping ends between: the guard is a help, not a promise.
  (void)mprotect(reinterpret_cast<void*>(first), last - first, protection);
}

bool is_within(const SharedMemory& memory, const LaunchArg& arg) {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  return arg.address >= begin && arg.address < begin + memory.size();
}

}  // namespace

MemoryGuard::MemoryGuard(const std::vector<std::shared_ptr<SharedMemory>>& memory, const Launch& launch)
    : memory_(memory) {
  for (const auto& m : memory) {
    protect(reinterpret_cast<std::uintptr_t>(m->data()), m->size(), PROT_NONE);
    // Outputs last: where one shares a page with an input, it must be writable.
    for (const bool output : {false, true})
      for (const LaunchArg& arg : launch.args)
        if (arg.output == output && is_within(*m, arg))
          protect(arg.address, static_cast<std::uint64_t>(arg.bytes),
                  output ? PROT_READ | PROT_WRITE : PROT_READ);
  }
}

MemoryGuard::~MemoryGuard() {
  for (const auto& m : memory_)
    protect(reinterpret_cast<std::uintptr_t>(m->data()), m->size(), PROT_READ | PROT_WRITE);
}

}  // namespace atc::custom
