#include "om/task_info.h"

#include <limits>
#include <utility>

#include "atc/base/check.h"
#include "om/container.h"
#include "om/little_endian.h"
#include "om/proto/task.pb.h"
#include "om/proto_util.h"

namespace atc::om {
namespace {

constexpr std::uint32_t kPlanVersion = 5;
constexpr char kMessageVersion[] = "1.0";

// TaskDef.type.
constexpr std::uint32_t kTypeAiCore = 0;
constexpr std::uint32_t kTypeAiCpu = 1;
constexpr std::uint32_t kTypeRegion = 2;
constexpr std::uint32_t kTypeCustom = 3;

// Numbers of PlanTensorDef.space and .format are those of the enumerators; both are part of the format.
static_assert(static_cast<int>(plan::Space::Input) == 0 && static_cast<int>(plan::Space::Output) == 1 &&
              static_cast<int>(plan::Space::Weight) == 2 && static_cast<int>(plan::Space::Arena) == 3 &&
              static_cast<int>(plan::Space::Held) == 4);
static_assert(static_cast<int>(ir::Format::ND) == 0 && static_cast<int>(ir::Format::NC1HWC0) == 1 &&
              static_cast<int>(ir::Format::FRACTAL_Z) == 2 && static_cast<int>(ir::Format::FRACTAL_NZ) == 3 &&
              static_cast<int>(ir::Format::NC1HWC0_C04) == 4 &&
              static_cast<int>(ir::Format::FRACTAL_Z_C04) == 5);
constexpr std::uint32_t kSpaces = 5;
constexpr std::uint32_t kFormats = 6;

std::string task_label(std::size_t i, const plan::PlanTask& task) {
  return "task " + std::to_string(i) + " '" + task.name + "'";
}

// Encoding ----------------------------------------------------------------------------------------

void encode_tensor(const plan::PlanTensor& tensor, domi::PlanTensorDef& out) {
  out.set_name(tensor.name);
  out.set_space(static_cast<std::uint32_t>(tensor.space));
  out.set_index(tensor.index);
  out.set_offset(tensor.offset);
  out.set_bytes(tensor.bytes);
  out.set_dtype(static_cast<std::uint32_t>(tensor.dtype));
  out.mutable_shape()->Add(tensor.shape.begin(), tensor.shape.end());
  out.set_format(static_cast<std::uint32_t>(tensor.format));
  out.set_items(tensor.items);
  out.set_item_stride(tensor.item_stride);
}

void encode_port(const plan::PlanPort& port, domi::PlanPortDef& out) {
  out.set_name(port.name);
  out.set_tensor(port.tensor);
}

Status encode_kernel(const kernels::Task& kernel, const std::string& label, domi::TaskDef& out) {
  ATC_CHECK(!kernel.block_tiles.empty(), label + " has no blocks");
  if (kernel.params.size() > std::numeric_limits<std::int32_t>::max() / sizeof(std::int64_t))
    return Status::error("E13023", label + " has more parameters than section TASK_INFO can hold");
  domi::KernelDef& def = *out.mutable_kernel();
  def.set_stub_func(kernel.kernel);
  def.set_block_dim(static_cast<std::uint32_t>(kernel.blocks()));
  std::string args;
  args.reserve(kernel.params.size() * sizeof(std::int64_t));
  for (const std::int64_t value : kernel.params) put(args, value);
  def.set_args_size(static_cast<std::uint32_t>(args.size()));
  def.set_args(std::move(args));

  domi::PlanTaskDef& rest = *out.mutable_plan_task();
  for (const kernels::Operand& operand : kernel.operands) {
    domi::OperandDef& o = *rest.add_operands();
    o.set_tensor(operand.tensor);
    o.set_offset(operand.offset);
    o.set_bytes(operand.bytes);
    o.set_dtype(static_cast<std::uint32_t>(operand.dtype));
    o.set_output(operand.output);
  }
  rest.mutable_block_tiles()->Add(kernel.block_tiles.begin(), kernel.block_tiles.end());
  return {};
}

void encode_custom(const plan::CustomTask& task, domi::CustomDef& out) {
  out.set_library(task.library);
  out.set_op(task.op);
  out.set_combination(task.combination);
  out.set_kernel_type(task.tiling.kernel_type);
  out.set_schedule_mode(task.tiling.schedule_mode);
  out.set_tiling_key(task.tiling.tiling_key);
  out.set_workspace_bytes(task.tiling.workspace_bytes);
  out.set_tiling(task.tiling.data);
  out.mutable_args()->Add(task.args.begin(), task.args.end());
}

void encode_library(const plan::PlanLibrary& library, domi::LibraryDef& out) {
  out.set_name(library.name);
  out.set_sha256(library.sha256);
  out.set_embedded(!library.bytes.empty());
  if (library.bytes.empty()) out.set_path(library.path);
}

Status encode_task(const plan::PlanTask& task, std::size_t i, domi::TaskDef& out) {
  out.set_id(static_cast<std::uint32_t>(i));
  domi::PlanTaskDef& rest = *out.mutable_plan_task();
  rest.set_name(task.name);
  rest.set_op_type(task.op_type);
  for (const std::string& source : task.sources) rest.add_sources(source);
  rest.set_macs(task.kernel.macs);
  if (task.engine == plan::Engine::AiCore) {
    out.set_type(kTypeAiCore);
    return encode_kernel(task.kernel, task_label(i, task), out);
  }
  if (task.engine == plan::Engine::Custom) {
    out.set_type(kTypeCustom);
    encode_custom(task.custom, *rest.mutable_custom());
    return encode_kernel(task.kernel, task_label(i, task), out);
  }
  out.set_type(task.engine == plan::Engine::Region ? kTypeRegion : kTypeAiCpu);
  rest.set_air(task.air);
  rest.mutable_inputs()->Add(task.inputs.begin(), task.inputs.end());
  rest.mutable_outputs()->Add(task.outputs.begin(), task.outputs.end());
  return {};
}

// Decoding ----------------------------------------------------------------------------------------

/// False when the number is not that of a dtype.
bool decode_dtype(std::uint32_t number, DType& out) {
  if (number >= static_cast<std::uint32_t>(kDTypeCount)) return false;
  out = static_cast<DType>(number);
  return true;
}

Status decode_tensor(const domi::PlanTensorDef& in, std::size_t i, plan::PlanTensor& out) {
  const auto fault = [&](const char* field, std::uint32_t value) {
    return broken("tensor " + std::to_string(i) + " '" + in.name() + "' has " + field + " " +
                  std::to_string(value) + ", which does not exist");
  };
  if (in.space() >= kSpaces) return fault("space", in.space());
  if (in.format() >= kFormats) return fault("format", in.format());
  if (!decode_dtype(in.dtype(), out.dtype)) return fault("dtype", in.dtype());
  out.name = in.name();
  out.space = static_cast<plan::Space>(in.space());
  out.index = in.index();
  out.offset = in.offset();
  out.bytes = in.bytes();
  out.shape.assign(in.shape().begin(), in.shape().end());
  out.format = static_cast<ir::Format>(in.format());
  out.items = in.items();
  out.item_stride = in.item_stride();
  return {};
}

Status decode_kernel(const domi::KernelDef& in, const domi::PlanTaskDef& rest, const std::string& label,
                     kernels::Task& out) {
  out.kernel = in.stub_func();
  const std::string& args = in.args();
  if (args.size() % sizeof(std::int64_t) != 0 || in.args_size() != args.size())
    return broken(label + " has " + std::to_string(args.size()) + " bytes of parameters, args_size says " +
                  std::to_string(in.args_size()) + "; both must be equal and a multiple of 8");
  if (rest.block_tiles_size() < 1 ||
      in.block_dim() != static_cast<std::uint32_t>(rest.block_tiles_size() - 1))
    return broken(label + " has a block_dim of " + std::to_string(in.block_dim()) + " and " +
                  std::to_string(rest.block_tiles_size()) + " bounds of tiles; one more bound is expected");
  ByteReader reader(std::as_bytes(std::span(args)));
  out.params.reserve(args.size() / sizeof(std::int64_t));
  while (reader.left() > 0) out.params.push_back(reader.read<std::int64_t>());
  out.block_tiles.assign(rest.block_tiles().begin(), rest.block_tiles().end());
  for (const domi::OperandDef& o : rest.operands()) {
    kernels::Operand operand;
    operand.tensor = o.tensor();
    operand.offset = o.offset();
    operand.bytes = o.bytes();
    operand.output = o.output();
    if (!decode_dtype(o.dtype(), operand.dtype))
      return broken(label + " has an operand of dtype " + std::to_string(o.dtype()) +
                    ", which does not exist");
    out.operands.push_back(operand);
  }
  return {};
}

void decode_custom(const domi::CustomDef& in, const kernels::Task& kernel, plan::CustomTask& out) {
  out.library = in.library();
  out.op = in.op();
  out.combination = in.combination();
  out.tiling.block_dim = static_cast<std::uint32_t>(kernel.blocks());
  out.tiling.kernel_type = in.kernel_type();
  out.tiling.schedule_mode = in.schedule_mode();
  out.tiling.tiling_key = in.tiling_key();
  out.tiling.workspace_bytes = in.workspace_bytes();
  out.tiling.data = in.tiling();
  out.args.assign(in.args().begin(), in.args().end());
}

Status decode_task(const domi::TaskDef& in, std::size_t i, plan::PlanTask& out) {
  const domi::PlanTaskDef& rest = in.plan_task();
  out.name = rest.name();
  out.op_type = rest.op_type();
  out.sources.assign(rest.sources().begin(), rest.sources().end());
  out.kernel.macs = rest.macs();
  const std::string label = task_label(i, out);
  switch (in.type()) {
    case kTypeAiCore:
      out.engine = plan::Engine::AiCore;
      return decode_kernel(in.kernel(), rest, label, out.kernel);
    case kTypeCustom:
      out.engine = plan::Engine::Custom;
      ATC_TRY(decode_kernel(in.kernel(), rest, label, out.kernel));
      decode_custom(rest.custom(), out.kernel, out.custom);
      return {};
    case kTypeAiCpu:
    case kTypeRegion:
      out.engine = in.type() == kTypeRegion ? plan::Engine::Region : plan::Engine::AiCpu;
      out.air = rest.air();
      out.inputs.assign(rest.inputs().begin(), rest.inputs().end());
      out.outputs.assign(rest.outputs().begin(), rest.outputs().end());
      return {};
    default:
      return broken(label + " is of type " + std::to_string(in.type()) + ", which does not exist");
  }
}

/// False when the unsigned value is beyond int64.
bool to_signed(std::uint64_t value, std::int64_t& out) {
  out = static_cast<std::int64_t>(value);
  return out >= 0;
}

std::vector<plan::PlanPort> decode_ports(const google::protobuf::RepeatedPtrField<domi::PlanPortDef>& ports) {
  std::vector<plan::PlanPort> out;
  out.reserve(static_cast<std::size_t>(ports.size()));
  for (const domi::PlanPortDef& port : ports) out.push_back({port.name(), port.tensor()});
  return out;
}

}  // namespace

StatusOr<std::string> encode_task_info(const plan::Plan& plan) {
  ATC_CHECK(plan.arena_bytes >= 0 && plan.weight_bytes >= 0, "a plan with negative sizes");
  domi::ModelTaskDef message;
  message.set_version(kMessageVersion);
  for (const auto& [key, value] : plan.info) (*message.mutable_attr())[to_utf8(key)] = value;
  message.set_stream_num(1);
  message.set_memory_size(static_cast<std::uint64_t>(plan.arena_bytes));
  message.set_weight_size(static_cast<std::uint64_t>(plan.weight_bytes));

  domi::PlanDef& def = *message.mutable_plan();
  def.set_version(kPlanVersion);
  def.set_model_name(plan.model_name);
  def.set_soc_version(plan.soc_version);
  for (const plan::PlanTensor& tensor : plan.tensors) encode_tensor(tensor, *def.add_tensors());
  for (const plan::PlanPort& port : plan.inputs) encode_port(port, *def.add_inputs());
  for (const plan::PlanPort& port : plan.outputs) encode_port(port, *def.add_outputs());
  for (const plan::PlanLibrary& library : plan.libraries) encode_library(library, *def.add_libraries());
  for (std::size_t i = 0; i < plan.tasks.size(); ++i)
    ATC_TRY(encode_task(plan.tasks[i], i, *message.add_task()));
  return serialize(message, "TASK_INFO");
}

StatusOr<plan::Plan> decode_task_info(std::span<const std::byte> section) {
  domi::ModelTaskDef message;
  if (!parse(message, section)) return broken("section TASK_INFO is not a valid message");
  if (!message.has_plan())
    return broken("section TASK_INFO holds no plan: the file was not made by this compiler");
  const domi::PlanDef& def = message.plan();
  if (def.version() != kPlanVersion)
    return broken("the plan has version " + std::to_string(def.version()) + ", this program reads version " +
                  std::to_string(kPlanVersion) + "; compile the model again");

  plan::Plan plan;
  plan.model_name = def.model_name();
  plan.soc_version = def.soc_version();
  for (const auto& [key, value] : message.attr()) plan.info[key] = value;
  if (!to_signed(message.memory_size(), plan.arena_bytes) ||
      !to_signed(message.weight_size(), plan.weight_bytes))
    return broken("memory_size or weight_size of the plan is beyond 2^63 - 1");
  plan.tensors.resize(static_cast<std::size_t>(def.tensors_size()));
  for (std::size_t i = 0; i < plan.tensors.size(); ++i)
    ATC_TRY(decode_tensor(def.tensors(static_cast<int>(i)), i, plan.tensors[i]));
  plan.inputs = decode_ports(def.inputs());
  plan.outputs = decode_ports(def.outputs());
  for (const domi::LibraryDef& l : def.libraries())
    plan.libraries.push_back({l.name(), l.path(), l.sha256(), {}});
  plan.tasks.resize(static_cast<std::size_t>(message.task_size()));
  for (std::size_t i = 0; i < plan.tasks.size(); ++i)
    ATC_TRY(decode_task(message.task(static_cast<int>(i)), i, plan.tasks[i]));
  return plan;
}

}  // namespace atc::om
