#include "sample_model.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <numeric>
#include <sstream>

#include "atc/base/file.h"
#include "atc/base/math.h"
#include "kernels/vector_program.h"
#include "om/writer.h"
#include "soc/chip.h"

namespace atc::om::test {
namespace {

constexpr char kSoc[] = "Ascend910B3";

Tensor ramp(DType dtype, Dims shape) {
  std::vector<double> values(static_cast<std::size_t>(element_count(shape)));
  std::iota(values.begin(), values.end(), 1.0);
  return from_doubles(dtype, std::move(shape), values);
}

plan::PlanTensor plan_tensor(std::string name, plan::Space space, int index, std::int64_t offset, Dims shape,
                             DType dtype = DType::F32) {
  plan::PlanTensor t;
  t.name = std::move(name);
  t.space = space;
  t.index = index;
  t.offset = offset;
  t.bytes = static_cast<std::int64_t>(byte_size(dtype, static_cast<std::size_t>(element_count(shape))));
  t.dtype = dtype;
  t.shape = std::move(shape);
  return t;
}

kernels::Operand operand(const plan::Plan& plan, int tensor, bool output) {
  const plan::PlanTensor& t = plan.tensors[static_cast<std::size_t>(tensor)];
  return {tensor, 0, t.bytes, t.dtype, output};
}

/// relu(a + b) over [2,4], b broadcast.
plan::PlanTask add_relu_task(const plan::Plan& plan, int a, int b, int out) {
  kernels::VectorProgram program;
  const auto f32 = kernels::RegType::F32;
  const int sum = program.emit(kernels::VecOp::Add, f32, program.load(0, f32), program.load(1, f32));
  program.store(2, f32, program.emit(kernels::VecOp::Max, f32, sum, program.constant(f32, 0)));
  kernels::VectorSpace space;
  space.dims = {2, 4};
  space.strides = {{4, 1}, {0, 1}, {4, 1}};
  space.offsets = {0, 0, 0};
  const auto chip = soc::find_chip(kSoc);
  auto task = kernels::make_vector_task(
      program, space, {operand(plan, a, false), operand(plan, b, false), operand(plan, out, true)}, **chip);
  EXPECT_TRUE(task.ok()) << task.status().to_string();
  plan::PlanTask result;
  result.name = "add";
  result.op_type = "Add";
  result.sources = {"Add_1", "Relu_2"};
  result.kernel = std::move(*task);
  return result;
}

}  // namespace

SampleModel sample_model(std::int64_t gap) {
  SampleModel m;
  m.graph = std::make_unique<ir::Graph>("sample");
  ir::Graph& g = *m.graph;
  ir::Value* x = g.add_input("x", ir::tensor_type(DType::F32, {2, 8}));
  ir::Value* w = g.add_constant("w", ramp(DType::F32, {8, 4}));
  ir::Value* b = g.add_constant("b", ramp(DType::F32, {4}));
  ir::Node* matmul = g.add_node("MatMul", {x, w}, 1, nullptr, "", 13);
  matmul->name = "matmul";
  matmul->sources = {"MatMul_0"};
  ir::Node* add = g.add_node("Add", {matmul->output(0), b}, 1, nullptr, "", 14);
  add->name = "add";
  add->sources = {"Add_1", "Relu_2"};
  for (ir::Node* n : {matmul, add}) n->output(0)->type = ir::tensor_type(DType::F32, {2, 4});
  matmul->output(0)->set_name("product");
  add->output(0)->set_name("y");
  g.add_output(add->output(0));

  plan::Plan& p = m.plan;
  const std::int64_t b_offset = round_up(128 + gap, 64);
  p.model_name = "sample";
  p.soc_version = kSoc;
  p.arena_bytes = 64;
  p.weight_bytes = b_offset + 16;
  p.info = {{"atc_cmdline", "atc --model=sample.onnx --framework=5"}, {"atc_version", "0.1.0"}};
  p.tensors = {plan_tensor("x", plan::Space::Input, 0, 0, {2, 8}),
               plan_tensor("w", plan::Space::Weight, 0, 0, {8, 4}),
               plan_tensor("b", plan::Space::Weight, 0, b_offset, {4}),
               plan_tensor("product", plan::Space::Arena, 0, 0, {2, 4}),
               plan_tensor("y", plan::Space::Output, 0, 0, {2, 4})};
  p.inputs = {{"x", 0}};
  p.outputs = {{"y", 4}};
  plan::PlanTask product;
  product.name = "matmul";
  product.op_type = "MatMul";
  product.sources = {"MatMul_0"};
  product.engine = plan::Engine::AiCpu;
  product.kernel.macs = 64;
  product.air =
      "air 1\ngraph \"matmul\"(%0: f32[2,8], %1: f32[8,4]) -> (%2) {\n"
      "  %2 = MatMul@13(%0, %1) : f32[2,4] name \"matmul\"\n}\n";
  product.inputs = {0, 1};
  product.outputs = {3};
  p.tasks = {product, add_relu_task(p, 3, 2, 4)};
  m.weights = {{0, w->constant().data}, {b_offset, b->constant().data}};
  return m;
}

SampleModel odd_model() {
  SampleModel m = sample_model();
  m.graph = std::make_unique<ir::Graph>("odd");
  ir::Graph& g = *m.graph;
  ir::Value* image = g.add_input("image", ir::tensor_type(DType::F16, {1, 3, 8, 8}));
  ir::Value* filter = g.add_constant("filter", ramp(DType::F16, {20, 3, 3, 3}));
  ir::Value* unused = g.add_constant("unused", ramp(DType::F32, {4}));
  ir::Value* narrow = g.add_constant("narrow", ramp(DType::F8E4M3FN, {20}));
  ir::Value* scale = g.add_constant("scale", ramp(DType::F32, {2}));
  ir::Value* large = g.add_constant("large", ramp(DType::F32, {1 << 19}));
  EXPECT_TRUE(unused->uses().empty());

  ir::Node* conv = g.add_node("Conv", {image, filter, nullptr}, 1, nullptr, "", 11);
  conv->name = "same:0";
  conv->attrs.set("pads", std::vector<std::int64_t>{1, 1, 1, 1});
  conv->attrs.set("group", std::int64_t{1});
  conv->attrs.set("auto_pad", std::string("NOTSET"));
  conv->output(0)->type = ir::tensor_type(DType::F16, {1, 20, 8, 8}, ir::Format::NC1HWC0);
  ir::Node* cast = g.add_node("Cast", {narrow}, 1, nullptr, "", 19);
  cast->name = "same:0";
  cast->output(0)->type = ir::tensor_type(DType::F16, {20});
  ir::Node* resize = g.add_node("Resize", {conv->output(0), nullptr, scale}, 1, nullptr, "", 13);
  resize->output(0)->type = ir::tensor_type(DType::F16, {1, 20, 8, 8}, ir::Format::NC1HWC0);
  auto body = std::make_shared<ir::Graph>("body");
  body->add_output(body->add_input("i", ir::tensor_type(DType::F16, {20})));
  ir::Node* softmax = g.add_node("Softmax", {cast->output(0)}, 1, nullptr, "", 13);
  softmax->sources = {"Softmax_7", "Log_8"};
  softmax->attrs.set("alpha", 0.5F);
  softmax->attrs.set("floats", std::vector<float>{1.5F, -2.0F});
  softmax->attrs.set("strings", std::vector<std::string>{"a", "\xFF"});
  softmax->attrs.set("tensor", ramp(DType::I64, {3}));
  softmax->attrs.set("tensors", std::vector<Tensor>{ramp(DType::F32, {2})});
  softmax->attrs.set("body", body);
  softmax->output(0)->type = ir::tensor_type(DType::F16, {20});
  ir::Node* topk = g.add_node("TopK", {softmax->output(0), large}, 2, nullptr, "", 11);
  for (ir::Value* v : topk->outputs())
    v->type = ir::TensorType{DType::F16, ir::Shape{ir::Dim::named("k")}, {}};
  ir::Node* opaque = g.add_node("Mystery", {topk->output(1)}, 1, nullptr, "vendor", 3);
  opaque->output(0)->type.dtype = DType::I32;
  g.add_output(resize->output(0));
  g.add_output(opaque->output(0));
  g.add_output(scale);

  plan::PlanTensor packed = plan_tensor("filter", plan::Space::Weight, 0, 0, {20, 3, 3, 3}, DType::F16);
  packed.format = ir::Format::FRACTAL_Z;
  packed.bytes = 2 * 9 * 16 * 16 * 2;
  m.plan.tensors.push_back(packed);
  m.plan.weight_bytes = packed.bytes;
  m.plan.info["input_format"] = "NCHW";
  std::string pattern(static_cast<std::size_t>(packed.bytes), '\0');
  for (std::size_t i = 0; i < pattern.size(); ++i) pattern[i] = static_cast<char>(i * 7 % 251);
  m.weights = {{0, to_bytes(pattern)}};
  return m;
}

std::string describe(const plan::Plan& plan) {
  std::ostringstream out;
  const auto list = [&](const auto& values) {
    out << " [";
    for (const auto& v : values) out << v << ",";
    out << "]";
  };
  out << plan.model_name << " " << plan.soc_version << " arena " << plan.arena_bytes << " weights "
      << plan.weight_bytes << "\n";
  for (const auto& [key, value] : plan.info) out << "info " << key << "=" << value << "\n";
  for (const plan::PlanTensor& t : plan.tensors) {
    out << "tensor " << t.name << " space " << static_cast<int>(t.space) << " " << t.index << " at "
        << t.offset << " bytes " << t.bytes << " " << name(t.dtype) << " " << ir::name(t.format);
    list(t.shape);
    out << "\n";
  }
  for (const auto* ports : {&plan.inputs, &plan.outputs})
    for (const plan::PlanPort& p : *ports) out << "port " << p.name << " " << p.tensor << "\n";
  for (const plan::PlanTask& t : plan.tasks) {
    out << "task " << t.name << " " << t.op_type << " engine " << static_cast<int>(t.engine) << " kernel "
        << t.kernel.kernel << " macs " << t.kernel.macs;
    list(t.sources);
    list(t.kernel.params);
    list(t.kernel.block_tiles);
    list(t.inputs);
    list(t.outputs);
    out << "\n" << t.air << "\n";
    for (const kernels::Operand& o : t.kernel.operands)
      out << "  operand " << o.tensor << " " << o.offset << " " << o.bytes << " " << name(o.dtype) << " "
          << o.output << "\n";
  }
  return out.str();
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "om_test_XXXXXX").string();
  EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Bytes write_to_bytes(const SampleModel& model, const TemporaryFolder& folder) {
  const auto path = folder / "model.om";
  const Status written = write_om(path, model.plan, model.weights, *model.graph);
  EXPECT_TRUE(written.ok()) << written.to_string();
  const auto mapped = map_file(path);
  EXPECT_TRUE(mapped.ok()) << mapped.status().to_string();
  return *mapped;
}

Bytes to_bytes(const std::string& text) { return Bytes::copy_of(std::as_bytes(std::span(text))); }
std::string to_text(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace atc::om::test
