#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

// Copies between Global Memory and the simulated memories of a core. Global Memory is large: what leaves for
// it goes past the host's caches, so that the line is not read first; what comes from it is asked for ahead.
namespace atc::ascendc {

inline constexpr std::int64_t kStreamed = 4096;

inline void copy_to_global(std::byte* to, const std::byte* from, std::int64_t n) {
#if defined(__SSE2__)
  if (n >= kStreamed && reinterpret_cast<std::uintptr_t>(to) % 16 == 0) {
    std::int64_t i = 0;
    for (; i + 64 <= n; i += 64) {
      const auto* s = reinterpret_cast<const __m128i*>(from + i);
      auto* d = reinterpret_cast<__m128i*>(to + i);
      const __m128i a = _mm_loadu_si128(s), b = _mm_loadu_si128(s + 1), c = _mm_loadu_si128(s + 2),
                    e = _mm_loadu_si128(s + 3);
      _mm_stream_si128(d, a);
      _mm_stream_si128(d + 1, b);
      _mm_stream_si128(d + 2, c);
      _mm_stream_si128(d + 3, e);
    }
    _mm_sfence();  // other threads see it in order
    std::memcpy(to + i, from + i, static_cast<std::size_t>(n - i));
    return;
  }
#endif
  std::memcpy(to, from, static_cast<std::size_t>(n));
}

inline void copy_from_global(std::byte* to, const std::byte* from, std::int64_t n) {
#if defined(__SSE2__)
  if (n >= kStreamed) {
    constexpr std::int64_t kAhead = 1024;
    std::int64_t i = 0;
    for (; i + 64 <= n; i += 64) {
      _mm_prefetch(reinterpret_cast<const char*>(from + i + kAhead), _MM_HINT_NTA);
      const auto* s = reinterpret_cast<const __m128i*>(from + i);
      auto* d = reinterpret_cast<__m128i*>(to + i);
      const __m128i a = _mm_loadu_si128(s), b = _mm_loadu_si128(s + 1), c = _mm_loadu_si128(s + 2),
                    e = _mm_loadu_si128(s + 3);
      _mm_storeu_si128(d, a);
      _mm_storeu_si128(d + 1, b);
      _mm_storeu_si128(d + 2, c);
      _mm_storeu_si128(d + 3, e);
    }
    std::memcpy(to + i, from + i, static_cast<std::size_t>(n - i));
    return;
  }
#endif
  std::memcpy(to, from, static_cast<std::size_t>(n));
}

}  // namespace atc::ascendc
