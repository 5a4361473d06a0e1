#include "custom/guarded_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

namespace atc::custom {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
/// What the rest of the pages holds.
constexpr std::byte kUntouched{0xa5};

std::size_t page() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace

GuardedMemory::GuardedMemory(std::size_t size) : size_(size) {
  if (size > std::numeric_limits<std::size_t>::max() / 2) throw std::bad_alloc();
  pages_ = (std::max<std::size_t>(size, 1) + page() - 1) / page() * page();
  void* mapped =
      mmap(nullptr, pages_ + 2 * page(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  mapped_ = static_cast<std::byte*>(mapped);
  std::byte* first = mapped_ + page();
  // Where the system has no more mappings there are no guards: they are a help, not a promise.
  (void)mprotect(mapped_, page(), PROT_NONE);
  (void)mprotect(first + pages_, page(), PROT_NONE);
  if (size >= kHugePage) (void)madvise(first, pages_, MADV_HUGEPAGE);
  data_ = first + (pages_ - size) / kAlignment * kAlignment;
  std::fill(first, data_, kUntouched);
  std::fill(data_ + size, first + pages_, kUntouched);
}

GuardedMemory::GuardedMemory(GuardedMemory&& other) noexcept
    : mapped_(std::exchange(other.mapped_, nullptr)),
      pages_(other.pages_),
      data_(other.data_),
      size_(other.size_) {}

GuardedMemory::~GuardedMemory() {
  if (mapped_ != nullptr) munmap(mapped_, pages_ + 2 * page());
}

std::optional<std::ptrdiff_t> GuardedMemory::overwritten() {
  const auto touched = [](std::byte b) { return b != kUntouched; };
  std::byte *first = mapped_ + page(), *end = data_ + size_, *last = first + pages_;
  if (std::byte* at = std::find_if(end, last, touched); at != last) {
    std::fill(end, last, kUntouched);
    return at - data_;
  }
  const auto before =
      std::find_if(std::make_reverse_iterator(data_), std::make_reverse_iterator(first), touched);
  if (before.base() == first) return std::nullopt;
  const std::ptrdiff_t at = before.base() - 1 - data_;
  std::fill(first, data_, kUntouched);
  return at;
}

}  // namespace atc::custom
