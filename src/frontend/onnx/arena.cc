#include "frontend/onnx/arena.h"

#include <algorithm>

namespace atc::frontend {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kSmallestChunk = std::size_t{16} << 10;
constexpr std::size_t kLargestChunk = std::size_t{8} << 20;

}  // namespace

Arena::Block Arena::allocate(std::size_t size) {
  if (size == 0) return {};
  if (size > kLargestChunk / 4) {
    MutableBytes own(size);
    const std::span<std::byte> writable = own.span();
    return {writable, std::move(own).freeze()};
  }
  const std::size_t begin = (used_ + kAlignment - 1) / kAlignment * kAlignment;
  if (chunk_ == nullptr || begin > chunk_bytes_.size() || size > chunk_bytes_.size() - begin) {
    const std::size_t doubled = std::clamp(2 * chunk_bytes_.size(), kSmallestChunk, kLargestChunk);
    MutableBytes chunk(std::max(doubled, size));
    chunk_ = chunk.data();
    chunk_bytes_ = std::move(chunk).freeze();
    used_ = 0;
    return allocate(size);
  }
  used_ = begin + size;
  return {{chunk_ + begin, size}, chunk_bytes_.subspan(begin, size)};
}

}  // namespace atc::frontend
