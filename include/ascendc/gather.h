#pragma once

// Elements by offset or by mask, sorted records, transpositions.
#include <cstdint>

#include "ascendc/vector.h"

namespace AscendC {

/// dst[i] = the element at byte base + offset[i] of src.
template <class T>
void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<std::uint32_t>& offset,
            std::uint32_t base, std::uint32_t count, detail::Site site = detail::Site()) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Gather takes elements of 2 or 4 bytes");
  const AtcGather g{detail::operand(dst),
                    detail::operand(src),
                    detail::operand(offset),
                    detail::count_lanes(count),
                    base,
                    0};
  detail::call(&AtcCoreApi::gather, &site, &g);
}
template <class T>
void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<std::uint32_t>& offset,
            std::uint32_t base, std::uint64_t mask, std::uint8_t repeat, std::uint16_t dst_repeat_stride,
            detail::Site site = detail::Site()) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Gather takes elements of 2 or 4 bytes");
  const AtcGather g{detail::operand(dst, {1, dst_repeat_stride}),
                    detail::operand(src),
                    detail::operand(offset),
                    detail::lanes<true>(mask, repeat),
                    base,
                    0};
  detail::call(&AtcCoreApi::gather, &site, &g);
}
/// Data blocks by byte offset, eight a repeat.
template <class T>
void Gatherb(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<std::uint32_t>& offset,
             std::uint8_t repeat, const GatherRepeatParams& p, detail::Site site = detail::Site()) {
  const AtcGather g{detail::operand(dst, {p.dstBlkStride, p.dstRepStride}),
                    detail::operand(src),
                    detail::operand(offset),
                    detail::lanes<true>(8, repeat),
                    0,
                    1};
  detail::call(&AtcCoreApi::gather, &site, &g);
}

namespace detail {
template <class T>
std::uint64_t gather_mask(const LocalTensor<T>& dst, const LocalTensor<T>& src, const AtcOperand& pattern,
                          std::uint8_t fixed, bool reduce_mode, std::uint32_t mask, const GatherMaskParams& p,
                          const Site& site) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4, "GatherMask takes elements of 2 or 4 bytes");
  AtcGatherMask g{};
  g.dst = operand(dst);
  g.src = operand(src);
  g.pattern = pattern;
  g.fixed_pattern = fixed;
  g.reduce_mode = reduce_mode;
  g.mask = mask;
  g.repeat = p.repeatTimes;
  g.src_block_stride = p.src0BlockStride;
  g.src_repeat_stride = p.src0RepeatStride;
  g.pattern_repeat_stride = p.src1RepeatStride;
  return call(&AtcCoreApi::gather_mask, &site, &g);
}
}  // namespace detail

/// Patterns: 1 and 2 every second element from 0 and 1, 3 to 6 every fourth from 0 to 3, 7 all.
template <class T>
void GatherMask(const LocalTensor<T>& dst, const LocalTensor<T>& src, std::uint8_t pattern, bool reduce_mode,
                std::uint32_t mask, const GatherMaskParams& p, std::uint64_t& count,
                detail::Site site = detail::Site()) {
  count = detail::gather_mask(dst, src, detail::no_operand(), pattern, reduce_mode, mask, p, site);
}
template <class T, class U>
void GatherMask(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<U>& pattern,
                bool reduce_mode, std::uint32_t mask, const GatherMaskParams& p, std::uint64_t& count,
                detail::Site site = detail::Site()) {
  static_assert(sizeof(U) == sizeof(T),
                "GatherMask: the pattern's type is the unsigned integer as wide as the elements");
  count = detail::gather_mask(dst, src, detail::operand(pattern), 0, reduce_mode, mask, p, site);
}

// ---- Sort: records of 8 bytes, value and index ----
template <class T>
void Sort32(const LocalTensor<T>& dst, const LocalTensor<T>& value, const LocalTensor<std::uint32_t>& index,
            std::int32_t repeat, detail::Site site = detail::Site()) {
  detail::check_type<T, float, half>();
  const AtcSort32 s{dst.place(), value.place(), index.place(), detail::type_code_v<T>, repeat};
  detail::call(&AtcCoreApi::sort32, &site, &s);
}

template <class T>
struct MrgSortSrcList {
  MrgSortSrcList() = default;
  MrgSortSrcList(const LocalTensor<T>& a, const LocalTensor<T>& b, const LocalTensor<T>& c,
                 const LocalTensor<T>& d)
      : src1(a), src2(b), src3(c), src4(d) {}
  LocalTensor<T> src1, src2, src3, src4;
};

namespace detail {
template <class T>
void merge_sort(const LocalTensor<T>& dst, const MrgSortSrcList<T>& src, const std::uint16_t* lengths,
                bool suspend, std::uint16_t valid, std::int32_t repeat, std::uint16_t* merged,
                const Site& site) {
  check_type<T, float, half>();
  AtcMergeSort m{};
  m.dst = dst.place();
  m.src[0] = src.src1.place();
  m.src[1] = src.src2.place();
  m.src[2] = src.src3.place();
  m.src[3] = src.src4.place();
  m.type = type_code_v<T>;
  m.valid = static_cast<std::uint8_t>(valid);
  m.suspend = suspend;
  for (int i = 0; i < 4; ++i) m.length[i] = lengths[i];
  m.repeat = repeat;
  m.merged = merged;
  call(&AtcCoreApi::merge_sort, &site, &m);
}
}  // namespace detail

template <class T>
void MrgSort(const LocalTensor<T>& dst, const MrgSortSrcList<T>& src, const MrgSort4Info& info,
             detail::Site site = detail::Site()) {
  detail::merge_sort(dst, src, info.elementLengths, info.ifExhaustedSuspension, info.validBit,
                     info.repeatTimes, nullptr, site);
}
/// `merged`: records taken from each list.
template <class T, bool isExhaustedSuspension = false>
void MrgSort(const LocalTensor<T>& dst, const MrgSortSrcList<T>& src, const std::uint16_t lengths[4],
             std::uint32_t merged[4], std::uint16_t valid, std::int32_t repeat,
             detail::Site site = detail::Site()) {
  std::uint16_t taken[4] = {0, 0, 0, 0};
  detail::merge_sort(dst, src, lengths, isExhaustedSuspension, valid, repeat, taken, site);
  for (int i = 0; i < 4; ++i) merged[i] = taken[i];
}

/// Elements that the records of `elements` values take.
template <class T>
constexpr std::uint32_t GetSortLen(std::uint32_t elements) {
  return elements * 8 / sizeof(T);
}
template <class T>
constexpr std::uint32_t GetSortOffset(std::uint32_t element) {
  return element * 8 / sizeof(T);
}

/// Values (of 4 and 2 bytes) beside their indices are records already here: the sort takes both.
template <class T>
void Concat(LocalTensor<T>& concat, const LocalTensor<T>& src, const LocalTensor<T>& /*tmp*/,
            std::int32_t /*repeat*/) {
  concat = src;
}
/// Sorts each 32 values; isFullSort: all `repeat` * 32 of them. `tmp` is as long as `dst`.
template <class T, bool isFullSort>
void Sort(const LocalTensor<T>& dst, const LocalTensor<T>& concat, const LocalTensor<std::uint32_t>& index,
          LocalTensor<T>& tmp, std::int32_t repeat, detail::Site site = detail::Site()) {
  if (!isFullSort || repeat <= 1) {
    Sort32(dst, concat, index, repeat, site);
    return;
  }
  // Runs of `run` records, four at a time, change between the two tensors; the last pass ends in dst.
  int passes = 0;
  for (std::int32_t run = 32; run < repeat * 32; run *= 4) ++passes;
  LocalTensor<T> from = passes % 2 == 0 ? dst : tmp, to = passes % 2 == 0 ? tmp : dst;
  Sort32(from, concat, index, repeat, site);
  const std::int32_t total = repeat * 32;
  for (std::int32_t run = 32; run < total; run *= 4) {
    for (std::int32_t begin = 0; begin < total; begin += 4 * run) {
      std::uint16_t lengths[4] = {0, 0, 0, 0};
      std::uint16_t valid = 0;
      LocalTensor<T> lists[4];
      for (std::int32_t i = 0, at = begin; i < 4; ++i, at += run) {
        lists[i] = from[GetSortLen<T>(static_cast<std::uint32_t>(at < total ? at : begin))];
        if (at >= total) continue;
        lengths[i] = static_cast<std::uint16_t>(total - at < run ? total - at : run);
        valid = static_cast<std::uint16_t>(valid | 1U << i);
      }
      detail::merge_sort(to[GetSortLen<T>(static_cast<std::uint32_t>(begin))],
                         MrgSortSrcList<T>(lists[0], lists[1], lists[2], lists[3]), lengths, false, valid, 1,
                         nullptr, site);
    }
    const LocalTensor<T> other = from;
    from = to;
    to = other;
  }
}
/// Records to values and indices, 32 a repeat.
template <class T>
void Extract(const LocalTensor<T>& value, const LocalTensor<std::uint32_t>& index,
             const LocalTensor<T>& sorted, std::int32_t repeat, detail::Site site = detail::Site()) {
  // float: words 0, 2, 4, ... are values; half: 16-bit words 0, 4, 8, ...
  const auto n = static_cast<std::uint16_t>(repeat);
  const GatherMaskParams records{1, n, 8, 0};
  if constexpr (sizeof(T) == 4) {
    detail::gather_mask(value, sorted, detail::no_operand(), 1, false, 0, records, site);
  } else {
    detail::gather_mask(value, sorted, detail::no_operand(), 3, false, 0, records, site);
  }
  detail::gather_mask(index, sorted.template ReinterpretCast<std::uint32_t>(), detail::no_operand(), 2, false,
                      0, records, site);
}

// ---- Transpositions ----
namespace detail {
inline AtcLocal place_of_address(std::uint64_t address) {
  const AtcBlock* b = block();
  const std::uint64_t base = reinterpret_cast<std::uint64_t>(b->memory[ATC_UB]);
  const std::uint64_t offset = address - base;
  const bool inside = address >= base && offset < b->memory_bytes[ATC_UB];
  return {ATC_UB,
          static_cast<std::uint8_t>(TPosition::VECCALC),
          0,
          -1,
          inside ? static_cast<std::uint32_t>(offset) : ~0U,
          inside ? b->memory_bytes[ATC_UB] - static_cast<std::uint32_t>(offset) : 0};
}
inline void trans_data(AtcTransData& t, const TransDataTo5HDParams& p, const Site& site) {
  t.dst_high = p.dstHighHalf;
  t.src_high = p.srcHighHalf;
  t.repeat = p.repeatTimes;
  t.dst_repeat_stride = p.dstRepStride;
  t.src_repeat_stride = p.srcRepStride;
  call(&AtcCoreApi::trans_data, &site, &t);
}
}  // namespace detail

template <class T>
void TransDataTo5HD(const LocalTensor<T> (&dst)[16], const LocalTensor<T> (&src)[16],
                    const TransDataTo5HDParams& p, detail::Site site = detail::Site()) {
  AtcTransData t{};
  t.type = detail::type_code_v<T>;
  for (int i = 0; i < 16; ++i) {
    t.dst[i] = dst[i].place();
    t.src[i] = src[i].place();
  }
  detail::trans_data(t, p, site);
}
/// The lists hold addresses, as GetPhyAddr gives them.
template <class T>
void TransDataTo5HD(const std::uint64_t (&dst)[16], const std::uint64_t (&src)[16],
                    const TransDataTo5HDParams& p, detail::Site site = detail::Site()) {
  AtcTransData t{};
  t.type = detail::type_code_v<T>;
  for (int i = 0; i < 16; ++i) {
    t.dst[i] = detail::place_of_address(dst[i]);
    t.src[i] = detail::place_of_address(src[i]);
  }
  detail::trans_data(t, p, site);
}
/// 16 x 16 elements of 16 bits.
template <class T>
void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src, detail::Site site = detail::Site()) {
  static_assert(sizeof(T) == 2, "Transpose takes 16 x 16 elements of 16 bits");
  AtcTransData t{};
  t.type = detail::type_code_v<T>;
  for (std::uint32_t i = 0; i < 16; ++i) {
    t.dst[i] = dst[i * 16].place();
    t.src[i] = src[i * 16].place();
  }
  detail::trans_data(t, {}, site);
}

/// Every element of a stretch of Global Memory becomes the value.
template <class T>
void InitOutput(const GlobalTensor<T>& gm, std::uint32_t elements, detail::same_t<T> value = T(),
                detail::Site site = detail::Site()) {
  detail::call(&AtcCoreApi::fill_global, &site, &gm.place(), std::uint64_t{elements},
               std::int32_t{detail::type_code_v<T>}, detail::bits_of(value));
}
template <class T>
void InitGlobalMemory(const GlobalTensor<T>& gm, std::uint64_t elements, detail::same_t<T> value,
                      detail::Site site = detail::Site()) {
  detail::call(&AtcCoreApi::fill_global, &site, &gm.place(), elements, std::int32_t{detail::type_code_v<T>},
               detail::bits_of(value));
}

}  // namespace AscendC
