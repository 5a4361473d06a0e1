#include "atc/base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace atc {

std::uint64_t hash64(std::span<const std::byte> bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace atc
