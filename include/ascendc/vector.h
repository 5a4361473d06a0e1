#pragma once

// Elementwise vector instructions. Three forms: a count; a mask of `mask` lanes or of bits, with repeats of
// 256 bytes; and with isSetMask = false the lanes of the mask registers.
#include <cstdint>
#include <initializer_list>

#include "ascendc/tensors.h"

namespace AscendC {
namespace detail {

template <class T>
AtcOperand operand(const LocalTensor<T>& t, AtcStride stride = {1, 8}) {
  return {t.place(), stride, type_code_v<T>};
}
inline AtcOperand no_operand() { return {{0, 0, 0, -1, 0, 0}, {1, 8}, ATC_F32}; }

inline AtcLanes count_lanes(std::int64_t count) { return {ATC_LANES_COUNT, 0, count, {0, 0}}; }
template <bool set>
AtcLanes lanes(std::uint64_t mask, std::int32_t repeat) {
  return {static_cast<std::uint8_t>(set ? ATC_LANES_MASK : ATC_LANES_REGISTERS), repeat, 0, {mask, 0}};
}
// The second word matters for 16-bit lanes alone; an array of one word may be given for wider ones.
template <bool set, class T>
AtcLanes lanes(const std::uint64_t* mask, std::int32_t repeat) {
  if (!set) return {ATC_LANES_REGISTERS, repeat, 0, {0, 0}};
  return {ATC_LANES_BITS, repeat, 0, {mask[0], sizeof(T) <= 2 ? mask[1] : 0}};
}

inline AtcVector instruction(AtcVecOp op, const AtcOperand& dst, const AtcOperand& src0,
                             const AtcOperand& src1, const AtcLanes& l) {
  AtcVector v{};
  v.op = op;
  v.dst = dst;
  v.src0 = src0;
  v.src1 = src1;
  v.work = no_operand();
  v.lanes = l;
  return v;
}
template <class T>
void set_scalar(AtcVector& v, T scalar) {
  if constexpr (std::is_integral_v<T>) {
    v.integer = static_cast<std::int64_t>(scalar);
    v.scalar = static_cast<double>(scalar);
  } else {
    v.scalar = static_cast<double>(static_cast<float>(scalar));
  }
}
inline void run(const AtcVector& v, const Site& site) { call(&AtcCoreApi::vector, &site, &v); }

inline AtcStride dst_of(const BinaryRepeatParams& p) { return {p.dstBlkStride, p.dstRepStride}; }
inline AtcStride src0_of(const BinaryRepeatParams& p) { return {p.src0BlkStride, p.src0RepStride}; }
inline AtcStride src1_of(const BinaryRepeatParams& p) { return {p.src1BlkStride, p.src1RepStride}; }
inline AtcStride dst_of(const UnaryRepeatParams& p) { return {p.dstBlkStride, p.dstRepStride}; }
inline AtcStride src_of(const UnaryRepeatParams& p) { return {p.srcBlkStride, p.srcRepStride}; }

template <class T, class... Allowed>
constexpr void check_type() {
  static_assert(!std::is_same_v<T, bfloat16_t> || is_one_of<T, Allowed...>,
                "the vector unit has no arithmetic on bfloat16_t: Cast to float first");
  static_assert(is_one_of<T, Allowed...>, "this vector instruction does not take the element type");
}

}  // namespace detail

// dst = src0 op src1. D and S differ for the few instructions that convert.
#define ATC_BINARY_FORMS(Name, code, D, S, ...)                                                \
  void Name(const LocalTensor<D>& dst, const LocalTensor<S>& src0, const LocalTensor<S>& src1, \
            std::int32_t count, detail::Site site = detail::Site()) {                          \
    detail::check_type<S, __VA_ARGS__>();                                                      \
    detail::run(detail::instruction(code, detail::operand(dst), detail::operand(src0),         \
                                    detail::operand(src1), detail::count_lanes(count)),        \
                site);                                                                         \
  }
#define ATC_BINARY_REPEAT(Name, code, D, S, ...)                                        \
  {                                                                                     \
    detail::check_type<S, __VA_ARGS__>();                                               \
    detail::run(detail::instruction(code, detail::operand(dst, detail::dst_of(params)), \
                                    detail::operand(src0, detail::src0_of(params)),     \
                                    detail::operand(src1, detail::src1_of(params)), l), \
                site);                                                                  \
  }
#define ATC_BINARY(Name, code, ...)                                                            \
  template <class T>                                                                           \
  ATC_BINARY_FORMS(Name, code, T, T, __VA_ARGS__)                                              \
  template <class T, bool isSetMask = true>                                                    \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, \
            std::uint64_t mask, std::uint8_t repeat, const BinaryRepeatParams& params,         \
            detail::Site site = detail::Site()) {                                              \
    const AtcLanes l = detail::lanes<isSetMask>(mask, repeat);                                 \
    ATC_BINARY_REPEAT(Name, code, T, T, __VA_ARGS__)                                           \
  }                                                                                            \
  template <class T, bool isSetMask = true>                                                    \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, \
            const std::uint64_t mask[], std::uint8_t repeat, const BinaryRepeatParams& params, \
            detail::Site site = detail::Site()) {                                              \
    const AtcLanes l = detail::lanes<isSetMask, T>(mask, repeat);                              \
    ATC_BINARY_REPEAT(Name, code, T, T, __VA_ARGS__)                                           \
  }
#define ATC_BINARY_CONVERT(Name, code, ...)                                                    \
  template <class D, class S>                                                                  \
  ATC_BINARY_FORMS(Name, code, D, S, __VA_ARGS__)                                              \
  template <class D, class S, bool isSetMask = true>                                           \
  void Name(const LocalTensor<D>& dst, const LocalTensor<S>& src0, const LocalTensor<S>& src1, \
            std::uint64_t mask, std::uint8_t repeat, const BinaryRepeatParams& params,         \
            detail::Site site = detail::Site()) {                                              \
    const AtcLanes l = detail::lanes<isSetMask>(mask, repeat);                                 \
    ATC_BINARY_REPEAT(Name, code, D, S, __VA_ARGS__)                                           \
  }                                                                                            \
  template <class D, class S, bool isSetMask = true>                                           \
  void Name(const LocalTensor<D>& dst, const LocalTensor<S>& src0, const LocalTensor<S>& src1, \
            const std::uint64_t mask[], std::uint8_t repeat, const BinaryRepeatParams& params, \
            detail::Site site = detail::Site()) {                                              \
    const AtcLanes l = detail::lanes<isSetMask, S>(mask, repeat);                              \
    ATC_BINARY_REPEAT(Name, code, D, S, __VA_ARGS__)                                           \
  }

ATC_BINARY(Add, ATC_ADD, float, half, std::int32_t, std::int16_t)
ATC_BINARY(Sub, ATC_SUB, float, half, std::int32_t, std::int16_t)
ATC_BINARY(Mul, ATC_MUL, float, half, std::int32_t, std::int16_t)
ATC_BINARY(Max, ATC_MAX, float, half, std::int32_t, std::int16_t)
ATC_BINARY(Min, ATC_MIN, float, half, std::int32_t, std::int16_t)
ATC_BINARY(Div, ATC_DIV, float, half)
ATC_BINARY(And, ATC_AND, std::int16_t, std::uint16_t, std::int8_t, std::uint8_t)
ATC_BINARY(Or, ATC_OR, std::int16_t, std::uint16_t, std::int8_t, std::uint8_t)
ATC_BINARY(AddRelu, ATC_ADD_RELU, float, half, std::int16_t)
ATC_BINARY(SubRelu, ATC_SUB_RELU, float, half, std::int16_t)
ATC_BINARY(FusedMulAdd, ATC_FUSED_MUL_ADD, float, half)
ATC_BINARY(FusedMulAddRelu, ATC_FUSED_MUL_ADD_RELU, float, half)
ATC_BINARY_CONVERT(MulAddDst, ATC_MUL_ADD_DST, float, half)
ATC_BINARY_CONVERT(AddReluCast, ATC_ADD_RELU_CAST, float, half, std::int16_t)
ATC_BINARY_CONVERT(SubReluCast, ATC_SUB_RELU_CAST, float, half, std::int16_t)
ATC_BINARY_CONVERT(MulCast, ATC_MUL_CAST, half)

// dst = src op scalar.
#define ATC_SCALAR(Name, code, D, S, ...)                                                                  \
  template <ATC_SCALAR_TYPES>                                                                              \
  void Name(const LocalTensor<D>& dst, const LocalTensor<S>& src, detail::same_t<S> scalar,                \
            std::int32_t count, detail::Site site = detail::Site()) {                                      \
    detail::scalar_call<code, D, S, __VA_ARGS__>(dst, src, scalar, detail::count_lanes(count), {}, site);  \
  }                                                                                                        \
  template <ATC_SCALAR_TYPES, bool isSetMask = true>                                                       \
  void Name(const LocalTensor<D>& dst, const LocalTensor<S>& src, detail::same_t<S> scalar,                \
            std::uint64_t mask, std::uint8_t repeat, const UnaryRepeatParams& params,                      \
            detail::Site site = detail::Site()) {                                                          \
    detail::scalar_call<code, D, S, __VA_ARGS__>(dst, src, scalar, detail::lanes<isSetMask>(mask, repeat), \
                                                 params, site);                                            \
  }                                                                                                        \
  template <ATC_SCALAR_TYPES, bool isSetMask = true>                                                       \
  void Name(const LocalTensor<D>& dst, const LocalTensor<S>& src, detail::same_t<S> scalar,                \
            const std::uint64_t mask[], std::uint8_t repeat, const UnaryRepeatParams& params,              \
            detail::Site site = detail::Site()) {                                                          \
    detail::scalar_call<code, D, S, __VA_ARGS__>(dst, src, scalar,                                         \
                                                 detail::lanes<isSetMask, S>(mask, repeat), params, site); \
  }

namespace detail {
template <AtcVecOp code, class D, class S, class... Allowed>
void scalar_call(const LocalTensor<D>& dst, const LocalTensor<S>& src, S scalar, const AtcLanes& l,
                 const UnaryRepeatParams& params, const Site& site, std::int32_t mode = 0) {
  check_type<S, Allowed...>();
  AtcVector v =
      instruction(code, operand(dst, dst_of(params)), operand(src, src_of(params)), no_operand(), l);
  v.mode = mode;
  set_scalar(v, scalar);
  run(v, site);
}
}  // namespace detail

#define ATC_SCALAR_TYPES class T
ATC_SCALAR(Adds, ATC_ADDS, T, T, float, half, std::int32_t, std::int16_t)
ATC_SCALAR(Muls, ATC_MULS, T, T, float, half, std::int32_t, std::int16_t)
ATC_SCALAR(Maxs, ATC_MAXS, T, T, float, half, std::int32_t, std::int16_t)
ATC_SCALAR(Mins, ATC_MINS, T, T, float, half, std::int32_t, std::int16_t)
ATC_SCALAR(LeakyRelu, ATC_LEAKY_RELU, T, T, float, half)
ATC_SCALAR(ShiftLeft, ATC_SHIFT_LEFT, T, T, std::uint16_t, std::int16_t, std::uint32_t, std::int32_t)
#undef ATC_SCALAR_TYPES
#define ATC_SCALAR_TYPES class T, class U
ATC_SCALAR(Axpy, ATC_AXPY, T, U, float, half)
#undef ATC_SCALAR_TYPES

/// `round`: the bits that are lost round to nearest.
template <class T, bool isSetMask = true>
void ShiftRight(const LocalTensor<T>& dst, const LocalTensor<T>& src, detail::same_t<T> shift,
                std::uint64_t mask, std::uint8_t repeat, const UnaryRepeatParams& params, bool round = false,
                detail::Site site = detail::Site()) {
  detail::scalar_call<ATC_SHIFT_RIGHT, T, T, std::uint16_t, std::int16_t, std::uint32_t, std::int32_t>(
      dst, src, shift, detail::lanes<isSetMask>(mask, repeat), params, site, round);
}
template <class T, bool isSetMask = true>
void ShiftRight(const LocalTensor<T>& dst, const LocalTensor<T>& src, detail::same_t<T> shift,
                const std::uint64_t mask[], std::uint8_t repeat, const UnaryRepeatParams& params,
                bool round = false, detail::Site site = detail::Site()) {
  detail::scalar_call<ATC_SHIFT_RIGHT, T, T, std::uint16_t, std::int16_t, std::uint32_t, std::int32_t>(
      dst, src, shift, detail::lanes<isSetMask, T>(mask, repeat), params, site, round);
}
template <class T>
void ShiftRight(const LocalTensor<T>& dst, const LocalTensor<T>& src, detail::same_t<T> shift,
                std::int32_t count, detail::Site site = detail::Site()) {
  detail::scalar_call<ATC_SHIFT_RIGHT, T, T, std::uint16_t, std::int16_t, std::uint32_t, std::int32_t>(
      dst, src, shift, detail::count_lanes(count), {}, site);
}

// dst = op(src).
namespace detail {
template <AtcVecOp code, class T, class... Allowed>
void unary_call(const LocalTensor<T>& dst, const LocalTensor<T>& src, const AtcLanes& l,
                const UnaryRepeatParams& params, const Site& site) {
  check_type<T, Allowed...>();
  run(instruction(code, operand(dst, dst_of(params)), operand(src, src_of(params)), no_operand(), l), site);
}
}  // namespace detail

#define ATC_UNARY(Name, code, ...)                                                                         \
  template <class T>                                                                                       \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, std::int32_t count,                      \
            detail::Site site = detail::Site()) {                                                          \
    detail::unary_call<code, T, __VA_ARGS__>(dst, src, detail::count_lanes(count), {}, site);              \
  }                                                                                                        \
  template <class T, bool isSetMask = true>                                                                \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, std::uint64_t mask, std::uint8_t repeat, \
            const UnaryRepeatParams& params, detail::Site site = detail::Site()) {                         \
    detail::unary_call<code, T, __VA_ARGS__>(dst, src, detail::lanes<isSetMask>(mask, repeat), params,     \
                                             site);                                                        \
  }                                                                                                        \
  template <class T, bool isSetMask = true>                                                                \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const std::uint64_t mask[],              \
            std::uint8_t repeat, const UnaryRepeatParams& params, detail::Site site = detail::Site()) {    \
    detail::unary_call<code, T, __VA_ARGS__>(dst, src, detail::lanes<isSetMask, T>(mask, repeat), params,  \
                                             site);                                                        \
  }

ATC_UNARY(Exp, ATC_EXP, float, half)
ATC_UNARY(Ln, ATC_LN, float, half)
ATC_UNARY(Abs, ATC_ABS, float, half)
ATC_UNARY(Reciprocal, ATC_RECIPROCAL, float, half)
ATC_UNARY(Sqrt, ATC_SQRT, float, half)
ATC_UNARY(Rsqrt, ATC_RSQRT, float, half)
ATC_UNARY(Relu, ATC_RELU, float, half, std::int32_t)
ATC_UNARY(Not, ATC_NOT, std::int16_t, std::uint16_t)

#undef ATC_BINARY
#undef ATC_BINARY_CONVERT
#undef ATC_BINARY_FORMS
#undef ATC_BINARY_REPEAT
#undef ATC_SCALAR
#undef ATC_UNARY

// ---- Fills and copies within the Unified Buffer ----
namespace detail {
template <class T>
void duplicate(const LocalTensor<T>& dst, T value, const AtcLanes& l, AtcStride stride, const Site& site) {
  check_type<T, float, half, bfloat16_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t>();
  AtcVector v = instruction(ATC_DUPLICATE, operand(dst, stride), no_operand(), no_operand(), l);
  v.integer = static_cast<std::int64_t>(bits_of(value));
  run(v, site);
}
}  // namespace detail

template <class T>
void Duplicate(const LocalTensor<T>& dst, detail::same_t<T> value, std::int32_t count,
               detail::Site site = detail::Site()) {
  detail::duplicate(dst, value, detail::count_lanes(count), {1, 8}, site);
}
template <class T, bool isSetMask = true>
void Duplicate(const LocalTensor<T>& dst, detail::same_t<T> value, std::uint64_t mask, std::uint8_t repeat,
               std::uint16_t dst_block_stride, std::uint8_t dst_repeat_stride,
               detail::Site site = detail::Site()) {
  detail::duplicate(dst, value, detail::lanes<isSetMask>(mask, repeat), {dst_block_stride, dst_repeat_stride},
                    site);
}
template <class T, bool isSetMask = true>
void Duplicate(const LocalTensor<T>& dst, detail::same_t<T> value, const std::uint64_t mask[],
               std::uint8_t repeat, std::uint16_t dst_block_stride, std::uint8_t dst_repeat_stride,
               detail::Site site = detail::Site()) {
  detail::duplicate(dst, value, detail::lanes<isSetMask, T>(mask, repeat),
                    {dst_block_stride, dst_repeat_stride}, site);
}

template <class T, bool isSetMask = true>
void Copy(const LocalTensor<T>& dst, const LocalTensor<T>& src, std::uint64_t mask, std::uint8_t repeat,
          const CopyRepeatParams& p, detail::Site site = detail::Site()) {
  detail::run(detail::instruction(ATC_COPY, detail::operand(dst, {p.dstStride, p.dstRepeatSize}),
                                  detail::operand(src, {p.srcStride, p.srcRepeatSize}), detail::no_operand(),
                                  detail::lanes<isSetMask>(mask, repeat)),
              site);
}
template <class T, bool isSetMask = true>
void Copy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const std::uint64_t mask[],
          std::uint8_t repeat, const CopyRepeatParams& p, detail::Site site = detail::Site()) {
  detail::run(detail::instruction(ATC_COPY, detail::operand(dst, {p.dstStride, p.dstRepeatSize}),
                                  detail::operand(src, {p.srcStride, p.srcRepeatSize}), detail::no_operand(),
                                  detail::lanes<isSetMask, T>(mask, repeat)),
              site);
}

/// Eight scalars a repeat, each fills a data block.
template <class T>
void Brcb(const LocalTensor<T>& dst, const LocalTensor<T>& src, std::uint8_t repeat,
          const BrcbRepeatParams& p, detail::Site site = detail::Site()) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Brcb takes elements of 2 or 4 bytes");
  detail::run(detail::instruction(ATC_BRCB, detail::operand(dst, {p.dstBlkStride, p.dstRepStride}),
                                  detail::operand(src), detail::no_operand(), detail::lanes<true>(8, repeat)),
              site);
}

/// dst[i] = first + i * step.
template <class T>
void ArithProgression(const LocalTensor<T>& dst, detail::same_t<T> first, detail::same_t<T> step,
                      std::int32_t count, detail::Site site = detail::Site()) {
  AtcVector v = detail::instruction(ATC_ARANGE, detail::operand(dst), detail::no_operand(),
                                    detail::no_operand(), detail::count_lanes(count));
  detail::set_scalar(v, first);
  if constexpr (std::is_integral_v<T>) v.integer1 = static_cast<std::int64_t>(step);
  v.scalar1 = static_cast<double>(static_cast<float>(step));
  detail::run(v, site);
}
template <class T>
void CreateVecIndex(const LocalTensor<T>& dst, detail::same_t<T> first, std::uint32_t count,
                    detail::Site site = detail::Site()) {
  detail::check_type<T, float, half, std::int16_t, std::int32_t>();
  ArithProgression(dst, first, static_cast<T>(1), static_cast<std::int32_t>(count), site);
}
template <class T>
void Arange(const LocalTensor<T>& dst, detail::same_t<T> first, detail::same_t<T> step, std::int32_t count,
            detail::Site site = detail::Site()) {
  ArithProgression(dst, first, step, count, site);
}

// ---- The mask registers ----
template <class T, MaskMode mode = MaskMode::NORMAL>
void SetVectorMask(std::uint64_t high, std::uint64_t low, detail::Site site = detail::Site()) {
  detail::call(&AtcCoreApi::set_mask, &site, high, low);
}
/// NORMAL: the first `length` lanes of each repeat; COUNTER: `length` elements in all.
template <class T, MaskMode mode = MaskMode::NORMAL>
void SetVectorMask(std::int32_t length, detail::Site site = detail::Site()) {
  const auto n = static_cast<std::uint64_t>(length);
  if constexpr (mode == MaskMode::COUNTER) {
    detail::call(&AtcCoreApi::set_mask, &site, std::uint64_t{0}, n);
  } else {
    const auto low_bits = [](std::uint64_t bits) {
      return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    };
    detail::call(&AtcCoreApi::set_mask, &site, n > 64 ? low_bits(n - 64) : std::uint64_t{0}, low_bits(n));
  }
}
inline void ResetMask(detail::Site site = detail::Site()) {
  detail::call(&AtcCoreApi::set_mask, &site, ~std::uint64_t{0}, ~std::uint64_t{0});
}
inline void SetMaskCount(detail::Site site = detail::Site()) {
  detail::call(&AtcCoreApi::set_mask_mode, &site, std::int32_t{ATC_MASK_COUNTER});
}
inline void SetMaskNorm(detail::Site site = detail::Site()) {
  detail::call(&AtcCoreApi::set_mask_mode, &site, std::int32_t{ATC_MASK_NORMAL});
}

}  // namespace AscendC
