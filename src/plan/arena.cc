#include "plan/arena.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "atc/base/strings.h"
#include "plan/memory.h"
#include "plan/order_search.h"
#include "plan/order_state.h"
#include "plan/task_memory.h"

namespace atc::plan {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Buffers that follow each other in one place, each updating the one before.
struct Place {
  std::int64_t bytes = 0;
  std::int64_t lower = 0, upper = 0;  ///< [first, behind the last) task in the order
};

/// An order and where its buffers are.
struct Arrangement {
  std::vector<int> order;
  std::vector<Place> places;
  std::vector<int> place_of;     // [buffer]
  std::vector<int> in_place_of;  // [buffer]: the buffer that it updates, or -1
  std::vector<int> first, last;  // [buffer]: in the order
  MemoryLayout layout;           // of the places
};

Arrangement arrange(const OrderProblem& problem, std::vector<int> order) {
  Arrangement out;
  out.order = std::move(order);
  const std::size_t n = problem.buffers.size();
  out.place_of.assign(n, -1);
  out.in_place_of.assign(n, -1);
  out.first.assign(n, -1);
  out.last.assign(n, -1);
  OrderState state(problem);
  for (std::size_t i = 0; i < out.order.size(); ++i) {
    const int t = out.order[i];
    for (const OrderProblem::InPlace& pair : state.updates(t)) {
      out.in_place_of[at(pair.to)] = pair.from;
      out.place_of[at(pair.to)] = out.place_of[at(pair.from)];
    }
    for (const int b : problem.tasks[at(t)].buffers) {
      if (out.place_of[at(b)] < 0) {
        out.place_of[at(b)] = static_cast<int>(out.places.size());
        out.places.push_back({problem.buffers[at(b)].bytes, static_cast<std::int64_t>(i), 0});
      }
      if (out.first[at(b)] < 0) out.first[at(b)] = static_cast<int>(i);
      out.last[at(b)] = static_cast<int>(i);
      out.places[at(out.place_of[at(b)])].upper = static_cast<std::int64_t>(i) + 1;
    }
    state.run(t);
  }
  std::vector<Lifetime> lives;
  for (const Place& place : out.places) lives.push_back({place.lower, place.upper, place.bytes});
  out.layout = plan_memory(lives);
  return out;
}

class ArenaPlanner {
 public:
  ArenaPlanner(Plan& plan, const std::vector<Shown>& shown, const MemoryOptions& options)
      : plan_(plan), shown_(shown), options_(options) {}

  void run() {
    find_apart();
    memory_ = task_memory(plan_, shown_, apart_);
    record_.peak = place_apart();
    const ChosenOrder chosen = options_.reuse ? choose_order(memory_.problem) : model_order();
    Arrangement best = arrange(memory_.problem, chosen.order);
    if (best.layout.height > best.layout.lower_bound && chosen.peak < chosen.model_peak) {
      Arrangement other = arrange(memory_.problem, model_order().order);
      if (other.layout.height < best.layout.height) best = std::move(other);
    }
    record_.bound = record_.peak + best.layout.lower_bound;
    record_.model_order_bound = record_.peak + chosen.model_peak;
    record_.task_bound = record_.peak + chosen.task_bound;
    record_buffers(best);
    record_peak(best);
    record_.peak += best.layout.height;
    reorder(best.order);
    for (std::size_t t = 0; t < plan_.tensors.size(); ++t) {
      PlanTensor& tensor = plan_.tensors[t];
      if (shown_[t].root == static_cast<int>(t)) continue;
      const PlanTensor& root = plan_.tensors[at(shown_[t].root)];
      tensor.space = root.space;
      tensor.index = root.index;
      tensor.offset = root.offset + shown_[t].offset;
    }
    plan_.arena_bytes = record_.peak;
    plan_.memory = std::move(record_);
  }

 private:
  std::size_t root_of(int tensor) const { return at(shown_[at(tensor)].root); }

  bool is_called(const PlanTask& task, const std::string& name) const {
    const auto type = options_.types.find(task.name);
    const std::vector<std::string> joined = split(task.op_type, '+');  // "Add+Softmax" does both
    return task.name == name || std::find(joined.begin(), joined.end(), name) != joined.end() ||
           (type != options_.types.end() && type->second == name) ||
           std::find(task.sources.begin(), task.sources.end(), name) != task.sources.end();
  }

  /// What has memory of its own, and which names nobody has.
  void find_apart() {
    apart_.assign(plan_.tensors.size(), !options_.reuse);
    for (const std::string& name : options_.no_reuse) {
      bool known = false;
      for (const PlanTask& task : plan_.tasks) {
        if (!is_called(task, name)) continue;
        known = true;
        for (const kernels::Operand& o : task.kernel.operands)
          if (o.output) apart_[root_of(o.tensor)] = true;
        for (const int t : task.outputs) apart_[root_of(t)] = true;
      }
      if (!known) record_.unknown.push_back(name);
    }
  }

  template <class F>
  static void for_tensors(const PlanTask& task, F each) {
    for (const kernels::Operand& o : task.kernel.operands) each(o.tensor);
    for (const int t : task.inputs) each(t);
    for (const int t : task.outputs) each(t);
  }

  /// Tensors that share nothing lie below the others. Returns where those begin.
  std::int64_t place_apart() {
    std::vector<bool> used(plan_.tensors.size(), false);
    for (const PlanTask& task : plan_.tasks)
      for_tensors(task, [&](int tensor) { used[root_of(tensor)] = true; });
    std::int64_t end = 0;
    for (std::size_t t = 0; t < plan_.tensors.size(); ++t) {
      if (!used[t] || !apart_[t] || plan_.tensors[t].space != Space::Arena) continue;
      plan_.tensors[t].offset = end;
      const std::int64_t bytes = arena_bytes(plan_.tensors[t]);
      record_.buffers.push_back({static_cast<int>(t), end, bytes, -1, -1, -1});
      end += bytes;
    }
    return end;
  }

  ChosenOrder model_order() const {
    ChosenOrder out;
    out.order.resize(plan_.tasks.size());
    std::iota(out.order.begin(), out.order.end(), 0);
    return out;
  }

  void record_buffers(const Arrangement& best) {
    std::vector<int> first(plan_.tensors.size(), -1), last(first);
    for (std::size_t i = 0; i < best.order.size(); ++i)
      for_tensors(plan_.tasks[at(best.order[i])], [&](int tensor) {
        const std::size_t t = root_of(tensor);
        if (first[t] < 0) first[t] = static_cast<int>(i);
        last[t] = static_cast<int>(i);
      });
    for (MemoryRecord::Buffer& apart : record_.buffers) {
      apart.first = first[at(apart.tensor)];
      apart.last = last[at(apart.tensor)];
    }
    for (std::size_t b = 0; b < best.place_of.size(); ++b) {
      const int tensor = memory_.tensors[b];
      const int updated = best.in_place_of[b];
      const std::int64_t offset = record_.peak + best.layout.offsets[at(best.place_of[b])];
      plan_.tensors[at(tensor)].offset = offset;
      record_.buffers.push_back({tensor, offset, memory_.problem.buffers[b].bytes, best.first[b],
                                 best.last[b], updated < 0 ? -1 : memory_.tensors[at(updated)]});
    }
    std::sort(record_.buffers.begin(), record_.buffers.end(), [](const auto& a, const auto& b) {
      return std::tuple(a.offset, a.first, a.tensor) < std::tuple(b.offset, b.first, b.tensor);
    });
    for (std::size_t i = 0; i < best.order.size(); ++i)
      record_.moved_tasks += best.order[i] == static_cast<int>(i) ? 0 : 1;
  }

  void record_peak(const Arrangement& best) {
    OrderState state(memory_.problem);
    for (std::size_t i = 0; i < best.order.size() && record_.peak_task < 0; ++i) {
      if (state.bytes_during(best.order[i]) == best.layout.lower_bound)
        record_.peak_task = static_cast<int>(i);
      else
        state.run(best.order[i]);
    }
    if (record_.peak_task < 0) return;
    std::vector<int> updated;
    for (const OrderProblem::InPlace& pair : state.updates(best.order[at(record_.peak_task)]))
      updated.push_back(memory_.tensors[at(pair.from)]);
    for (const MemoryRecord::Buffer& b : record_.buffers) {
      const bool always = apart_[at(b.tensor)];
      const bool in_use = b.first <= record_.peak_task && record_.peak_task <= b.last;
      if ((always || in_use) && std::find(updated.begin(), updated.end(), b.tensor) == updated.end())
        record_.peak_tensors.push_back(b.tensor);
    }
    std::stable_sort(record_.peak_tensors.begin(), record_.peak_tensors.end(), [&](int a, int b) {
      return arena_bytes(plan_.tensors[at(a)]) > arena_bytes(plan_.tensors[at(b)]);
    });
  }

  void reorder(const std::vector<int>& order) {
    std::vector<PlanTask> tasks;
    tasks.reserve(order.size());
    for (const int t : order) tasks.push_back(std::move(plan_.tasks[at(t)]));
    plan_.tasks = std::move(tasks);
  }

  Plan& plan_;
  const std::vector<Shown>& shown_;
  const MemoryOptions& options_;
  std::vector<bool> apart_;  // [tensor]: shares its memory with none
  TaskMemory memory_;
  MemoryRecord record_;
};

}  // namespace

void plan_arena(Plan& plan, const std::vector<Shown>& shown, const MemoryOptions& options) {
  ArenaPlanner(plan, shown, options).run();
}

}  // namespace atc::plan
