#include "aicore/block_group.h"

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <exception>

#include "aicore/block_sync.h"
#include "atc/base/check.h"

namespace atc::aicore {
namespace {

constexpr std::size_t kStackBytes = std::size_t{256} << 10;
/// From the last block's signal to the first instruction behind the wait.
constexpr Cycle kSyncCycles = 100;

}  // namespace

struct BlockGroup::Block final : BlockSync {
  Block(const soc::Chip& chip, Values values, bool timing, int block_number)
      : core(chip, values, timing), number(block_number) {}

  void set(int flag, Cycle at) override { set_at[static_cast<std::size_t>(flag)].push_back(at); }

  Cycle wait(int flag) override {
    waited_flag = flag;
    ++waited[static_cast<std::size_t>(flag)];
    scheduler = std::move(scheduler).resume();
    waited_flag = -1;
    return released_at;
  }

  /// When the block set the flag for the n-th time; -1: not yet.
  Cycle when_set(int flag, std::size_t n) const {
    const auto& times = set_at[static_cast<std::size_t>(flag)];
    return n <= times.size() ? times[n - 1] : -1;
  }

  void start() {
    for (auto& times : set_at) times.clear();
    waited = {};
    waited_flag = -1;
    ended = false;
    failure = nullptr;
    fiber = {};
  }

  Core core;
  int number;
  std::array<std::vector<Cycle>, kCrossCoreFlags> set_at;
  std::array<std::size_t, kCrossCoreFlags> waited{};
  int waited_flag = -1;
  Cycle released_at = 0;
  bool ended = false;
  std::exception_ptr failure;
  boost::context::fiber fiber, scheduler;
};

BlockGroup::BlockGroup(const soc::Chip& chip, Values values, bool timing)
    : chip_(chip), values_(values), timing_(timing) {}
BlockGroup::~BlockGroup() = default;

void BlockGroup::run(int blocks, ThreadPool& pool, const std::function<void(Core&, int)>& body) {
  while (static_cast<int>(blocks_.size()) < blocks)
    blocks_.push_back(std::make_unique<Block>(chip_, values_, timing_, static_cast<int>(blocks_.size())));
  count_ = blocks;
  std::vector<Block*> runnable;
  for (int b = 0; b < blocks; ++b) {
    Block& block = *blocks_[static_cast<std::size_t>(b)];
    block.start();
    block.core.start_block(blocks);
    block.core.join_group(&block);
    runnable.push_back(&block);
  }
  while (!runnable.empty()) {
    pool.parallel_for(runnable.size(), [&](std::size_t i, int) { resume(*runnable[i], body); });
    for (int b = 0; b < blocks; ++b)
      if (const auto& failure = blocks_[static_cast<std::size_t>(b)]->failure; failure != nullptr)
        std::rethrow_exception(failure);
    runnable.clear();
    bool waiting = false;
    for (int b = 0; b < blocks; ++b) {
      Block& block = *blocks_[static_cast<std::size_t>(b)];
      if (block.ended) continue;
      waiting = true;
      if (release(block)) runnable.push_back(&block);
    }
    ATC_CHECK(!waiting || !runnable.empty(), "deadlock: " + waits());
  }
}

void BlockGroup::resume(Block& block, const std::function<void(Core&, int)>& body) {
  if (!block.fiber)
    block.fiber = boost::context::fiber(std::allocator_arg, boost::context::fixedsize_stack(kStackBytes),
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
  block.fiber = std::move(block.fiber).resume();
}

// A wait ends when every block has set the flag as often as this one has waited for it.
bool BlockGroup::release(Block& block) {
  const std::size_t n = block.waited[static_cast<std::size_t>(block.waited_flag)];
  Cycle last = 0;
  for (int b = 0; b < count_; ++b) {
    const Cycle at = blocks_[static_cast<std::size_t>(b)]->when_set(block.waited_flag, n);
    if (at < 0) return false;
    last = std::max(last, at);
  }
  block.released_at = last + kSyncCycles;
  return true;
}

std::string BlockGroup::waits() const {
  constexpr int kShown = 4;
  int waiting = 0;
  std::string text;
  for (int b = 0; b < count_; ++b) {
    const Block& block = *blocks_[static_cast<std::size_t>(b)];
    if (block.ended || ++waiting > kShown) continue;
    const std::size_t n = block.waited[static_cast<std::size_t>(block.waited_flag)];
    int missing = 0, first = -1;
    for (int other = 0; other < count_; ++other)
      if (blocks_[static_cast<std::size_t>(other)]->when_set(block.waited_flag, n) < 0 && ++missing == 1)
        first = other;
    text += (text.empty() ? "" : "; ") + std::string("block ") + std::to_string(b) + " waits for " +
            (block.waited_flag == kSyncAllFlag ? std::string("SyncAll")
                                               : "cross-core flag " + std::to_string(block.waited_flag)) +
            " of " + std::to_string(missing) + " blocks, the first is block " + std::to_string(first);
  }
  return std::to_string(waiting) + " of " + std::to_string(count_) +
         " blocks wait for each other or for blocks that ended: " + text + (waiting > kShown ? "; ..." : "");
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
