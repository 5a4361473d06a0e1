#include <gtest/gtest.h>

#include <vector>

#include "aicore/core.h"
#include "atc/base/check.h"

// Plans are not trusted: whatever an instruction is asked for, it stays inside its buffers.
namespace atc::aicore {
namespace {

class BufferBounds : public ::testing::TestWithParam<Values> {
 protected:
  BufferBounds() { core_.start_block(1); }
  Core core_{**soc::find_chip("Ascend910B3"), GetParam(), false};
  std::vector<std::byte> memory_ = std::vector<std::byte>(256);
  Gm gm_{memory_.data(), 256, false};
  Buffer& ub_ = core_.alloc(Memory::UB, 64);
  Buffer& other_ = core_.alloc(Memory::UB, 64);
};

TEST_P(BufferBounds, CopyOutStaysInItsSource) {
  EXPECT_NO_THROW(core_.copy_out(gm_, 0, ub_, 32, {1, 32, 0, 0}));
  EXPECT_THROW(core_.copy_out(gm_, 0, ub_, 48, {1, 32, 0, 0}), InternalError);
  EXPECT_THROW(core_.copy_out(gm_, 0, ub_, -16, {1, 32, 0, 0}), InternalError);
  EXPECT_THROW(core_.copy_out(gm_, 0, ub_, 0, {3, 32, 32, 32}), InternalError);
}

TEST_P(BufferBounds, CopyInUbStaysInItsSource) {
  EXPECT_NO_THROW(core_.copy_ub(other_, 0, ub_, 0, 4, 4, 4, 4, 4, 1));
  EXPECT_NO_THROW(core_.copy_ub(other_, 0, ub_, 60, 4, 1, 16, 16, 16, -1));
  EXPECT_THROW(core_.copy_ub(other_, 0, ub_, 0, 4, 4, 4, 4, 8, 1), InternalError);
  EXPECT_THROW(core_.copy_ub(other_, 0, ub_, 0, 4, 1, 16, 16, 16, -1), InternalError);
}

TEST_P(BufferBounds, PartsAreNotJoinedToAnAlias) {
  core_.copy_in(ub_, 0, gm_, 0, {1, 32, 0, 0});
  if (GetParam() == Values::Fast) {
    EXPECT_THROW(core_.copy_in(ub_, 32, gm_, 64, {1, 32, 0, 0}), InternalError);
  } else {
    EXPECT_NO_THROW(core_.copy_in(ub_, 32, gm_, 64, {1, 32, 0, 0}));
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, BufferBounds, ::testing::Values(Values::Fast, Values::Literal));

}  // namespace
}  // namespace atc::aicore
