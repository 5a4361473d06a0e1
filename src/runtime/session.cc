#include "runtime/session.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "atc/base/check.h"
#include "atc/base/math.h"
#include "runtime/custom_runner.h"
#include "runtime/reference_graph.h"
#include "runtime/region.h"

namespace atc::runtime {
namespace {

constexpr std::uintptr_t kAlignment = 64;

/// Waking the workers for a task takes about two microseconds and cools their caches; below this much
/// work (nanoseconds on one thread, by the rates beneath) the calling thread is sooner done alone.
constexpr double kSerialBelowNs = 4000;
constexpr double kMacsPerNs = 32;
constexpr double kBytesPerNs = 8;
/// Stretches of tiles for each thread, so that all end at about the same time.
constexpr std::int64_t kPartsOfAThread = 4;

bool worth_parallel(const kernels::Task& task) {
  double bytes = 0;
  for (const kernels::Operand& operand : task.operands) bytes += static_cast<double>(operand.bytes);
  return task.block_tiles.back() > 1 &&
         static_cast<double>(task.macs) / kMacsPerNs + bytes / kBytesPerNs > kSerialBelowNs;
}

bool moves(const plan::PlanTensor& tensor) {
  return tensor.space == plan::Space::Input || tensor.space == plan::Space::Output;
}

// Tensors that the session owns one by one: of sizes that depend on data, and strings.
bool is_held(const plan::PlanTensor& tensor) {
  return tensor.space == plan::Space::Held || tensor.dtype == DType::String;
}

std::string type_text(DType dtype, const Dims& shape) {
  return std::string(name(dtype)) + "[" + to_string(shape) + "]";
}

}  // namespace

StatusOr<std::unique_ptr<Session>> Session::create(std::shared_ptr<const PreparedPlan> plan, Bytes weights,
                                                   const SessionOptions& options) {
  if (static_cast<std::int64_t>(weights.size()) < plan->plan.weight_bytes)
    return Status::error("E10041", "the model's weights have " + std::to_string(weights.size()) +
                                       " bytes, its plan needs " + std::to_string(plan->plan.weight_bytes));
  try {
    std::unique_ptr<Session> session(new Session(std::move(plan), std::move(weights), options));
    ATC_TRY(session->start_custom(options.threads));
    return session;
  } catch (const InternalError& error) {
    return Status::error("E19999", error.what());
  } catch (const std::bad_alloc&) {
    return Status::error("E10059", "not enough memory to load the model");
  }
}

Workers::Workers(const soc::Chip& chip, aicore::Values values, int threads) : pool(threads) {
  ATC_CHECK(values != aicore::Values::None, "a session computes values");
  for (int i = 0; i < pool.size(); ++i) cores.push_back(std::make_unique<aicore::Core>(chip, values, false));
}

Session::~Session() = default;

Session::Session(std::shared_ptr<const PreparedPlan> plan, Bytes weights, const SessionOptions& options)
    : prepared_(std::move(plan)),
      weights_(std::move(weights)),
      workers_(options.workers != nullptr
                   ? options.workers
                   : std::make_shared<Workers>(*prepared_->chip, options.values, options.threads)),
      inputs_(prepared_->plan.inputs.size()),
      outputs_(prepared_->plan.outputs.size()),
      input_specs_(prepared_->input_specs()),
      output_specs_(prepared_->output_specs()),
      held_(prepared_->plan.tensors.size()) {
  for (const plan::PlanTensor& tensor : prepared_->plan.tensors) {
    if (!moves(tensor)) continue;
    std::vector<Port>& ports = tensor.space == plan::Space::Input ? inputs_ : outputs_;
    ATC_CHECK(tensor.index >= 0 && static_cast<std::size_t>(tensor.index) < ports.size(),
              "tensor '" + tensor.name + "' refers to a graph input or output that does not exist");
    Port& port = ports[static_cast<std::size_t>(tensor.index)];
    port.bytes = std::max(port.bytes, tensor.offset + tensor.bytes);
  }
  place_memory();
  bind_operands();
  make_regions(options);
}

// Custom kernels run in another process: what they work on lies in memory that both share.
void Session::place_memory() {
  const plan::Plan& plan = prepared_->plan;
  const auto arena_bytes = static_cast<std::size_t>(plan.arena_bytes);
  if (!has_custom_tasks(plan)) {
    own_arena_ = MutableBytes(arena_bytes);
    arena_ = own_arena_.span();
    return;
  }
  std::vector<Port*> ports;
  for (const plan::PlanTask& task : plan.tasks) {
    if (task.engine != plan::Engine::Custom) continue;
    for (const kernels::Operand& operand : task.kernel.operands) {
      const plan::PlanTensor& tensor = plan.tensors.at(static_cast<std::size_t>(operand.tensor));
      if (!moves(tensor)) continue;
      Port* port =
          &(tensor.space == plan::Space::Input ? inputs_ : outputs_)[static_cast<std::size_t>(tensor.index)];
      if (std::find(ports.begin(), ports.end(), port) == ports.end()) ports.push_back(port);
    }
  }
  constexpr std::size_t kPage = 4096;  // so that a guard on one buffer leaves the others alone
  std::size_t size = round_up(arena_bytes, kPage);
  for (const Port* port : ports) size += round_up(static_cast<std::size_t>(port->bytes), kPage);
  shared_ = std::make_shared<custom::SharedMemory>(size);
  arena_ = {shared_->data(), arena_bytes};
  std::byte* at = shared_->data() + round_up(arena_bytes, kPage);
  for (Port* port : ports) {
    port->shared = at;
    at += round_up(static_cast<std::size_t>(port->bytes), kPage);
  }
}

Status Session::start_custom(int threads) {
  if (shared_ == nullptr) return {};
  ATC_ASSIGN(custom_, CustomRunner::create(*prepared_, {{shared_}, threads}));
  return {};
}

// A region's weights are constants of its graph.
void Session::make_regions(const SessionOptions& options) {
  const plan::Plan& plan = prepared_->plan;
  regions_.resize(plan.tasks.size());
  RegionOptions region{prepared_->passes, options};
  region.session.workers = workers_;
  for (std::size_t t = 0; t < plan.tasks.size(); ++t) {
    if (plan.tasks[t].engine != plan::Engine::Region) continue;
    auto graph = prepared_->tasks[t].graph->clone();
    for (std::size_t i = 0; i < plan.tasks[t].inputs.size(); ++i) {
      const int tensor = plan.tasks[t].inputs[i];
      if (plan.tensors[static_cast<std::size_t>(tensor)].space != plan::Space::Weight) continue;
      ir::Value* input = graph->inputs()[i];
      graph->replace_uses(input, graph->add_constant(input->name(), view(tensor)));
    }
    regions_[t] = std::make_unique<RegionRunner>(std::move(graph), region);
  }
}

void Session::bind_operands() {
  const plan::Plan& plan = prepared_->plan;
  operands_.resize(plan.tasks.size());
  parallel_.resize(plan.tasks.size());
  for (std::size_t t = 0; t < plan.tasks.size(); ++t) {
    if (plan.tasks[t].engine != plan::Engine::AiCore && plan.tasks[t].engine != plan::Engine::Custom)
      continue;
    const kernels::Task& task = plan.tasks[t].kernel;
    parallel_[t] = worth_parallel(task);
    for (std::size_t o = 0; o < task.operands.size(); ++o) {
      const kernels::Operand& operand = task.operands[o];
      const plan::PlanTensor& tensor = plan.tensors.at(static_cast<std::size_t>(operand.tensor));
      ATC_CHECK(!operand.output || tensor.space == plan::Space::Arena || tensor.space == plan::Space::Output,
                "task '" + plan.tasks[t].name + "' writes '" + tensor.name + "', which is read-only");
      aicore::Gm gm;
      gm.bytes = operand.bytes;
      if (moves(tensor))
        moving_.push_back({t, o});
      else
        gm.data = address(tensor, operand.offset, operand.bytes);
      operands_[t].push_back(gm);
    }
  }
}

std::byte* Session::address(const plan::PlanTensor& tensor, std::int64_t offset, std::int64_t bytes) const {
  ATC_CHECK(offset >= 0 && bytes >= 0 && bytes <= tensor.bytes - offset,
            "access beyond the end of tensor '" + tensor.name + "'");
  std::byte* base = nullptr;
  std::int64_t size = 0;
  switch (tensor.space) {
    case plan::Space::Input:
    case plan::Space::Output: {
      const auto& ports = tensor.space == plan::Space::Input ? inputs_ : outputs_;
      const Port& port = ports[static_cast<std::size_t>(tensor.index)];
      base = port.data;
      size = port.bytes;
      break;
    }
    case plan::Space::Weight:  // read-only by the check in bind_operands
      base = const_cast<std::byte*>(weights_.data());
      size = static_cast<std::int64_t>(weights_.size());
      break;
    case plan::Space::Arena:
      base = const_cast<std::byte*>(arena_.data());
      size = static_cast<std::int64_t>(arena_.size());
      break;
    case plan::Space::Held:
      ATC_CHECK(false, "tensor '" + tensor.name + "' has no address");
  }
  ATC_CHECK(tensor.offset >= 0 && tensor.bytes <= size - tensor.offset,
            "tensor '" + tensor.name + "' lies outside its memory");
  return base + tensor.offset + offset;
}

StatusOr<std::vector<Tensor>> Session::run(const std::vector<Tensor>& inputs) {
  std::vector<Tensor> outputs;
  ATC_TRY(run(inputs, outputs));
  return outputs;
}

Status Session::run(const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs) {
  for (Tensor& t : outputs) t.data = {};
  ATC_TRY(accept_inputs(inputs));
  try {
    renew_outputs();
    const plan::Plan& plan = prepared_->plan;
    for (const Moving& m : moving_) {
      const kernels::Operand& operand = plan.tasks[m.task].kernel.operands[m.operand];
      operands_[m.task][m.operand].data =
          address(plan.tensors[static_cast<std::size_t>(operand.tensor)], operand.offset, operand.bytes);
    }
    for (std::size_t t = 0; t < plan.tasks.size(); ++t) ATC_TRY(run_task(t));
    collect_outputs(outputs);
    return {};
  } catch (const InternalError& error) {
    return Status::error("E19999", error.what());
  } catch (const std::bad_alloc&) {
    return Status::error("E10059", "not enough memory to run the model");
  }
}

Status Session::accept_inputs(const std::vector<Tensor>& inputs) {
  if (inputs.size() != input_specs_.size()) {
    std::string names;
    for (const TensorSpec& spec : input_specs_) names += (names.empty() ? "" : ", ") + describe(spec);
    return Status::error("E13025", "the model was given " + std::to_string(inputs.size()) +
                                       " inputs, it takes " + std::to_string(input_specs_.size()) +
                                       (names.empty() ? "" : ": " + names));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    ATC_TRY(check_tensor(inputs[i], input_specs_[i]));
    if (inputs[i].dtype == DType::String) {
      held_[static_cast<std::size_t>(prepared_->plan.inputs[i].tensor)] = inputs[i];
      continue;
    }
    Port& port = inputs_[i];
    const Bytes& data = inputs[i].data;
    if (port.shared != nullptr) {
      std::memcpy(port.shared, data.data(), std::min(data.size(), static_cast<std::size_t>(port.bytes)));
      port.data = port.shared;
      continue;
    }
    const bool fits = static_cast<std::int64_t>(data.size()) >= port.bytes;
    if (fits && reinterpret_cast<std::uintptr_t>(data.data()) % kAlignment == 0) {
      port.data = const_cast<std::byte*>(data.data());  // read-only by the check in bind_operands
      continue;
    }
    const std::size_t needed = std::max(data.size(), static_cast<std::size_t>(port.bytes));
    if (port.staging.size() < needed) port.staging = MutableBytes(needed);
    std::memcpy(port.staging.data(), data.data(), data.size());
    port.data = port.staging.data();
  }
  return {};
}

void Session::renew_outputs() {
  for (Port& port : outputs_) {
    if (port.shared != nullptr) {
      port.data = port.shared;
      continue;
    }
    // Tensors of an earlier run may still be in use; then they keep their memory.
    if (port.storage == nullptr || port.storage.use_count() > 1)
      port.storage = std::make_shared<MutableBytes>(static_cast<std::size_t>(port.bytes));
    port.data = port.storage->data();
  }
}

Status Session::run_task(std::size_t index) {
  const plan::PlanTask& task = prepared_->plan.tasks[index];
  const auto context = [&] { return "running task '" + task.name + "' (" + task.op_type + ")"; };
  try {
    if (task.engine == plan::Engine::AiCore) {
      run_ai_core(index);
      return {};
    }
    Status status = task.engine == plan::Engine::AiCpu    ? run_ai_cpu(index)
                    : task.engine == plan::Engine::Custom ? run_custom(index)
                                                          : run_region(index);
    return status.ok() ? status : std::move(status).while_doing(context());
  } catch (const InternalError& error) {
    return Status::error("E19999", error.what()).while_doing(context());
  }
}

void Session::run_ai_core(std::size_t index) {
  const kernels::Task& task = prepared_->plan.tasks[index].kernel;
  const kernels::PreparedKernel& kernel = *prepared_->tasks[index].kernel;
  const std::vector<aicore::Gm>& operands = operands_[index];
  // Tiles stand alone: neither few blocks, which save launches on the device, leave threads idle here, nor is
  // each of many set up by itself.
  const std::int64_t tiles = task.block_tiles.back();
  const std::int64_t parts = parallel_[index] && workers_->pool.size() > 1
                                 ? std::min(tiles, kPartsOfAThread * std::int64_t{workers_->pool.size()})
                                 : 1;
  const auto run_part = [&](std::size_t part, int worker) {
    aicore::Core& core = *workers_->cores[static_cast<std::size_t>(worker)];
    core.start_block(task.blocks());
    const auto p = static_cast<std::int64_t>(part);
    kernel.run(core, operands, tiles * p / parts, tiles * (p + 1) / parts);
  };
  if (parts == 1)
    run_part(0, 0);
  else
    workers_->pool.parallel_for(static_cast<std::size_t>(parts), run_part);
}

Status Session::run_ai_cpu(std::size_t index) {
  const plan::PlanTask& task = prepared_->plan.tasks[index];
  const ir::Graph& graph = *prepared_->tasks[index].graph;
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < task.inputs.size(); ++i) {
    inputs.push_back(view(task.inputs[i]));
    // A reshape is no task of its own: the tensor may have another shape than its reader sees.
    const ir::TensorType& type = graph.inputs()[i]->type;
    if (!type.is_static()) continue;
    ATC_CHECK(element_count(type.dims()) == inputs.back().count(),
              "input " + std::to_string(i) + " of '" + task.name + "' has another size than its tensor");
    inputs.back().shape = type.dims();
  }
  ATC_ASSIGN(const std::vector<Tensor> outputs, evaluate_reference(graph, inputs));
  for (std::size_t i = 0; i < task.outputs.size(); ++i)
    ATC_TRY(store(task.outputs[i], outputs[i], task, graph, i));
  return {};
}

Status Session::run_region(std::size_t index) {
  const plan::PlanTask& task = prepared_->plan.tasks[index];
  std::vector<Tensor> inputs;
  for (const int tensor : task.inputs) inputs.push_back(view(tensor));
  regions_[index]->start_count();
  ATC_ASSIGN(const std::vector<Tensor> outputs, regions_[index]->run(inputs));
  for (std::size_t i = 0; i < task.outputs.size(); ++i)
    ATC_TRY(store(task.outputs[i], outputs[i], task, *prepared_->tasks[index].graph, i));
  return {};
}

Status Session::run_custom(std::size_t index) {
  return custom_->run(index, operands_[index], false).status();
}

StatusOr<Simulation> Session::region_simulation() const {
  Simulation sum;
  for (const auto& region : regions_)
    if (region != nullptr) ATC_TRY(region->add_simulation(sum));
  return sum;
}

Tensor Session::view(int index) const {
  Tensor t;
  view(index, t);
  return t;
}

void Session::view(int index, Tensor& t) const {
  const plan::PlanTensor& tensor = prepared_->plan.tensors.at(static_cast<std::size_t>(index));
  if (is_held(tensor)) {
    t = held_[static_cast<std::size_t>(index)];
    return;
  }
  t.dtype = tensor.dtype;
  t.shape = tensor.shape;
  const std::size_t bytes = t.byte_size();
  const std::byte* data = address(tensor, 0, static_cast<std::int64_t>(bytes));
  const std::span<const std::byte> span(data, bytes);
  const auto width = static_cast<std::uintptr_t>(std::clamp(bit_width(t.dtype) / 8, 1, 8));
  t.data = reinterpret_cast<std::uintptr_t>(data) % width == 0 ? Bytes(nullptr, span) : Bytes::copy_of(span);
}

Status Session::store(int index, const Tensor& value, const plan::PlanTask& task, const ir::Graph& graph,
                      std::size_t output) {
  const plan::PlanTensor& tensor = prepared_->plan.tensors.at(static_cast<std::size_t>(index));
  if (tensor.space == plan::Space::Held) {
    // What a region returns may be a view of memory that later tasks reuse.
    held_[static_cast<std::size_t>(index)] = value;
    if (value.dtype != DType::String)
      held_[static_cast<std::size_t>(index)].data = Bytes::copy_of(value.data.span());
    return {};
  }
  // As with inputs, the tensor may be another shape's name for the same elements.
  const ir::TensorType& type = graph.outputs()[output]->type;
  const Dims expected = type.is_static() ? type.dims() : tensor.shape;
  if (value.dtype != tensor.dtype || value.shape != expected || value.count() != element_count(tensor.shape))
    return Status::error("E10055", "output " + std::to_string(output) + " of '" + task.name + "' (" +
                                       task.op_type + ") is " + type_text(value.dtype, value.shape) +
                                       " with this data, the plan holds " +
                                       type_text(tensor.dtype, expected));
  if (tensor.dtype == DType::String) {
    held_[static_cast<std::size_t>(index)] = value;
    return {};
  }
  ATC_CHECK(tensor.space == plan::Space::Arena || tensor.space == plan::Space::Output,
            "task '" + task.name + "' writes '" + tensor.name + "', which is read-only");
  ATC_CHECK(value.data.size() == value.byte_size(), "output of '" + task.name + "' has the wrong size");
  std::byte* target = address(tensor, 0, static_cast<std::int64_t>(value.data.size()));
  // A view returned unchanged may overlap its target.
  if (!value.data.empty()) std::memmove(target, value.data.data(), value.data.size());
  return {};
}

void Session::collect_outputs(std::vector<Tensor>& results) const {
  const plan::Plan& plan = prepared_->plan;
  results.resize(plan.outputs.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    const plan::PlanPort& port = plan.outputs[i];
    const plan::PlanTensor& tensor = plan.tensors.at(static_cast<std::size_t>(port.tensor));
    Tensor& t = results[i];
    view(port.tensor, t);
    const bool owned = tensor.space == plan::Space::Output && !is_held(tensor) &&
                       outputs_[static_cast<std::size_t>(tensor.index)].shared == nullptr;
    if (owned)
      t.data = Bytes(outputs_[static_cast<std::size_t>(tensor.index)].storage, t.data.span());
    else
      t.data = is_held(tensor) ? t.data : Bytes::copy_of(t.data.span());  // an input, a weight, an activation
  }
}

}  // namespace atc::runtime
