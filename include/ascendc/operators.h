#pragma once

// dst = a + b over whole tensors: the instruction over the destination's size.
#include "ascendc/convert.h"

namespace AscendC {
namespace detail {

struct AddOf {};
struct SubOf {};
struct MulOf {};
struct DivOf {};
struct AndOf {};
struct OrOf {};

template <class T, class Operation>
struct Expression<LocalTensor<T>, Operation> {
  const LocalTensor<T>& left;
  const LocalTensor<T>& right;
};
template <CMPMODE mode>
struct CompareOf {};

template <class T>
void assign(const LocalTensor<T>& dst, const Expression<LocalTensor<T>, AddOf>& e) {
  Add(dst, e.left, e.right, static_cast<std::int32_t>(dst.GetSize()));
}
template <class T>
void assign(const LocalTensor<T>& dst, const Expression<LocalTensor<T>, SubOf>& e) {
  Sub(dst, e.left, e.right, static_cast<std::int32_t>(dst.GetSize()));
}
template <class T>
void assign(const LocalTensor<T>& dst, const Expression<LocalTensor<T>, MulOf>& e) {
  Mul(dst, e.left, e.right, static_cast<std::int32_t>(dst.GetSize()));
}
template <class T>
void assign(const LocalTensor<T>& dst, const Expression<LocalTensor<T>, DivOf>& e) {
  Div(dst, e.left, e.right, static_cast<std::int32_t>(dst.GetSize()));
}
template <class T>
void assign(const LocalTensor<T>& dst, const Expression<LocalTensor<T>, AndOf>& e) {
  And(dst, e.left, e.right, static_cast<std::int32_t>(dst.GetSize()));
}
template <class T>
void assign(const LocalTensor<T>& dst, const Expression<LocalTensor<T>, OrOf>& e) {
  Or(dst, e.left, e.right, static_cast<std::int32_t>(dst.GetSize()));
}
template <class U, class T, CMPMODE mode>
void assign(const LocalTensor<U>& dst, const Expression<LocalTensor<T>, CompareOf<mode>>& e) {
  Compare(dst, e.left, e.right, mode, e.left.GetSize());
}

}  // namespace detail

#define ATC_TENSOR_OPERATOR(op, Operation)                                                     \
  template <class T>                                                                           \
  detail::Expression<LocalTensor<T>, detail::Operation> operator op(const LocalTensor<T>& a,   \
                                                                    const LocalTensor<T>& b) { \
    return {a, b};                                                                             \
  }
ATC_TENSOR_OPERATOR(+, AddOf)
ATC_TENSOR_OPERATOR(-, SubOf)
ATC_TENSOR_OPERATOR(*, MulOf)
ATC_TENSOR_OPERATOR(/, DivOf)
ATC_TENSOR_OPERATOR(&, AndOf)
ATC_TENSOR_OPERATOR(|, OrOf)
ATC_TENSOR_OPERATOR(<, CompareOf<CMPMODE::LT>)
ATC_TENSOR_OPERATOR(>, CompareOf<CMPMODE::GT>)
ATC_TENSOR_OPERATOR(==, CompareOf<CMPMODE::EQ>)
ATC_TENSOR_OPERATOR(<=, CompareOf<CMPMODE::LE>)
ATC_TENSOR_OPERATOR(>=, CompareOf<CMPMODE::GE>)
ATC_TENSOR_OPERATOR(!=, CompareOf<CMPMODE::NE>)
#undef ATC_TENSOR_OPERATOR

template <class T>
template <class Left, class Right>
void LocalTensor<T>::operator=(const detail::Expression<Left, Right>& e) const {
  detail::assign(*this, e);
}

}  // namespace AscendC
