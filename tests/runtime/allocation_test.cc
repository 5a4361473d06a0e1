// Runs of a model after the first ones allocate nothing: all memory is kept from run to run.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "passes/pass_manager.h"
#include "passes/pipeline.h"
#include "plan/build.h"
#include "runtime/network_maker.h"
#include "runtime/session.h"
#include "soc/chip.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ATC_COUNTS_ALLOCATIONS 0
#else
#define ATC_COUNTS_ALLOCATIONS 1
#endif

namespace {
std::atomic<long> allocations = 0;
}

#if ATC_COUNTS_ALLOCATIONS
// This whole program's; aligned allocations are not counted, tensors' storage is none of them.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace atc::runtime {
namespace {

/// Allocations of the third run; -1 when the network has tasks of other engines than the AI Core.
long allocations_of(const RandomNetwork& network, const char* soc) {
  const soc::Chip& chip = **soc::find_chip(soc);
  passes::PassContext context;
  context.options.chip = &chip;
  context.options.precision = passes::Precision::Fp16;
  EXPECT_TRUE(passes::PassManager(passes::pipeline(), {}).run(*network.graph, context).ok());
  auto built = plan::build_plan(*network.graph, chip, {});
  EXPECT_TRUE(built.ok()) << built.status().to_string();
  for (const plan::PlanTask& task : built->plan.tasks)
    if (task.engine != plan::Engine::AiCore) return -1;
  auto prepared = prepare(built->plan);
  EXPECT_TRUE(prepared.ok()) << prepared.status().to_string();
  auto session = Session::create(*prepared, built->weight_section(), {1, aicore::Values::Fast});
  EXPECT_TRUE(session.ok()) << session.status().to_string();
  std::vector<Tensor> outputs;
  long before = 0;
  for (int run = 0; run < 3; ++run) {
    before = allocations;
    const Status status = (*session)->run(network.inputs, outputs);
    EXPECT_TRUE(status.ok()) << status.to_string();
  }
  return allocations - before;
}

TEST(Allocation, LaterRunsAllocateNothing) {
  if (!ATC_COUNTS_ALLOCATIONS) GTEST_SKIP() << "a sanitizer has operator new";
  int counted = 0;
  for (unsigned seed = 1; seed <= 12; ++seed)
    for (const auto make : {random_image_network, random_matrix_network, pattern_network})
      for (const char* soc : {"Ascend910B3", "Ascend310P3"}) {
        const long n = allocations_of(make(seed), soc);
        if (n < 0) continue;
        ++counted;
        EXPECT_EQ(n, 0) << "seed " << seed << " on " << soc;
      }
  EXPECT_GT(counted, 20);
  EXPECT_GT(allocations, 1000) << "nothing is counted";
}

}  // namespace
}  // namespace atc::runtime
