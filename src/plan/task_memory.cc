#include "plan/task_memory.h"

#include <algorithm>
#include <map>

#include "atc/base/math.h"
#include "kernels/in_place.h"

namespace atc::plan {
namespace {

constexpr std::int64_t kArenaAlignment = 64;

/// Of more writers than this a tensor's parts are not told apart: each waits for the one before.
constexpr int kToldApart = 64;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Bytes [begin, end) of a tensor that a task reads or writes.
struct Access {
  int tensor = -1;  ///< a root
  std::int64_t begin = 0, end = 0;
  bool writes = false;
};

/// Who touched the bytes of one tensor last, in stretches that were touched alike.
class LastAccess {
 public:
  /// Adds to `before` the tasks that must be done first.
  void touch(int task, const Access& access, std::vector<int>& before) {
    split(access.begin);
    split(access.end);
    const auto first = stretches_.lower_bound(access.begin);
    auto last = first;
    std::int64_t reached = access.begin;
    std::vector<std::int64_t> gaps;  // begin, end of what nobody has touched
    for (; last != stretches_.end() && last->first < access.end; ++last) {
      Stretch& stretch = last->second;
      if (last->first > reached) gaps.insert(gaps.end(), {reached, last->first});
      reached = stretch.end;
      if (stretch.writer >= 0) before.push_back(stretch.writer);
      if (access.writes)
        before.insert(before.end(), stretch.readers.begin(), stretch.readers.end());
      else if (stretch.readers.empty() || stretch.readers.back() != task)
        stretch.readers.push_back(task);
    }
    if (access.writes) {
      stretches_.erase(first, last);
      stretches_[access.begin] = {access.end, task, {}};
      return;
    }
    if (reached < access.end) gaps.insert(gaps.end(), {reached, access.end});
    for (std::size_t i = 0; i < gaps.size(); i += 2) stretches_[gaps[i]] = {gaps[i + 1], -1, {task}};
  }

 private:
  struct Stretch {
    std::int64_t end = 0;
    int writer = -1;
    std::vector<int> readers;  // since it was written
  };

  void split(std::int64_t offset) {
    auto after = stretches_.lower_bound(offset);
    if (after == stretches_.begin()) return;
    const auto holder = std::prev(after);
    if (holder->second.end <= offset) return;
    stretches_.emplace_hint(after, offset, holder->second);
    holder->second.end = offset;
  }

  std::map<std::int64_t, Stretch> stretches_;  // by where they begin
};

class Reader {
 public:
  Reader(const Plan& plan, const std::vector<Shown>& shown, const std::vector<bool>& apart)
      : plan_(plan), shown_(shown), buffer_(plan.tensors.size(), -1), last_(plan.tensors.size()) {
    out_.problem.tasks.resize(plan.tasks.size());
    count_writers();
    for (std::size_t t = 0; t < plan.tasks.size(); ++t) {
      for (const Access& access : accesses(plan.tasks[t])) {
        depend(static_cast<int>(t), access);
        if (plan.tensors[at(access.tensor)].space == Space::Arena && !apart[at(access.tensor)])
          use(static_cast<int>(t), access.tensor);
      }
      OrderProblem::Task& task = out_.problem.tasks[t];
      tidy(task.buffers);
      tidy(task.before);
    }
    for (std::size_t t = 0; t < plan.tasks.size(); ++t) {
      for (const int earlier : out_.problem.tasks[t].before)
        out_.problem.tasks[at(earlier)].after.push_back(static_cast<int>(t));
      find_in_place(t);
    }
  }

  TaskMemory take() { return std::move(out_); }

 private:
  static void tidy(std::vector<int>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }

  /// What a task touches of what is not read-only. An empty tensor is nothing; of the runtime's own tensors
  /// the size is not known.
  std::vector<Access> accesses(const PlanTask& task) const {
    std::vector<Access> out;
    const auto add = [&](int tensor, std::int64_t begin, std::int64_t bytes, bool writes) {
      const Shown& shown = shown_[at(tensor)];
      const Space space = plan_.tensors[at(shown.root)].space;
      if (space == Space::Input || space == Space::Weight) return;
      if (space == Space::Held) bytes = 1;
      if (bytes <= 0) return;
      plan_.tensors[at(tensor)].for_stretches(begin, bytes, [&](std::int64_t from, std::int64_t to) {
        out.push_back({shown.root, shown.offset + from, shown.offset + to, writes});
      });
    };
    for (const kernels::Operand& o : task.kernel.operands) add(o.tensor, o.offset, o.bytes, o.output);
    for (const int t : task.inputs) add(t, 0, plan_.tensors[at(t)].bytes, false);
    for (const int t : task.outputs) add(t, 0, plan_.tensors[at(t)].bytes, true);
    return out;
  }

  void count_writers() {
    writers_.assign(plan_.tensors.size(), 0);
    for (const PlanTask& task : plan_.tasks)
      for (const Access& access : accesses(task)) writers_[at(access.tensor)] += access.writes ? 1 : 0;
  }

  void depend(int task, Access access) {
    if (writers_[at(access.tensor)] > kToldApart) {
      access.begin = 0;
      access.end = 1;
    }
    std::vector<int>& before = out_.problem.tasks[at(task)].before;
    last_[at(access.tensor)].touch(task, access, before);
    before.erase(std::remove(before.begin(), before.end(), task), before.end());
  }

  void use(int task, int tensor) {
    int& buffer = buffer_[at(tensor)];
    if (buffer < 0) {
      buffer = static_cast<int>(out_.tensors.size());
      out_.tensors.push_back(tensor);
      out_.problem.buffers.push_back({arena_bytes(plan_.tensors[at(tensor)]), {}, false, false});
    }
    std::vector<int>& users = out_.problem.buffers[at(buffer)].users;
    if (users.empty() || users.back() != task) users.push_back(task);
    out_.problem.tasks[at(task)].buffers.push_back(buffer);
  }

  int buffer_of(const kernels::Operand& o) const { return buffer_[at(shown_[at(o.tensor)].root)]; }
  std::int64_t offset_of(const kernels::Operand& o) const { return o.offset + shown_[at(o.tensor)].offset; }

  // Every pair of operands in the two buffers has to allow it.
  void find_in_place(std::size_t t) {
    const PlanTask& task = plan_.tasks[t];
    if (task.engine != Engine::AiCore) return;
    const std::vector<kernels::Operand>& operands = task.kernel.operands;
    std::map<std::pair<int, int>, bool> pairs;
    for (std::size_t o = 0; o < operands.size(); ++o) {
      const int to = operands[o].output ? buffer_of(operands[o]) : -1;
      if (to < 0) continue;
      for (std::size_t i = 0; i < operands.size(); ++i) {
        const int from = buffer_of(operands[i]);
        if (from < 0 || from == to || size(from) != size(to)) continue;
        const auto [known, is_new] = pairs.emplace(std::pair(from, to), true);
        if (!known->second) continue;
        known->second = !operands[i].output && offset_of(operands[i]) == offset_of(operands[o]) &&
                        kernels::may_share(task.kernel, i, o);
      }
    }
    for (const auto& [pair, allowed] : pairs)
      if (allowed) out_.problem.tasks[t].in_place.push_back({pair.first, pair.second});
  }

  std::int64_t size(int buffer) const { return out_.problem.buffers[at(buffer)].bytes; }

  const Plan& plan_;
  const std::vector<Shown>& shown_;
  std::vector<int> buffer_;       // [tensor]
  std::vector<int> writers_;      // [tensor]
  std::vector<LastAccess> last_;  // [tensor]
  TaskMemory out_;
};

}  // namespace

std::int64_t arena_bytes(const PlanTensor& tensor) { return round_up(tensor.bytes, kArenaAlignment); }

TaskMemory task_memory(const Plan& plan, const std::vector<Shown>& shown, const std::vector<bool>& apart) {
  return Reader(plan, shown, apart).take();
}

}  // namespace atc::plan
