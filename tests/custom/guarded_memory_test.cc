#include "custom/guarded_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace atc::custom {
namespace {

TEST(GuardedMemory, IsZeroAndAligned) {
  for (const std::size_t size : {1UL, 20UL, 64UL, 2048UL, 4096UL, 5000UL, 3UL << 20}) {
    GuardedMemory memory(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % 64, 0U) << size;
    EXPECT_TRUE(
        std::all_of(memory.data(), memory.data() + size, [](std::byte b) { return b == std::byte{0}; }));
    std::fill(memory.data(), memory.data() + size, std::byte{7});
    EXPECT_FALSE(memory.overwritten()) << size;
  }
}

TEST(GuardedMemoryDeathTest, AccessesBeyondItsPagesAreFaults) {
  GuardedMemory memory(2048);
  volatile std::byte* data = memory.data();
  EXPECT_DEATH(data[2048] = std::byte{1}, "");
  EXPECT_DEATH(data[-4096] = std::byte{1}, "");
}

TEST(GuardedMemory, FindsStoresBesideIt) {
  GuardedMemory memory(100);  // 28 bytes to the end of the page
  memory.data()[-8] = std::byte{1};
  EXPECT_EQ(memory.overwritten(), -8);
  EXPECT_FALSE(memory.overwritten()) << "told once";
  memory.data()[103] = std::byte{1};
  EXPECT_EQ(memory.overwritten(), 103);
  EXPECT_FALSE(memory.overwritten());
}

TEST(GuardedMemory, ThatDoesNotExistThrows) {
  EXPECT_THROW(GuardedMemory(SIZE_MAX), std::bad_alloc);
  EXPECT_THROW(GuardedMemory(std::size_t{1} << 60), std::bad_alloc);
}

}  // namespace
}  // namespace atc::custom
