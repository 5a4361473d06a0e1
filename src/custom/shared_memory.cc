#include "custom/shared_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace atc::custom {

SharedMemory::SharedMemory(std::size_t size) : size_(size) {
  void* mapped = mmap(nullptr, std::max<std::size_t>(size, 1), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(mapped);
}

SharedMemory::~SharedMemory() { munmap(data_, std::max<std::size_t>(size_, 1)); }

}  // namespace atc::custom
