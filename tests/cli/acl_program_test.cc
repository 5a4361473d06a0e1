#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command.h"

// Programs of ascendc-g++ that are written for AscendCL.
namespace atc::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Adds two vectors as a host program for the device does.
constexpr const char* kAdd = R"(#include "acl/acl.h"
#include "kernel_operator.h"
#include <cstdio>
#include <vector>
using namespace AscendC;
constexpr int kCount = 4096, kBlocks = 8, kTile = kCount / kBlocks;
class Adder {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, float bias) {
    bias_ = bias;
    x_.SetGlobalBuffer((__gm__ float*)x + kTile * GetBlockIdx(), kTile);
    y_.SetGlobalBuffer((__gm__ float*)y + kTile * GetBlockIdx(), kTile);
    z_.SetGlobalBuffer((__gm__ float*)z + kTile * GetBlockIdx(), kTile);
    pipe_.InitBuffer(in_, 2, kTile * sizeof(float));
    pipe_.InitBuffer(other_, 1, kTile * sizeof(float));
    pipe_.InitBuffer(out_, 1, kTile * sizeof(float));
  }
  __aicore__ inline void Process() {
    auto a = in_.AllocTensor<float>(), b = other_.AllocTensor<float>();
    DataCopy(a, x_, kTile);
    DataCopy(b, y_, kTile);
    in_.EnQue(a);
    other_.EnQue(b);
    a = in_.DeQue<float>();
    b = other_.DeQue<float>();
    auto c = out_.AllocTensor<float>();
    Add(c, a, b, kTile);
    Adds(c, c, bias_, kTile);
    out_.EnQue(c);
    in_.FreeTensor(a);
    other_.FreeTensor(b);
    c = out_.DeQue<float>();
    DataCopy(z_, c, kTile);
    out_.FreeTensor(c);
  }
 private:
  TPipe pipe_;
  TQue<TPosition::VECIN, 1> in_, other_;
  TQue<TPosition::VECOUT, 1> out_;
  GlobalTensor<float> x_, y_, z_;
  float bias_;
};
extern "C" __global__ __aicore__ void add(GM_ADDR x, GM_ADDR y, GM_ADDR z, float bias) {
  Adder adder;
  adder.Init(x, y, z, bias);
  adder.Process();
}
#define CHECK_ACL(call) do { const aclError e = (call); if (e != ACL_SUCCESS) { \
  std::printf("%s:%d: %d: %s\n", __FILE__, __LINE__, e, aclGetRecentErrMsg()); return 3; } } while (0)
int main() {
  CHECK_ACL(aclInit(nullptr));
  const int32_t device = 0;
  CHECK_ACL(aclrtSetDevice(device));
  aclrtStream stream = nullptr;
  CHECK_ACL(aclrtCreateStream(&stream));
  aclrtEvent begin, end;
  CHECK_ACL(aclrtCreateEvent(&begin));
  CHECK_ACL(aclrtCreateEvent(&end));
  const size_t bytes = kCount * sizeof(float);
  float *x, *y, *z;
  uint8_t *dx, *dy, *dz;
  CHECK_ACL(aclrtMallocHost((void**)&x, bytes));
  CHECK_ACL(aclrtMallocHost((void**)&y, bytes));
  CHECK_ACL(aclrtMallocHost((void**)&z, bytes));
  CHECK_ACL(aclrtMalloc((void**)&dx, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK_ACL(aclrtMalloc((void**)&dy, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK_ACL(aclrtMalloc((void**)&dz, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  for (int i = 0; i < kCount; ++i) x[i] = i, y[i] = 2 * i;
  CHECK_ACL(aclrtMemcpy(dx, bytes, x, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  CHECK_ACL(aclrtMemcpyAsync(dy, bytes, y, bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  CHECK_ACL(aclrtRecordEvent(begin, stream));
  add<<<kBlocks, nullptr, stream>>>(dx, dy, dz, 0.5f);
  CHECK_ACL(aclrtRecordEvent(end, stream));
  CHECK_ACL(aclrtSynchronizeStream(stream));
  CHECK_ACL(aclrtMemcpy(z, bytes, dz, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  int wrong = 0;
  for (int i = 0; i < kCount; ++i) wrong += z[i] != 3.0f * i + 0.5f;
  float ms = 0;
  CHECK_ACL(aclrtEventElapsedTime(&ms, begin, end));
  printf("wrong %d, time %s, chip %s\n", wrong, ms > 0.001f && ms < 1 ? "good" : "bad", aclrtGetSocName());
  CHECK_ACL(aclrtDestroyEvent(begin));
  CHECK_ACL(aclrtDestroyEvent(end));
  CHECK_ACL(aclrtFree(dx));
  CHECK_ACL(aclrtFree(dy));
  CHECK_ACL(aclrtFree(dz));
  CHECK_ACL(aclrtFreeHost(x));
  CHECK_ACL(aclrtFreeHost(y));
  CHECK_ACL(aclrtFreeHost(z));
  CHECK_ACL(aclrtDestroyStream(stream));
  CHECK_ACL(aclrtResetDevice(device));
  CHECK_ACL(aclFinalize());
  return wrong;
}
)";

TEST(AclProgram, AddsVectorsUnchanged) {
  Scratch s;
  std::ofstream(s / "main.cpp") << kAdd;
  const Outcome built = run(program("ascendc-g++") + " -O1 -Wall -Wextra -o main main.cpp", s.path());
  ASSERT_EQ(built.code, 0) << built.out;
  EXPECT_THAT(built.out, Not(HasSubstr("acl"))) << "warnings of our headers";
  for (const char* chip : {"Ascend910B3", "Ascend310P3"}) {
    const Outcome ran = run("ATC_SOC_VERSION=" + std::string(chip) + " ./main", s.path());
    EXPECT_EQ(ran.code, 0);
    EXPECT_EQ(ran.out, "wrong 0, time good, chip " + std::string(chip) + "\n");
  }
}

TEST(AclProgram, RefusesWhatADeviceRefuses) {
  Scratch s;
  std::ofstream(s / "main.cpp") << R"(#include "acl/acl.h"
#include "kernel_operator.h"
#include <cstdio>
extern "C" __global__ __aicore__ void beyond(GM_ADDR y) {
  AscendC::GlobalTensor<float> g;
  g.SetGlobalBuffer((__gm__ float*)y);
  g.SetValue(64, 1.0f);
}
static void show(const char* what, aclError error) {
  const char* text = aclGetRecentErrMsg();
  std::printf("%s %d %s\n", what, error, text == nullptr ? "-" : text);
}
int main() {
  void* early = nullptr;
  show("early", aclrtMalloc(&early, 8, ACL_MEM_MALLOC_HUGE_FIRST));
  show("init", aclInit(""));
  show("again", aclInit(nullptr));
  show("device", aclrtSetDevice(7));
  show("good", aclrtSetDevice(0));
  void *d = nullptr, *h = nullptr, *big = nullptr;
  aclrtMalloc(&d, 256, ACL_MEM_MALLOC_NORMAL_ONLY);
  aclrtMallocHost(&h, 512);
  show("big", aclrtMalloc(&big, size_t{1} << 45, ACL_MEM_MALLOC_HUGE_FIRST));
  show("capacity", aclrtMemcpy(d, 16, h, 32, ACL_MEMCPY_HOST_TO_DEVICE));
  show("kind", aclrtMemcpy(d, 256, h, 256, ACL_MEMCPY_DEVICE_TO_HOST));
  show("reach", aclrtMemcpy(d, 512, h, 512, ACL_MEMCPY_HOST_TO_DEVICE));
  show("default", aclrtMemcpy(d, 256, h, 256, ACL_MEMCPY_DEFAULT));
  show("stream", aclrtSynchronizeStream(h));
  beyond<<<1, nullptr, nullptr>>>((uint8_t*)d);
  show("sync", aclrtSynchronizeStream(nullptr));
  show("told", aclrtSynchronizeStream(nullptr));
  show("host", aclrtFreeHost(d));
  show("free", aclrtFree(d));
  show("twice", aclrtFree(d));
}
)";
  const Outcome built = run(program("ascendc-g++") + " -o main main.cpp", s.path());
  ASSERT_EQ(built.code, 0) << built.out;
  const Outcome ran = run("./main", s.path());
  EXPECT_EQ(ran.code, 1) << "a kernel failed";
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("early 107002 aclrtMalloc: aclrtSetDevice comes first"), HasSubstr("init 0 -"),
                    HasSubstr("again 100002"), HasSubstr("device 107001"), HasSubstr("good 0 -"),
                    HasSubstr("big 207001"), HasSubstr("capacity 107000 aclrtMemcpy: 32 bytes into 16"),
                    HasSubstr("kind 107000 aclrtMemcpy: the destination is memory of the device"),
                    HasSubstr("reach 107000 aclrtMemcpy: 512 bytes, the destination has 256"),
                    HasSubstr("default 0 -")));
  EXPECT_THAT(ran.out, AllOf(HasSubstr("stream 107017"), HasSubstr("sync 507015 main.cpp:7: error: SetValue"),
                             HasSubstr("[gm-bounds]"), HasSubstr("told 0 -"), HasSubstr("host 107000"),
                             HasSubstr("free 0 -"), HasSubstr("twice 107000")));
  std::ofstream(s / "model.cpp") << "#include \"acl/acl.h\"\nint main() { return aclmdlUnload(1); }\n";
  EXPECT_NE(run(program("ascendc-g++") + " -o model model.cpp", s.path()).code, 0) << "models are omrun's";
}

}  // namespace
}  // namespace atc::cli
