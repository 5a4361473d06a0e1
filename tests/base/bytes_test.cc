#include "atc/base/bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "atc/base/check.h"

namespace atc {
namespace {

std::byte pattern(std::size_t i) { return static_cast<std::byte>(i * 7 + 3); }

struct Counted {
  std::shared_ptr<std::atomic<int>> fills = std::make_shared<std::atomic<int>>(0);
  Bytes make(std::size_t size) const {
    return Bytes::deferred(size, [fills = fills](std::span<std::byte> out) {
      ++*fills;
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = pattern(i);
    });
  }
};

bool has_pattern(std::span<const std::byte> bytes, std::size_t first = 0) {
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] != pattern(first + i)) return false;
  return true;
}

TEST(Bytes, DeferredHasItsSizeBeforeItIsFilled) {
  const Counted c;
  const Bytes b = c.make(100);
  EXPECT_TRUE(b.is_deferred());
  EXPECT_EQ(b.size(), 100u);
  EXPECT_FALSE(b.empty());
  EXPECT_EQ(*c.fills, 0);
}

TEST(Bytes, DeferredIsFilledOnceForReaders) {
  const Counted c;
  const Bytes b = c.make(5000), copy = b;
  std::vector<std::thread> readers;
  std::atomic<int> right = 0;
  for (int t = 0; t < 4; ++t) readers.emplace_back([&] { right += has_pattern(copy.span()) ? 1 : 0; });
  for (std::thread& t : readers) t.join();
  EXPECT_EQ(right, 4);
  EXPECT_EQ(*c.fills, 1);
  EXPECT_EQ(b.data(), copy.data());
}

TEST(Bytes, ResolvedAndCopiedBytesAreNotKept) {
  const Counted c;
  const Bytes b = c.make(64);
  EXPECT_TRUE(has_pattern(b.resolved().span()));
  EXPECT_FALSE(b.resolved().is_deferred());
  std::vector<std::byte> out(64);
  b.copy_to(out);
  EXPECT_TRUE(has_pattern(out));
  EXPECT_EQ(*c.fills, 3);
}

TEST(Bytes, PartsOfDeferredBytesOutliveThem) {
  const Counted c;
  Bytes part;
  {
    const Bytes b = c.make(1000);
    part = b.subspan(100, 50);
  }
  EXPECT_TRUE(has_pattern(part.span(), 100));
}

TEST(Bytes, WhatIsAtHandIsItsOwnResolution) {
  const std::vector<std::byte> src(10, std::byte{4});
  const Bytes b = Bytes::copy_of(src);
  EXPECT_EQ(b.resolved().data(), b.data());
  std::vector<std::byte> out(10);
  b.copy_to(out);
  EXPECT_EQ(out, src);
}

TEST(Bytes, CopyToWantsTheSameSize) {
  const Counted c;
  std::vector<std::byte> out(63);
  EXPECT_THROW(c.make(64).copy_to(out), InternalError);
}

}  // namespace
}  // namespace atc
