#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "ascendc/pipes.h"

namespace atc::ascendc {

class Block;

/// TPosition of Ascend C by number.
enum class Position : std::uint8_t {
  Gm,
  A1,
  A2,
  B1,
  B2,
  C1,
  C2,
  Co1,
  Co2,
  VecIn,
  VecOut,
  VecCalc,
  Spm,
  Tscm,
  C2Pipe2Gm,
  C2Pipe2Local,
  Max
};
std::string_view name(Position p);
/// The memory behind a position.
AtcMemory memory_of(Position p);
std::string_view memory_name(std::uint8_t memory);

/// The buffers of a kernel: addresses, and the states of the queues.
class Buffers {
 public:
  explicit Buffers(Block& block) : block_(block) {}
  void start() {
    items_.clear();
    used_ = {};
  }

  int init(const AtcSite& site, const AtcBufferRequest& request) { return init(site, request, -1); }
  /// A buffer in a pool; -1: in the memory.
  int init(const AtcSite& site, const AtcBufferRequest& request, int pool);
  /// A stretch of memory for buffers of its own, or that of another pool.
  int init_pool(const AtcSite& site, Position position, std::int64_t bytes, int shared);
  void reset_pool(const AtcSite& site, int pool);
  void reset();
  void get(const AtcSite& site, int id, AtcLocal& tensor);
  void alloc(const AtcSite& site, int id, AtcLocal& tensor);
  void enque(const AtcSite& site, int id, const AtcLocal& tensor);
  void deque(const AtcSite& site, int id, AtcLocal& tensor);
  void free(const AtcSite& site, int id, const AtcLocal& tensor);
  void free_all(const AtcSite& site, int id);
  int query(int id, int what) const;

  /// "queue 'inQueueX' (VECIN)" of a buffer, "" when there is none.
  std::string describe(int id) const;
  /// Where the buffer that holds this byte of the tensor begins; 0 without one.
  std::int64_t begin_of(const AtcLocal& tensor) const;
  /// Bytes from the tensor's start to the end of its buffer; of the memory, when it has none.
  std::int64_t room(const AtcLocal& tensor) const;
  std::int64_t used(AtcMemory m) const { return used_[static_cast<std::size_t>(m)]; }
  /// Positions that have buffers: which unit the kernel is for.
  bool has_cube() const;
  bool has_vector() const;
  /// Reports buffers that were never freed.
  void finish();

 private:
  enum class State : std::uint8_t { Free, Occupied, Enqued, Dequed };
  static std::string_view name(State s);
  struct Event {
    Cycle at = 0;
    Pipes::Clock clock{};
  };
  struct Slot {
    State state = State::Free;
    AtcSite last{};  ///< of the last change
    Event filled, emptied;
  };
  struct Item {
    bool queue = false, live = true;
    Position from = Position::Max, to = Position::Max;
    std::int64_t offset = 0, bytes = 0;  ///< of the first; of each
    AtcSite site{};
    std::vector<Slot> slots;
    std::deque<int> order;  ///< enqueued
    int next = 0;           ///< where alloc looks first
    int depth = 1;
    int pool = -1;
  };
  struct Pool {
    AtcMemory memory = ATC_UB;
    std::int64_t offset = 0, bytes = 0, used = 0;
  };
  Pool& pool_of(const AtcSite& site, int pool);
  Item* item(const AtcSite& site, int id, bool queue);
  int slot_of(const Item& item, const AtcLocal& tensor) const;
  AtcLocal local(const Item& item, int id, int slot) const;
  void overflow(const AtcSite& site, AtcMemory memory, const Item& refused, std::int64_t asked);
  void check_live(const AtcSite& site, Position position);

  Block& block_;
  std::vector<Item> items_;
  std::vector<Pool> pools_;
  std::array<std::int64_t, ATC_MEMORY_COUNT> used_{};
};

}  // namespace atc::ascendc
