#include "plan/packing_problem.h"

#include <algorithm>
#include <numeric>

namespace atc::plan {

PackingProblem make_problem(const std::vector<Lifetime>& buffers) {
  PackingProblem out;
  std::vector<std::int64_t> times;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const Lifetime& b = buffers[i];
    if (b.size <= 0 || b.lower >= b.upper) continue;
    out.blocks.push_back({i, 0, 0, b.size, b.upper - b.lower, 0});
    times.push_back(b.lower);
    times.push_back(b.upper);
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  const auto slice = [&](std::int64_t t) {
    return static_cast<std::size_t>(std::lower_bound(times.begin(), times.end(), t) - times.begin());
  };
  // A slice in which something began and after which something ends has a maximal live set.
  std::vector<char> begins(times.size() + 1, 0), ends(times.size() + 1, 0);
  for (PackingProblem::Block& b : out.blocks) {
    b.first = slice(buffers[b.buffer].lower);
    b.last = slice(buffers[b.buffer].upper);
    begins[b.first] = 1;
    ends[b.last] = 1;
  }
  std::vector<std::size_t> section_of(times.size() + 1, 0);
  bool grew = false;
  for (std::size_t s = 0; s < times.size(); ++s) {
    section_of[s] = out.sections;
    grew = grew || begins[s] != 0;
    if (grew && ends[s + 1] != 0) {
      ++out.sections;
      grew = false;
    }
  }
  out.live.assign(out.sections, 0);
  for (PackingProblem::Block& b : out.blocks) {
    b.first = section_of[b.first];
    b.last = section_of[b.last];
    for (std::size_t s = b.first; s < b.last; ++s) out.live[s] += b.size;
  }
  for (PackingProblem::Block& b : out.blocks)
    for (std::size_t s = b.first; s < b.last; ++s) b.crowd = std::max(b.crowd, out.live[s]);
  out.neighbours.resize(out.blocks.size());
  for (std::size_t i = 0; i < out.blocks.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (out.blocks[i].first < out.blocks[j].last && out.blocks[j].first < out.blocks[i].last) {
        out.neighbours[i].push_back(j);
        out.neighbours[j].push_back(i);
      }
  return out;
}

std::vector<std::size_t> rank_blocks(const PackingProblem& problem, std::string_view keys) {
  const auto value = [](const PackingProblem::Block& b, char key) -> double {
    const auto size = static_cast<double>(b.size), width = static_cast<double>(b.width);
    const auto sections = static_cast<double>(b.last - b.first);
    switch (key) {
      case 'T':
        return static_cast<double>(b.crowd);
      case 'W':
        return width;
      case 'w':
        return sections;
      case 'A':
        return width * size;
      default:
        return sections * size;
    }
  };
  std::vector<std::size_t> order(problem.blocks.size()), rank(problem.blocks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) {
    for (const char key : keys) {
      const double a = value(problem.blocks[x], key), b = value(problem.blocks[y], key);
      if (a != b) return a > b;
    }
    return false;
  });
  for (std::size_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  return rank;
}

std::vector<std::vector<std::size_t>> split_in_time(const PackingProblem& problem,
                                                    const std::vector<std::size_t>& blocks) {
  std::vector<std::size_t> by_start = blocks;
  std::stable_sort(by_start.begin(), by_start.end(), [&](std::size_t x, std::size_t y) {
    return problem.blocks[x].first < problem.blocks[y].first;
  });
  std::vector<std::vector<std::size_t>> parts;
  std::size_t end = 0;
  for (const std::size_t b : by_start) {
    if (parts.empty() || problem.blocks[b].first >= end) parts.emplace_back();
    parts.back().push_back(b);
    end = std::max(end, problem.blocks[b].last);
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& x, const auto& y) { return x.size() < y.size(); });
  return parts;
}

}  // namespace atc::plan
