#include "custom/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "atc/base/file.h"
#include "atc/core_api.h"
#include "custom/library.h"
#include "custom/library_source.h"

namespace atc::custom {
namespace {

using custom_test::Folder;
using custom_test::LibrarySource;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint32_t kShortMs = 2000;

/// A host of one library whose kernels work on `memory`.
std::unique_ptr<Host> host_of(const LibrarySource& source, std::shared_ptr<SharedMemory> memory = nullptr,
                              std::uint32_t limit_ms = 20000) {
  const Folder folder;
  const auto path = source.build(folder);
  EXPECT_FALSE(path.empty()) << source.text();
  const auto file = map_file(path);
  HostOptions options;
  options.threads = 2;
  options.limit_ms = limit_ms;
  if (memory != nullptr) options.memory = {std::move(memory)};
  return std::make_unique<Host>(std::vector<LibraryImage>{{"twice.so", Bytes::copy_of(file->span())}},
                                options);
}

TensorInfo f32(Dims dims) { return {DType::F32, std::move(dims), {}}; }

Call call_of(Dims dims, float factor = 2) {
  Call call;
  call.inputs = {f32(dims)};
  call.outputs = {f32(dims)};
  AttrValue a;
  a.name = "factor";
  a.kind = AttrKind::Float;
  a.f = factor;
  call.attrs = {a};
  return call;
}

/// x at the start of the memory, y behind it.
struct Buffers {
  static constexpr std::int64_t kCount = 1000, kBytes = kCount * 4;
  std::shared_ptr<SharedMemory> memory = std::make_shared<SharedMemory>(16384);
  float* x() { return reinterpret_cast<float*>(memory->data()); }
  float* y() { return reinterpret_cast<float*>(memory->data() + 8192); }
  Launch launch(const Tiling& tiling) {
    Launch l;
    l.tiling = tiling;
    l.soc_version = "Ascend910B3";
    l.args = {{"x", reinterpret_cast<std::uint64_t>(x()), kBytes, false},
              {"y", reinterpret_cast<std::uint64_t>(y()), kBytes, true},
              {"workspace", 0, 0, true}};
    return l;
  }
};

std::string text_of(const Status& s) { return s.to_string(); }

TEST(Host, RunsAnOperatorInAnotherProcess) {
  Buffers b;
  for (int i = 0; i < Buffers::kCount; ++i) b.x()[i] = static_cast<float>(i);
  const auto host = host_of({}, b.memory);
  ASSERT_TRUE(host->start().ok()) << text_of(host->start());
  ASSERT_EQ(host->infos().size(), 1U);
  const OpInfo& op = host->infos()[0].ops.at(0);
  EXPECT_EQ(op.type, "Twice");
  EXPECT_EQ(op.inputs.at(0).name, "x");
  EXPECT_EQ(op.inputs.at(0).dtypes.at(0), DType::F32);
  EXPECT_EQ(op.attrs.at(0).value.f, 2.0F);

  const auto outputs = host->infer(0, 0, call_of({10, 100}));
  ASSERT_TRUE(outputs.ok()) << text_of(outputs.status());
  EXPECT_EQ(outputs->at(0).shape, Dims({10, 100}));
  const auto tiling = host->tile(0, call_of({10, 100}, 3), "Ascend910B3");
  ASSERT_TRUE(tiling.ok()) << text_of(tiling.status());
  EXPECT_EQ(tiling->block_dim, 3U);
  EXPECT_EQ(tiling->data.size(), 8U);
  const auto ran = host->launch(b.launch(*tiling));
  ASSERT_TRUE(ran.ok()) << text_of(ran.status());
  for (int i = 0; i < Buffers::kCount; ++i) ASSERT_EQ(b.y()[i], 3 * static_cast<float>(i)) << i;
}

TEST(Host, RefusesOtherVersions) {
  LibrarySource old;
  old.version = "7";
  EXPECT_THAT(text_of(host_of(old)->start()), AllOf(HasSubstr("E13029"), HasSubstr("twice.so"),
                                                    HasSubstr("version 7"), HasSubstr("has version 1")));
  LibrarySource core;
  core.core_version = "9";
  EXPECT_THAT(text_of(host_of(core)->start()),
              AllOf(HasSubstr("version 9 of the AI Core"),
                    HasSubstr("has version " + std::to_string(ATC_CORE_API_VERSION))));
}

TEST(Host, RefusesWhatIsNoLibraryOfOperators) {
  LibrarySource other;
  other.symbol = "something_else";
  EXPECT_THAT(text_of(host_of(other)->start()), HasSubstr("does not export atc_custom_op_library"));
  const std::string text = "no shared object";
  Host garbage({{"x.so", Bytes::copy_of(std::as_bytes(std::span(text.data(), text.size())))}}, {});
  EXPECT_THAT(text_of(garbage.start()), AllOf(HasSubstr("E13029"), HasSubstr("x.so")));
  LibrarySource undefined;
  undefined.global = "int nowhere(void);";
  undefined.infer = "return nowhere();";
  EXPECT_THAT(text_of(host_of(undefined)->start()), HasSubstr("nowhere"));
}

TEST(Host, AFileThatIsCutOffIsToldAsSuch) {
  const Folder folder;
  const auto path = LibrarySource().build(folder);
  const auto file = map_file(path);
  ASSERT_TRUE(file.ok());
  for (const std::size_t size : {file->size() - 1, file->size() / 2, std::size_t{100}, std::size_t{20}}) {
    Host host({{"x.so", Bytes::copy_of(file->span().first(size))}}, {});
    EXPECT_THAT(text_of(host.start()),
                AllOf(HasSubstr("E13029"), HasSubstr("x.so cannot be loaded"),
                      HasSubstr("the file is cut off"), HasSubstr("it has " + std::to_string(size))))
        << size;
  }
}

TEST(Host, RefusesManifestsWithoutSense) {
  LibrarySource unnamed;
  unnamed.type = "";
  EXPECT_THAT(text_of(host_of(unnamed)->start()), AllOf(HasSubstr("E13030"), HasSubstr("no type")));
  LibrarySource types;
  types.dtypes = "99";
  EXPECT_THAT(text_of(host_of(types)->start()), AllOf(HasSubstr("Twice"), HasSubstr("element type 99")));
  LibrarySource none;
  none.combinations = "0";
  EXPECT_THAT(text_of(host_of(none)->start()), HasSubstr("no combination"));
}

TEST(Host, PassesOnWhatAnOperatorRefuses) {
  LibrarySource refuses;
  refuses.infer = "snprintf(call->error, call->error_bytes, \"x must have rank %d\", 2); return 1;";
  refuses.tiling = "return 5;";
  const auto host = host_of(refuses);
  EXPECT_THAT(text_of(host->infer(0, 0, call_of({4})).status()),
              AllOf(HasSubstr("E89999"), HasSubstr("infer_shape function of operator Twice"),
                    HasSubstr("x must have rank 2")));
  EXPECT_THAT(text_of(host->tile(0, call_of({4}), "Ascend910B3").status()), HasSubstr("it gives no reason"));
}

TEST(Host, RefusesAnswersBeyondTheInterface) {
  LibrarySource rank;
  rank.infer = "outputs[0].rank = 99; return 0;";
  EXPECT_THAT(text_of(host_of(rank)->infer(0, 0, call_of({4})).status()),
              AllOf(HasSubstr("rank 99"), HasSubstr("at most 8")));
  LibrarySource dim;
  dim.infer = "outputs[0].rank = 1; outputs[0].dims[0] = -7; return 0;";
  EXPECT_THAT(text_of(host_of(dim)->infer(0, 0, call_of({4})).status()), HasSubstr("a dim of -7"));
  LibrarySource data;
  data.tiling = "tiling->data_bytes = 1u << 30; return 0;";
  EXPECT_THAT(text_of(host_of(data)->tile(0, call_of({4}), "Ascend910B3").status()),
              AllOf(HasSubstr("claims 1073741824 bytes of tiling data"), HasSubstr("are possible")));
}

TEST(Host, ACrashIsADiagnosticAndTheNextRequestStartsAnew) {
  Buffers b;
  LibrarySource crashes;
  crashes.kernel = "if (block->block_idx == 2) *(volatile int*)16 = 1;";
  const auto host = host_of(crashes, b.memory);
  const auto tiling = host->tile(0, call_of({1000}), "Ascend910B3");
  ASSERT_TRUE(tiling.ok()) << text_of(tiling.status());
  EXPECT_THAT(
      text_of(host->launch(b.launch(*tiling)).status()),
      AllOf(HasSubstr("E40021"), HasSubstr("crashed in block 2"),
            HasSubstr("running the kernel of Twice (twice.so), at twice.so.c:"), HasSubstr("signal 11"),
            HasSubstr("0x10"), HasSubstr("the address comes of a null pointer")));
  EXPECT_TRUE(host->tile(0, call_of({1000}), "Ascend910B3").ok());
}

TEST(Host, AStackThatOverflowsIsADiagnosticToo) {
  Buffers b;
  LibrarySource deep;
  deep.global =
      "__attribute__((noinline)) static int dig(volatile char* p) { volatile char room[4096]; room[0] = *p; "
      "return dig(room) + room[7]; }";
  deep.kernel = "volatile char c = 1; dig(&c);";
  const auto host = host_of(deep, b.memory);
  const auto tiling = host->tile(0, call_of({1000}), "Ascend910B3");
  const Status status = host->launch(b.launch(*tiling)).status();
  EXPECT_THAT(text_of(status),
              AllOf(HasSubstr("E40021"), HasSubstr("crashed in block "), HasSubstr("its stack overflowed")));
  EXPECT_THAT(status.diagnostic().solution, HasSubstr("recursion without an end"));
}

TEST(Host, AWildAddressIsNoStackThatOverflowed) {
  Buffers b;
  LibrarySource wild;
  wild.kernel = "*(volatile int*)0x123456789000 = 1;";
  const auto host = host_of(wild, b.memory);
  const auto tiling = host->tile(0, call_of({1000}), "Ascend910B3");
  EXPECT_THAT(text_of(host->launch(b.launch(*tiling)).status()),
              AllOf(HasSubstr("signal 11"), HasSubstr("0x123456789000"),
                    HasSubstr("no operand of the kernel is near"), Not(HasSubstr("stack"))));
}

TEST(Host, ADivisionByZeroIsNamed) {
  Buffers b;
  LibrarySource divides;
  divides.kernel = "volatile int zero = 0; ((volatile int*)args[1])[0] = 7 / zero;";
  const auto host = host_of(divides, b.memory);
  const auto tiling = host->tile(0, call_of({1000}), "Ascend910B3");
  EXPECT_THAT(
      text_of(host->launch(b.launch(*tiling)).status()),
      AllOf(HasSubstr("signal 8"), HasSubstr("an integer division by zero"), HasSubstr("twice.so.c:")));
}

TEST(Host, WildWritesDoNotReachOtherTensors) {
  Buffers b;
  b.x()[0] = 7;
  LibrarySource wild;
  wild.kernel = "((float*)args[0])[0] = 1;";
  auto host = host_of(wild, b.memory);
  auto tiling = host->tile(0, call_of({1000}), "Ascend910B3");
  EXPECT_THAT(text_of(host->launch(b.launch(*tiling)).status()),
              AllOf(HasSubstr("signal 11"), HasSubstr("offset 0 of 'x' (4000 bytes), which is an input")));
  EXPECT_EQ(b.x()[0], 7);
  wild.kernel = "((float*)args[1])[1024 + block->block_num] = 1;";
  host = host_of(wild, b.memory);
  tiling = host->tile(0, call_of({1000}), "Ascend910B3");
  EXPECT_THAT(text_of(host->launch(b.launch(*tiling)).status()),
              HasSubstr("108 bytes beyond the end of 'y' (4000 bytes)"));
}

TEST(Host, AnEndlessLoopEndsInTime) {
  Buffers b;
  LibrarySource loops;
  loops.kernel = "if (block->block_idx == 1) for (volatile int i = 0;; ++i) {}";
  const auto host = host_of(loops, b.memory, kShortMs);
  const auto tiling = host->tile(0, call_of({1000}), "Ascend910B3");
  ASSERT_TRUE(tiling.ok()) << text_of(tiling.status());
  EXPECT_THAT(text_of(host->launch(b.launch(*tiling)).status()),
              AllOf(HasSubstr("E40021"), HasSubstr("within 2 s"), HasSubstr("block 1")));
}

TEST(Host, EndlessFunctionsOfTheHostEndInTime) {
  LibrarySource loops;
  loops.tiling = "for (volatile int i = 0;; ++i) {}";
  const auto host = host_of(loops, nullptr, kShortMs);
  EXPECT_THAT(text_of(host->tile(0, call_of({4}), "Ascend910B3").status()),
              AllOf(HasSubstr("E40021"), HasSubstr("within 2 s"), HasSubstr("Twice")));
  EXPECT_TRUE(host->infer(0, 0, call_of({4})).ok()) << "a new child answers";
}

TEST(Host, CrashesOutsideKernelsAreNamed) {
  LibrarySource init;
  init.global = "__attribute__((constructor)) static void boom(void) { abort(); }";
  EXPECT_THAT(text_of(host_of(init)->start()),
              AllOf(HasSubstr("signal 6"), HasSubstr("loading the library twice.so")));
  LibrarySource shape;
  shape.infer = "return *(volatile int*)0;";
  EXPECT_THAT(text_of(host_of(shape)->infer(0, 0, call_of({4})).status()),
              AllOf(HasSubstr("signal 11"), HasSubstr("inferring the shapes of Twice")));
  LibrarySource leaves;
  leaves.tiling = "_Exit(3);";
  EXPECT_THAT(text_of(host_of(leaves)->tile(0, call_of({4}), "Ascend910B3").status()),
              HasSubstr("exit code 3"));
}

TEST(Library, IsKnownByItsHashWhileSomebodyHoldsIt) {
  const Folder folder;
  const auto path = LibrarySource{}.build(folder);
  auto library = Library::open(path);
  ASSERT_TRUE(library.ok()) << text_of(library.status());
  const std::string hash = (*library)->sha256();
  EXPECT_EQ(hash.size(), 64U);
  EXPECT_EQ(find_library(hash), *library);
  EXPECT_EQ((*library)->find("Twice"), 0);
  EXPECT_EQ((*library)->find("Thrice"), -1);
  EXPECT_EQ(*Library::open(path), *library) << "the same bytes are the same library";
  library = Status::error("E10001", "dropped");
  EXPECT_EQ(find_library(hash), nullptr);
  EXPECT_THAT(text_of(Library::open(folder / "no.so").status()), HasSubstr("no.so"));
}

}  // namespace
}  // namespace atc::custom
