#pragma once

// Cast, comparisons to bit masks, and selection by them.
#include <cstdint>

#include "ascendc/vector.h"

namespace AscendC {
namespace detail {

// Pairs of the instruction set (2201).
template <class D, class S>
constexpr bool can_cast() {
  if constexpr (is_one_of<S, float>)
    return is_one_of<D, float, half, bfloat16_t, std::int64_t, std::int32_t, std::int16_t>;
  if constexpr (is_one_of<S, half>)
    return is_one_of<D, float, std::int32_t, std::int16_t, std::int8_t, std::uint8_t, int4b_t>;
  if constexpr (is_one_of<S, bfloat16_t>) return is_one_of<D, float, std::int32_t>;
  if constexpr (is_one_of<S, std::int32_t>) return is_one_of<D, float, half, std::int64_t, std::int16_t>;
  if constexpr (is_one_of<S, std::int64_t>) return is_one_of<D, float, std::int32_t>;
  if constexpr (is_one_of<S, std::int16_t>) return is_one_of<D, float, half, std::int8_t, std::uint8_t>;
  if constexpr (is_one_of<S, std::int8_t, std::uint8_t, int4b_t>) return is_one_of<D, half>;
  return false;
}

template <class D, class S>
void cast(const LocalTensor<D>& dst, const LocalTensor<S>& src, RoundMode mode, const AtcLanes& l,
          AtcStride dst_stride, AtcStride src_stride, const Site& site) {
  static_assert(can_cast<D, S>(),
                "Cast does not convert between these types: float to half, bfloat16_t, int64_t, int32_t, "
                "int16_t; half to "
                "float, int32_t, int16_t, int8_t, uint8_t, int4b_t; bfloat16_t to float, int32_t; int32_t to "
                "float, half, "
                "int64_t, int16_t; int64_t to float, int32_t; int16_t to float, half, int8_t, uint8_t; 8 and "
                "4 bits to half");
  AtcVector v = instruction(ATC_CAST, operand(dst, dst_stride), operand(src, src_stride), no_operand(), l);
  v.mode = static_cast<std::int32_t>(mode);
  run(v, site);
}

// Repeats are 64 lanes of the wider type: the narrower one steps by fewer data blocks.
template <class D, class S>
inline constexpr AtcStride kCountStrideDst{
    1, sizeof(D) >= sizeof(S) ? 8 : static_cast<int>(8 * sizeof(D) / sizeof(S))};

}  // namespace detail

template <class D, class S>
void Cast(const LocalTensor<D>& dst, const LocalTensor<S>& src, const RoundMode& mode, std::uint32_t count,
          detail::Site site = detail::Site()) {
  detail::cast(dst, src, mode, detail::count_lanes(count), {1, 8}, {1, 8}, site);
}
template <class D, class S, bool isSetMask = true>
void Cast(const LocalTensor<D>& dst, const LocalTensor<S>& src, const RoundMode& mode, std::uint64_t mask,
          std::uint8_t repeat, const UnaryRepeatParams& p, detail::Site site = detail::Site()) {
  detail::cast(dst, src, mode, detail::lanes<isSetMask>(mask, repeat), detail::dst_of(p), detail::src_of(p),
               site);
}
template <class D, class S, bool isSetMask = true>
void Cast(const LocalTensor<D>& dst, const LocalTensor<S>& src, const RoundMode& mode,
          const std::uint64_t mask[], std::uint8_t repeat, const UnaryRepeatParams& p,
          detail::Site site = detail::Site()) {
  constexpr bool wide = sizeof(D) > 2 || sizeof(S) > 2;
  const std::uint64_t words[2] = {mask[0], wide ? 0 : mask[1]};
  detail::cast(dst, src, mode, detail::lanes<isSetMask, half>(words, repeat), detail::dst_of(p),
               detail::src_of(p), site);
}
/// The factor of Cast from int32_t to half.
inline void SetDeqScale(half scale, detail::Site site = detail::Site()) {
  detail::call(&AtcCoreApi::set_deq_scale, &site, static_cast<float>(scale));
}

// ---- Compare: one bit an element, lowest bit first ----
namespace detail {
template <class T>
void check_compare(CMPMODE) {
  static_assert(is_one_of<T, float, half, std::int32_t>, "Compare takes float, half, or int32_t (EQ only)");
}
template <class T, class U>
AtcVector comparison(AtcVecOp op, const LocalTensor<U>& dst, const LocalTensor<T>& src0,
                     const AtcOperand& src1, CMPMODE mode, const AtcLanes& l) {
  check_compare<T>(mode);
  AtcVector v = instruction(op, operand(dst), operand(src0), src1, l);
  v.mode = static_cast<std::int32_t>(mode);
  return v;
}
}  // namespace detail

template <class T, class U>
void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE mode,
             std::uint32_t count, detail::Site site = detail::Site()) {
  detail::run(
      detail::comparison(ATC_COMPARE, dst, src0, detail::operand(src1), mode, detail::count_lanes(count)),
      site);
}
template <class T, class U, bool isSetMask = true>
void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE mode,
             std::uint64_t mask, std::uint8_t repeat, const BinaryRepeatParams& p,
             detail::Site site = detail::Site()) {
  AtcVector v = detail::comparison(ATC_COMPARE, dst, src0, detail::operand(src1, detail::src1_of(p)), mode,
                                   detail::lanes<isSetMask>(mask, repeat));
  v.dst.stride = detail::dst_of(p);
  v.src0.stride = detail::src0_of(p);
  detail::run(v, site);
}
/// Into the register that SELMODE 0 of Select takes.
template <class T, bool isSetMask = true>
void Compare(const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE mode, std::uint64_t mask,
             const BinaryRepeatParams& p, detail::Site site = detail::Site()) {
  LocalTensor<std::uint8_t> none;
  AtcVector v = detail::comparison(ATC_COMPARE, none, src0, detail::operand(src1, detail::src1_of(p)), mode,
                                   detail::lanes<isSetMask>(mask, 1));
  v.src0.stride = detail::src0_of(p);
  detail::run(v, site);
}
template <class T, class U>
void CompareScalar(const LocalTensor<U>& dst, const LocalTensor<T>& src, detail::same_t<T> scalar,
                   CMPMODE mode, std::uint32_t count, detail::Site site = detail::Site()) {
  AtcVector v = detail::comparison(ATC_COMPARE_SCALAR, dst, src, detail::no_operand(), mode,
                                   detail::count_lanes(count));
  detail::set_scalar(v, scalar);
  detail::run(v, site);
}
template <class T, class U, bool isSetMask = true>
void CompareScalar(const LocalTensor<U>& dst, const LocalTensor<T>& src, detail::same_t<T> scalar,
                   CMPMODE mode, std::uint64_t mask, std::uint8_t repeat, const UnaryRepeatParams& p,
                   detail::Site site = detail::Site()) {
  AtcVector v = detail::comparison(ATC_COMPARE_SCALAR, dst, src, detail::no_operand(), mode,
                                   detail::lanes<isSetMask>(mask, repeat));
  v.dst.stride = detail::dst_of(p);
  v.src0.stride = detail::src_of(p);
  detail::set_scalar(v, scalar);
  detail::run(v, site);
}
template <class T, class U>
void Compares(const LocalTensor<U>& dst, const LocalTensor<T>& src, detail::same_t<T> scalar, CMPMODE mode,
              std::uint32_t count, detail::Site site = detail::Site()) {
  CompareScalar(dst, src, scalar, mode, count, site);
}
template <class T>
void SetCmpMask(const LocalTensor<T>& src, detail::Site site = detail::Site()) {
  detail::call(&AtcCoreApi::set_compare_mask, &site, &src.place());
}
template <class T>
void GetCmpMask(const LocalTensor<T>& dst, detail::Site site = detail::Site()) {
  detail::call(&AtcCoreApi::get_compare_mask, &site, &dst.place());
}

// ---- Select: bit ? src0 : src1 ----
namespace detail {
template <class T, class U>
AtcVector selection(const LocalTensor<T>& dst, const LocalTensor<U>& bits, const LocalTensor<T>& src0,
                    const AtcOperand& src1, SELMODE mode, const AtcLanes& l) {
  check_type<T, float, half>();
  AtcVector v = instruction(ATC_SELECT, operand(dst), operand(src0), src1, l);
  v.work = operand(bits);
  v.mode = static_cast<std::int32_t>(mode);
  return v;
}
}  // namespace detail

template <class T, class U>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& bits, const LocalTensor<T>& src0,
            const LocalTensor<T>& src1, SELMODE mode, std::uint32_t count,
            detail::Site site = detail::Site()) {
  detail::run(detail::selection(dst, bits, src0, detail::operand(src1), mode, detail::count_lanes(count)),
              site);
}
template <class T, class U>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& bits, const LocalTensor<T>& src0,
            detail::same_t<T> src1, SELMODE mode, std::uint32_t count, detail::Site site = detail::Site()) {
  AtcVector v = detail::selection(dst, bits, src0, detail::no_operand(), mode, detail::count_lanes(count));
  detail::set_scalar(v, src1);
  detail::run(v, site);
}
template <class T, class U, bool isSetMask = true>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& bits, const LocalTensor<T>& src0,
            const LocalTensor<T>& src1, SELMODE mode, std::uint64_t mask, std::uint8_t repeat,
            const BinaryRepeatParams& p, detail::Site site = detail::Site()) {
  AtcVector v = detail::selection(dst, bits, src0, detail::operand(src1, detail::src1_of(p)), mode,
                                  detail::lanes<isSetMask>(mask, repeat));
  v.dst.stride = detail::dst_of(p);
  v.src0.stride = detail::src0_of(p);
  detail::run(v, site);
}
template <class T, class U, bool isSetMask = true>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& bits, const LocalTensor<T>& src0,
            detail::same_t<T> src1, SELMODE mode, std::uint64_t mask, std::uint8_t repeat,
            const BinaryRepeatParams& p, detail::Site site = detail::Site()) {
  AtcVector v =
      detail::selection(dst, bits, src0, detail::no_operand(), mode, detail::lanes<isSetMask>(mask, repeat));
  v.dst.stride = detail::dst_of(p);
  v.src0.stride = detail::src0_of(p);
  detail::set_scalar(v, src1);
  detail::run(v, site);
}

}  // namespace AscendC
