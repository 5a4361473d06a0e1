#include "report/source_graph.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace atc::report {
namespace {

bool is_view(const ir::Node& n) {
  constexpr std::array<std::string_view, 5> kViews = {"Flatten", "Identity", "Reshape", "Squeeze",
                                                      "Unsqueeze"};
  return n.domain.empty() && std::find(kViews.begin(), kViews.end(), n.op_type) != kViews.end();
}

// The first task of both lists; -1: none.
int common(const std::vector<int>& a, const std::vector<int>& b) {
  for (const int task : a)
    if (std::find(b.begin(), b.end(), task) != b.end()) return task;
  return -1;
}

}  // namespace

SourceGraph::SourceGraph(const ir::Graph& canonical) {
  std::unordered_map<const ir::Node*, int> number;
  std::unordered_map<const ir::Value*, std::size_t> place;  // in stored_, views at what they view
  for (const auto& n : canonical.nodes()) {
    const int id = static_cast<int>(launches_.size());
    number[n.get()] = id;
    const bool view = is_view(*n);
    launches_.push_back(!view);
    for (const std::string& source : n->sources) nodes_of_[source].push_back(id);
    for (const ir::Value* v : n->outputs()) {
      if (v == nullptr) continue;
      if (view) {
        if (const auto viewed = place.find(n->input(0)); viewed != place.end()) place[v] = viewed->second;
        continue;
      }
      place[v] = stored_.size();
      Stored& s = stored_.emplace_back();
      s.maker = id;
      if (!v->type.is_static() || v->type.dtype == DType::String) continue;
      const std::int64_t elements = element_count(v->type.dims());
      s.bytes = elements * bit_width(v->type.dtype) / 8;
      s.narrow_bytes = v->type.dtype == DType::F32 ? s.bytes / 2 : s.bytes;
    }
  }
  for (const auto& [value, at] : place) {
    Stored& s = stored_[at];
    s.leaves = s.leaves || canonical.is_output(value);
    for (const ir::Value::Use& use : value->uses()) {
      const auto reader = number.find(use.node);
      if (reader == number.end())
        s.leaves = true;
      else if (!is_view(*use.node))
        s.readers.push_back(reader->second);
    }
  }
  for (Stored& s : stored_) {
    std::sort(s.readers.begin(), s.readers.end());
    s.readers.erase(std::unique(s.readers.begin(), s.readers.end()), s.readers.end());
  }
}

std::vector<Saved> SourceGraph::saved_by(const std::vector<plan::PlanTask>& tasks, bool narrow) const {
  std::vector<std::vector<int>> covering(launches_.size());
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    std::set<int> covered;
    for (const std::string& source : tasks[t].sources)
      if (const auto found = nodes_of_.find(source); found != nodes_of_.end())
        covered.insert(found->second.begin(), found->second.end());
    for (const int node : covered) covering[static_cast<std::size_t>(node)].push_back(static_cast<int>(t));
  }
  std::vector<int> owned(tasks.size());
  for (std::size_t n = 0; n < launches_.size(); ++n)
    if (launches_[n] && !covering[n].empty()) ++owned[static_cast<std::size_t>(covering[n].front())];
  std::vector<Saved> out(tasks.size());
  for (std::size_t t = 0; t < tasks.size(); ++t) out[t].tasks = std::max(0, owned[t] - 1);
  for (const Stored& s : stored_) {
    const std::int64_t bytes = narrow ? s.narrow_bytes : s.bytes;
    const std::vector<int>& makers = covering[static_cast<std::size_t>(s.maker)];
    bool written = s.leaves || s.readers.empty();
    int first = -1;
    for (const int reader : s.readers) {
      const int task = common(makers, covering[static_cast<std::size_t>(reader)]);
      if (task < 0) {
        written = true;
        continue;
      }
      if (first < 0) first = task;
      out[static_cast<std::size_t>(task)].bytes_read += bytes;
    }
    if (!written) out[static_cast<std::size_t>(first)].bytes_written += bytes;
  }
  return out;
}

}  // namespace atc::report
