#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "atc/base/check.h"
#include "atc/base/dtype.h"
#include "atc/base/half.h"
#include "atc/base/tensor.h"

// Building blocks of reference evaluation: typed dispatch, index walks, moving and mapping elements.
namespace atc::ops {

// Typed dispatch -----------------------------------------------------------------------------------

/// One Bool element as stored: any non-zero byte is true.
struct Bool8 {
  std::uint8_t bits = 0;
  Bool8() = default;
  Bool8(bool v) : bits(v ? 1 : 0) {}           // NOLINT(google-explicit-constructor)
  operator bool() const { return bits != 0; }  // NOLINT(google-explicit-constructor)
};

template <class T>
struct TypeTag {
  using type = T;
};

/// True for the dtypes that dispatch() knows: f16 bf16 f32 f64, 8- to 64-bit integers, bool.
bool dispatchable(DType dtype);

/// Calls f(TypeTag<T>{}) where T is the C++ type of one stored element:
/// `dispatch(t.dtype, [&](auto tag) { using T = typename decltype(tag)::type; ... t.as<T>() ... });`
/// Precondition: dispatchable(dtype).
template <class F>
auto dispatch(DType dtype, F&& f) -> decltype(f(TypeTag<float>{})) {
  switch (dtype) {
    case DType::F16:
      return f(TypeTag<Half>{});
    case DType::BF16:
      return f(TypeTag<BFloat16>{});
    case DType::F32:
      return f(TypeTag<float>{});
    case DType::F64:
      return f(TypeTag<double>{});
    case DType::I8:
      return f(TypeTag<std::int8_t>{});
    case DType::I16:
      return f(TypeTag<std::int16_t>{});
    case DType::I32:
      return f(TypeTag<std::int32_t>{});
    case DType::I64:
      return f(TypeTag<std::int64_t>{});
    case DType::U8:
      return f(TypeTag<std::uint8_t>{});
    case DType::U16:
      return f(TypeTag<std::uint16_t>{});
    case DType::U32:
      return f(TypeTag<std::uint32_t>{});
    case DType::U64:
      return f(TypeTag<std::uint64_t>{});
    case DType::Bool:
      return f(TypeTag<Bool8>{});
    default:
      internal_error(__FILE__, __LINE__, "dispatch: no element type for " + std::string(name(dtype)));
  }
}

template <class T>
inline constexpr bool kIsFloating =
    std::is_floating_point_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

/// The type in which elements of T are computed: double for floats (one rounding at the end),
/// int64/uint64 for integers, uint64 (0 or 1) for Bool8.
template <class T>
using Widened = std::conditional_t<kIsFloating<T>, double,
                                   std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

template <class T>
Widened<T> widen(T v) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return static_cast<double>(to_float(v));
  else if constexpr (std::is_same_v<T, Bool8>)
    return v ? 1U : 0U;
  else
    return static_cast<Widened<T>>(v);
}

/// Floats round to nearest even, integers wrap at the width of T, Bool8 is v != 0.
template <class T>
T narrow(Widened<T> v) {
  if constexpr (std::is_same_v<T, Half>)
    return to_half(v);
  else if constexpr (std::is_same_v<T, BFloat16>)
    return to_bfloat16(v);
  else if constexpr (std::is_same_v<T, Bool8>)
    return Bool8(v != 0);
  else
    return static_cast<T>(v);
}

/// Element i in row-major order. Preconditions: dispatchable dtype, i in range. int_at of a float
/// truncates toward zero.
double double_at(const Tensor& t, std::int64_t i);
std::int64_t int_at(const Tensor& t, std::int64_t i);

// Walks ---------------------------------------------------------------------------------------------

/// Strides in elements of a dense row-major tensor.
Dims row_major_strides(const Dims& dims);
/// Strides of a dense tensor of `dims` walked over `space`: right-aligned, 0 on broadcast axes.
/// Precondition: `dims` broadcasts to `space`.
Dims strides_over(const Dims& dims, const Dims& space);
/// Each axis in [-rank, rank) made non-negative, in the given order; nullopt when one is outside or two are
/// the same.
std::optional<Dims> normalize_axes(const Dims& axes, std::size_t rank);
/// NumPy broadcasting of two static shapes; nullopt when they do not fit.
std::optional<Dims> broadcast_dims(const Dims& a, const Dims& b);

/// Walks every position of `space` in row-major order and keeps, for each operand, the offset of its
/// element: `for (StridedWalk w(space, {sa, sb}); !w.done(); w.next()) y[w.position()] = a[w.offset(0)];`
class StridedWalk {
 public:
  StridedWalk(Dims space, std::vector<Dims> strides, std::vector<std::int64_t> start = {});

  bool done() const { return position_ >= count_; }
  void next();
  std::int64_t position() const { return position_; }  ///< row-major number of the position
  std::int64_t offset(std::size_t k = 0) const { return offsets_[k]; }
  const Dims& index() const { return index_; }

 private:
  Dims space_;
  std::vector<Dims> strides_;
  Dims index_;
  std::vector<std::int64_t> offsets_;
  std::int64_t position_ = 0;
  std::int64_t count_ = 0;
};

/// Every multi-index of `dims` in row-major order; a walk without operands.
class NdIndex : public StridedWalk {
 public:
  explicit NdIndex(Dims dims) : StridedWalk(std::move(dims), {}) {}
  std::int64_t operator[](std::size_t axis) const { return index()[axis]; }
};

// Elements of any dtype -------------------------------------------------------------------------------

/// Builds a tensor by moving elements of tensors of the same dtype, whatever it is: strings, complex
/// and packed 4- and 2-bit types included. Elements never written are zero (empty strings).
class ElementWriter {
 public:
  ElementWriter(DType dtype, Dims shape);
  /// `count` consecutive elements of `src` from `from` to position `to`. Precondition: in range, same
  /// dtype.
  void copy(std::int64_t to, const Tensor& src, std::int64_t from, std::int64_t count = 1);
  Tensor freeze() &&;

 private:
  DType dtype_;
  int bits_;
  std::int64_t count_;
  MutableTensor bytes_;
  std::vector<std::string> strings_;
};

/// A tensor of `shape` whose element at index i is element start + sum_j i_j * strides[j] of `src`, of any
/// dtype: permutations, strided slices (negative strides too), broadcasts. Precondition: all in range.
Tensor strided_copy(const Tensor& src, const Dims& shape, const Dims& strides, std::int64_t start = 0);

/// The same elements under another shape (no copy). Precondition: equal element counts.
Tensor with_shape(const Tensor& t, Dims shape);
/// A tensor of `shape`, every element the first one of `value`.
Tensor filled(const Tensor& value, const Dims& shape);

// Maps --------------------------------------------------------------------------------------------------

/// y[i] = f(x[i]) on widened elements, in the dtype of x. f is generic (double, int64 or uint64).
template <class F>
Tensor map_elements(const Tensor& x, F f) {
  MutableTensor y(x.dtype, x.shape);
  dispatch(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto in = x.as<T>();
    auto out = y.as<T>();
    for (std::size_t i = 0; i < in.size(); ++i) out[i] = narrow<T>(static_cast<Widened<T>>(f(widen(in[i]))));
  });
  return std::move(y).freeze();
}

/// y = f(a, b) with broadcasting on widened elements, in the dtype of a (which is that of b).
/// Precondition: the shapes broadcast to `space`.
template <class F>
Tensor map_pairs(const Tensor& a, const Tensor& b, const Dims& space, F f) {
  MutableTensor y(a.dtype, space);
  dispatch(a.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto pa = a.as<T>();
    auto pb = b.as<T>();
    auto out = y.as<T>();
    for (StridedWalk w(space, {strides_over(a.shape, space), strides_over(b.shape, space)}); !w.done();
         w.next())
      out[static_cast<std::size_t>(w.position())] =
          narrow<T>(static_cast<Widened<T>>(f(widen(pa[static_cast<std::size_t>(w.offset(0))]),
                                              widen(pb[static_cast<std::size_t>(w.offset(1))]))));
  });
  return std::move(y).freeze();
}

/// As map_pairs, with a Bool result.
template <class F>
Tensor compare_pairs(const Tensor& a, const Tensor& b, const Dims& space, F f) {
  MutableTensor y(DType::Bool, space);
  auto out = y.as<Bool8>();
  dispatch(a.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto pa = a.as<T>();
    auto pb = b.as<T>();
    for (StridedWalk w(space, {strides_over(a.shape, space), strides_over(b.shape, space)}); !w.done();
         w.next())
      out[static_cast<std::size_t>(w.position())] = f(widen(pa[static_cast<std::size_t>(w.offset(0))]),
                                                      widen(pb[static_cast<std::size_t>(w.offset(1))]));
  });
  return std::move(y).freeze();
}

}  // namespace atc::ops
