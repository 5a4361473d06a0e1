#include "runtime/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "runtime/random_input.h"
#include "runtime/sample_plan.h"

namespace atc::runtime {
namespace {

using testing::HasSubstr;

std::unique_ptr<Session> open(const SamplePlan& sample, SessionOptions options = {}) {
  StatusOr<std::unique_ptr<Session>> session = Session::create(sample.prepared(), sample.weights, options);
  EXPECT_TRUE(session.ok()) << session.status().to_string();
  return std::move(session).value();
}

std::vector<Tensor> run(Session& session, const std::vector<Tensor>& inputs) {
  StatusOr<std::vector<Tensor>> outputs = session.run(inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.status().to_string();
  return outputs.ok() ? std::move(outputs).value() : std::vector<Tensor>();
}

std::vector<float> floats(const Tensor& t) { return {t.as<float>().begin(), t.as<float>().end()}; }

TEST(Session, RunsBothEngines) {
  const SamplePlan sample(64);
  const std::vector<Tensor> outputs = run(*open(sample), {sample.input});
  ASSERT_EQ(outputs.size(), 2U);
  EXPECT_EQ(outputs[0].shape, (Dims{64, 48}));
  EXPECT_EQ(floats(outputs[0]), sample.y);
  EXPECT_EQ(floats(outputs[1]), sample.z);
}

TEST(Session, SameBitsAtAnyThreadCountAndInLiteralMode) {
  const SamplePlan sample(3000);  // enough work to wake the workers
  for (const int threads : {1, 2, 5})
    for (const aicore::Values values : {aicore::Values::Fast, aicore::Values::Literal}) {
      const std::unique_ptr<Session> session = open(sample, {threads, values});
      EXPECT_EQ(session->threads(), threads);
      for (int repeat = 0; repeat < 3; ++repeat)
        EXPECT_EQ(floats(run(*session, {sample.input})[0]), sample.y) << threads;
    }
}

TEST(Session, OutputsOutliveLaterRunsAndMemoryIsReusedAfterThem) {
  const SamplePlan sample(64);
  const std::unique_ptr<Session> session = open(sample);
  std::vector<Tensor> first = run(*session, {sample.input});
  const Tensor other = random_tensor({"x", DType::F32, {64, 48}}, 9, 0);
  std::vector<Tensor> second = run(*session, {other});
  EXPECT_EQ(floats(first[0]), sample.y);
  EXPECT_NE(floats(second[0]), sample.y);
  const std::byte* memory = second[0].data.data();
  second.clear();
  EXPECT_EQ(run(*session, {sample.input})[0].data.data(), memory);
  EXPECT_EQ(floats(first[0]), sample.y);
}

TEST(Session, TakesInputsThatAreNotAligned) {
  const SamplePlan sample(64);
  const std::unique_ptr<Session> session = open(sample);
  MutableBytes block(sample.input.data.size() + 4);
  std::memcpy(block.data() + 4, sample.input.data.data(), sample.input.data.size());
  Tensor shifted = sample.input;
  shifted.data = std::move(block).freeze().subspan(4, sample.input.data.size());
  EXPECT_EQ(floats(run(*session, {shifted})[0]), sample.y);
}

TEST(Session, RefusesWrongInputsByName) {
  const SamplePlan sample(64);
  const std::unique_ptr<Session> session = open(sample);
  const auto message = [&](const std::vector<Tensor>& inputs) {
    const StatusOr<std::vector<Tensor>> outputs = session->run(inputs);
    EXPECT_FALSE(outputs.ok());
    if (outputs.ok()) return std::string();
    EXPECT_EQ(outputs.status().diagnostic().code, "E13025");
    return outputs.status().to_string();
  };
  EXPECT_THAT(message({}), HasSubstr("0 inputs, it takes 1: input 'x' (FLOAT[64,48])"));
  EXPECT_THAT(message({sample.input, sample.input}), HasSubstr("2 inputs"));
  EXPECT_THAT(message({random_tensor({"", DType::F32, {48, 64}}, 0, 0)}),
              HasSubstr("'x' (FLOAT[64,48]) was given FLOAT[48,64]"));
  EXPECT_THAT(message({random_tensor({"", DType::I32, {64, 48}}, 0, 0)}), HasSubstr("INT32[64,48]"));
  Tensor torn = sample.input;
  torn.data = torn.data.subspan(0, 100);
  EXPECT_THAT(message({torn}), HasSubstr("100 bytes"));
  // The session is still good.
  EXPECT_EQ(floats(run(*session, {sample.input})[0]), sample.y);
}

TEST(Session, InputsWeightsAndActivationsCanBeOutputs) {
  SamplePlan sample(64);
  sample.plan.outputs = {{"x", 0}, {"w", 1}, {"middle", 2}, {"y", 3}, {"y again", 3}};
  sample.plan.tasks.pop_back();  // its output has no port any more
  sample.plan.tensors.pop_back();
  const std::vector<Tensor> outputs = run(*open(sample), {sample.input});
  ASSERT_EQ(outputs.size(), 5U);
  EXPECT_EQ(floats(outputs[0]), floats(sample.input));
  EXPECT_EQ(std::memcmp(outputs[1].data.data(), sample.weights.data(), sample.weights.size()), 0);
  EXPECT_EQ(outputs[2].as<float>()[0], std::max(sample.input.as<float>()[0], 0.0F));
  EXPECT_EQ(floats(outputs[3]), sample.y);
  EXPECT_EQ(floats(outputs[4]), sample.y);
}

TEST(Session, StringsPassThroughTheAiCpu) {
  plan::Plan plan;
  plan.soc_version = "Ascend910B3";
  plan.tensors = {plan_tensor("s", plan::Space::Input, 0, 0, {2}),
                  plan_tensor("t", plan::Space::Output, 0, 0, {2})};
  for (plan::PlanTensor& tensor : plan.tensors) {
    tensor.dtype = DType::String;
    tensor.bytes = 0;
  }
  plan.inputs = {{"s", 0}};
  plan.outputs = {{"t", 1}};
  plan::PlanTask task;
  task.name = "copy";
  task.op_type = "Identity";
  task.engine = plan::Engine::AiCpu;
  task.air = "air 1\ngraph \"g\"(%0: string[2]) -> (%1) {\n  %1 = Identity@16(%0) : string[2]\n}\n";
  task.inputs = {0};
  task.outputs = {1};
  plan.tasks.push_back(task);
  StatusOr<std::shared_ptr<const PreparedPlan>> prepared = prepare(plan);
  ASSERT_TRUE(prepared.ok()) << prepared.status().to_string();
  StatusOr<std::unique_ptr<Session>> session = Session::create(std::move(prepared).value(), {}, {});
  ASSERT_TRUE(session.ok());
  Tensor strings;
  strings.dtype = DType::String;
  strings.shape = {2};
  strings.strings = {"one", "two"};
  EXPECT_EQ(run(**session, {strings})[0].strings, strings.strings);
}

TEST(Session, SaysWhenAShapeDependsOnTheData) {
  SamplePlan sample(64);
  plan::PlanTask& task = sample.plan.tasks.back();
  task.op_type = "Unique";
  task.air =
      "air 1\ngraph \"g\"(%0: f32[64,48]) -> (%1) {\n"
      "  %2 = const i64[2] {32,96}\n"
      "  %1 = Reshape@13(%0, %2) : f32[64,48]\n}\n";
  const StatusOr<std::vector<Tensor>> outputs = open(sample)->run({sample.input});
  ASSERT_FALSE(outputs.ok());
  EXPECT_EQ(outputs.status().diagnostic().code, "E10055");
  EXPECT_THAT(outputs.status().to_string(), HasSubstr("f32[32,96]"));
  EXPECT_THAT(outputs.status().to_string(), HasSubstr("f32[64,48]"));
  EXPECT_THAT(outputs.status().diagnostic().context, testing::Contains(HasSubstr("Double")));
}

TEST(Session, ABrokenPlanIsAnInternalError) {
  SamplePlan sample(64);
  sample.plan.tensors[2].bytes -= 4;  // shorter than the operand that is written there
  const StatusOr<std::unique_ptr<Session>> session = Session::create(sample.prepared(), sample.weights, {});
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.status().diagnostic().code, "E19999");
  EXPECT_THAT(session.status().to_string(), HasSubstr("middle"));

  SamplePlan read_only(64);
  read_only.plan.tasks[1].kernel.operands[1].output = true;  // a weight
  EXPECT_EQ(Session::create(read_only.prepared(), read_only.weights, {}).status().diagnostic().code,
            "E19999");

  SamplePlan outside(64);
  outside.plan.arena_bytes -= 64;
  EXPECT_EQ(Session::create(outside.prepared(), outside.weights, {}).status().diagnostic().code, "E19999");
}

TEST(Session, RefusesMissingWeights) {
  const SamplePlan sample(64);
  const auto session = Session::create(sample.prepared(), sample.weights.subspan(0, 64), {});
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.status().diagnostic().code, "E10041");
}

// The results come from the tiles of the plan: a tile that is left out leaves its part of the output as
// it was.
TEST(Session, OutputBytesComeFromTiles) {
  SamplePlan sample(3000);
  plan::PlanTask& add = sample.plan.tasks[1];
  ASSERT_GT(add.kernel.blocks(), 1);
  const std::int64_t tiles = add.kernel.block_tiles.back();
  add.kernel.block_tiles = {0, tiles - 1};
  const std::vector<float> got = floats(run(*open(sample), {sample.input})[0]);
  EXPECT_EQ(got.front(), sample.y.front());
  EXPECT_NE(got.back(), sample.y.back());
  EXPECT_EQ(got.back(), 0);  // fresh memory
}

}  // namespace
}  // namespace atc::runtime
