#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/in_place.h"
#include "plan/plan.h"

namespace atc::plan::testing {

/// Follows the bytes of a plan from task to task: who wrote what each task reads.
class DataFlow {
 public:
  /// Bytes [begin, end) of what a task reads come from task `writer` (by its key), "" where nobody wrote
  /// them.
  struct Source {
    std::int64_t begin = 0, end = 0;
    std::string writer;
    friend bool operator==(const Source&, const Source&) = default;
  };

  explicit DataFlow(const Plan& plan) : plan_(plan) {
    for (const PlanTask& task : plan.tasks) follow(task);
    for (const PlanPort& port : plan.outputs) {
      const PlanTensor& t = tensor(port.tensor);
      if (t.space == Space::Output) reads_["output " + port.name] = {sources(t, 0, t.bytes)};
    }
  }

  /// By task (and output of the model): the sources of each operand that is read.
  const std::map<std::string, std::vector<std::vector<Source>>>& reads() const { return reads_; }

 private:
  struct Stretch {
    std::int64_t end = 0;
    std::string writer;
  };
  using Memory = std::map<std::int64_t, Stretch>;  // by where a stretch begins

  const PlanTensor& tensor(int i) const { return plan_.tensors[static_cast<std::size_t>(i)]; }

  static bool is_followed(const PlanTensor& t) { return t.space == Space::Arena || t.space == Space::Output; }
  Memory& memory(const PlanTensor& t) { return t.space == Space::Arena ? arena_ : outputs_[t.index]; }

  // A task is known by what it does to which tensors, and by how often that was done before.
  std::string key_of(const PlanTask& task) {
    std::string key = task.name + "/" + task.op_type + "/" + task.kernel.kernel;
    for (const kernels::Operand& o : task.kernel.operands)
      key += " " + std::to_string(o.tensor) + "+" + std::to_string(o.offset) + "," + std::to_string(o.bytes) +
             (o.output ? "w" : "r");
    for (const int t : task.inputs) key += " r" + std::to_string(t);
    for (const int t : task.outputs) key += " w" + std::to_string(t);
    return key + "#" + std::to_string(times_[key]++);
  }

  std::vector<Source> sources(const PlanTensor& t, std::int64_t offset, std::int64_t bytes) {
    std::vector<Source> out;
    const auto add = [&](std::int64_t begin, std::int64_t end, const std::string& writer) {
      if (!out.empty() && out.back().writer == writer)
        out.back().end = end;
      else
        out.push_back({begin, end, writer});
    };
    const Memory& m = memory(t);
    const std::int64_t base = t.offset + offset;
    std::int64_t at = 0;
    auto next = m.upper_bound(base);
    if (next != m.begin()) --next;
    for (; next != m.end() && next->first < base + bytes; ++next) {
      const std::int64_t begin = std::max(next->first - base, at),
                         end = std::min(next->second.end - base, bytes);
      if (end <= begin) continue;
      if (begin > at) add(at, begin, "");
      add(begin, end, next->second.writer);
      at = end;
    }
    if (at < bytes) add(at, bytes, "");
    return out;
  }

  void write(const PlanTensor& t, std::int64_t offset, std::int64_t bytes, const std::string& key) {
    Memory& m = memory(t);
    const std::int64_t begin = t.offset + offset, end = begin + bytes;
    if (bytes == 0) return;
    for (const std::int64_t cut : {begin, end}) {
      auto after = m.lower_bound(cut);
      if (after == m.begin()) continue;
      const auto holder = std::prev(after);
      if (holder->second.end <= cut) continue;
      m[cut] = holder->second;
      holder->second.end = cut;
    }
    m.erase(m.lower_bound(begin), m.lower_bound(end));
    m[begin] = {end, key};
  }

  void follow(const PlanTask& task) {
    const std::string key = key_of(task);
    std::vector<std::vector<Source>> read;
    const auto note = [&](int t, std::int64_t offset, std::int64_t bytes) {
      if (is_followed(tensor(t))) read.push_back(sources(tensor(t), offset, bytes));
    };
    for (const kernels::Operand& o : task.kernel.operands)
      if (!o.output) note(o.tensor, o.offset, o.bytes);
    for (const int t : task.inputs) note(t, 0, tensor(t).bytes);
    for (const kernels::Operand& o : task.kernel.operands)
      if (o.output && is_followed(tensor(o.tensor))) write(tensor(o.tensor), o.offset, o.bytes, key);
    for (const int t : task.outputs)
      if (is_followed(tensor(t))) write(tensor(t), 0, tensor(t).bytes, key);
    reads_[key] = std::move(read);
  }

  const Plan& plan_;
  Memory arena_;
  std::map<int, Memory> outputs_;
  std::map<std::string, int> times_;
  std::map<std::string, std::vector<std::vector<Source>>> reads_;
};

/// Task `k` reads one part of a tensor that earlier tasks have begun, and writes another: the stretch that it
/// writes is new to no buffer.
inline bool are_parts_of_one(const Plan& plan, int k, const kernels::Operand& in,
                             const kernels::Operand& out) {
  const auto holds = [&](const MemoryRecord::Buffer& b, const kernels::Operand& o) {
    const std::int64_t begin = plan.tensors[static_cast<std::size_t>(o.tensor)].offset + o.offset;
    return b.offset <= begin && begin + o.bytes <= b.offset + b.bytes;
  };
  bool begun = false;
  for (const MemoryRecord::Buffer& b : plan.memory.buffers) {
    if (k < b.first || k > b.last || !holds(b, out)) continue;
    if (b.first == k) return false;
    begun = begun || holds(b, in);
  }
  return begun;
}

/// Tensors that a task reads and others that it writes do not overlap, unless the template allows it for
/// these operands; copies may go from one part of a tensor to another. "" when that holds.
inline std::string check_tasks(const Plan& plan) {
  const auto tensor = [&](int i) -> const PlanTensor& { return plan.tensors[static_cast<std::size_t>(i)]; };
  const auto overlap = [&](int a, std::int64_t a0, std::int64_t an, int b, std::int64_t b0, std::int64_t bn) {
    const PlanTensor &s = tensor(a), &t = tensor(b);
    return s.space == Space::Arena && t.space == Space::Arena && s.offset + a0 < t.offset + b0 + bn &&
           t.offset + b0 < s.offset + a0 + an;
  };
  for (int k = 0; k < std::ssize(plan.tasks); ++k) {
    const PlanTask& task = plan.tasks[static_cast<std::size_t>(k)];
    const auto& operands = task.kernel.operands;
    for (std::size_t o = 0; o < operands.size(); ++o)
      for (std::size_t i = 0; i < operands.size(); ++i) {
        const kernels::Operand &in = operands[i], &out = operands[o];
        if (i == o || !out.output ||
            !overlap(in.tensor, in.offset, in.bytes, out.tensor, out.offset, out.bytes))
          continue;
        if (in.output && in.tensor == out.tensor) continue;  // parts of one result
        if (task.kernel.kernel == "strided_copy" && are_parts_of_one(plan, k, in, out)) continue;
        const bool same_place =
            tensor(in.tensor).offset + in.offset == tensor(out.tensor).offset + out.offset;
        if (in.output || !same_place || !kernels::may_share(task.kernel, i, o))
          return "task '" + task.name + "': operands " + std::to_string(i) + " and " + std::to_string(o) +
                 " overlap";
      }
    for (const int in : task.inputs)
      for (const int out : task.outputs)
        if (overlap(in, 0, tensor(in).bytes, out, 0, tensor(out).bytes))
          return "task '" + task.name + "' writes what it reads";
  }
  return "";
}

/// Whether `plan` gives each task what `apart` gives it, the same model's tasks in the model's order and each
/// tensor in memory of its own; and whether it updates in place only what may be. "" when that holds.
inline std::string check_memory(const Plan& plan, const Plan& apart) {
  const DataFlow actual(plan), expected(apart);
  if (actual.reads().size() != expected.reads().size()) return "another number of tasks";
  for (const auto& [task, sources] : expected.reads()) {
    const auto found = actual.reads().find(task);
    if (found == actual.reads().end()) return "no task " + task;
    if (found->second != sources) return "task " + task + " reads what another task has written";
  }
  return check_tasks(plan);
}

}  // namespace atc::plan::testing
