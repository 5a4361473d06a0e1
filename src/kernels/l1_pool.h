#pragma once

#include <array>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "aicore/core.h"

namespace atc::kernels {

/// L1 buffers of one operand of a cube kernel, filled in turn. A key names what a buffer holds: a tile that
/// is still there is not loaded again, so with as many buffers as a product has parts the operand stays in
/// L1.
class L1Pool {
 public:
  using Key = std::array<std::int64_t, 3>;

  L1Pool(aicore::Core& core, std::int64_t count, std::int64_t bytes) : entries_(core.scratch()) {
    entries_.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i)
      entries_.push_back({&core.alloc(aicore::Memory::L1, bytes), false, {}, {}});
  }

  /// The tile of `key`; `load(buffer)` gives it when it is not here.
  template <class Load>
  const aicore::Core::CubeTile& get(const Key& key, Load load) {
    for (const Entry& e : entries_)
      if (e.filled && e.key[0] == key[0] && e.key[1] == key[1] && e.key[2] == key[2]) return e.tile;
    Entry& e = entries_[next_];
    next_ = (next_ + 1) % entries_.size();
    e.filled = true;
    e.key = key;
    e.tile = load(*e.buffer);
    return e.tile;
  }

 private:
  struct Entry {
    aicore::Buffer* buffer;
    bool filled;
    Key key;
    aicore::Core::CubeTile tile;
  };
  std::pmr::vector<Entry> entries_;
  std::size_t next_ = 0;
};

}  // namespace atc::kernels
