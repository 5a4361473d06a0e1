#include "runtime/sample_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/vector_program.h"
#include "runtime/random_input.h"
#include "soc/chip.h"

namespace atc::runtime {
namespace {

constexpr std::int64_t kColumns = 48;

kernels::Operand whole(const plan::Plan& plan, int tensor, bool output) {
  return {tensor, 0, plan.tensors[static_cast<std::size_t>(tensor)].bytes, DType::F32, output};
}

plan::PlanTask vector_task(const plan::Plan& plan, const kernels::VectorProgram& program,
                           std::vector<int> tensors, const std::string& name) {
  const soc::Chip& chip = *soc::find_chip(plan.soc_version).value();
  kernels::VectorSpace space;
  space.dims = plan.tensors[static_cast<std::size_t>(tensors[0])].shape;
  std::vector<kernels::Operand> operands;
  for (const int t : tensors) {
    operands.push_back(whole(plan, t, t == tensors.back()));
    space.strides.push_back({kColumns, 1});
    space.offsets.push_back(0);
  }
  StatusOr<kernels::Task> task = kernels::make_vector_task(program, space, operands, chip);
  EXPECT_TRUE(task.ok()) << task.status().to_string();
  plan::PlanTask result;
  result.name = name;
  result.op_type = name;
  result.kernel = std::move(task).value();
  return result;
}

}  // namespace

plan::PlanTensor plan_tensor(std::string name, plan::Space space, int index, std::int64_t offset, Dims dims) {
  plan::PlanTensor tensor;
  tensor.name = std::move(name);
  tensor.space = space;
  tensor.index = index;
  tensor.offset = offset;
  tensor.bytes = element_count(dims) * 4;
  tensor.dtype = DType::F32;
  tensor.shape = std::move(dims);
  return tensor;
}

SamplePlan::SamplePlan(std::int64_t row_count) : rows(row_count) {
  const Dims dims = {rows, kColumns};
  plan.model_name = "sample";
  plan.soc_version = "Ascend910B3";
  enum { kX, kW, kMiddle, kY, kZ };
  plan.tensors = {
      plan_tensor("x", plan::Space::Input, 0, 0, dims), plan_tensor("w", plan::Space::Weight, 0, 0, dims),
      plan_tensor("middle", plan::Space::Arena, 0, 64, dims),
      plan_tensor("y", plan::Space::Output, 0, 0, dims), plan_tensor("z", plan::Space::Output, 1, 0, dims)};
  plan.inputs = {{"x", kX}};
  plan.outputs = {{"y", kY}, {"z", kZ}};
  plan.weight_bytes = plan.tensors[kW].bytes;
  plan.arena_bytes = 64 + plan.tensors[kMiddle].bytes;

  using kernels::RegType;
  using kernels::VecOp;
  kernels::VectorProgram relu;
  relu.store(1, RegType::F32, relu.emit(VecOp::Relu, RegType::F32, relu.load(0, RegType::F32)));
  kernels::VectorProgram add;
  const int a = add.load(0, RegType::F32), b = add.load(1, RegType::F32);
  add.store(2, RegType::F32, add.emit(VecOp::Add, RegType::F32, a, b));
  plan.tasks.push_back(vector_task(plan, relu, {kX, kMiddle}, "Relu"));
  plan.tasks.push_back(vector_task(plan, add, {kMiddle, kW, kY}, "Add"));

  plan::PlanTask cpu;
  cpu.name = "Double";
  cpu.op_type = "Add";
  cpu.engine = plan::Engine::AiCpu;
  const std::string type = "f32[" + to_string(dims) + "]";
  cpu.air =
      "air 1\ngraph \"g\"(%0 \"y\": " + type + ") -> (%1) {\n  %1 \"z\" = Add@14(%0, %0) : " + type + "\n}\n";
  cpu.inputs = {kY};
  cpu.outputs = {kZ};
  plan.tasks.push_back(cpu);

  input = random_tensor({"x", DType::F32, dims}, 1, 0);
  const Tensor w = random_tensor({"w", DType::F32, dims}, 2, 0);
  weights = w.data;
  for (std::size_t i = 0; i < input.as<float>().size(); ++i) {
    y.push_back(std::max(input.as<float>()[i], 0.0F) + w.as<float>()[i]);
    z.push_back(y.back() + y.back());
  }
}

std::shared_ptr<const PreparedPlan> SamplePlan::prepared() const {
  StatusOr<std::shared_ptr<const PreparedPlan>> result = prepare(plan);
  EXPECT_TRUE(result.ok()) << result.status().to_string();
  return std::move(result).value();
}

}  // namespace atc::runtime
