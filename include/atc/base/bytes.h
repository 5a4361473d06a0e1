#pragma once

#include <cstddef>
#include <functional>
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

  using Fill = std::function<void(std::span<std::byte>)>;
  /// Bytes that `fill` writes when they are read, every byte of them, the same ones each time: weights of a
  /// large model in another form, which would not all fit beside each other. data() and span() keep what was
  /// written; resolved() and copy_to() do not. Any thread may read.
  static Bytes deferred(std::size_t size, Fill fill);
  bool is_deferred() const { return deferred_ != nullptr; }
  /// Bytes at hand: the same, or what `fill` writes, for as long as the result lives.
  Bytes resolved() const;
  /// Writes all bytes to `dst`, of the same size.
  void copy_to(std::span<std::byte> dst) const;

  std::span<const std::byte> span() const { return deferred_ == nullptr ? view_ : kept(); }
  const std::byte* data() const { return span().data(); }
  std::size_t size() const { return deferred_ == nullptr ? view_.size() : deferred_size(); }
  bool empty() const { return size() == 0; }
  Bytes subspan(std::size_t offset, std::size_t count) const {
    const Bytes at_hand = deferred_ == nullptr ? *this : Bytes(deferred_, kept());
    return {at_hand.owner_, at_hand.view_.subspan(offset, count)};
  }

 private:
  struct Deferred;
  std::span<const std::byte> kept() const;
  std::size_t deferred_size() const;

  std::shared_ptr<const void> owner_;
  std::span<const std::byte> view_;
  std::shared_ptr<Deferred> deferred_;
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
