#pragma once

// Pools of buffers within the memory of a TPipe.
#include <cstdint>

#include "ascendc/queues.h"

namespace AscendC {

/// A stretch of the memory of `position` that queues and buffers are set up in; Reset gives it free for
/// others.
template <TPosition position, std::uint32_t buffers = 4>
class TBufPool {
 public:
  template <TPosition src, TPosition dst, std::int32_t depth, std::int32_t mask>
  bool InitBuffer(TQueBind<src, dst, depth, mask>& queue, std::uint8_t count, std::uint32_t bytes,
                  detail::Site site = detail::Site()) {
    const AtcBufferRequest request = detail::request_of(queue, count, bytes);
    queue.id_ = detail::call(&AtcCoreApi::init_buffer_in, &site, id_, &request);
    return true;
  }
  template <TPosition other>
  bool InitBuffer(TBuf<other>& buffer, std::uint32_t bytes, detail::Site site = detail::Site()) {
    const AtcBufferRequest request = detail::request_of(buffer, bytes);
    buffer.id_ = detail::call(&AtcCoreApi::init_buffer_in, &site, id_, &request);
    return true;
  }
  void Reset(detail::Site site = detail::Site()) { detail::call(&AtcCoreApi::reset_pool, &site, id_); }

  std::int32_t id() const { return id_; }

 private:
  friend class TPipe;
  bool init(std::uint32_t bytes, std::int32_t shared, const detail::Site& site) {
    id_ = detail::call(&AtcCoreApi::init_pool, &site, static_cast<std::int32_t>(position),
                       std::uint64_t{bytes}, shared);
    return true;
  }
  std::int32_t id_ = -1;
};

}  // namespace AscendC
