#pragma once

// LocalTensor and GlobalTensor: where the elements of an operand are. Scalar access goes through the scalar
// unit of the simulated core.
#include <cstdint>
#include <type_traits>

#include "ascendc/block.h"
#include "ascendc/half.h"
#include "ascendc/params.h"

namespace AscendC {

struct ShapeInfo {
  constexpr ShapeInfo() = default;
  std::uint8_t shapeDim = 0, originalShapeDim = 0;
  std::uint32_t shape[K_MAX_SHAPE_DIM] = {}, originalShape[K_MAX_SHAPE_DIM] = {};
  int dataFormat = 0;
};

namespace detail {

template <class T>
struct type_code;
#define ATC_TYPE_CODE(Type, code)               \
  template <>                                   \
  struct type_code<Type> {                      \
    static constexpr std::uint8_t value = code; \
  };
ATC_TYPE_CODE(float, ATC_F32)
ATC_TYPE_CODE(half, ATC_F16)
ATC_TYPE_CODE(bfloat16_t, ATC_BF16)
ATC_TYPE_CODE(std::int8_t, ATC_I8)
ATC_TYPE_CODE(std::uint8_t, ATC_U8)
ATC_TYPE_CODE(bool, ATC_U8)
ATC_TYPE_CODE(std::int16_t, ATC_I16)
ATC_TYPE_CODE(std::uint16_t, ATC_U16)
ATC_TYPE_CODE(std::int32_t, ATC_I32)
ATC_TYPE_CODE(std::uint32_t, ATC_U32)
ATC_TYPE_CODE(std::int64_t, ATC_I64)
ATC_TYPE_CODE(std::uint64_t, ATC_U64)
ATC_TYPE_CODE(double, ATC_F64)
ATC_TYPE_CODE(int4b_t, ATC_I4)
#undef ATC_TYPE_CODE

template <class T>
inline constexpr std::uint8_t type_code_v = type_code<std::remove_cv_t<T>>::value;
template <class T>
inline constexpr bool is_4_bit = std::is_same_v<std::remove_cv_t<T>, int4b_t>;
/// Bytes of `n` elements.
template <class T>
constexpr std::int64_t bytes_of(std::int64_t n) {
  return is_4_bit<T> ? n / 2 : n * static_cast<std::int64_t>(sizeof(T));
}
template <class T>
constexpr std::int64_t elements_of(std::int64_t bytes) {
  return is_4_bit<T> ? bytes * 2 : bytes / static_cast<std::int64_t>(sizeof(T));
}
template <class T, class... Options>
inline constexpr bool is_one_of = (std::is_same_v<std::remove_cv_t<T>, Options> || ...);

template <class T>
inline std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  return bits;
}
template <class T>
inline T value_of(std::uint64_t bits) {
  T value;
  __builtin_memcpy(static_cast<void*>(&value), &bits, sizeof value);
  return value;
}
/// A parameter that takes no part in deduction.
template <class T>
struct same {
  using type = T;
};
template <class T>
using same_t = typename same<T>::type;

template <class Left, class Right>
struct Expression;  // operators.h

/// One element of a tensor, as tensor(i) gives it.
template <class Tensor>
class Element {
 public:
  using T = std::remove_const_t<typename Tensor::PrimType>;
  Element(const Tensor& tensor, std::uint64_t index, Site site)
      : tensor_(tensor), index_(index), site_(site) {}
  operator T() const { return tensor_.GetValue(static_cast<typename Tensor::Index>(index_), site_); }
  const Element& operator=(T value) const {
    tensor_.SetValue(static_cast<typename Tensor::Index>(index_), value, site_);
    return *this;
  }

 private:
  const Tensor& tensor_;
  std::uint64_t index_;
  Site site_;
};

}  // namespace detail

/// A tensor in the core's own memory. Offsets and sizes in elements.
template <class T>
class LocalTensor {
 public:
  using PrimType = T;
  using Index = std::uint32_t;
  LocalTensor() = default;
  explicit LocalTensor(const AtcLocal& place)
      : place_(place), size_(static_cast<std::uint32_t>(detail::elements_of<T>(place.bytes))) {}

  T GetValue(std::uint32_t index, detail::Site site = detail::Site()) const {
    return detail::value_of<T>(
        detail::call(&AtcCoreApi::load_local, &site, &place_, index * sizeof(T), std::uint32_t{sizeof(T)}));
  }
  void SetValue(std::uint32_t index, detail::same_t<T> value, detail::Site site = detail::Site()) const {
    detail::call(&AtcCoreApi::store_local, &site, &place_, index * sizeof(T), std::uint32_t{sizeof(T)},
                 detail::bits_of(value));
  }
  detail::Element<LocalTensor> operator()(std::uint32_t index, detail::Site site = detail::Site()) const {
    return {*this, index, site};
  }

  LocalTensor operator[](std::uint32_t offset) const {
    LocalTensor t = *this;
    const auto skipped = static_cast<std::uint32_t>(detail::bytes_of<T>(offset));
    t.place_.offset += skipped;
    t.place_.bytes = skipped < place_.bytes ? place_.bytes - skipped : 0;
    t.size_ = offset < size_ ? size_ - offset : 0;
    return t;
  }
  template <class U>
  LocalTensor<U> ReinterpretCast() const {
    LocalTensor<U> t(place_);
    t.SetUserTag(tag_);
    return t;
  }
  std::uint32_t GetSize() const { return size_; }
  std::uint32_t GetLength() const { return place_.bytes; }
  void SetSize(std::uint32_t elements) {
    size_ = elements;
    place_.bytes = static_cast<std::uint32_t>(detail::bytes_of<T>(elements));
  }
  /// The place in the simulated memory; what is done through it is not seen by the checks.
  T* GetPhyAddr() const {
    return reinterpret_cast<T*>(detail::block()->memory[place_.memory] + place_.offset);
  }
  T* GetPhyAddr(std::uint32_t offset) const { return GetPhyAddr() + offset; }
  std::int32_t GetPosition() const { return place_.position; }
  void SetUserTag(std::uint32_t tag) { tag_ = tag; }
  std::uint32_t GetUserTag() const { return tag_; }
  void SetShapeInfo(const ShapeInfo& shape) { shape_ = shape; }
  ShapeInfo GetShapeInfo() const { return shape_; }
  bool IsValid() const { return place_.bytes != 0; }

  template <class Left, class Right>
  void operator=(const detail::Expression<Left, Right>& e) const;  // operators.h

  const AtcLocal& place() const { return place_; }
  AtcLocal& place() { return place_; }

 private:
  AtcLocal place_{ATC_UB, static_cast<std::uint8_t>(TPosition::MAX), 0, -1, 0, 0};
  std::uint32_t size_ = 0;
  std::uint32_t tag_ = 0;
  ShapeInfo shape_;
};

/// A tensor in Global Memory.
template <class T>
class GlobalTensor {
 public:
  using PrimType = T;
  using Index = std::uint64_t;
  void SetGlobalBuffer(T* address, std::uint64_t elements, detail::Site site = detail::Site()) {
    place_ = {const_cast<std::remove_const_t<T>*>(address),
              detail::bytes_of<T>(static_cast<std::int64_t>(elements)), -1};
    size_ = elements;
    place_.tensor = detail::call(&AtcCoreApi::bind_global, &site, &place_);
  }
  void SetGlobalBuffer(T* address, detail::Site site = detail::Site()) {
    place_ = {const_cast<std::remove_const_t<T>*>(address), -1, -1};
    size_ = 0;
    place_.tensor = detail::call(&AtcCoreApi::bind_global, &site, &place_);
  }
  T GetValue(std::uint64_t index, detail::Site site = detail::Site()) const {
    return detail::value_of<std::remove_const_t<T>>(
        detail::call(&AtcCoreApi::load_global, &site, &place_, index * sizeof(T), std::uint32_t{sizeof(T)}));
  }
  void SetValue(std::uint64_t index, detail::same_t<T> value, detail::Site site = detail::Site()) const {
    detail::call(&AtcCoreApi::store_global, &site, &place_, index * sizeof(T), std::uint32_t{sizeof(T)},
                 detail::bits_of(value));
  }
  detail::Element<GlobalTensor> operator()(std::uint64_t index, detail::Site site = detail::Site()) const {
    return {*this, index, site};
  }
  GlobalTensor operator[](std::uint64_t offset) const {
    GlobalTensor t = *this;
    const std::int64_t skipped = detail::bytes_of<T>(static_cast<std::int64_t>(offset));
    t.place_.data = static_cast<unsigned char*>(place_.data) + skipped;
    if (place_.bytes >= 0) t.place_.bytes = skipped < place_.bytes ? place_.bytes - skipped : 0;
    t.size_ = offset < size_ ? size_ - offset : 0;
    return t;
  }
  std::uint64_t GetSize() const { return size_; }
  T* GetPhyAddr() const { return static_cast<T*>(place_.data); }
  T* GetPhyAddr(std::uint64_t offset) const { return static_cast<T*>(place_.data) + offset; }
  /// A hint to the cache, which is not simulated line by line.
  template <CacheRwMode = CacheRwMode::RW>
  void SetL2CacheHint(CacheMode) {}
  void SetShapeInfo(const ShapeInfo& shape) { shape_ = shape; }
  ShapeInfo GetShapeInfo() const { return shape_; }

  const AtcGm& place() const { return place_; }

 private:
  AtcGm place_{nullptr, -1, -1};
  std::uint64_t size_ = 0;
  ShapeInfo shape_;
};

}  // namespace AscendC
