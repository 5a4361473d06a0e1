#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <vector>

namespace atc {

/// Memory for what lives until the next reset(): handed out from the front, never given back one by one, and
/// kept from reset to reset, so that work that repeats itself allocates nothing. Not for several threads.
class ScratchArena final : public std::pmr::memory_resource {
 public:
  /// Whatever was handed out is void.
  void reset() {
    chunk_ = 0;
    used_ = 0;
  }

 private:
  struct Chunk {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size = 0;
  };

  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    for (; chunk_ < chunks_.size(); ++chunk_, used_ = 0) {
      Chunk& c = chunks_[chunk_];
      void* at = c.bytes.get() + used_;
      std::size_t space = c.size - used_;
      if (std::align(alignment, bytes, at, space) == nullptr) continue;
      used_ = c.size - space + bytes;
      return at;
    }
    const std::size_t size = std::max(kChunk, bytes + alignment);
    chunks_.push_back({std::make_unique<std::byte[]>(size), size});
    used_ = 0;
    return do_allocate(bytes, alignment);
  }
  void do_deallocate(void*, std::size_t, std::size_t) override {}
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

  static constexpr std::size_t kChunk = std::size_t{64} << 10;
  std::vector<Chunk> chunks_;
  std::size_t chunk_ = 0, used_ = 0;
};

}  // namespace atc
