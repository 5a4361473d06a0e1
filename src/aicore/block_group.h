#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "aicore/core.h"
#include "atc/base/thread_pool.h"

namespace atc::aicore {

/// The stack of a block; the page below it is guarded.
inline constexpr std::size_t kBlockStackBytes = std::size_t{256} << 10;

/// The blocks of one task that wait for each other (SyncAll, cross-core flags), each on a core of its own.
/// A block is a stackful fiber, so that 40 blocks can wait on two threads. They run in rounds: in each, every
/// block that may go on does so until it waits or ends; what a wait asks for is looked at between rounds, so
/// that values and times are the same at any number of threads.
class BlockGroup {
 public:
  BlockGroup(const soc::Chip& chip, Values values, bool timing);
  ~BlockGroup();
  BlockGroup(const BlockGroup&) = delete;
  BlockGroup& operator=(const BlockGroup&) = delete;

  /// Calls body(core, block) for each block in [0, blocks). Throws what the lowest block throws, and
  /// InternalError when no block can go on, with what each of them waits for.
  void run(int blocks, ThreadPool& pool, const std::function<void(Core&, int block)>& body);
  /// The same for a program that is not ours: a deadlock is what it gives. `places` (empty: all of one kind)
  /// has one entry a block; `sharing` cores share the chip's bandwidth. `between` is called when every block
  /// that could go on has done so.
  std::optional<std::string> try_run(int blocks, ThreadPool& pool,
                                     const std::function<void(Core&, int block)>& body,
                                     std::span<const BlockPlace> places, int sharing,
                                     const std::function<void()>& between = {});

  /// Within block `b` of a run: waits until `ready`, asked between rounds, gives the time at which the block
  /// goes on, and returns it. `what` names the wait where a deadlock is told.
  Cycle wait_until(int b, std::function<std::optional<Cycle>()> ready, std::string what);

  /// Sums over the blocks of the last run; `cycles` is the latest end.
  Stats stats() const;
  /// End of block `b` in the last run.
  Cycle end_of(int b) const;

 private:
  struct Block;
  void resume(Block& block, const std::function<void(Core&, int)>& body);
  bool release(Block& block);
  bool reach_used(int flag, FlagReach reach) const;
  void deliver(Block& block, int flag);
  std::string waits() const;

  const soc::Chip& chip_;
  Values values_;
  bool timing_;
  std::vector<std::unique_ptr<Block>> blocks_;
  int count_ = 0;
};

}  // namespace atc::aicore
