#include "aicore/block_group.h"

#include <algorithm>
#include <atomic>
#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <exception>
#include <limits>

#include "aicore/block_sync.h"
#include "aicore/resume_hook.h"
#include "atc/base/check.h"

namespace atc::aicore {
namespace {

/// From the last block's signal to the first instruction behind the wait.
constexpr Cycle kSyncCycles = 100;

/// A stack that outlives its fibers: to map one for every launch takes longer than many a block.
class Stack {
 public:
  Stack() = default;
  ~Stack() {
    if (stack_.sp != nullptr) allocator_.deallocate(stack_);
  }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;

  /// What a fiber takes as its allocator.
  struct Lender {
    Stack* owner;
    boost::context::stack_context allocate() const {
      if (owner->stack_.sp == nullptr) owner->stack_ = owner->allocator_.allocate();
      return owner->stack_;
    }
    void deallocate(boost::context::stack_context&) const noexcept {}
  };

 private:
  boost::context::protected_fixedsize_stack allocator_{kBlockStackBytes};
  boost::context::stack_context stack_;
};

std::atomic<void (*)()> g_resume_hook{nullptr};

}  // namespace

void set_resume_hook(void (*hook)()) { g_resume_hook.store(hook); }

struct BlockGroup::Block final : BlockSync {
  Block(const soc::Chip& chip, Values values, bool timing, int block_number)
      : core(chip, values, timing), number(block_number) {}

  void set(int flag, FlagReach reach, Cycle at) override { times(flag, reach).push_back(at); }

  Cycle wait(int flag) override {
    waited_flag = flag;
    ++waited[static_cast<std::size_t>(flag)];
    scheduler = std::move(scheduler).resume();
    waited_flag = -1;
    return released_at;
  }

  Cycle wait_until(std::function<std::optional<Cycle>()> condition, std::string name) {
    ready = std::move(condition);
    waited_for = std::move(name);
    scheduler = std::move(scheduler).resume();
    ready = nullptr;
    return released_at;
  }

  using Times = std::array<std::array<std::vector<Cycle>, kFlagReaches>, kCrossCoreFlags>;
  /// When the block set the flag, in order.
  std::vector<Cycle>& times(int flag, FlagReach reach) {
    return set_at[static_cast<std::size_t>(flag)][static_cast<std::size_t>(reach)];
  }

  void start(BlockPlace where) {
    for (Times* all : {&set_at, &arrived})
      for (auto& flag : *all)
        for (auto& list : flag) list.clear();
    place = where;
    waited = {};
    waited_flag = -1;
    ready = nullptr;
    ended = false;
    failure = nullptr;
    fiber = {};
  }

  Core core;
  int number;
  BlockPlace place;
  Times set_at, arrived;  ///< by this block; for this block
  std::array<std::size_t, kCrossCoreFlags> waited{};
  int waited_flag = -1;
  std::function<std::optional<Cycle>()> ready;  ///< of a wait that is for no flag
  std::string waited_for;
  Cycle released_at = 0;
  bool ended = false;
  std::exception_ptr failure;
  Stack stack;
  boost::context::fiber fiber, scheduler;
};

BlockGroup::BlockGroup(const soc::Chip& chip, Values values, bool timing)
    : chip_(chip), values_(values), timing_(timing) {}
BlockGroup::~BlockGroup() = default;

void BlockGroup::run(int blocks, ThreadPool& pool, const std::function<void(Core&, int)>& body) {
  const auto deadlock = try_run(blocks, pool, body, {}, blocks);
  ATC_CHECK(!deadlock, "deadlock: " + *deadlock);
}

std::optional<std::string> BlockGroup::try_run(int blocks, ThreadPool& pool,
                                               const std::function<void(Core&, int)>& body,
                                               std::span<const BlockPlace> places, int sharing,
                                               const std::function<void()>& between) {
  while (static_cast<int>(blocks_.size()) < blocks)
    blocks_.push_back(std::make_unique<Block>(chip_, values_, timing_, static_cast<int>(blocks_.size())));
  count_ = blocks;
  std::vector<Block*> runnable;
  for (int b = 0; b < blocks; ++b) {
    Block& block = *blocks_[static_cast<std::size_t>(b)];
    block.start(places.empty() ? BlockPlace{} : places[static_cast<std::size_t>(b)]);
    block.core.start_block(sharing);
    block.core.join_group(&block);
    runnable.push_back(&block);
  }
  while (!runnable.empty()) {
    pool.parallel_for(runnable.size(), [&](std::size_t i, int) { resume(*runnable[i], body); });
    for (int b = 0; b < blocks; ++b)
      if (const auto& failure = blocks_[static_cast<std::size_t>(b)]->failure; failure != nullptr)
        std::rethrow_exception(failure);
    if (between) between();
    runnable.clear();
    bool waiting = false;
    for (int b = 0; b < blocks; ++b) {
      Block& block = *blocks_[static_cast<std::size_t>(b)];
      if (block.ended) continue;
      waiting = true;
      if (release(block)) runnable.push_back(&block);
    }
    if (waiting && runnable.empty()) return waits();
  }
  return std::nullopt;
}

void BlockGroup::resume(Block& block, const std::function<void(Core&, int)>& body) {
  if (!block.fiber)
    block.fiber = boost::context::fiber(std::allocator_arg, Stack::Lender{&block.stack},
                                        [&block, &body](boost::context::fiber&& scheduler) {
                                          block.scheduler = std::move(scheduler);
                                          try {
                                            body(block.core, block.number);
                                          } catch (const boost::context::detail::forced_unwind&) {
                                            throw;  // the group gives up a waiting block
                                          } catch (...) {
                                            block.failure = std::current_exception();
                                          }
                                          block.ended = true;
                                          return std::move(block.scheduler);
                                        });
  if (void (*const hook)() = g_resume_hook.load()) hook();
  block.fiber = std::move(block.fiber).resume();
}

// A flag arrives for the n-th time when the last of its setters has set it n times.
void BlockGroup::deliver(Block& block, int flag) {
  for (int r = 0; r < kFlagReaches; ++r) {
    const auto reach = static_cast<FlagReach>(r);
    auto& arrived = block.arrived[static_cast<std::size_t>(flag)][static_cast<std::size_t>(r)];
    std::size_t n = std::numeric_limits<std::size_t>::max();
    std::vector<const std::vector<Cycle>*> setters;
    for (int b = 0; b < count_; ++b) {
      Block& other = *blocks_[static_cast<std::size_t>(b)];
      if (!sets_for(other.place, block.place, reach)) continue;
      setters.push_back(&other.times(flag, reach));
      n = std::min(n, setters.back()->size());
    }
    for (std::size_t i = arrived.size(); !setters.empty() && i < n; ++i) {
      Cycle last = 0;
      for (const auto* times : setters) last = std::max(last, (*times)[i]);
      arrived.push_back(last);
    }
  }
}

// A wait ends when the flag has arrived as often as the block has waited for it.
bool BlockGroup::release(Block& block) {
  if (block.ready) {
    const std::optional<Cycle> at = block.ready();
    if (at) block.released_at = *at + kSyncCycles;
    return at.has_value();
  }
  const int flag = block.waited_flag;
  const std::size_t n = block.waited[static_cast<std::size_t>(flag)];
  deliver(block, flag);
  std::vector<Cycle> all;
  for (const auto& list : block.arrived[static_cast<std::size_t>(flag)]) {
    if (list.size() >= n && all.empty()) {
      // The usual case, a flag with one reach: no list is joined.
      bool alone = true;
      for (const auto& other : block.arrived[static_cast<std::size_t>(flag)])
        alone = alone && (&other == &list || other.empty());
      if (alone) {
        block.released_at = list[n - 1] + kSyncCycles;
        return true;
      }
    }
    all.insert(all.end(), list.begin(), list.end());
  }
  if (all.size() < n) return false;
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n - 1), all.end());
  block.released_at = all[n - 1] + kSyncCycles;
  return true;
}

Cycle BlockGroup::wait_until(int b, std::function<std::optional<Cycle>()> ready, std::string what) {
  return blocks_[static_cast<std::size_t>(b)]->wait_until(std::move(ready), std::move(what));
}

bool BlockGroup::reach_used(int flag, FlagReach reach) const {
  bool any = false;
  for (int b = 0; b < count_; ++b) {
    Block& block = *blocks_[static_cast<std::size_t>(b)];
    if (!block.times(flag, reach).empty()) return true;
    for (int r = 0; r < kFlagReaches; ++r) any = any || !block.times(flag, static_cast<FlagReach>(r)).empty();
  }
  return !any && reach == FlagReach::Kind;
}

std::string BlockGroup::waits() const {
  constexpr int kShown = 4;
  int waiting = 0;
  std::string text;
  for (int b = 0; b < count_; ++b) {
    const Block& block = *blocks_[static_cast<std::size_t>(b)];
    if (block.ended || ++waiting > kShown) continue;
    if (block.ready) {
      text += (text.empty() ? "" : "; ") + std::string("block ") + std::to_string(b) + " waits for " +
              block.waited_for;
      continue;
    }
    const std::size_t n = block.waited[static_cast<std::size_t>(block.waited_flag)];
    int missing = 0, first = -1;
    for (int o = 0; o < count_; ++o) {
      Block& other = *blocks_[static_cast<std::size_t>(o)];
      std::size_t times = 0;
      bool setter = false;
      for (int r = 0; r < kFlagReaches; ++r) {
        const auto reach = static_cast<FlagReach>(r);
        // A flag that nobody has set is missed from the cores of its kind.
        if (!sets_for(other.place, block.place, reach) || !reach_used(block.waited_flag, reach)) continue;
        setter = true;
        times += other.times(block.waited_flag, reach).size();
      }
      if (setter && times < n && ++missing == 1) first = o;
    }
    text +=
        (text.empty() ? "" : "; ") + std::string("block ") + std::to_string(b) + " waits for " +
        (block.waited_flag == kSyncAllFlag ? std::string("SyncAll")
                                           : "cross-core flag " + std::to_string(block.waited_flag)) +
        (missing == 1 ? " of block " : " of " + std::to_string(missing) + " blocks, the first is block ") +
        std::to_string(first);
  }
  return std::to_string(waiting) + " of " + std::to_string(count_) +
         (waiting == 1 ? " blocks waits" : " blocks wait") +
         " for each other or for blocks that ended: " + text + (waiting > kShown ? "; ..." : "");
}

Stats BlockGroup::stats() const {
  Stats sum;
  for (int b = 0; b < count_; ++b) {
    const Stats one = blocks_[static_cast<std::size_t>(b)]->core.stats();
    sum.cycles = std::max(sum.cycles, one.cycles);
    for (std::size_t p = 0; p < sum.busy.size(); ++p) sum.busy[p] += one.busy[p];
    sum.gm_read += one.gm_read;
    sum.gm_written += one.gm_written;
    sum.instructions += one.instructions;
  }
  return sum;
}

Cycle BlockGroup::end_of(int b) const { return blocks_[static_cast<std::size_t>(b)]->core.stats().cycles; }

}  // namespace atc::aicore
