#include "report/diff.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>

namespace atc::report {
namespace {

using Task = Snapshot::Task;

std::optional<double> number(const std::optional<std::int64_t>& v) {
  return v ? std::optional(static_cast<double>(*v)) : std::nullopt;
}

std::optional<double> count(const std::optional<std::vector<Task>>& tasks) {
  return tasks ? std::optional(static_cast<double>(tasks->size())) : std::nullopt;
}

/// What makes two tasks the same: operator, engine and nodes.
using Key = std::tuple<std::string, std::string, std::vector<std::string>>;
Key key_of(const Task& t) {
  std::vector<std::string> sources = t.sources;
  std::sort(sources.begin(), sources.end());
  return {t.op_type, t.engine, std::move(sources)};
}

/// Tasks of `these` beyond those that `others` has too.
std::vector<Task> without(const std::vector<Task>& these, const std::vector<Task>& others) {
  std::map<Key, int> left;
  for (const Task& t : others) ++left[key_of(t)];
  std::vector<Task> out;
  for (const Task& t : these) {
    const auto found = left.find(key_of(t));
    if (found != left.end() && found->second > 0)
      --found->second;
    else
      out.push_back(t);
  }
  return out;
}

/// Tasks that both sides have, with another time or limit.
std::vector<Retimed> retime(const std::vector<Task>& before, const std::vector<Task>& after) {
  std::map<Key, std::vector<const Task*>> left;
  for (auto t = before.rbegin(); t != before.rend(); ++t) left[key_of(*t)].push_back(&*t);
  std::vector<Retimed> out;
  for (const Task& t : after) {
    const auto found = left.find(key_of(t));
    if (found == left.end() || found->second.empty()) continue;
    const Task& was = *found->second.back();
    found->second.pop_back();
    if (!was.us || !t.us) continue;
    // Files tell times in decimals; an .om tells no limits.
    const bool same_time = std::abs(*was.us - *t.us) <= 1e-9 * std::abs(*was.us);
    const bool same_limit = was.bound_by == t.bound_by || was.bound_by.empty() || t.bound_by.empty();
    if (!same_time || !same_limit) out.push_back({was, t});
  }
  const auto change = [](const Retimed& r) { return std::abs(*r.after.us - *r.before.us); };
  std::stable_sort(out.begin(), out.end(),
                   [&](const Retimed& a, const Retimed& b) { return change(a) > change(b); });
  return out;
}

/// Tasks of one side by the ONNX nodes that they stand for.
struct Side {
  explicit Side(const std::vector<Task>& list) : tasks(list), used(list.size()) {
    for (std::size_t i = 0; i < list.size(); ++i)
      for (const std::string& source : list[i].sources) by_source[source].push_back(i);
  }
  const std::vector<Task>& tasks;
  std::vector<bool> used;
  std::map<std::string, std::vector<std::size_t>> by_source;
};

/// Tasks that changed, joined where they share nodes: from task `first` through the tasks of the other side.
Regrouped collect(Side& before, Side& after, bool from_after, std::size_t first) {
  std::set<std::size_t> found[2];  // before, after
  std::vector<std::pair<bool, std::size_t>> work = {{from_after, first}};
  while (!work.empty()) {
    const auto [is_after, i] = work.back();
    work.pop_back();
    Side& side = is_after ? after : before;
    const Side& other = is_after ? before : after;
    if (side.used[i]) continue;
    side.used[i] = true;
    found[is_after ? 1 : 0].insert(i);
    for (const std::string& source : side.tasks[i].sources)
      if (const auto same = other.by_source.find(source); same != other.by_source.end())
        for (const std::size_t k : same->second) work.emplace_back(!is_after, k);
  }
  Regrouped group;
  for (const std::size_t i : found[0]) group.before.push_back(before.tasks[i]);
  for (const std::size_t i : found[1]) group.after.push_back(after.tasks[i]);
  return group;
}

std::vector<Regrouped> regroup(const std::vector<Task>& before, const std::vector<Task>& after) {
  Side b(before), a(after);
  std::vector<Regrouped> out;
  for (std::size_t i = 0; i < after.size(); ++i)
    if (!a.used[i]) out.push_back(collect(b, a, true, i));
  for (std::size_t i = 0; i < before.size(); ++i)
    if (!b.used[i]) out.push_back(collect(b, a, false, i));
  return out;
}

/// Both lists are sorted.
Diff::Remarks changes(const std::optional<std::vector<Snapshot::Remark>>& before,
                      const std::optional<std::vector<Snapshot::Remark>>& after) {
  Diff::Remarks out;
  if (!before || !after) return out;
  std::set_difference(before->begin(), before->end(), after->begin(), after->end(),
                      std::back_inserter(out.gone));
  std::set_difference(after->begin(), after->end(), before->begin(), before->end(),
                      std::back_inserter(out.come));
  return out;
}

}  // namespace

double Figure::increase_percent() const {
  if (*before == *after) return 0;
  if (*before == 0) return std::numeric_limits<double>::infinity();
  return (*after - *before) / *before * 100;
}

bool Diff::empty() const {
  return !weights_differ && !tasks.changed() && !us.changed() && !arena_bytes.changed() &&
         !weight_bytes.changed() && !file_bytes.changed() && !saved_bytes.changed() && fusions.empty() &&
         regrouped.empty() && near_misses.empty() && precision.empty() && retimed.empty();
}

Diff compare(const Snapshot& before, const Snapshot& after) {
  Diff d;
  d.tasks = {count(before.tasks), count(after.tasks)};
  d.us = {before.us, after.us};
  d.arena_bytes = {number(before.arena_bytes), number(after.arena_bytes)};
  d.weight_bytes = {number(before.weight_bytes), number(after.weight_bytes)};
  d.file_bytes = {number(before.file_bytes), number(after.file_bytes)};
  d.saved_bytes = {number(before.saved_bytes), number(after.saved_bytes)};
  d.weights_differ = before.weight_contents && after.weight_contents && !d.weight_bytes.changed() &&
                     before.weight_contents != after.weight_contents;
  d.near_misses = changes(before.near_misses, after.near_misses);
  d.precision = changes(before.precision, after.precision);
  if (before.fusions && after.fusions) {
    const auto effects = [](const Snapshot& s, const std::string& name) {
      const auto found = s.fusions->find(name);
      return found == s.fusions->end() ? 0.0 : static_cast<double>(found->second);
    };
    std::set<std::string> names;
    for (const Snapshot* s : {&before, &after})
      for (const auto& [name, n] : *s->fusions) names.insert(name);
    for (const std::string& name : names) {
      const Figure f{effects(before, name), effects(after, name)};
      if (f.changed()) d.fusions[name] = f;
    }
  }
  if (before.tasks && after.tasks) {
    d.retimed = retime(*before.tasks, *after.tasks);
    d.regrouped = regroup(without(*before.tasks, *after.tasks), without(*after.tasks, *before.tasks));
  }
  return d;
}

}  // namespace atc::report
