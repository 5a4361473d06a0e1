#pragma once

#include <memory>
#include <vector>

#include "custom/launch.h"
#include "custom/shared_memory.h"

namespace atc::custom {

/// While it lives, this process can touch no page of the shared memory but those of the launch's operands,
/// and write none but those of outputs: a wild access is a fault at once.
class MemoryGuard {
 public:
  MemoryGuard(const std::vector<std::shared_ptr<SharedMemory>>& memory, const Launch& launch);
  ~MemoryGuard();
  MemoryGuard(const MemoryGuard&) = delete;
  MemoryGuard& operator=(const MemoryGuard&) = delete;

 private:
  const std::vector<std::shared_ptr<SharedMemory>>& memory_;
};

}  // namespace atc::custom
