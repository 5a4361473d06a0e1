#pragma once

// Reductions: of a whole tensor, of each repeat, of each data block, of pairs.
#include <cstdint>

#include "ascendc/vector.h"

namespace AscendC {
namespace detail {

template <class T>
void reduce(AtcVecOp op, const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& work,
            const AtcLanes& l, std::int32_t src_repeat_stride, bool index, const Site& site) {
  check_type<T, float, half>();
  AtcVector v = instruction(op, operand(dst), operand(src, {1, src_repeat_stride}), no_operand(), l);
  v.work = operand(work);
  v.mode = index;
  run(v, site);
}
template <class T>
void reduce_repeats(AtcVecOp op, const LocalTensor<T>& dst, const LocalTensor<T>& src, const AtcLanes& l,
                    std::int32_t dst_stride, std::int32_t src_block, std::int32_t src_repeat,
                    std::int32_t order, const Site& site) {
  check_type<T, float, half>();
  AtcVector v =
      instruction(op, operand(dst, {1, dst_stride}), operand(src, {src_block, src_repeat}), no_operand(), l);
  v.mode = order;
  run(v, site);
}

}  // namespace detail

// dst[0] = the result; with calIndex dst[1] holds the index, as bits of T's width.
template <class T, bool isSetMask = true>
void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& work,
               std::int32_t count, detail::Site site = detail::Site()) {
  detail::reduce(ATC_REDUCE_SUM, dst, src, work, detail::count_lanes(count), 8, false, site);
}
template <class T>
void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& work,
               std::int32_t mask, std::int32_t repeat, std::int32_t src_repeat_stride,
               detail::Site site = detail::Site()) {
  detail::reduce(ATC_REDUCE_SUM, dst, src, work,
                 detail::lanes<true>(static_cast<std::uint64_t>(mask), repeat), src_repeat_stride, false,
                 site);
}
template <class T>
void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& work,
               const std::uint64_t mask[], std::int32_t repeat, std::int32_t src_repeat_stride,
               detail::Site site = detail::Site()) {
  detail::reduce(ATC_REDUCE_SUM, dst, src, work, detail::lanes<true, T>(mask, repeat), src_repeat_stride,
                 false, site);
}
#define ATC_REDUCE_EXTREME(Name, code)                                                                      \
  template <class T>                                                                                        \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& work,               \
            std::int32_t count, bool calIndex = false, detail::Site site = detail::Site()) {                \
    detail::reduce(code, dst, src, work, detail::count_lanes(count), 8, calIndex, site);                    \
  }                                                                                                         \
  template <class T>                                                                                        \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& work,               \
            std::int32_t mask, std::int32_t repeat, std::int32_t src_repeat_stride, bool calIndex = false,  \
            detail::Site site = detail::Site()) {                                                           \
    detail::reduce(code, dst, src, work, detail::lanes<true>(static_cast<std::uint64_t>(mask), repeat),     \
                   src_repeat_stride, calIndex, site);                                                      \
  }                                                                                                         \
  template <class T>                                                                                        \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& work,               \
            const std::uint64_t mask[], std::int32_t repeat, std::int32_t src_repeat_stride,                \
            bool calIndex = false, detail::Site site = detail::Site()) {                                    \
    detail::reduce(code, dst, src, work, detail::lanes<true, T>(mask, repeat), src_repeat_stride, calIndex, \
                   site);                                                                                   \
  }
ATC_REDUCE_EXTREME(ReduceMax, ATC_REDUCE_MAX)
ATC_REDUCE_EXTREME(ReduceMin, ATC_REDUCE_MIN)
#undef ATC_REDUCE_EXTREME

// One result a repeat; dst_stride in elements (of results that come with an index: in pairs).
#define ATC_REDUCE_REPEATS(Name, code)                                                                       \
  template <class T, bool isSetMask = true>                                                                  \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, std::int32_t mask, std::int32_t repeat,    \
            std::int32_t dst_stride, std::int32_t src_block, std::int32_t src_repeat,                        \
            detail::Site site = detail::Site()) {                                                            \
    detail::reduce_repeats(code, dst, src,                                                                   \
                           detail::lanes<isSetMask>(static_cast<std::uint64_t>(mask), repeat), dst_stride,   \
                           src_block, src_repeat, 0, site);                                                  \
  }                                                                                                          \
  template <class T, bool isSetMask = true>                                                                  \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const std::uint64_t mask[],                \
            std::int32_t repeat, std::int32_t dst_stride, std::int32_t src_block, std::int32_t src_repeat,   \
            detail::Site site = detail::Site()) {                                                            \
    detail::reduce_repeats(code, dst, src, detail::lanes<isSetMask, T>(mask, repeat), dst_stride, src_block, \
                           src_repeat, 0, site);                                                             \
  }
ATC_REDUCE_REPEATS(WholeReduceSum, ATC_WHOLE_SUM)
ATC_REDUCE_REPEATS(PairReduceSum, ATC_PAIR_SUM)
#undef ATC_REDUCE_REPEATS

/// RepeatReduceSum has its count of repeats before the mask.
template <class T, bool isSetMask = true>
void RepeatReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, std::int32_t repeat,
                     std::int32_t mask, std::int32_t /*dst_block*/, std::int32_t src_block,
                     std::int32_t dst_stride, std::int32_t src_repeat, detail::Site site = detail::Site()) {
  detail::reduce_repeats(ATC_WHOLE_SUM, dst, src,
                         detail::lanes<isSetMask>(static_cast<std::uint64_t>(mask), repeat), dst_stride,
                         src_block, src_repeat, 0, site);
}

#define ATC_REDUCE_ORDERED(Name, code)                                                                       \
  template <class T, bool isSetMask = true>                                                                  \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, std::int32_t mask, std::int32_t repeat,    \
            std::int32_t dst_stride, std::int32_t src_block, std::int32_t src_repeat,                        \
            ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX, detail::Site site = detail::Site()) {        \
    detail::reduce_repeats(code, dst, src,                                                                   \
                           detail::lanes<isSetMask>(static_cast<std::uint64_t>(mask), repeat), dst_stride,   \
                           src_block, src_repeat, static_cast<std::int32_t>(order), site);                   \
  }                                                                                                          \
  template <class T, bool isSetMask = true>                                                                  \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const std::uint64_t mask[],                \
            std::int32_t repeat, std::int32_t dst_stride, std::int32_t src_block, std::int32_t src_repeat,   \
            ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX, detail::Site site = detail::Site()) {        \
    detail::reduce_repeats(code, dst, src, detail::lanes<isSetMask, T>(mask, repeat), dst_stride, src_block, \
                           src_repeat, static_cast<std::int32_t>(order), site);                              \
  }
ATC_REDUCE_ORDERED(WholeReduceMax, ATC_WHOLE_MAX)
ATC_REDUCE_ORDERED(WholeReduceMin, ATC_WHOLE_MIN)
#undef ATC_REDUCE_ORDERED

// One result a data block: 8 a repeat; dst_stride counts groups of 8 results.
#define ATC_REDUCE_BLOCKS(Name, code)                                                                        \
  template <class T, bool isSetMask = true>                                                                  \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, std::int32_t repeat, std::int32_t mask,    \
            std::int32_t dst_stride, std::int32_t src_block, std::int32_t src_repeat,                        \
            detail::Site site = detail::Site()) {                                                            \
    detail::reduce_repeats(code, dst, src,                                                                   \
                           detail::lanes<isSetMask>(static_cast<std::uint64_t>(mask), repeat), dst_stride,   \
                           src_block, src_repeat, 0, site);                                                  \
  }                                                                                                          \
  template <class T, bool isSetMask = true>                                                                  \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, std::int32_t repeat,                       \
            const std::uint64_t mask[], std::int32_t dst_stride, std::int32_t src_block,                     \
            std::int32_t src_repeat, detail::Site site = detail::Site()) {                                   \
    detail::reduce_repeats(code, dst, src, detail::lanes<isSetMask, T>(mask, repeat), dst_stride, src_block, \
                           src_repeat, 0, site);                                                             \
  }
ATC_REDUCE_BLOCKS(BlockReduceSum, ATC_BLOCK_SUM)
ATC_REDUCE_BLOCKS(BlockReduceMax, ATC_BLOCK_MAX)
ATC_REDUCE_BLOCKS(BlockReduceMin, ATC_BLOCK_MIN)
#undef ATC_REDUCE_BLOCKS

/// Of the last ReduceMax or ReduceMin.
template <class T>
void GetReduceMaxMinCount(T& value, T& index, detail::Site site = detail::Site()) {
  std::uint64_t v = 0, i = 0;
  detail::call(&AtcCoreApi::reduce_result, &site, &v, &i);
  value = detail::value_of<T>(v);
  index = detail::value_of<T>(i);
}
template <class T>
void GetReduceMaxMinCount(T& value, detail::Site site = detail::Site()) {
  T index;
  GetReduceMaxMinCount(value, index, site);
}
/// Of the last ReduceSum.
template <class T>
T GetAccVal(detail::Site site = detail::Site()) {
  std::uint64_t v = 0, i = 0;
  detail::call(&AtcCoreApi::reduce_result, &site, &v, &i);
  return detail::value_of<T>(v);
}

}  // namespace AscendC
