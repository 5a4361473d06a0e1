#pragma once

#include <cstdint>
#include <span>
#include <vector>

// Boxes of detection operators: overlap and greedy suppression.
namespace atc::ops {

/// An axis-aligned box; either corner may come first.
struct CornerBox {
  double a0 = 0, b0 = 0;  ///< one corner
  double a1 = 0, b1 = 0;  ///< the opposite one
};

/// Area of the intersection over that of the union; 0 when one of the boxes has no area.
double intersection_over_union(const CornerBox& x, const CornerBox& y);

/// Greedy non-maximum suppression: candidates by falling score (equal scores: the lower number first),
/// each dropped when it overlaps a kept one by more than `iou_threshold`. Only scores above
/// `score_threshold` are candidates. Returns at most `limit` numbers of boxes, in the order they were kept.
/// Precondition: boxes.size() == scores.size().
std::vector<std::int64_t> suppress_non_maxima(std::span<const CornerBox> boxes,
                                              std::span<const double> scores, double score_threshold,
                                              double iou_threshold, std::int64_t limit);

}  // namespace atc::ops
