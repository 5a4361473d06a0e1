// Order, updates in place and reuse of memory change no bit of any result.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "atc/ir/text.h"
#include "passes/pass_manager.h"
#include "passes/pipeline.h"
#include "plan/build.h"
#include "plan/memory_check.h"
#include "runtime/network_maker.h"
#include "runtime/random_input.h"
#include "runtime/session.h"

namespace atc::runtime {
namespace {

struct Compiled {
  plan::Plan plan;
  Bytes weights;

  std::vector<Tensor> run(const std::vector<Tensor>& inputs, aicore::Values values, int threads) const {
    auto prepared = prepare(plan);
    EXPECT_TRUE(prepared.ok()) << prepared.status().to_string();
    auto session = Session::create(*prepared, weights, {threads, values});
    EXPECT_TRUE(session.ok()) << session.status().to_string();
    auto outputs = (*session)->run(inputs);
    EXPECT_TRUE(outputs.ok()) << outputs.status().to_string();
    return outputs.ok() ? std::move(*outputs) : std::vector<Tensor>();
  }

  int updates_in_place() const {
    int count = 0;
    for (const plan::MemoryRecord::Buffer& b : plan.memory.buffers) count += b.in_place_of >= 0 ? 1 : 0;
    return count;
  }
};

Compiled compile(const ir::Graph& graph, const plan::MemoryOptions& memory,
                 passes::Precision precision = passes::Precision::Fp16) {
  const auto copy = graph.clone();
  const soc::Chip& chip = **soc::find_chip("Ascend310P3");
  passes::PassContext context;
  context.options.chip = &chip;
  context.options.precision = precision;
  passes::PassManager manager(passes::pipeline(), {});
  EXPECT_TRUE(manager.run(*copy, context).ok());
  auto built = plan::build_plan(*copy, chip, memory);
  EXPECT_TRUE(built.ok()) << built.status().to_string();
  Bytes weights = built->weight_section();
  EXPECT_TRUE(plan::validate(built->plan).ok()) << plan::validate(built->plan).to_string();
  return {std::move(built->plan), std::move(weights)};
}

void expect_same_bits(const std::vector<Tensor>& actual, const std::vector<Tensor>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    ASSERT_EQ(actual[i].data.size(), expected[i].data.size());
    EXPECT_TRUE(actual[i].data.empty() ||
                std::memcmp(actual[i].data.data(), expected[i].data.data(), actual[i].data.size()) == 0)
        << "output " << i;
  }
}

std::int64_t tensors_bytes(const plan::Plan& plan) {
  std::int64_t sum = 0;
  for (const plan::MemoryRecord::Buffer& b : plan.memory.buffers) sum += b.bytes;
  return sum;
}

TEST(MemoryReuse, RandomNetworksGiveTheSameBits) {
  int updates = 0, moved = 0;
  for (unsigned seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    const RandomNetwork net = random_network(seed);
    const auto precision = seed % 2 == 0 ? passes::Precision::Fp16 : passes::Precision::Origin;
    const Compiled apart = compile(*net.graph, {.reuse = false}, precision);
    const Compiled reused = compile(*net.graph, {}, precision);
    ASSERT_EQ(plan::testing::check_memory(reused.plan, apart.plan), "");
    EXPECT_EQ(apart.plan.arena_bytes, tensors_bytes(apart.plan));
    EXPECT_LE(reused.plan.arena_bytes, apart.plan.arena_bytes);
    const plan::MemoryRecord& memory = reused.plan.memory;
    EXPECT_EQ(memory.peak, reused.plan.arena_bytes);
    EXPECT_GE(memory.peak, memory.bound);
    EXPECT_LE(memory.bound, memory.model_order_bound);
    EXPECT_GE(memory.bound, memory.task_bound);
    updates += reused.updates_in_place();
    moved += memory.moved_tasks > 0 ? 1 : 0;
    for (const aicore::Values values : {aicore::Values::Fast, aicore::Values::Literal})
      if (values == aicore::Values::Fast || seed % 6 == 0)
        expect_same_bits(reused.run(net.inputs, values, 3), apart.run(net.inputs, values, 1));
    if (HasFailure()) return;
  }
  EXPECT_GT(updates, 8);
  EXPECT_GT(moved, 5);
}

constexpr const char* kProduct = R"(air 1
graph "product"(%0 "x": f32[48,64]) -> (%8) {
  %1 "w" = const f32[64,64] splat 0.02
  %2 = Tanh@13(%0) : f32[48,64]
  %3 = MatMul@13(%2, %1) : f32[48,64]
  %4 = Relu@14(%3) : f32[48,64]
  %5 = MatMul@13(%4, %1) : f32[48,64]
  %6 = Add@14(%5, %2) : f32[48,64]
  %7 = MatMul@13(%6, %1) : f32[48,64]
  %8 "y" = Relu@14(%7) : f32[48,64]
})";

// An addition behind a convolution, a matrix product and a depthwise convolution: the sum takes the place of
// what is added, in Fast mode's aliases as by the letter.
TEST(MemoryReuse, EpiloguesUpdateWhatTheyAdd) {
  constexpr const char* kGraphs[] = {
      R"(air 1
graph "conv"(%0 "x": f32[1,32,20,20]) -> (%9) {
  %1 "w" = const f32[32,32,3,3] splat 0.01
  %2 = Relu@14(%0) : f32[1,32,20,20]
  %3 = Conv@11(%2, %1) {pads=[1,1,1,1]} : f32[1,32,20,20]
  %4 = Relu@14(%3) : f32[1,32,20,20]
  %5 = Conv@11(%4, %1) {pads=[1,1,1,1]} : f32[1,32,20,20]
  %6 = Add@14(%5, %2) : f32[1,32,20,20]
  %7 = Relu@14(%6) : f32[1,32,20,20]
  %8 = MaxPool@12(%7) {kernel_shape=[2,2]} : f32[1,32,19,19]
  %9 "y" = Relu@14(%8) : f32[1,32,19,19]
})",
      kProduct,
      R"(air 1
graph "depthwise"(%0 "x": f32[1,32,20,20]) -> (%7) {
  %1 "w" = const f32[32,1,3,3] splat 0.1
  %2 = Tanh@13(%0) : f32[1,32,20,20]
  %3 = Conv@11(%2, %1) {group=32,pads=[1,1,1,1]} : f32[1,32,20,20]
  %4 = Conv@11(%3, %1) {group=32,pads=[1,1,1,1]} : f32[1,32,20,20]
  %5 = Add@14(%4, %2) : f32[1,32,20,20]
  %6 = MaxPool@12(%5) {kernel_shape=[2,2]} : f32[1,32,19,19]
  %7 "y" = Relu@14(%6) : f32[1,32,19,19]
})",
  };
  for (const char* air : kGraphs) {
    auto graph = ir::parse(air);
    ASSERT_TRUE(graph.ok()) << graph.status().to_string();
    SCOPED_TRACE((*graph)->name);
    for (const auto precision : {passes::Precision::Fp16, passes::Precision::Origin}) {
      const Compiled apart = compile(**graph, {.reuse = false}, precision);
      const Compiled reused = compile(**graph, {}, precision);
      EXPECT_GE(reused.updates_in_place(), 1);
      EXPECT_EQ(plan::testing::check_memory(reused.plan, apart.plan), "");
      const ir::TensorType& x = (*graph)->inputs()[0]->type;
      const std::vector<Tensor> inputs = {random_tensor({"x", DType::F32, x.dims()}, 1, 0)};
      for (const aicore::Values values : {aicore::Values::Fast, aicore::Values::Literal}) {
        SCOPED_TRACE(values == aicore::Values::Fast ? "fast" : "literal");
        expect_same_bits(reused.run(inputs, values, 4), apart.run(inputs, values, 1));
      }
    }
  }
}

// What is wrong shows: the check is not one that anything passes.
TEST(MemoryReuse, TheCheckFindsWhatIsOverwritten) {
  const RandomNetwork net = random_network(3);
  const Compiled apart = compile(*net.graph, {.reuse = false});
  Compiled broken = compile(*net.graph, {});
  ASSERT_EQ(plan::testing::check_memory(broken.plan, apart.plan), "");
  for (plan::PlanTensor& t : broken.plan.tensors)
    if (t.space == plan::Space::Arena) t.offset = 0;
  EXPECT_NE(plan::testing::check_memory(broken.plan, apart.plan), "");
  Compiled swapped = compile(*net.graph, {.reuse = false});
  std::reverse(swapped.plan.tasks.begin(), swapped.plan.tasks.end());
  EXPECT_NE(plan::testing::check_memory(swapped.plan, apart.plan), "");
}

TEST(MemoryOptions, NamedTasksShareNothing) {
  const auto graph = ir::parse(kProduct);
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  const Compiled reused = compile(**graph, {});
  std::string type;
  for (const plan::PlanTask& task : reused.plan.tasks)
    for (const kernels::Operand& o : task.kernel.operands)
      if (o.output && reused.plan.tensors[static_cast<std::size_t>(o.tensor)].space == plan::Space::Arena)
        type = task.op_type;
  ASSERT_FALSE(type.empty());
  const Compiled apart = compile(**graph, {.no_reuse = {type, "NoSuchThing"}});
  EXPECT_EQ(apart.plan.memory.unknown, (std::vector<std::string>{"NoSuchThing"}));
  EXPECT_EQ(plan::testing::check_memory(apart.plan, compile(**graph, {.reuse = false}).plan), "");
  int found = 0;
  for (const plan::PlanTask& task : apart.plan.tasks) {
    if (task.op_type != type) continue;
    for (const kernels::Operand& o : task.kernel.operands) {
      const plan::PlanTensor& t = apart.plan.tensors[static_cast<std::size_t>(o.tensor)];
      if (!o.output || t.space != plan::Space::Arena) continue;
      ++found;
      const auto& buffers = apart.plan.memory.buffers;
      EXPECT_EQ(std::count_if(buffers.begin(), buffers.end(),
                              [&](const plan::MemoryRecord::Buffer& b) {
                                return b.offset < t.offset + t.bytes && t.offset < b.offset + b.bytes;
                              }),
                1)
          << t.name;
    }
  }
  EXPECT_GT(found, 0);
  const Compiled renamed =
      compile(**graph, {.no_reuse = {"Other"}, .types = {{apart.plan.tasks[0].name, "Other"}}});
  EXPECT_TRUE(renamed.plan.memory.unknown.empty());
}

TEST(MemoryOptions, TypesOfWhatIsFusedCount) {
  const auto graph = ir::parse(
      "air 1\ngraph \"g\"(%0 \"x\": f32[4,64]) -> (%2) {\n"
      "  %1 = Tanh@13(%0) : f32[4,64]\n"
      "  %2 \"y\" = Exp@13(%1) : f32[4,64]\n"
      "}\n");
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  const Compiled c = compile(**graph, {.no_reuse = {"Tanh", "Exp", "Tanh+Exp", "Ta"}});
  ASSERT_EQ(c.plan.tasks.size(), 1U);
  EXPECT_EQ(c.plan.tasks[0].op_type, "Tanh+Exp");
  EXPECT_EQ(c.plan.memory.unknown, (std::vector<std::string>{"Tanh+Exp", "Ta"}));
}

}  // namespace
}  // namespace atc::runtime
