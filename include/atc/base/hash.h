#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace atc {

/// XXH3-64; stable across machines and versions. For identity, never for trust.
std::uint64_t hash64(std::span<const std::byte> bytes, std::uint64_t seed = 0);
inline std::uint64_t hash64(std::string_view text, std::uint64_t seed = 0) {
  return hash64(std::as_bytes(std::span(text.data(), text.size())), seed);
}

}  // namespace atc
