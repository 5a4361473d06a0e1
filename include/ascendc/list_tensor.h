#pragma once

// Lists of tensors (operators with a dynamic number of inputs): one kernel argument that describes them.
// Words of 64 bits: the byte offset of the addresses; for each tensor its number of dimensions (low half; its
// index in the high half) and its dimensions; then the addresses.
#include <cstdint>

#include "ascendc/tensors.h"

namespace AscendC {

template <class T>
class TensorDesc {
 public:
  /// Memory of the caller's for the dimensions.
  void SetShapeAddr(std::uint64_t* shape) { shape_ = shape; }
  std::uint64_t GetDim() const { return dim_; }
  std::uint64_t GetIndex() const { return index_; }
  std::uint64_t GetShape(std::uint32_t i) const { return shape_ != nullptr && i < dim_ ? shape_[i] : 0; }
  T* GetDataPtr() const { return data_; }
  GlobalTensor<T> GetDataObj() const {
    GlobalTensor<T> t;
    t.SetGlobalBuffer(data_);
    return t;
  }

 private:
  friend class ListTensorDesc;
  std::uint64_t* shape_ = nullptr;
  std::uint64_t dim_ = 0, index_ = 0;
  T* data_ = nullptr;
};

class ListTensorDesc {
 public:
  ListTensorDesc() = default;
  explicit ListTensorDesc(const void* data, std::uint32_t length = 0xffffffffU,
                          std::uint32_t shapeSize = 0xffffffffU) {
    Init(data, length, shapeSize);
  }
  void Init(const void* data, std::uint32_t length = 0xffffffffU, std::uint32_t = 0xffffffffU,
            detail::Site site = detail::Site()) {
    gm_ = {const_cast<void*>(data), -1, -1};
    addresses_ = word(0, site);
    count_ = 0;
    std::uint64_t at = 8;
    while (at < addresses_ && at < length) {
      at += 8 + (word(at, site) & 0xffffffffU) * 8;
      ++count_;
    }
  }
  std::uint32_t GetSize() const { return count_; }
  template <class T>
  T* GetDataPtr(std::uint32_t index, detail::Site site = detail::Site()) const {
    return reinterpret_cast<T*>(word(addresses_ + std::uint64_t{index} * 8, site));
  }
  template <class T>
  void GetDesc(TensorDesc<T>& desc, std::uint32_t index, detail::Site site = detail::Site()) const {
    std::uint64_t at = 8;
    for (std::uint32_t i = 0; i < index; ++i) at += 8 + (word(at, site) & 0xffffffffU) * 8;
    const std::uint64_t head = word(at, site);
    desc.dim_ = head & 0xffffffffU;
    desc.index_ = head >> 32;
    for (std::uint64_t i = 0; desc.shape_ != nullptr && i < desc.dim_; ++i)
      desc.shape_[i] = word(at + 8 + i * 8, site);
    desc.data_ = GetDataPtr<T>(index, site);
  }

 private:
  std::uint64_t word(std::uint64_t at, const detail::Site& site) const {
    return detail::call(&AtcCoreApi::load_global, &site, &gm_, at, std::uint32_t{8});
  }
  AtcGm gm_{nullptr, -1, -1};
  std::uint64_t addresses_ = 0;
  std::uint32_t count_ = 0;
};

}  // namespace AscendC
