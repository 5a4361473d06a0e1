#pragma once

// TopK: the largest or smallest of each row, and where they are.
#include <cstdint>

#include "ascendc/rows.h"
#include "ascendc/top_k_mode.h"

namespace AscendC {

/// `outter` rows of `inner` elements (a multiple of 32), of which the first n count.
struct TopKInfo {
  std::int32_t outter = 1, inner = 0, n = 0;
};

/// Equal values keep their order, NaN comes first. Places are those in srcIndex (isInitIndex), else in the
/// row; of rows that finish says are over they are n. The tiling is not needed.
template <class T, bool isInitIndex = false, bool isHasfinish = false, bool isReuseSrc = false,
          TopKMode topkMode = TopKMode::TOPK_NORMAL>
void TopK(const LocalTensor<T>& dstValue, const LocalTensor<std::int32_t>& dstIndex,
          const LocalTensor<T>& src, const LocalTensor<std::int32_t>& srcIndex,
          const LocalTensor<bool>& finish, const std::int32_t k, const TopkTiling& /*tiling*/,
          const TopKInfo& info, const bool isLargest = true, detail::Site site = detail::Site()) {
  constexpr bool kSmall = topkMode == TopKMode::TOPK_NSMALL;
  static_assert(!(kSmall && isHasfinish), "TopK: rows that are over (isHasfinish) are for TOPK_NORMAL");
  detail::check_type<T, float, half>();
  AtcRows r = detail::rows_call(ATC_ROW_TOP_K, {info.outter, info.n, info.inner});
  r.count = k;
  r.flag = (isLargest ? 0 : ATC_ROW_SMALLEST) | (kSmall ? ATC_ROW_DENSE : 0);
  r.out[0] = detail::operand(dstValue);
  r.out[1] = detail::operand(dstIndex);
  r.in[0] = detail::operand(src);
  if (isInitIndex) r.in[1] = detail::operand(srcIndex);
  if (isHasfinish) r.in[2] = detail::operand(finish);
  detail::run(r, site);
}
template <class T, bool isInitIndex = false, bool isHasfinish = false, bool isReuseSrc = false,
          TopKMode topkMode = TopKMode::TOPK_NORMAL>
void TopK(const LocalTensor<T>& dstValue, const LocalTensor<std::int32_t>& dstIndex,
          const LocalTensor<T>& src, const LocalTensor<std::int32_t>& srcIndex,
          const LocalTensor<bool>& finish, const LocalTensor<std::uint8_t>& /*tmp*/, const std::int32_t k,
          const TopkTiling& tiling, const TopKInfo& info, const bool isLargest = true,
          detail::Site site = detail::Site()) {
  TopK<T, isInitIndex, isHasfinish, isReuseSrc, topkMode>(dstValue, dstIndex, src, srcIndex, finish, k,
                                                          tiling, info, isLargest, site);
}

}  // namespace AscendC
