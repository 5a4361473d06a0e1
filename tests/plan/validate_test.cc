#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "kernels/vector_program.h"
#include "plan/plan.h"
#include "soc/chip.h"

namespace atc::plan {
namespace {

using ::testing::HasSubstr;

constexpr char kSoc[] = "Ascend910B3";

kernels::Operand operand(int tensor, bool output) { return {tensor, 0, 32, DType::F32, output}; }

/// Doubles tensor `in` into tensor `out`, both f32[8].
PlanTask double_task(int in, int out) {
  kernels::VectorProgram program;
  const auto f32 = kernels::RegType::F32;
  const int x = program.load(0, f32);
  program.store(1, f32, program.emit(kernels::VecOp::Add, f32, x, x));
  kernels::VectorSpace space;
  space.dims = {8};
  space.strides = {{1}, {1}};
  space.offsets = {0, 0};
  const auto chip = soc::find_chip(kSoc);
  auto task = kernels::make_vector_task(program, space, {operand(in, false), operand(out, true)}, **chip);
  EXPECT_TRUE(task.ok()) << task.status().to_string();
  PlanTask result;
  result.name = "double";
  result.op_type = "Add";
  result.kernel = std::move(*task);
  return result;
}

/// input -> (x2, AI Core) -> arena -> (+ weight, AI CPU) -> output; all f32[8].
Plan good_plan() {
  const auto tensor = [](const char* name, Space space, std::int64_t offset) {
    return PlanTensor{name, space, 0, offset, 32, DType::F32, {8}, ir::Format::ND};
  };
  Plan p;
  p.soc_version = kSoc;
  p.arena_bytes = 96;
  p.weight_bytes = 96;
  p.tensors = {tensor("in", Space::Input, 0), tensor("middle", Space::Arena, 64),
               tensor("w", Space::Weight, 64), tensor("out", Space::Output, 0)};
  p.inputs = {{"in", 0}};
  p.outputs = {{"out", 3}};
  PlanTask add;
  add.name = "add";
  add.op_type = "Add";
  add.engine = Engine::AiCpu;
  add.inputs = {1, 2};
  add.outputs = {3};
  add.air = "air 1\ngraph \"add\"(%0: f32[8], %1: f32[8]) -> (%2) {\n  %2 = Add@14(%0, %1) : f32[8]\n}\n";
  p.tasks = {double_task(0, 1), add};
  return p;
}

/// The reason for which a changed plan is refused.
std::string reason(void (*change)(Plan&)) {
  Plan plan = good_plan();
  change(plan);
  const Status status = validate(plan);
  if (status.ok()) return "(accepted)";
  EXPECT_EQ(status.diagnostic().code, "E10041");
  return status.diagnostic().message;
}

TEST(Validate, AcceptsASoundPlan) {
  const Status status = validate(good_plan());
  EXPECT_TRUE(status.ok()) << status.to_string();
}

TEST(Validate, RefusesAnUnknownChip) {
  EXPECT_THAT(reason([](Plan& p) { p.soc_version = "Ascend9"; }), HasSubstr("soc_version 'Ascend9'"));
}

TEST(Validate, RefusesNegativeSizes) {
  EXPECT_THAT(reason([](Plan& p) { p.arena_bytes = -1; }), HasSubstr("negative"));
  EXPECT_THAT(reason([](Plan& p) { p.weight_bytes = -1; }), HasSubstr("negative"));
  EXPECT_THAT(reason([](Plan& p) { p.tasks[0].kernel.macs = -1; }), HasSubstr("negative"));
}

TEST(Validate, RefusesPortsThatAreNotBuffers) {
  EXPECT_THAT(reason([](Plan& p) { p.inputs[0].tensor = 4; }), HasSubstr("which does not exist"));
  EXPECT_THAT(reason([](Plan& p) { p.inputs[0].tensor = -1; }), HasSubstr("which does not exist"));
  EXPECT_THAT(reason([](Plan& p) { p.outputs[0].tensor = 1; }), HasSubstr("caller's buffer"));
  EXPECT_THAT(reason([](Plan& p) { p.tensors[0].index = 1; }), HasSubstr("caller's buffer"));
  EXPECT_THAT(reason([](Plan& p) { p.outputs.push_back(p.outputs[0]); }), HasSubstr("caller's buffer"));
}

TEST(Validate, RefusesTensorsBeyondTheirBuffer) {
  EXPECT_THAT(reason([](Plan& p) { p.arena_bytes = 95; }), HasSubstr("buffer of 95"));
  EXPECT_THAT(reason([](Plan& p) { p.weight_bytes = 95; }), HasSubstr("buffer of 95"));
  EXPECT_THAT(reason([](Plan& p) { p.tensors[1].offset = -64; }), HasSubstr("offset -64"));
  EXPECT_THAT(reason([](Plan& p) { p.tensors[1].offset = INT64_MAX - 3; }), HasSubstr("takes 32 bytes"));
  EXPECT_THAT(reason([](Plan& p) { p.tensors[1].bytes = INT64_MAX; }), HasSubstr("buffer of 96"));
  EXPECT_THAT(reason([](Plan& p) { p.tensors[1].offset = 62; }), HasSubstr("not aligned"));
}

/// The task doubles f32[2,4] whose two items lie 32 bytes apart in the arena; nothing is between them.
Plan plan_of_items() {
  Plan p = good_plan();
  PlanTensor& middle = p.tensors[1];
  middle.offset = 0;
  middle.bytes = 48;
  middle.shape = {2, 4};
  middle.items = 2;
  middle.item_stride = 32;
  kernels::VectorProgram program;
  const auto f32 = kernels::RegType::F32;
  program.store(1, f32, program.load(0, f32));
  kernels::VectorSpace space;
  space.dims = {2, 4};
  space.strides = {{4, 1}, {8, 1}};
  space.offsets = {0, 0};
  kernels::Operand out{1, 0, 48, DType::F32, true};
  p.tasks[0].kernel =
      *kernels::make_vector_task(program, space, {operand(0, false), out}, **soc::find_chip(kSoc));
  p.tensors.push_back({"whole", Space::Arena, 0, 0, 32, DType::F32, {8}, ir::Format::ND});
  p.tasks[1].inputs = {4, 2};
  return p;
}

TEST(Validate, StretchesOfAPartAreWrittenOneByOne) {
  Plan p = plan_of_items();
  Status status = validate(p);
  ASSERT_FALSE(status.ok());  // bytes 16 to 32 are another part's
  EXPECT_THAT(status.diagnostic().message, HasSubstr("before it is written"));
  p.tensors[4] = {"item", Space::Arena, 0, 32, 16, DType::F32, {4}, ir::Format::ND};
  p.tasks[1].inputs = {4, 4};
  p.tasks[1].air =
      "air 1\ngraph \"join\"(%0: f32[4], %1: f32[4]) -> (%2) {\n"
      "  %2 = Concat@13(%0, %1) {axis=0} : f32[8]\n}\n";
  status = validate(p);
  EXPECT_TRUE(status.ok()) << status.to_string();
}

TEST(Validate, RefusesStretchesThatDoNotFit) {
  const std::pair<std::int64_t, std::int64_t> wrong[] = {
      {0, 32}, {-1, 32}, {1 << 20, 0}, {2, 0}, {2, -32}, {2, 20}, {2, 48}, {2, 30}, {2, INT64_MAX}};
  for (const auto& [items, stride] : wrong) {
    Plan p = plan_of_items();
    p.tensors[1].items = items;
    p.tensors[1].item_stride = stride;
    EXPECT_THAT(validate(p).to_string(), HasSubstr("stretches")) << items << " " << stride;
  }
}

TEST(Validate, RefusesShapesThatDoNotFitTheirBytes) {
  EXPECT_THAT(reason([](Plan& p) { p.tensors[1].shape = {9}; }), HasSubstr("needs 36"));
  EXPECT_THAT(reason([](Plan& p) { p.tensors[1].bytes = -32; }), HasSubstr("needs 32"));
  EXPECT_THAT(reason([](Plan& p) { p.tensors[1].shape = {-1}; }), HasSubstr("not legal"));
  EXPECT_THAT(reason([](Plan& p) { p.tensors[1].shape = {INT64_MAX, INT64_MAX}; }), HasSubstr("not legal"));
  EXPECT_THAT(reason([](Plan& p) {
                p.tensors[1].shape = {0, INT64_MAX, INT64_MAX};
              }),
              HasSubstr("not legal"));
  EXPECT_THAT(reason([](Plan& p) { p.tensors[1].format = ir::Format::NC1HWC0; }), HasSubstr("not legal"));
  EXPECT_THAT(reason([](Plan& p) {
                p.tensors[1].shape = {1, 8, 1};
                p.tensors[1].format = ir::Format::NC1HWC0;
              }),
              HasSubstr("needs 64"));
  EXPECT_THAT(reason([](Plan& p) { p.tensors[1].dtype = DType::Undefined; }), HasSubstr("no element type"));
}

TEST(Validate, RefusesOperandsBeyondTheirTensor) {
  EXPECT_THAT(reason([](Plan& p) { p.tasks[0].kernel.operands[0].tensor = 9; }), HasSubstr("does not exist"));
  EXPECT_THAT(reason([](Plan& p) { p.tasks[0].kernel.operands[0].bytes = 33; }), HasSubstr("takes 33 bytes"));
  EXPECT_THAT(reason([](Plan& p) { p.tasks[0].kernel.operands[0].offset = 4; }), HasSubstr("from offset 4"));
  EXPECT_THAT(reason([](Plan& p) { p.tasks[0].kernel.operands[0].offset = -4; }),
              HasSubstr("from offset -4"));
  EXPECT_THAT(reason([](Plan& p) { p.tasks[0].kernel.operands[0].bytes = INT64_MIN; }),
              HasSubstr("takes -9223"));
}

TEST(Validate, RefusesWritesToReadOnlyMemory) {
  EXPECT_THAT(reason([](Plan& p) { p.tasks[0].kernel.operands[1].tensor = 2; }), HasSubstr("read-only"));
  EXPECT_THAT(reason([](Plan& p) { p.tasks[1].outputs = {0}; }), HasSubstr("read-only"));
}

TEST(Validate, RefusesReadsBeforeWrites) {
  EXPECT_THAT(reason([](Plan& p) { std::swap(p.tasks[0], p.tasks[1]); }), HasSubstr("before it is written"));
  EXPECT_THAT(reason([](Plan& p) { p.tasks.pop_back(); }), HasSubstr("no task writes all of output 0 'out'"));
  // Through another tensor over the same bytes the data is there.
  EXPECT_EQ(reason([](Plan& p) {
              p.tensors.push_back(p.tensors[1]);
              p.tasks[1].inputs[0] = 4;
            }),
            "(accepted)");
}

TEST(Validate, RefusesKernelsAndBlocksThatCannotRun) {
  EXPECT_THAT(reason([](Plan& p) { p.tasks[0].kernel.kernel = "nothing"; }), HasSubstr("kernel 'nothing'"));
  EXPECT_THAT(reason([](Plan& p) { p.tasks[0].kernel.params.push_back(1); }), HasSubstr("not legal"));
  EXPECT_THAT(reason([](Plan& p) { p.tasks[0].kernel.params.clear(); }), HasSubstr("not legal"));
  EXPECT_THAT(reason([](Plan& p) { p.tasks[0].kernel.block_tiles.clear(); }), HasSubstr("0 bounds"));
  EXPECT_THAT(reason([](Plan& p) {
                p.tasks[0].kernel.block_tiles = {0, 2, 1};
              }),
              HasSubstr("follow each other"));
  EXPECT_THAT(reason([](Plan& p) { p.tasks[0].kernel.block_tiles.assign(70000, 0); }),
              HasSubstr("70000 bounds"));
}

TEST(Validate, ChecksTheOperatorOfAnAiCpuTask) {
  EXPECT_THAT(reason([](Plan& p) { p.tasks[1].air = "nonsense"; }), HasSubstr("cannot be read"));
  EXPECT_THAT(reason([](Plan& p) { p.tasks[1].inputs.pop_back(); }), HasSubstr("binds 1 inputs"));
  EXPECT_THAT(reason([](Plan& p) { p.tasks[1].inputs[0] = -1; }), HasSubstr("does not exist"));
  EXPECT_THAT(reason([](Plan& p) { p.tensors[2].shape = {2, 4}; }), HasSubstr("tensor 'w' is f32[2,4]"));
  EXPECT_THAT(reason([](Plan& p) { p.tensors[2].dtype = DType::I32; }), HasSubstr("tensor 'w' is i32[8]"));
  EXPECT_THAT(reason([](Plan& p) {
                p.tasks[1].air =
                    "air 1\ngraph \"a\"(%0: f32[8], %1: f32[8]) -> (%2) {\n"
                    "  %2 = Unheard(%0, %1) : f32[8]\n}\n";
              }),
              HasSubstr("does not know"));
}

/// input -> region -> a tensor whose size depends on the data, which is the output.
Plan region_plan() {
  Plan p = good_plan();
  p.tensors[3] = {"out", Space::Held, 0, 0, 0, DType::I64, {1, -1}, ir::Format::ND};
  PlanTask region;
  region.name = "find";
  region.op_type = "Region";
  region.engine = Engine::Region;
  region.inputs = {0};
  region.outputs = {3};
  region.air = "air 1\ngraph \"r\"(%0: f32[8]) -> (%1) {\n  %1 = NonZero@13(%0) : i64[1,n]\n}\n";
  p.tasks = {region};
  return p;
}

std::string region_reason(const std::function<void(Plan&)>& edit) {
  Plan p = region_plan();
  edit(p);
  const Status s = validate(p);
  EXPECT_EQ(s.ok() ? "" : s.diagnostic().code, "E10041");
  return s.ok() ? "" : s.diagnostic().message;
}

TEST(Validate, AcceptsARegion) {
  const Status s = validate(region_plan());
  EXPECT_TRUE(s.ok()) << s.to_string();
}

TEST(Validate, ChecksRegionsAndWhatTheyHold) {
  EXPECT_THAT(region_reason([](Plan& p) { p.tensors[3].bytes = 8; }), HasSubstr("depends on data"));
  EXPECT_THAT(region_reason([](Plan& p) { p.tensors[3].shape = {1, -2}; }), HasSubstr("not legal"));
  EXPECT_THAT(region_reason([](Plan& p) { p.tensors[3].dtype = DType::F32; }), HasSubstr("is f32[1,?]"));
  EXPECT_THAT(region_reason([](Plan& p) { p.tasks.clear(); }), HasSubstr("before it is written"));
  EXPECT_THAT(region_reason([](Plan& p) { p.tasks[0].engine = Engine::AiCpu; }),
              HasSubstr("only regions use"));
  EXPECT_THAT(region_reason([](Plan& p) { p.tasks[0].inputs = {7}; }), HasSubstr("does not exist"));
  EXPECT_THAT(region_reason([](Plan& p) { p.tasks[0].air = "air 1"; }), HasSubstr("cannot be read"));
  EXPECT_THAT(region_reason([](Plan& p) { p.tasks.push_back(double_task(0, 3)); }),
              HasSubstr("only regions use"));
}

}  // namespace
}  // namespace atc::plan
