#pragma once

// The order of the pipes and of the cores: events, barriers, SyncAll, cross-core flags.
#include <cstdint>

#include "ascendc/block.h"
#include "ascendc/tensors.h"

namespace AscendC {

using TEventID = std::int8_t;

namespace detail {

struct EventPipes {
  std::int32_t from, to;
};

constexpr EventPipes pipes_of(HardEvent event) {
  constexpr auto S = ATC_PIPE_S, V = ATC_PIPE_V, M = ATC_PIPE_M, MTE1 = ATC_PIPE_MTE1, MTE2 = ATC_PIPE_MTE2,
                 MTE3 = ATC_PIPE_MTE3, FIX = ATC_PIPE_FIX;
  constexpr EventPipes kPipes[] = {
      {MTE2, MTE1}, {MTE1, MTE2}, {MTE1, M}, {M, MTE1},   {MTE2, V},    {V, MTE2},    {MTE3, V},
      {V, MTE3},    {M, V},       {V, M},    {V, V},      {MTE3, MTE1}, {MTE1, MTE3}, {MTE1, V},
      {MTE2, M},    {M, MTE2},    {V, MTE1}, {M, FIX},    {FIX, M},     {MTE3, MTE2}, {MTE2, MTE3},
      {S, V},       {V, S},       {S, MTE2}, {MTE2, S},   {S, MTE3},    {MTE3, S},    {MTE2, FIX},
      {FIX, MTE2},  {FIX, S},     {M, S},    {FIX, MTE3}, {MTE1, FIX},  {FIX, MTE1},  {FIX, FIX}};
  static_assert(sizeof kPipes / sizeof kPipes[0] == static_cast<std::size_t>(HardEvent::MAX));
  return kPipes[static_cast<std::size_t>(event)];
}

constexpr std::int32_t pipe_code(pipe_t pipe) {
  switch (pipe) {
    case PIPE_ALL:
      return ATC_PIPE_ALL;
    case PIPE_FIX:
      return ATC_PIPE_FIX;
    case PIPE_MTE4:
    case PIPE_MTE5:
    case PIPE_V2:
      return -1;
    default:
      return static_cast<std::int32_t>(pipe);
  }
}

inline TEventID event_id(HardEvent event, bool reserve, Site site) {
  const EventPipes p = pipes_of(event);
  return static_cast<TEventID>(
      call(&AtcCoreApi::fetch_event, &site, p.from, p.to, static_cast<std::int32_t>(reserve)));
}

}  // namespace detail

template <HardEvent event>
inline void SetFlag(std::int32_t id, detail::Site site = detail::Site()) {
  constexpr detail::EventPipes p = detail::pipes_of(event);
  detail::call(&AtcCoreApi::set_flag, &site, p.from, p.to, id);
}
template <HardEvent event>
inline void WaitFlag(std::int32_t id, detail::Site site = detail::Site()) {
  constexpr detail::EventPipes p = detail::pipes_of(event);
  detail::call(&AtcCoreApi::wait_flag, &site, p.from, p.to, id);
}
template <pipe_t pipe>
inline void PipeBarrier(detail::Site site = detail::Site()) {
  static_assert(pipe != PIPE_S, "PipeBarrier<PIPE_S>: the scalar pipe is in order, it has no barrier");
  detail::call(&AtcCoreApi::barrier, &site, detail::pipe_code(pipe));
}
enum class MemDsbT : std::uint64_t { ALL, DDR, UB, SEQ };
template <MemDsbT = MemDsbT::ALL>
inline void DataSyncBarrier(detail::Site site = detail::Site()) {
  detail::call(&AtcCoreApi::barrier, &site, std::int32_t{ATC_PIPE_ALL});
}

/// Reserves an event for as long as it lives by hand-written set and wait.
template <pipe_t from, pipe_t to>
class TQueSync {
 public:
  void SetFlag(TEventID id, detail::Site site = detail::Site()) {
    detail::call(&AtcCoreApi::set_flag, &site, detail::pipe_code(from), detail::pipe_code(to),
                 std::int32_t{id});
  }
  void WaitFlag(TEventID id, detail::Site site = detail::Site()) {
    detail::call(&AtcCoreApi::wait_flag, &site, detail::pipe_code(from), detail::pipe_code(to),
                 std::int32_t{id});
  }
};

/// Every vector core of the task is here with all its work done (false: the cube cores too).
template <bool isAIVOnly = true>
inline void SyncAll(detail::Site site = detail::Site()) {
  detail::call_and_switch(&AtcCoreApi::sync_all, &site,
                          std::int32_t{isAIVOnly ? ATC_SYNC_KIND : ATC_SYNC_ALL_KINDS});
}

/// By flags in the workspace (GetBlockNum() * 32 bytes in Global Memory, zeroed, and as many in UB).
template <bool isAIVOnly = true>
inline void SyncAll(const GlobalTensor<std::int32_t>& gm_workspace,
                    const LocalTensor<std::int32_t>& ub_workspace, std::int32_t cores = 0,
                    detail::Site site = detail::Site()) {
  const std::int64_t needed = GetBlockNum() * 32;
  if (static_cast<std::int64_t>(ub_workspace.GetSize()) * 4 < needed)
    detail::call(&AtcCoreApi::fail, &site, "SyncAll: the UB workspace must have GetBlockNum() * 32 bytes");
  (void)gm_workspace;
  (void)cores;
  detail::call_and_switch(&AtcCoreApi::sync_all, &site, std::int32_t{ATC_SYNC_BY_MEMORY});
}

/// Block `blockIdx` has come so far: flag `eventID` of its in the workspace (zeroed).
template <bool isAIVOnly = true>
inline void IBSet(const GlobalTensor<std::int32_t>& gmWorkspace,
                  const LocalTensor<std::int32_t>& /*ubWorkspace*/, std::int32_t blockIdx,
                  std::int32_t eventID, detail::Site site = detail::Site()) {
  detail::call(&AtcCoreApi::block_flag_set, &site, &gmWorkspace.place(), blockIdx, eventID);
}
/// Waits for the flag and takes it.
template <bool isAIVOnly = true>
inline void IBWait(const GlobalTensor<std::int32_t>& gmWorkspace,
                   const LocalTensor<std::int32_t>& /*ubWorkspace*/, std::int32_t blockIdx,
                   std::int32_t eventID, detail::Site site = detail::Site()) {
  detail::call_and_switch(&AtcCoreApi::block_flag_wait, &site, &gmWorkspace.place(), blockIdx, eventID);
}

template <std::uint8_t mode, pipe_t pipe>
inline void CrossCoreSetFlag(std::uint16_t flag, detail::Site site = detail::Site()) {
  static_assert(mode <= 2,
                "CrossCoreSetFlag has the modes 0 (cores of one kind), 1 (both vector cores of a block), 2 "
                "(cube and vector cores of a block)");
  detail::call(&AtcCoreApi::cross_set, &site, std::int32_t{mode}, detail::pipe_code(pipe),
               std::int32_t{flag});
}
template <std::uint8_t mode = 0, pipe_t pipe = PIPE_S>
inline void CrossCoreWaitFlag(std::uint16_t flag, detail::Site site = detail::Site()) {
  detail::call_and_switch(&AtcCoreApi::cross_wait, &site, std::int32_t{flag});
}

}  // namespace AscendC

inline void set_flag(pipe_t from, pipe_t to, int id, AscendC::detail::Site site = AscendC::detail::Site()) {
  namespace d = AscendC::detail;
  d::call(&AtcCoreApi::set_flag, &site, d::pipe_code(from), d::pipe_code(to), std::int32_t{id});
}
inline void wait_flag(pipe_t from, pipe_t to, int id, AscendC::detail::Site site = AscendC::detail::Site()) {
  namespace d = AscendC::detail;
  d::call(&AtcCoreApi::wait_flag, &site, d::pipe_code(from), d::pipe_code(to), std::int32_t{id});
}
inline void pipe_barrier(pipe_t pipe, AscendC::detail::Site site = AscendC::detail::Site()) {
  namespace d = AscendC::detail;
  d::call(&AtcCoreApi::barrier, &site, d::pipe_code(pipe));
}
