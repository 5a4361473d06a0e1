#pragma once

#include <cstddef>
#include <cstdint>

namespace atc::custom {

/// Zero-filled memory that a child process forked later works on as the same bytes at the same address.
/// Throws std::bad_alloc.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t size);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }  ///< as asked for; the mapping is whole pages

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace atc::custom
