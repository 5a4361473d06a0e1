#pragma once

#include <cstddef>
#include <span>

#include "atc/base/bytes.h"

namespace atc::frontend {

/// Aligned blocks cut from a few large ones: thousands of small tensors would otherwise pay a page fault
/// for every 4 KiB. A large block lives as long as any Bytes cut from it.
class Arena {
 public:
  struct Block {
    std::span<std::byte> writable;
    Bytes bytes;
  };
  /// 64-byte aligned and zero-filled. Write before `bytes` is handed on.
  Block allocate(std::size_t size);

 private:
  std::byte* chunk_ = nullptr;
  Bytes chunk_bytes_;
  std::size_t used_ = 0;
};

}  // namespace atc::frontend
