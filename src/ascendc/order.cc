#include <algorithm>
#include <optional>

#include "aicore/block_group.h"
#include "ascendc/instructions.h"

// Flags, barriers, and the other cores.
namespace atc::ascendc {
namespace {

bool is_pipe(int p) { return p >= 0 && p < kPipeCount; }
std::string pipe_name(int p) { return std::string(aicore::name(static_cast<Pipe>(p))); }

void check_event(Block& b, const AtcSite& site, const char* what, int from, int to, int event) {
  if (!is_pipe(from) || !is_pipe(to))
    b.stop(site, "flag", std::string(what) + " of a pipe that the chip does not have");
  const int events = b.npu_arch == 1001 ? 4 : kEvents;
  if (event < 0 || event >= events)
    b.stop(site, "flag",
           std::string(what) + " of event " + std::to_string(event) + " from " + pipe_name(from) + " to " +
               pipe_name(to) + ": 0 to " + std::to_string(events - 1) + " exist");
}

void require_sync(Block& b, const AtcSite& site, const char* what) {
  if (!b.team.may_sync)
    b.stop(site, "sync-all", std::string(what) + " would never return: " + b.team.why_no_sync);
}

}  // namespace

void set_flag(Block& b, const AtcSite& site, int from, int to, int event) {
  b.begin_instruction();
  check_event(b, site, "SetFlag", from, to, event);
  auto& flag = b.pipes.flag(static_cast<Pipe>(from), static_cast<Pipe>(to), event);
  if (flag.set && b.checks)
    b.fault(site, "flag", [&] {
      return "SetFlag of event " + std::to_string(event) + " from " + pipe_name(from) + " to " +
             pipe_name(to) + ", which is set since " + place(flag.by) +
             ": nobody has waited for it. The second set is lost or the core hangs";
    });
  b.pipes.set(flag, static_cast<Pipe>(from), site);
}

void wait_flag(Block& b, const AtcSite& site, int from, int to, int event) {
  b.begin_instruction();
  check_event(b, site, "WaitFlag", from, to, event);
  auto& flag = b.pipes.flag(static_cast<Pipe>(from), static_cast<Pipe>(to), event);
  if (!flag.set) {
    std::string others;
    for (int e = 0; e < kEvents; ++e)
      if (const auto& other = b.pipes.flag(static_cast<Pipe>(from), static_cast<Pipe>(to), e); other.set)
        others += (others.empty() ? "; set are " : ", ") + std::string("event ") + std::to_string(e) + " (" +
                  place(other.by) + ")";
    const auto& back = b.pipes.flag(static_cast<Pipe>(to), static_cast<Pipe>(from), event);
    if (back.set) others += "; the opposite direction is set by " + place(back.by);
    b.stop(site, "flag",
           "WaitFlag of event " + std::to_string(event) + " from " + pipe_name(from) + " to " +
               pipe_name(to) + " waits for ever: no SetFlag comes before it" + others);
  }
  b.pipes.wait(flag, static_cast<Pipe>(to));
}

void barrier(Block& b, const AtcSite& site, int pipe) {
  b.begin_instruction();
  if (pipe == ATC_PIPE_S || (pipe != ATC_PIPE_ALL && !is_pipe(pipe)))
    b.stop(site, "flag",
           pipe == ATC_PIPE_S
               ? "PipeBarrier<PIPE_S>: the scalar pipe is in order, it has no barrier and the core hangs"
               : "PipeBarrier of a pipe that the chip does not have");
  if (pipe == ATC_PIPE_ALL)
    b.pipes.barrier_all();
  else
    b.pipes.barrier(static_cast<Pipe>(pipe));
}

int fetch_event(Block& b, const AtcSite& site, int from, int to, bool reserve) {
  if (!is_pipe(from) || !is_pipe(to)) return 0;
  std::uint8_t& reserved = b.reserved_events[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
  for (int e = 0; e < (b.npu_arch == 1001 ? 4 : kEvents); ++e) {
    if ((reserved >> e & 1) != 0 || b.pipes.flag(static_cast<Pipe>(from), static_cast<Pipe>(to), e).set)
      continue;
    if (reserve) reserved = static_cast<std::uint8_t>(reserved | 1 << e);
    return e;
  }
  b.stop(site, "flag",
         "no event from " + pipe_name(from) + " to " + pipe_name(to) +
             " is free: ReleaseEventID is missing, or too many flags are set at once");
}

void release_event(Block& b, const AtcSite& site, int from, int to, int event) {
  check_event(b, site, "ReleaseEventID", from, to, event);
  std::uint8_t& reserved = b.reserved_events[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
  if (b.checks && (reserved >> event & 1) == 0)
    b.fault(site, "flag", [&] {
      return "ReleaseEventID of event " + std::to_string(event) + " from " + pipe_name(from) + " to " +
             pipe_name(to) + ", which AllocEventID has not given";
    });
  reserved = static_cast<std::uint8_t>(reserved & ~(1 << event));
}

void cross_set(Block& b, const AtcSite& site, int mode, int pipe, int flag) {
  b.begin_instruction();
  require_sync(b, site, "CrossCoreSetFlag");
  if (!is_pipe(pipe)) b.stop(site, "flag", "CrossCoreSetFlag on a pipe that the chip does not have");
  if (flag < 0 || flag >= aicore::kSyncAllFlag)
    b.stop(site, "flag",
           "CrossCoreSetFlag of flag " + std::to_string(flag) +
               ": 0 to 10 are the kernel's, SyncAll uses those from 11");
  const auto reach = static_cast<aicore::FlagReach>(mode);
  b.send(flag, reach);
  b.core.cross_core_set_flag(flag, static_cast<Pipe>(pipe), reach);
}

void cross_wait(Block& b, const AtcSite& site, int flag) {
  b.begin_instruction();
  require_sync(b, site, "CrossCoreWaitFlag");
  if (flag < 0 || flag >= aicore::kSyncAllFlag)
    b.stop(site, "flag",
           "CrossCoreWaitFlag of flag " + std::to_string(flag) +
               ": 0 to 10 are the kernel's, SyncAll uses those from 11");
  b.waiting_at = site;
  b.core.cross_core_wait_flag(flag);
  b.waiting_at = {};
  b.receive(flag);
  b.pipes.release_all(b.core.free_at(Pipe::S));
}

void block_flag_set(Block& b, const AtcSite&, const AtcGm& gm, int block, int event) {
  b.begin_instruction();
  if (!b.team.together) return;
  // What the core has copied is there before the flag is.
  b.pipes.barrier_all();
  const Cycle at = b.core.free_at(Pipe::MTE3);
  b.pipes.issue(Pipe::MTE3, kIssue, "IBSet", 0);
  b.block_flags.push_back({gm.data, block, event, std::max(at, b.core.free_at(Pipe::MTE3)),
                           b.checks ? b.gm_log.send(b.number) : GmLog::Clock(), false});
}

void block_flag_wait(Block& b, const AtcSite& site, const AtcGm& gm, int block, int event) {
  b.begin_instruction();
  if (!b.team.together)
    b.stop(site, "sync-all",
           "IBWait would never return: more blocks are launched (" + std::to_string(b.block_num) + ") than " +
               std::string(b.chip.name) + " has cores");
  Block::BlockFlag* flag = nullptr;
  const Cycle now = b.core.free_at(Pipe::S);
  b.waiting_at = site;
  const Cycle at = b.team.group->wait_until(
      b.number,
      [&]() -> std::optional<Cycle> {
        for (Block* other : b.team.blocks) {
          if (other == nullptr) continue;
          for (Block::BlockFlag& f : other->block_flags)
            if (!f.taken && f.at == gm.data && f.block == block && f.event == event &&
                (flag == nullptr || f.time < flag->time))
              flag = &f;
        }
        if (flag == nullptr) return std::nullopt;
        flag->taken = true;
        return std::max(now, flag->time);
      },
      "IBSet of block " + std::to_string(block) + ", event " + std::to_string(event));
  b.waiting_at = {};
  if (b.core.timing()) b.core.book(Pipe::S, 1, "IBWait", 0, at);
  b.pipes.release_all(b.core.free_at(Pipe::S));
  if (b.checks) b.gm_log.receive(flag->known);
}

void sync_all(Block& b, const AtcSite& site, int who) {
  b.begin_instruction();
  if (who != ATC_SYNC_BY_MEMORY) {
    require_sync(b, site, "SyncAll");
  } else if (!b.team.together) {
    // Cores that poll a flag in memory need no scheduler, but they must all be running.
    if (b.block_num > 1)
      b.stop(site, "sync-all",
             "SyncAll over a workspace would never return: more blocks are launched (" +
                 std::to_string(b.block_num) + ") than " + std::string(b.chip.name) + " has cores");
    return;
  }
  const auto reach = who == ATC_SYNC_ALL_KINDS ? aicore::FlagReach::All : aicore::FlagReach::Kind;
  b.send(aicore::kSyncAllFlag, reach);
  b.waiting_at = site;
  b.core.sync_all(reach);
  b.waiting_at = {};
  b.receive(aicore::kSyncAllFlag);
  b.pipes.release_all(b.core.free_at(Pipe::S));
}

}  // namespace atc::ascendc
