#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace atc {

/// Read-only bytes that keep their owner alive: a mapped file, a heap block, a string.
/// Copying a Bytes never copies the data.
class Bytes {
 public:
  Bytes() = default;
  Bytes(std::shared_ptr<const void> owner, std::span<const std::byte> view)
      : owner_(std::move(owner)), view_(view) {}
  /// A copy of `src` in a 64-byte aligned block.
  static Bytes copy_of(std::span<const std::byte> src);

  std::span<const std::byte> span() const { return view_; }
  const std::byte* data() const { return view_.data(); }
  std::size_t size() const { return view_.size(); }
  bool empty() const { return view_.empty(); }
  Bytes subspan(std::size_t offset, std::size_t count) const {
    return {owner_, view_.subspan(offset, count)};
  }

 private:
  std::shared_ptr<const void> owner_;
  std::span<const std::byte> view_;
};

/// An owned, 64-byte aligned, zero-filled block that can be written, then frozen into Bytes. Blocks of
/// 2 MiB and more stand on huge pages where the system has them. Throws std::bad_alloc.
class MutableBytes {
 public:
  MutableBytes() = default;
  explicit MutableBytes(std::size_t size);
  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  std::span<std::byte> span() { return {data_.get(), size_}; }
  Bytes freeze() && { return Bytes(data_, {data_.get(), size_}); }

 private:
  std::shared_ptr<std::byte> data_;
  std::size_t size_ = 0;
};

}  // namespace atc
