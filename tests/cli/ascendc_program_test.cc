#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command.h"

// Programs of ascendc-g++ whose kernels do what no kernel may: what the program says, and how it ends.
namespace atc::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSource = R"(#include "kernel_operator.h"
#include "tikicpulib.h"
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
using namespace AscendC;
#define KERNEL extern "C" __global__ __aicore__ void
KERNEL good(GM_ADDR y) { *(volatile int*)y = 5; }
KERNEL null_pointer(GM_ADDR y) { if (GetBlockIdx() == 1) *(volatile int*)nullptr = 1; }        // line 9
KERNEL divides(GM_ADDR y) { volatile int zero = 0; *(volatile int*)y = 7 / zero; }             // line 10
KERNEL deep(GM_ADDR y) { volatile char room[4096]; room[0] = *y; deep(y); room[1] = room[0]; } // line 11
KERNEL wide(GM_ADDR y) { volatile char room[32 << 20]; room[5] = *y; *(volatile char*)y = room[5]; }
KERNEL beyond(GM_ADDR y) { ((volatile float*)y)[517] = 1.0f; }                                 // line 13
KERNEL before(GM_ADDR y) { ((volatile char*)y)[-8] = 1; }
KERNEL endless(GM_ADDR y) { for (volatile int i = 0;; ++i) {} }                                // line 15
KERNEL endless_vectors(GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 1024);
  auto a = buffer.Get<float>();
  Duplicate(a, 1.0f, 256);
  for (unsigned i = 0; i < 10; i *= 2) Adds(a, a, 1.0f, 256);                                  // line 22
}
KERNEL throws(GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 1024);                                                               // line 27
  if (*y == 0) throw std::runtime_error("no kernel may");
}
KERNEL synchronised(GM_ADDR y) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  SyncAll();
  if (GetBlockIdx() == 1) *(volatile int*)nullptr = 1;                                         // line 33
}
KERNEL deep_synchronised(GM_ADDR y) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  SyncAll();
  deep(y);
}
int main(int, char** argument) {
  auto* y = (uint8_t*)GmAlloc(2048);
  printf("begins ");
  switch (atoi(argument[1])) {
    case 0: ICPU_RUN_KF(good, 2, y); break;
    case 1: ICPU_RUN_KF(null_pointer, 2, y); break;
    case 2: ICPU_RUN_KF(divides, 2, y); break;
    case 3: ICPU_RUN_KF(deep, 2, y); break;
    case 4: ICPU_RUN_KF(wide, 1, y); break;
    case 5: beyond<<<1, nullptr, nullptr>>>(y); break;
    case 6: before<<<1, nullptr, nullptr>>>(y); break;
    case 7: ICPU_RUN_KF(endless, 1, y); break;
    case 8: ICPU_RUN_KF(endless_vectors, 2, y); break;
    case 9: ICPU_RUN_KF(throws, 2, y); break;
    case 10: ICPU_RUN_KF(synchronised, 2, y); break;
    case 11: ICPU_RUN_KF(deep_synchronised, 2, y); break;
    case 12: ICPU_RUN_KF(good, 2, y); *(volatile int*)nullptr = 1; break;
    case 13: GmFree(y + 32); break;
    case 14: GmFree(y); break;
    case 15: GmFree(nullptr); break;
  }
  printf("ends\n");
  GmFree(y);
}
)";

class AscendcProgram : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new Scratch;
    std::ofstream(*folder_ / "k.cpp") << kSource;
    const Outcome built = cli::run(program("ascendc-g++") + " -O1 -o k k.cpp", folder_->path());
    ASSERT_EQ(built.code, 0) << built.out;
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  static Outcome run(int what, const std::string& environment = {}) {
    return cli::run(environment + " ./k " + std::to_string(what), folder_->path());
  }
  static Scratch* folder_;
};
Scratch* AscendcProgram::folder_ = nullptr;

TEST_F(AscendcProgram, ThatIsRightSaysNothing) {
  const Outcome o = run(0);
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(o.out, "begins ends\n");
}

TEST_F(AscendcProgram, CrashesAreToldWithKernelBlockAndLine) {
  const auto crash = [](const char* kernel, const char* line) {
    return AllOf(HasSubstr("begins "), HasSubstr("E40021"), HasSubstr(kernel), HasSubstr(line),
                 Not(HasSubstr("ends")));
  };
  Outcome o = run(1);
  EXPECT_EQ(o.code, 1);
  EXPECT_THAT(o.out, AllOf(crash("Kernel 'null_pointer' crashed in block 1", "k.cpp:9"),
                           HasSubstr("comes of a null pointer")));
  o = run(2);
  EXPECT_EQ(o.code, 1);
  EXPECT_THAT(o.out, AllOf(crash("'divides' crashed in block", "k.cpp:10"), HasSubstr("division by zero")));
  o = run(10);
  EXPECT_EQ(o.code, 1);
  EXPECT_THAT(o.out, crash("'synchronised' crashed in block 1", "k.cpp:33"));
}

TEST_F(AscendcProgram, StacksThatOverflowAreToldAsSuch) {
  for (const int what : {3, 4, 11}) {
    const Outcome o = run(what);
    EXPECT_EQ(o.code, 1);
    EXPECT_THAT(o.out, AllOf(HasSubstr("E40021"), HasSubstr("its stack overflowed"), HasSubstr("in block ")))
        << what;
  }
  EXPECT_THAT(run(3).out, HasSubstr("k.cpp:11"));
}

TEST_F(AscendcProgram, StoresBesideGlobalMemoryAreFound) {
  Outcome o = run(5);
  EXPECT_EQ(o.code, 1);
  EXPECT_THAT(o.out,
              AllOf(HasSubstr("k.cpp:13"), HasSubstr("20 bytes beyond the end of 'allocation 0' (2048")));
  o = run(6);
  EXPECT_EQ(o.code, 1);
  EXPECT_THAT(o.out, AllOf(HasSubstr("before: error: memory 8 bytes before the start of allocation 0"),
                           HasSubstr("gm-bounds"), HasSubstr("ends")));
}

TEST_F(AscendcProgram, EndlessLoopsEndInTime) {
  Outcome o = run(7, "ATC_KERNEL_TIMEOUT=0.5");
  EXPECT_EQ(o.code, 1);
  EXPECT_THAT(o.out, AllOf(HasSubstr("Kernel 'endless' did not come to an end within 0.5 s, at k.cpp:15"),
                           HasSubstr("block 0 was running")));
  o = run(8, "ATC_KERNEL_TIMEOUT=0.5");
  EXPECT_EQ(o.code, 1);
  EXPECT_THAT(o.out, AllOf(HasSubstr("'endless_vectors' did not come to an end"), HasSubstr("k.cpp:22")));
  EXPECT_THAT(run(0, "ATC_KERNEL_TIMEOUT=soon").out, HasSubstr("'soon' is no number of seconds"));
}

TEST_F(AscendcProgram, ExceptionsAreTold) {
  const Outcome o = run(9);
  EXPECT_EQ(o.code, 1);
  EXPECT_THAT(o.out, AllOf(HasSubstr("k.cpp:27: error: the kernel throws an exception"),
                           HasSubstr("no kernel may"), HasSubstr("[exception]")));
}

TEST_F(AscendcProgram, CrashesOfItsOwnAreItsOwn) {
  const Outcome o = run(12);
  EXPECT_NE(o.code, 0);
  EXPECT_THAT(o.out, Not(HasSubstr("E40021")));
}

TEST(AscendcGxx, HeadersMayAskWhichCoreRuns) {
  Scratch s;
  std::filesystem::create_directories(s / "lib/deep");
  std::ofstream(s / "base.h") << R"(#pragma once
template <class T> __aicore__ inline void tell(__gm__ T* y) {
  if constexpr (g_coreType == AscendC::AIV) { *y = 5; } else { *y = 6; }
}
)";
  std::ofstream(s / "lib/deep/tell.h") << "#pragma once\n#include \"other.h\"\n#include \"../../base.h\"\n";
  std::ofstream(s / "lib/deep/other.h") << "#pragma once\nconstexpr int kFive = 5;\n";
  std::ofstream(s / "k.cpp") << R"(#include "kernel_operator.h"
#include "tikicpulib.h"
#include "deep/tell.h"
extern "C" __global__ __aicore__ void kind(GM_ADDR y) { tell((__gm__ int*)y); }
int main() {
  auto* y = (int*)AscendC::GmAlloc(64);
  ICPU_RUN_KF(kind, 1, (uint8_t*)y);
  return *y == kFive ? 0 : 2;
}
)";
  const Outcome built = run(program("ascendc-g++") + " -I lib -o k k.cpp", s.path());
  ASSERT_EQ(built.code, 0) << built.out;
  EXPECT_EQ(run("./k", s.path()).code, 0);
  std::ofstream(s / "base.h") << "\n\nint x() { f<<<1, 2>>>(); }\n";
  const Outcome broken = run(program("ascendc-g++") + " -I lib -o k k.cpp", s.path());
  EXPECT_EQ(broken.code, 1);
  EXPECT_THAT(broken.out, AllOf(HasSubstr("E20001"), HasSubstr("base.h:3")));
}

TEST_F(AscendcProgram, FreesWhatWasAllocatedOnce) {
  for (const int what : {13, 14}) {
    const Outcome o = run(what);
    EXPECT_EQ(o.code, 1);
    EXPECT_THAT(o.out, AllOf(HasSubstr("[gm-free]"), HasSubstr("ends"))) << what;
  }
  EXPECT_EQ(run(15).code, 0);
}

}  // namespace
}  // namespace atc::cli
