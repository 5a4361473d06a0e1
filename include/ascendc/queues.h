#pragma once

// TPipe, queues and scratch buffers. Their states live in the simulated core, which knows the rules.
#include <cstdint>

#include "ascendc/sync.h"
#include "ascendc/tensors.h"

namespace AscendC {

class TPipe;
template <TPosition position, std::uint32_t buffers>
class TBufPool;

/// A queue of buffers that one pipe fills and another empties.
template <TPosition src, TPosition dst, std::int32_t depth, std::int32_t mask = 0>
class TQueBind {
 public:
  static constexpr TPosition srcPosition = src, dstPosition = dst;
  template <class T>
  LocalTensor<T> AllocTensor(detail::Site site = detail::Site()) {
    AtcLocal place;
    detail::call(&AtcCoreApi::queue_alloc, &site, id_, &place);
    return LocalTensor<T>(place);
  }
  template <class T>
  void AllocTensor(LocalTensor<T>& tensor, detail::Site site = detail::Site()) {
    tensor = AllocTensor<T>(site);
  }
  template <class T>
  void FreeTensor(const LocalTensor<T>& tensor, detail::Site site = detail::Site()) {
    detail::call(&AtcCoreApi::queue_free, &site, id_, &tensor.place());
  }
  template <class T>
  bool EnQue(const LocalTensor<T>& tensor, detail::Site site = detail::Site()) {
    detail::call(&AtcCoreApi::queue_enque, &site, id_, &tensor.place());
    return true;
  }
  template <TPosition from, TPosition to, class T>
  bool EnQue(const LocalTensor<T>& tensor, detail::Site site = detail::Site()) {
    return EnQue(tensor, site);
  }
  template <class T>
  LocalTensor<T> DeQue(detail::Site site = detail::Site()) {
    AtcLocal place;
    detail::call(&AtcCoreApi::queue_deque, &site, id_, &place);
    return LocalTensor<T>(place);
  }
  template <TPosition from, TPosition to, class T>
  LocalTensor<T> DeQue(detail::Site site = detail::Site()) {
    return DeQue<T>(site);
  }
  template <class T>
  void DeQue(LocalTensor<T>& tensor, detail::Site site = detail::Site()) {
    tensor = DeQue<T>(site);
  }
  bool VacantInQue() const { return query(ATC_QUEUE_CAN_ENQUEUE) != 0; }
  bool HasTensorInQue() const { return query(ATC_QUEUE_ENQUEUED) != 0; }
  std::int32_t GetTensorCountInQue() const { return query(ATC_QUEUE_ENQUEUED); }
  bool HasIdleBuffer() const { return query(ATC_QUEUE_FREE_BUFFERS) != 0; }
  void FreeAllEvent(detail::Site site = detail::Site()) {
    detail::call(&AtcCoreApi::queue_free_all, &site, id_);
  }

 private:
  friend class TPipe;
  template <TPosition position, std::uint32_t buffers>
  friend class TBufPool;
  std::int32_t query(std::int32_t what) const { return detail::call(&AtcCoreApi::queue_query, id_, what); }
  std::int32_t id_ = -1;
};

namespace detail {
constexpr TPosition other_end(TPosition p) {
  switch (p) {
    case TPosition::A1:
      return TPosition::A2;
    case TPosition::B1:
      return TPosition::B2;
    case TPosition::C1:
      return TPosition::C2;
    default:
      return p;
  }
}
}  // namespace detail

template <TPosition position, std::int32_t depth, std::int32_t mask = 0>
class TQue : public TQueBind<position, position, depth, mask> {};

/// Scratch memory without a queue.
template <TPosition position = TPosition::LCM>
class TBuf {
 public:
  template <class T>
  LocalTensor<T> Get(detail::Site site = detail::Site()) {
    AtcLocal place;
    detail::call(&AtcCoreApi::buffer_get, &site, id_, &place);
    return LocalTensor<T>(place);
  }
  template <class T>
  LocalTensor<T> Get(std::uint32_t elements, detail::Site site = detail::Site()) {
    return GetWithOffset<T>(elements, 0, site);
  }
  /// `byte_offset` is a multiple of 32.
  template <class T>
  LocalTensor<T> GetWithOffset(std::uint32_t elements, std::uint32_t byte_offset,
                               detail::Site site = detail::Site()) {
    AtcLocal place;
    detail::call(&AtcCoreApi::buffer_get, &site, id_, &place);
    const auto bytes = static_cast<std::uint32_t>(detail::bytes_of<T>(elements));
    place.offset += byte_offset;
    // A stretch beyond the buffer is kept as it is: the first use reports it.
    place.bytes = bytes;
    return LocalTensor<T>(place);
  }

 private:
  friend class TPipe;
  template <TPosition pool_position, std::uint32_t buffers>
  friend class TBufPool;
  std::int32_t id_ = -1;
};

namespace detail {
template <TPosition src, TPosition dst, std::int32_t depth, std::int32_t mask>
AtcBufferRequest request_of(TQueBind<src, dst, depth, mask>& queue, std::uint8_t count, std::uint32_t bytes) {
  return {
      1,     static_cast<std::uint8_t>(src), static_cast<std::uint8_t>(dst), depth == 0, depth, count, bytes,
      &queue};
}
template <TPosition position>
AtcBufferRequest request_of(TBuf<position>& buffer, std::uint32_t bytes) {
  return {0,      static_cast<std::uint8_t>(position), static_cast<std::uint8_t>(position), 0, 0, 1, bytes,
          &buffer};
}
}  // namespace detail

/// The memory of a kernel. Lengths in bytes, rounded up to 32.
class TPipe {
 public:
  TPipe() {
    detail::block()->user[0] = this;
    const detail::Site site(nullptr, 0);
    detail::call(&AtcCoreApi::reset_buffers, &site);
  }
  TPipe(const TPipe&) = delete;
  TPipe& operator=(const TPipe&) = delete;
  void Init() {}
  void Destroy(detail::Site site = detail::Site()) { detail::call(&AtcCoreApi::reset_buffers, &site); }
  void Reset(detail::Site site = detail::Site()) { detail::call(&AtcCoreApi::reset_buffers, &site); }

  template <TPosition src, TPosition dst, std::int32_t depth, std::int32_t mask>
  bool InitBuffer(TQueBind<src, dst, depth, mask>& queue, std::uint8_t count, std::uint32_t bytes,
                  detail::Site site = detail::Site()) {
    const AtcBufferRequest request = detail::request_of(queue, count, bytes);
    queue.id_ = detail::call(&AtcCoreApi::init_buffer, &site, &request);
    return true;
  }
  template <TPosition position>
  bool InitBuffer(TBuf<position>& buffer, std::uint32_t bytes, detail::Site site = detail::Site()) {
    const AtcBufferRequest request = detail::request_of(buffer, bytes);
    buffer.id_ = detail::call(&AtcCoreApi::init_buffer, &site, &request);
    return true;
  }
  /// A stretch of memory that hands out buffers itself; in the second form that of another pool, in turns.
  template <TPosition position, std::uint32_t buffers>
  bool InitBufPool(TBufPool<position, buffers>& pool, std::uint32_t bytes,
                   detail::Site site = detail::Site()) {
    return pool.init(bytes, -1, site);
  }
  template <TPosition position, std::uint32_t buffers, class Other>
  bool InitBufPool(TBufPool<position, buffers>& pool, std::uint32_t bytes, Other& shared,
                   detail::Site site = detail::Site()) {
    return pool.init(bytes, shared.id(), site);
  }

  /// An event that is free now; it is not reserved.
  TEventID FetchEventID(HardEvent event, detail::Site site = detail::Site()) {
    return detail::event_id(event, false, site);
  }
  template <HardEvent event>
  TEventID FetchEventID(detail::Site site = detail::Site()) {
    return detail::event_id(event, false, site);
  }
  template <HardEvent event>
  TEventID AllocEventID(detail::Site site = detail::Site()) {
    return detail::event_id(event, true, site);
  }
  template <HardEvent event>
  void ReleaseEventID(TEventID id, detail::Site site = detail::Site()) {
    const detail::EventPipes p = detail::pipes_of(event);
    detail::call(&AtcCoreApi::release_event, &site, p.from, p.to, static_cast<std::int32_t>(id));
  }
  TEventID AllocEventID(HardEvent event, detail::Site site = detail::Site()) {
    return detail::event_id(event, true, site);
  }
};

inline TPipe* GetTPipePtr() { return static_cast<TPipe*>(detail::block()->user[0]); }

}  // namespace AscendC
