#include "ops/box_iou.h"

#include <algorithm>

namespace atc::ops {
namespace {

double area(const CornerBox& x) { return (x.a1 - x.a0) * (x.b1 - x.b0); }

CornerBox ordered(const CornerBox& x) {
  return {std::min(x.a0, x.a1), std::min(x.b0, x.b1), std::max(x.a0, x.a1), std::max(x.b0, x.b1)};
}

}  // namespace

double intersection_over_union(const CornerBox& x, const CornerBox& y) {
  const CornerBox p = ordered(x);
  const CornerBox q = ordered(y);
  const double area_p = area(p);
  const double area_q = area(q);
  if (!(area_p > 0 && area_q > 0)) return 0;
  const double height = std::min(p.a1, q.a1) - std::max(p.a0, q.a0);
  const double width = std::min(p.b1, q.b1) - std::max(p.b0, q.b0);
  if (!(height > 0 && width > 0)) return 0;
  const double common = height * width;
  return common / (area_p + area_q - common);
}

std::vector<std::int64_t> suppress_non_maxima(std::span<const CornerBox> boxes,
                                              std::span<const double> scores, double score_threshold,
                                              double iou_threshold, std::int64_t limit) {
  std::vector<std::int64_t> candidates;
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (scores[i] > score_threshold) candidates.push_back(static_cast<std::int64_t>(i));
  std::ranges::stable_sort(candidates, [&](std::int64_t i, std::int64_t j) {
    return scores[static_cast<std::size_t>(i)] > scores[static_cast<std::size_t>(j)];
  });
  std::vector<std::int64_t> kept;
  for (const std::int64_t candidate : candidates) {
    if (static_cast<std::int64_t>(kept.size()) >= limit) break;
    const CornerBox& box = boxes[static_cast<std::size_t>(candidate)];
    const bool suppressed = std::ranges::any_of(kept, [&](std::int64_t k) {
      return intersection_over_union(boxes[static_cast<std::size_t>(k)], box) > iou_threshold;
    });
    if (!suppressed) kept.push_back(candidate);
  }
  return kept;
}

}  // namespace atc::ops
