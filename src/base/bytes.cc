#include "atc/base/bytes.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <new>

#include "atc/base/check.h"

namespace atc {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::size_t rounded_up(std::size_t size, std::size_t alignment) {
  if (size > std::numeric_limits<std::size_t>::max() / 2) throw std::bad_alloc();
  return (size + alignment - 1) / alignment * alignment;
}

std::shared_ptr<std::byte> small_block(std::size_t size) {
  const std::size_t padded = rounded_up(size, kAlignment);
  void* block = std::aligned_alloc(kAlignment, padded);
  if (block == nullptr) throw std::bad_alloc();
  std::memset(block, 0, padded);
  return {static_cast<std::byte*>(block), [](std::byte* p) { std::free(p); }};
}

/// Fresh pages are zero already; huge ones cost one fault instead of 512.
std::shared_ptr<std::byte> large_block(std::size_t size) {
  const std::size_t length = rounded_up(size, kHugePage);
  const std::size_t reserved = length + kHugePage;
  void* mapped = ::mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  auto* start = static_cast<std::byte*>(mapped);
  const std::size_t head = (kHugePage - reinterpret_cast<std::size_t>(start) % kHugePage) % kHugePage;
  if (head > 0) ::munmap(start, head);
  std::byte* block = start + head;
  if (const std::size_t tail = reserved - head - length; tail > 0) ::munmap(block + length, tail);
  ::madvise(block, length, MADV_HUGEPAGE);  // a hint: ordinary pages work too
  return {block, [length](std::byte* p) { ::munmap(p, length); }};
}

}  // namespace

Bytes Bytes::copy_of(std::span<const std::byte> src) {
  MutableBytes block(src.size());
  if (!src.empty()) std::memcpy(block.data(), src.data(), src.size());
  return std::move(block).freeze();
}

struct Bytes::Deferred {
  std::size_t size = 0;
  Fill fill;
  std::once_flag once;
  MutableBytes block;
};

Bytes Bytes::deferred(std::size_t size, Fill fill) {
  Bytes out;
  out.deferred_ = std::make_shared<Deferred>();
  out.deferred_->size = size;
  out.deferred_->fill = std::move(fill);
  return out;
}

std::size_t Bytes::deferred_size() const { return deferred_->size; }

std::span<const std::byte> Bytes::kept() const {
  Deferred& d = *deferred_;
  std::call_once(d.once, [&] {
    MutableBytes block(d.size);
    d.fill(block.span());
    d.block = std::move(block);
  });
  return d.block.span();
}

Bytes Bytes::resolved() const {
  if (deferred_ == nullptr) return *this;
  MutableBytes block(deferred_->size);
  deferred_->fill(block.span());
  return std::move(block).freeze();
}

void Bytes::copy_to(std::span<std::byte> dst) const {
  ATC_CHECK(dst.size() == size(), "Bytes::copy_to: sizes differ");
  if (deferred_ != nullptr)
    deferred_->fill(dst);
  else if (!dst.empty())
    std::memcpy(dst.data(), view_.data(), dst.size());
}

MutableBytes::MutableBytes(std::size_t size) : size_(size) {
  if (size == 0) return;
  data_ = size >= kHugePage ? large_block(size) : small_block(size);
}

}  // namespace atc
