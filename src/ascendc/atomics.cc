#include <algorithm>

#include "ascendc/elements.h"
#include "ascendc/instructions.h"

namespace atc::ascendc {

void combine(int atomic, std::uint8_t type, std::byte* dst, const std::byte* src, std::int64_t elements) {
  with_type(type, [&]<class T>(T) {
    for (std::int64_t i = 0; i < elements; ++i) {
      T old, more;
      std::memcpy(&old, dst + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
      std::memcpy(&more, src + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
      const auto a = value_of(old), b = value_of(more);
      using A = arithmetic_t<T>;
      A r = b;
      if (atomic == ATC_ATOMIC_ADD) {
        if constexpr (std::is_integral_v<A>)
          r = static_cast<A>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
        else
          r = a + b;
      } else {
        r = atomic == ATC_ATOMIC_MAX ? std::max(a, b) : std::min(a, b);
      }
      const T result = stored<T>(r);
      std::memcpy(dst + i * static_cast<std::int64_t>(sizeof(T)), &result, sizeof(T));
    }
  });
}

void Atomics::add(int atomic, std::uint8_t type, std::byte* dst, const std::byte* src,
                  std::int64_t elements) {
  const std::int64_t n = bytes_for(type, elements);
  if (copies_.empty() || dst < low_) low_ = dst;
  if (copies_.empty() || dst + n > high_) high_ = dst + n;
  copies_.push_back({atomic, type, dst, elements, data_.size()});
  data_.insert(data_.end(), src, src + n);
}

bool Atomics::overlaps(const void* at, std::int64_t bytes) const {
  const auto* from = static_cast<const std::byte*>(at);
  if (copies_.empty() || from >= high_ || from + bytes <= low_) return false;
  return std::any_of(copies_.begin(), copies_.end(), [&](const Copy& c) {
    return c.dst < from + bytes && from < c.dst + bytes_for(c.type, c.elements);
  });
}

void Atomics::apply() {
  for (const Copy& c : copies_) combine(c.atomic, c.type, c.dst, data_.data() + c.data, c.elements);
  copies_.clear();
  data_.clear();
}

void combine(Block& b, std::byte* dst, const std::byte* src, std::int64_t elements) {
  constexpr std::size_t kKept = std::size_t{256} << 20;
  b.atomics.add(b.atomic, b.atomic_type, dst, src, elements);
  if (b.atomics.bytes() > kKept) b.settle_all();
}

void Block::settle_all() {
  const std::lock_guard lock(team.atomics);
  atomics.apply();
}

void Block::settle(const void* at, std::int64_t n) {
  if (atomics.overlaps(at, n)) settle_all();
}

}  // namespace atc::ascendc
