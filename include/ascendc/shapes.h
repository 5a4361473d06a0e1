#pragma once

// Reductions of the rows or columns of a matrix, sums of beginnings, and broadcasts.
#include "ascendc/reduce.h"
#include "ascendc/rows.h"

namespace AscendC {

/// `outter` rows of `inner` elements (padded to 32 bytes), of which the first n count.
struct SumParams {
  std::uint32_t outter = 1, inner = 0, n = 0;
};
struct MeanParams {
  std::uint32_t outter = 1, inner = 0, n = 0;
};

namespace Pattern {
namespace Reduce {
struct R {};   ///< all
struct AR {};  ///< the last axis
struct RA {};  ///< the first axis
}  // namespace Reduce
}  // namespace Pattern
namespace ReduceInternal = Pattern;

namespace detail {
template <class T>
void reduce_rows(AtcRowOp op, bool columns, const LocalTensor<T>& dst, const LocalTensor<T>& src,
                 const RowShape& shape, const Site& site) {
  check_type<T, float, half>();
  AtcRows r = rows_call(op, shape);
  r.flag = columns;
  r.out[0] = operand(dst);
  r.in[0] = operand(src);
  run(r, site);
}
template <class T, class Axes>
void reduce_pattern(AtcRowOp op, const LocalTensor<T>& dst, const LocalTensor<T>& src,
                    const std::uint32_t shape[], bool padded, const Site& site) {
  static_assert(std::is_same_v<Axes, Pattern::Reduce::AR> || std::is_same_v<Axes, Pattern::Reduce::RA>,
                "the patterns Pattern::Reduce::AR and RA are simulated");
  const std::int64_t cols = shape[1], block = 32 / static_cast<std::int64_t>(sizeof(T));
  reduce_rows(op, std::is_same_v<Axes, Pattern::Reduce::RA>, dst, src,
              {shape[0], cols, padded ? (cols + block - 1) / block * block : cols}, site);
}
}  // namespace detail

template <class T, std::int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
void Sum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const SumParams& p,
         detail::Site site = detail::Site()) {
  detail::reduce_rows(ATC_ROW_SUM, false, dst, src, {p.outter, p.n, p.inner}, site);
}
template <class T, std::int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
void Sum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<std::uint8_t>& /*tmp*/,
         const SumParams& p, detail::Site site = detail::Site()) {
  Sum<T>(dst, src, p, site);
}
template <class T, class AccType = T, bool isReuseSource = false, bool isBasicBlock = false,
          std::int32_t reduceDim = -1>
void Mean(const LocalTensor<T>& dst, const LocalTensor<T>& src, const MeanParams& p,
          detail::Site site = detail::Site()) {
  detail::reduce_rows(ATC_ROW_MEAN, false, dst, src, {p.outter, p.n, p.inner}, site);
}
template <class T, class AccType = T, bool isReuseSource = false, bool isBasicBlock = false,
          std::int32_t reduceDim = -1>
void Mean(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<std::uint8_t>& /*tmp*/,
          const MeanParams& p, detail::Site site = detail::Site()) {
  Mean<T>(dst, src, p, site);
}

#define ATC_REDUCE_PATTERN(Name, op)                                                                        \
  template <class T, class Axes, bool isReuseSource = false>                                                \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<std::uint8_t>& /*tmp*/, \
            const std::uint32_t srcShape[], bool srcInnerPad, detail::Site site = detail::Site()) {         \
    detail::reduce_pattern<T, Axes>(op, dst, src, srcShape, srcInnerPad, site);                             \
  }                                                                                                         \
  template <class T, class Axes, bool isReuseSource = false>                                                \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const std::uint32_t srcShape[],           \
            bool srcInnerPad, detail::Site site = detail::Site()) {                                         \
    detail::reduce_pattern<T, Axes>(op, dst, src, srcShape, srcInnerPad, site);                             \
  }
ATC_REDUCE_PATTERN(ReduceSum, ATC_ROW_SUM)
ATC_REDUCE_PATTERN(ReduceMean, ATC_ROW_MEAN)
ATC_REDUCE_PATTERN(ReduceMax, ATC_ROW_MAX)
ATC_REDUCE_PATTERN(ReduceMin, ATC_ROW_MIN)
ATC_REDUCE_PATTERN(ReduceProd, ATC_ROW_PROD)
#undef ATC_REDUCE_PATTERN

struct CumSumConfig {
  bool isLastAxis = true, isReuseSource = false, outputLastRow = false;
};
struct CumSumInfo {
  std::uint32_t outter = 0, inner = 0;
};
inline constexpr CumSumConfig defaultCumSumConfig{};
/// Sums along the last axis, or along the first; lastRow: the whole sums.
template <class T, const CumSumConfig& config = defaultCumSumConfig>
void CumSum(const LocalTensor<T>& dst, const LocalTensor<T>& lastRow, const LocalTensor<T>& src,
            const CumSumInfo& info, detail::Site site = detail::Site()) {
  detail::check_type<T, float, half>();
  const detail::RowShape shape{info.outter, info.inner, info.inner};
  AtcRows r = detail::rows_call(ATC_ROW_CUMSUM, shape);
  r.flag = !config.isLastAxis;
  r.out[0] = detail::operand(dst);
  r.in[0] = detail::operand(src);
  detail::run(r, site);
  if (config.outputLastRow) detail::reduce_rows(ATC_ROW_SUM, !config.isLastAxis, lastRow, src, shape, site);
}
template <class T, const CumSumConfig& config = defaultCumSumConfig>
void CumSum(const LocalTensor<T>& dst, const LocalTensor<T>& lastRow, const LocalTensor<T>& src,
            const LocalTensor<std::uint8_t>& /*tmp*/, const CumSumInfo& info,
            detail::Site site = detail::Site()) {
  CumSum<T, config>(dst, lastRow, src, info, site);
}

/// dim 1: [1] to [n]; dim 2: axis 0 [1, n] to [m, n], axis 1 [m, 1] to [m, n].
template <class T, std::int32_t dim, std::int32_t axis, bool isReuseSource = false>
void Broadcast(const LocalTensor<T>& dst, const LocalTensor<T>& src, const std::uint32_t dstShape[],
               const std::uint32_t srcShape[], detail::Site site = detail::Site()) {
  static_assert(dim == 1 || dim == 2, "Broadcast takes 1 or 2 dimensions");
  static_assert(axis == 0 || axis == 1, "Broadcast goes along axis 0 or 1");
  detail::check_type<T, float, half>();
  const std::int64_t rows = dim == 1 ? 1 : dstShape[0], cols = dim == 1 ? dstShape[0] : dstShape[1];
  (void)srcShape;
  AtcRows r = detail::rows_call(ATC_ROW_BROADCAST, {rows, cols, cols});
  r.flag = dim == 2 && axis == 0;
  r.out[0] = detail::operand(dst);
  r.in[0] = detail::operand(src);
  detail::run(r, site);
}
template <class T, std::int32_t dim, std::int32_t axis, bool isReuseSource = false>
void Broadcast(const LocalTensor<T>& dst, const LocalTensor<T>& src, const std::uint32_t dstShape[],
               const std::uint32_t srcShape[], const LocalTensor<std::uint8_t>& /*tmp*/,
               detail::Site site = detail::Site()) {
  Broadcast<T, dim, axis>(dst, src, dstShape, srcShape, site);
}
template <class T, std::int32_t dim, std::int32_t axis, bool isReuseSource = false>
void BroadCast(const LocalTensor<T>& dst, const LocalTensor<T>& src, const std::uint32_t dstShape[],
               const std::uint32_t srcShape[], detail::Site site = detail::Site()) {
  Broadcast<T, dim, axis>(dst, src, dstShape, srcShape, site);
}
template <class T, std::int32_t dim, std::int32_t axis, bool isReuseSource = false>
void BroadCast(const LocalTensor<T>& dst, const LocalTensor<T>& src, const std::uint32_t dstShape[],
               const std::uint32_t srcShape[], const LocalTensor<std::uint8_t>& /*tmp*/,
               detail::Site site = detail::Site()) {
  Broadcast<T, dim, axis>(dst, src, dstShape, srcShape, site);
}

}  // namespace AscendC
