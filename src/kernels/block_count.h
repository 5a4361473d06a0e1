#pragma once

#include <map>
#include <vector>

#include "kernels/task.h"

namespace atc::kernels {

/// How many cores a task takes. A launch on B cores lasts launch_us + B * launch_block_us before they work
/// (src/aicore/MODEL.md): 20 us for all of an Ascend910B3, in which a single core does much. A task of W
/// microseconds on one core is done first on about sqrt(W / launch_block_us) of them.
class BlockCount {
 public:
  explicit BlockCount(const soc::Chip& chip) : chip_(chip) {}

  /// Splits the task's tiles over as many blocks as let it end first; never more than it had. The times are
  /// those of dry runs of its first block, with operands beyond half of L2 in memory. Equal tasks are
  /// measured once.
  void choose(Task& task);

 private:
  const soc::Chip& chip_;
  std::map<std::vector<std::int64_t>, int> known_;
};

}  // namespace atc::kernels
