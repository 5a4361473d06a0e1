#include "ascendc/buffers.h"

#include <algorithm>

#include "ascendc/core_block.h"
#include "atc/base/math.h"

namespace atc::ascendc {
namespace {

constexpr int kMaxBuffers = 64;

std::int64_t alignment(AtcMemory m) { return m == ATC_L0A || m == ATC_L0B ? 512 : m == ATC_L0C ? 1024 : 32; }

// Which pipe fills a buffer of the position, and which empties it.
Pipe filler(Position p) {
  switch (p) {
    case Position::A2:
    case Position::B2:
    case Position::C2:
      return Pipe::MTE1;
    case Position::Co1:
      return Pipe::M;
    case Position::VecOut:
    case Position::VecCalc:
    case Position::Co2:
      return Pipe::V;
    default:
      return Pipe::MTE2;
  }
}
Pipe emptier(Position p) {
  switch (p) {
    case Position::A1:
    case Position::B1:
    case Position::C1:
    case Position::Tscm:
      return Pipe::MTE1;
    case Position::A2:
    case Position::B2:
    case Position::C2:
      return Pipe::M;
    case Position::Co1:
    case Position::C2Pipe2Gm:
      return Pipe::FIX;
    case Position::VecOut:
    case Position::Co2:
      return Pipe::MTE3;
    default:
      return Pipe::V;
  }
}

}  // namespace

std::string_view name(Position p) {
  constexpr std::string_view kNames[] = {"GM",  "A1",   "A2",        "B1",           "B2",     "C1",
                                         "C2",  "CO1",  "CO2",       "VECIN",        "VECOUT", "VECCALC",
                                         "SPM", "TSCM", "C2PIPE2GM", "C2PIPE2LOCAL", "none"};
  return kNames[std::min<std::size_t>(static_cast<std::size_t>(p), std::size(kNames) - 1)];
}

AtcMemory memory_of(Position p) {
  switch (p) {
    case Position::A1:
    case Position::B1:
    case Position::C1:
    case Position::Tscm:
    case Position::Spm:
      return ATC_L1;
    case Position::A2:
      return ATC_L0A;
    case Position::B2:
      return ATC_L0B;
    case Position::Co1:
      return ATC_L0C;
    case Position::C2:
      return ATC_BIAS_TABLE;
    case Position::C2Pipe2Gm:
    case Position::C2Pipe2Local:
      return ATC_FIXPIPE_BUFFER;
    default:
      return ATC_UB;
  }
}

std::string_view memory_name(std::uint8_t memory) {
  constexpr std::string_view kNames[] = {
      "UB", "L1", "L0A", "L0B", "L0C", "the bias table", "the fixpipe buffer"};
  return memory < std::size(kNames) ? kNames[memory] : "?";
}

std::string_view Buffers::name(State s) {
  constexpr std::string_view kNames[] = {"free", "allocated", "enqueued", "dequeued"};
  return kNames[static_cast<std::size_t>(s)];
}

std::string Buffers::describe(int id) const {
  if (id < 0 || static_cast<std::size_t>(id) >= items_.size()) return {};
  const Item& i = items_[static_cast<std::size_t>(id)];
  const int before = static_cast<int>(std::count_if(items_.begin(), items_.begin() + id, [&](const Item& o) {
    return o.site.line == i.site.line && o.site.file == i.site.file;
  }));
  const std::string known = name_at(i.site, "InitBuffer", false, before);
  return std::string(i.queue ? "queue " : "buffer ") +
         (known.empty() ? "initialised at " + place(i.site) : "'" + known + "'") + " (" +
         std::string(ascendc::name(i.from)) + ")";
}

std::int64_t Buffers::begin_of(const AtcLocal& t) const {
  if (t.buffer < 0 || static_cast<std::size_t>(t.buffer) >= items_.size()) return 0;
  const Item& i = items_[static_cast<std::size_t>(t.buffer)];
  if (i.bytes <= 0 || t.offset < i.offset) return i.offset;
  const std::int64_t slot =
      std::min<std::int64_t>((t.offset - i.offset) / i.bytes, static_cast<std::int64_t>(i.slots.size()) - 1);
  return i.offset + slot * i.bytes;
}

std::int64_t Buffers::room(const AtcLocal& t) const {
  if (t.buffer < 0 || static_cast<std::size_t>(t.buffer) >= items_.size())
    return block_.capacity(t.memory) - t.offset;
  return begin_of(t) + items_[static_cast<std::size_t>(t.buffer)].bytes - t.offset;
}

void Buffers::overflow(const AtcSite& site, AtcMemory memory, const Item& refused, std::int64_t asked) {
  std::string text = std::string(memory_name(static_cast<std::uint8_t>(memory))) +
                     " overflow: " + std::to_string(asked) + " bytes are asked for, " +
                     std::to_string(block_.capacity(static_cast<std::uint8_t>(memory)) - used(memory)) +
                     " of " + std::to_string(block_.capacity(static_cast<std::uint8_t>(memory))) +
                     " are free. Buffers:";
  auto line = [&](const std::string& who, const Item& i) {
    text +=
        "\n    " + who + ": " + std::to_string(i.slots.size()) + " x " + std::to_string(i.bytes) + " bytes";
  };
  for (std::size_t id = 0; id < items_.size(); ++id)
    if (items_[id].live && memory_of(items_[id].from) == memory)
      line(describe(static_cast<int>(id)), items_[id]);
  const int before = static_cast<int>(std::count_if(items_.begin(), items_.end(), [&](const Item& o) {
    return o.site.line == site.line && o.site.file == site.file;
  }));
  const std::string known = name_at(site, "InitBuffer", false, before);
  line((known.empty() ? std::string("this one") : "'" + known + "'") + " (refused)", refused);
  block_.stop(site, "buffer-overflow", text);
}

int Buffers::init_pool(const AtcSite& site, Position position, std::int64_t bytes, int shared) {
  Pool pool;
  pool.memory = memory_of(position);
  pool.bytes = round_up(bytes, std::int64_t{32});
  if (shared >= 0) {
    const Pool& other = pool_of(site, shared);
    if (other.memory != pool.memory || pool.bytes > other.bytes)
      block_.stop(site, "buffer-size",
                  "InitBufPool of " + std::to_string(pool.bytes) + " bytes over a pool of " +
                      std::to_string(other.bytes) + " bytes of " +
                      std::string(memory_name(static_cast<std::uint8_t>(other.memory))));
    pool.offset = other.offset;
  } else if (!block_.probing) {
    Item whole;
    whole.bytes = pool.bytes;
    whole.slots.resize(1);
    pool.offset = round_up(used(pool.memory), alignment(pool.memory));
    if (pool.offset + pool.bytes > block_.capacity(static_cast<std::uint8_t>(pool.memory)))
      overflow(site, pool.memory, whole, pool.bytes);
    used_[static_cast<std::size_t>(pool.memory)] = pool.offset + pool.bytes;
  }
  pools_.push_back(pool);
  return static_cast<int>(pools_.size()) - 1;
}

Buffers::Pool& Buffers::pool_of(const AtcSite& site, int pool) {
  if (pool < 0 || static_cast<std::size_t>(pool) >= pools_.size())
    block_.stop(site, "queue-state", "a TBufPool is used that InitBufPool has not set up (or after Reset)");
  return pools_[static_cast<std::size_t>(pool)];
}

void Buffers::reset_pool(const AtcSite& site, int pool) {
  pool_of(site, pool).used = 0;
  for (Item& i : items_)
    if (i.pool == pool) i.live = false;
  if (!block_.probing) block_.pipes.barrier_all();
}

int Buffers::init(const AtcSite& site, const AtcBufferRequest& request, int pool) {
  Item item;
  item.pool = pool;
  item.queue = request.is_queue != 0;
  item.from = static_cast<Position>(request.position);
  item.to = static_cast<Position>(request.dst_position);
  item.site = site;
  item.depth = request.depth;
  const AtcMemory memory = memory_of(item.from);
  item.bytes = round_up(static_cast<std::int64_t>(request.bytes), std::int64_t{32});
  item.slots.resize(request.count);
  const std::int64_t asked = item.bytes * request.count;
  if (block_.probing) {
    items_.push_back(item);
    return static_cast<int>(items_.size()) - 1;
  }
  if (request.count == 0 || request.bytes == 0)
    block_.stop(site, "buffer-size",
                "InitBuffer of " + std::to_string(request.count) + " buffers of " +
                    std::to_string(request.bytes) +
                    " bytes: a tiling value is zero? Tiling is the kernel's last argument");
  if (pool >= 0) {
    Pool& p = pool_of(site, pool);
    if (p.memory != memory || p.used + asked > p.bytes)
      block_.stop(site, "buffer-overflow",
                  "TBufPool overflow: " + std::to_string(asked) + " bytes of " +
                      std::string(memory_name(static_cast<std::uint8_t>(memory))) + " are asked for, " +
                      std::to_string(p.bytes - p.used) + " of the pool's " + std::to_string(p.bytes) +
                      " bytes of " + std::string(memory_name(static_cast<std::uint8_t>(p.memory))) +
                      " are free");
    item.offset = p.offset + p.used;
    p.used += asked;
  } else {
    item.offset = round_up(used(memory), alignment(memory));
    if (item.offset + asked > block_.capacity(static_cast<std::uint8_t>(memory)))
      overflow(site, memory, item, asked);
    used_[static_cast<std::size_t>(memory)] = item.offset + asked;
  }
  items_.push_back(std::move(item));
  std::int64_t buffers = 0;
  for (const Item& i : items_) buffers += i.live ? static_cast<std::int64_t>(i.slots.size()) : 0;
  if (block_.checks && buffers > kMaxBuffers)
    block_.fault(site, "live-buffers", [&] {
      return "the kernel initialises " + std::to_string(buffers) + " buffers, TPipe manages " +
             std::to_string(kMaxBuffers) + " in all";
    });
  return static_cast<int>(items_.size()) - 1;
}

void Buffers::reset() {
  for (Item& i : items_) i.live = false;
  pools_.clear();
  used_ = {};
  // TPipe waits for all pipes before it gives its memory away again.
  if (!block_.probing) block_.pipes.barrier_all();
}

Buffers::Item* Buffers::item(const AtcSite& site, int id, bool queue) {
  if (id < 0 || static_cast<std::size_t>(id) >= items_.size() || !items_[static_cast<std::size_t>(id)].live)
    block_.stop(site, "queue-state",
                std::string(queue ? "a queue" : "a buffer") +
                    " is used that TPipe::InitBuffer has not set up (or after Reset)");
  return &items_[static_cast<std::size_t>(id)];
}

AtcLocal Buffers::local(const Item& i, int id, int slot) const {
  return {static_cast<std::uint8_t>(memory_of(i.from)),          static_cast<std::uint8_t>(i.from),  0, id,
          static_cast<std::uint32_t>(i.offset + slot * i.bytes), static_cast<std::uint32_t>(i.bytes)};
}

int Buffers::slot_of(const Item& i, const AtcLocal& t) const {
  if (static_cast<AtcMemory>(t.memory) != memory_of(i.from) || t.offset < i.offset) return -1;
  const std::int64_t slot = (t.offset - i.offset) / i.bytes;
  return slot < static_cast<std::int64_t>(i.slots.size()) ? static_cast<int>(slot) : -1;
}

void Buffers::get(const AtcSite& site, int id, AtcLocal& t) { t = local(*item(site, id, false), id, 0); }

// Real hardware hangs beyond: each buffer in use holds an event.
void Buffers::check_live(const AtcSite& site, Position position) {
  if (!block_.checks) return;
  const int limit = block_.npu_arch == 1001 ? 4 : 8;
  int live = 0;
  std::string list;
  for (std::size_t id = 0; id < items_.size(); ++id) {
    const Item& i = items_[id];
    if (!i.queue || !i.live || i.from != position) continue;
    const auto n = static_cast<int>(
        std::count_if(i.slots.begin(), i.slots.end(), [](const Slot& s) { return s.state != State::Free; }));
    if (n == 0) continue;
    live += n;
    list += (list.empty() ? "" : ", ") + describe(static_cast<int>(id)) + ": " + std::to_string(n);
  }
  if (live > limit)
    block_.fault(site, "live-buffers", [&] {
      return std::to_string(live) + " buffers of position " + std::string(ascendc::name(position)) +
             " are in use, " + std::to_string(limit) +
             " events exist for them: the core would hang. In use: " + list;
    });
}

void Buffers::alloc(const AtcSite& site, int id, AtcLocal& t) {
  Item& i = *item(site, id, true);
  const auto n = static_cast<int>(i.slots.size());
  int slot = -1;
  for (int k = 0; k < n && slot < 0; ++k)
    if (i.slots[static_cast<std::size_t>((i.next + k) % n)].state == State::Free) slot = (i.next + k) % n;
  if (slot < 0) {
    std::string states;
    for (const Slot& s : i.slots)
      states += (states.empty() ? "" : ", ") + std::string(name(s.state)) + " since " + place(s.last);
    block_.stop(site, "queue-state",
                "AllocTensor of " + describe(id) + " waits for ever: its " + std::to_string(n) +
                    " buffer(s) are " + states + "; FreeTensor is missing, or InitBuffer needs more buffers");
  }
  Slot& s = i.slots[static_cast<std::size_t>(slot)];
  s.state = State::Occupied;
  s.last = site;
  i.next = (slot + 1) % n;
  block_.pipes.join(filler(i.from), s.emptied.at, s.emptied.clock);
  t = local(i, id, slot);
  check_live(site, i.from);
}

void Buffers::enque(const AtcSite& site, int id, const AtcLocal& t) {
  Item& i = *item(site, id, true);
  const int slot = slot_of(i, t);
  if (slot < 0)
    block_.stop(site, "queue-state",
                "EnQue to " + describe(id) + " of a tensor that is not from it: " + block_.describe(t));
  Slot& s = i.slots[static_cast<std::size_t>(slot)];
  if (s.state != State::Occupied && s.state != State::Dequed)
    block_.stop(site, "queue-state",
                "EnQue to " + describe(id) + " of a tensor that is " + std::string(name(s.state)) +
                    (s.last.file != nullptr ? " since " + place(s.last) : std::string()) +
                    "; AllocTensor or DeQue comes first");
  s.state = State::Enqued;
  s.last = site;
  i.order.push_back(slot);
  // A tensor may be enqueued for its next user after its last one has had it.
  block_.pipes.snapshot(filler(i.from), s.filled.at, s.filled.clock);
}

void Buffers::deque(const AtcSite& site, int id, AtcLocal& t) {
  Item& i = *item(site, id, true);
  if (i.order.empty())
    block_.stop(site, "queue-state",
                "DeQue of " + describe(id) + " waits for ever: nothing is enqueued" +
                    (!i.slots.empty() && i.slots[0].last.file != nullptr
                         ? "; its first buffer is " + std::string(name(i.slots[0].state)) + " since " +
                               place(i.slots[0].last)
                         : std::string()));
  const int slot = i.order.front();
  i.order.pop_front();
  Slot& s = i.slots[static_cast<std::size_t>(slot)];
  s.state = State::Dequed;
  s.last = site;
  block_.pipes.join(emptier(i.to), s.filled.at, s.filled.clock);
  t = local(i, id, slot);
}

void Buffers::free(const AtcSite& site, int id, const AtcLocal& t) {
  Item& i = *item(site, id, true);
  const int slot = slot_of(i, t);
  if (slot < 0)
    block_.stop(site, "queue-state",
                "FreeTensor of " + describe(id) + " of a tensor that is not from it: " + block_.describe(t));
  Slot& s = i.slots[static_cast<std::size_t>(slot)];
  if (s.state != State::Occupied && s.state != State::Dequed) {
    block_.fault(site, "queue-state", [&] {
      return "FreeTensor of " + describe(id) + " of a tensor that is " + std::string(name(s.state)) +
             (s.last.file != nullptr ? " since " + place(s.last) : std::string());
    });
    return;
  }
  s.state = State::Free;
  s.last = site;
  block_.pipes.snapshot(emptier(i.to), s.emptied.at, s.emptied.clock);
}

void Buffers::free_all(const AtcSite& site, int id) {
  Item& i = *item(site, id, true);
  i.order.clear();
  for (Slot& s : i.slots) {
    if (s.state == State::Free) continue;
    s.state = State::Free;
    s.last = site;
    block_.pipes.snapshot(emptier(i.to), s.emptied.at, s.emptied.clock);
  }
}

int Buffers::query(int id, int what) const {
  if (id < 0 || static_cast<std::size_t>(id) >= items_.size()) return 0;
  const Item& i = items_[static_cast<std::size_t>(id)];
  switch (what) {
    case ATC_QUEUE_FREE_BUFFERS:
      return static_cast<int>(std::count_if(i.slots.begin(), i.slots.end(),
                                            [](const Slot& s) { return s.state == State::Free; }));
    case ATC_QUEUE_ENQUEUED:
      return static_cast<int>(i.order.size());
    default:
      return static_cast<int>(i.order.size()) < std::max(i.depth, 1) ? 1 : 0;
  }
}

bool Buffers::has_cube() const {
  return std::any_of(items_.begin(), items_.end(), [](const Item& i) { return memory_of(i.from) != ATC_UB; });
}
bool Buffers::has_vector() const {
  return std::any_of(items_.begin(), items_.end(), [](const Item& i) { return memory_of(i.from) == ATC_UB; });
}

void Buffers::finish() {
  for (std::size_t id = 0; id < items_.size(); ++id) {
    const Item& i = items_[id];
    if (!i.queue || !i.live) continue;
    for (const Slot& s : i.slots)
      if (s.state == State::Enqued)
        block_.fault(s.last, "queue-state", [&] {
          return "a tensor of " + describe(static_cast<int>(id)) + " is enqueued and never dequeued";
        });
      else if (s.state != State::Free)
        block_.warn(s.last, "queue-state", [&] {
          return "a tensor of " + describe(static_cast<int>(id)) + " is " + std::string(name(s.state)) +
                 " and never freed";
        });
  }
}

}  // namespace atc::ascendc
