#pragma once

// Attributes of a node as tiling and inference functions see them.
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "atc/custom_op.h"

namespace gert {

template <class T>
class TypedContinuousVector {
 public:
  TypedContinuousVector() = default;
  TypedContinuousVector(const T* data, std::size_t size) : data_(data), size_(size) {}
  const T* GetData() const { return data_; }
  std::size_t GetSize() const { return size_; }

 private:
  const T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// By position, as the operator declares them.
class RuntimeAttrs {
 public:
  RuntimeAttrs() = default;
  RuntimeAttrs(const AtcCustomAttr* attrs, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      Slot& s = slots_.emplace_back();
      s.raw = &attrs[i];
      s.boolean = attrs[i].i != 0;
      s.ints = {attrs[i].ints, attrs[i].kind == ATC_ATTR_INTS ? attrs[i].count : 0};
      s.floats = {attrs[i].floats, attrs[i].kind == ATC_ATTR_FLOATS ? attrs[i].count : 0};
    }
  }
  std::size_t GetAttrNum() const { return slots_.size(); }

  const std::int64_t* GetInt(std::size_t i) const {
    return find(i, ATC_ATTR_INT) ? &slots_[i].raw->i : nullptr;
  }
  const float* GetFloat(std::size_t i) const { return find(i, ATC_ATTR_FLOAT) ? &slots_[i].raw->f : nullptr; }
  const bool* GetBool(std::size_t i) const { return find(i, ATC_ATTR_BOOL) ? &slots_[i].boolean : nullptr; }
  const char* GetStr(std::size_t i) const { return find(i, ATC_ATTR_STRING) ? slots_[i].raw->s : nullptr; }
  const TypedContinuousVector<std::int64_t>* GetListInt(std::size_t i) const {
    return find(i, ATC_ATTR_INTS) ? &slots_[i].ints : nullptr;
  }
  const TypedContinuousVector<float>* GetListFloat(std::size_t i) const {
    return find(i, ATC_ATTR_FLOATS) ? &slots_[i].floats : nullptr;
  }

  /// The value behind attribute i, null when it is of another kind. Integers are read as any integer type
  /// of their size or less, as the least significant bytes come first.
  template <class T>
  const T* GetAttrPointer(std::size_t i) const {
    if constexpr (std::is_same_v<T, bool>)
      return GetBool(i);
    else if constexpr (std::is_same_v<T, char>)
      return GetStr(i);
    else if constexpr (std::is_same_v<T, float>)
      return GetFloat(i);
    else if constexpr (std::is_same_v<T, TypedContinuousVector<std::int64_t>>)
      return GetListInt(i);
    else if constexpr (std::is_same_v<T, TypedContinuousVector<float>>)
      return GetListFloat(i);
    else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>)
      return reinterpret_cast<const T*>(GetInt(i));
    else
      static_assert(!sizeof(T), "attributes are int, float, bool, char or a list of int64_t or float");
  }

 private:
  struct Slot {
    const AtcCustomAttr* raw = nullptr;
    bool boolean = false;
    TypedContinuousVector<std::int64_t> ints;
    TypedContinuousVector<float> floats;
  };
  bool find(std::size_t i, std::uint32_t kind) const {
    return i < slots_.size() && slots_[i].raw->kind == kind;
  }
  std::vector<Slot> slots_;
};

}  // namespace gert
