#pragma once

#include <cstddef>
#include <optional>

namespace atc::custom {

/// Zero-filled memory between two pages that nobody can touch: an access beyond its end, or a page before its
/// start, is a fault at once. Stores into what remains of its own pages are found later (overwritten()).
/// Aligned to 64 bytes. Throws std::bad_alloc.
class GuardedMemory {
 public:
  explicit GuardedMemory(std::size_t size);
  GuardedMemory(GuardedMemory&& other) noexcept;
  GuardedMemory& operator=(GuardedMemory&&) = delete;
  ~GuardedMemory();

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

  /// The byte nearest to the memory that somebody wrote outside of it, from its start: negative before it, at
  /// least size() behind it. Found once.
  std::optional<std::ptrdiff_t> overwritten();

 private:
  std::byte* mapped_ = nullptr;
  std::size_t pages_ = 0;  ///< bytes between the guards
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace atc::custom
