#include <algorithm>
#include <optional>
#include <set>

#include "atc/base/math.h"
#include "kernels/task.h"
#include "plan/plan.h"
#include "plan/validate_air.h"
#include "plan/written_ranges.h"
#include "soc/chip.h"

namespace atc::plan {
namespace {

/// The hardware's block index has 16 bits.
constexpr int kMaxBlocks = 65535;
constexpr std::int64_t kMaxItems = 65536;
/// Far above any real tensor, and low enough that sizes derived from it (padding to fractals, bytes)
/// stay within 64 bits.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 50;

Status broken(const std::string& reason) {
  return Status::error("E10041", "Failed to load the model: " + reason);
}
std::string number(std::int64_t v) { return std::to_string(v); }

std::int64_t element_bytes(DType dtype) { return std::max(1, bit_width(dtype) / 8); }

class Validator {
 public:
  explicit Validator(const Plan& plan) : plan_(plan) {}

  Status run() {
    if (const auto chip = soc::find_chip(plan_.soc_version); chip.ok()) {
      chip_ = *chip;
    } else {
      return broken("the plan is made for soc_version '" + plan_.soc_version + "', which is not known");
    }
    if (plan_.arena_bytes < 0 || plan_.weight_bytes < 0)
      return broken("the size of the arena or of the weights is negative");
    ATC_TRY(check_ports(plan_.inputs, Space::Input, "input"));
    ATC_TRY(check_ports(plan_.outputs, Space::Output, "output"));
    for (const PlanTensor& tensor : plan_.tensors) ATC_TRY(check_tensor(tensor));
    for (const PlanLibrary& library : plan_.libraries) ATC_TRY(check_library(library));
    written_outputs_.resize(plan_.outputs.size());
    for (std::size_t i = 0; i < plan_.tasks.size(); ++i) ATC_TRY(check_task(i));
    return check_outputs_written();
  }

 private:
  std::string label(const PlanTensor& tensor) const {
    return "tensor " + number(&tensor - plan_.tensors.data()) + " '" + tensor.name + "'";
  }
  bool is_tensor(int index) const {
    return index >= 0 && static_cast<std::size_t>(index) < plan_.tensors.size();
  }
  const PlanTensor& tensor(int index) const { return plan_.tensors[static_cast<std::size_t>(index)]; }

  Status check_ports(const std::vector<PlanPort>& ports, Space space, const char* what) const {
    for (std::size_t i = 0; i < ports.size(); ++i) {
      const std::string who = std::string(what) + " " + std::to_string(i) + " '" + ports[i].name + "'";
      if (!is_tensor(ports[i].tensor))
        return broken(who + " is tensor " + number(ports[i].tensor) + ", which does not exist");
      const PlanTensor& t = tensor(ports[i].tensor);
      if (space == Space::Output && t.space == Space::Held) continue;
      if (t.space != space || t.index != static_cast<int>(i) || t.offset != 0)
        return broken(who + " is " + label(t) + ", which is not the start of the caller's buffer for it");
    }
    return {};
  }

  /// Bytes of the buffer that holds tensors of a space.
  StatusOr<std::int64_t> buffer_bytes(const PlanTensor& t) const {
    switch (t.space) {
      case Space::Arena:
        return plan_.arena_bytes;
      case Space::Weight:
        return plan_.weight_bytes;
      case Space::Input:
      case Space::Output: {
        const auto& ports = t.space == Space::Input ? plan_.inputs : plan_.outputs;
        if (t.index < 0 || static_cast<std::size_t>(t.index) >= ports.size())
          return broken(label(t) + " is in the buffer of port " + number(t.index) + ", the model has " +
                        std::to_string(ports.size()));
        return tensor(ports[static_cast<std::size_t>(t.index)].tensor).bytes;
      }
      case Space::Held:
        return 0;
    }
    return broken(label(t) + " is in a space that does not exist");
  }

  /// The least bytes that the tensor's shape needs in its format; nullopt when the shape is not legal.
  static std::optional<std::int64_t> needed_bytes(const PlanTensor& t) {
    std::int64_t nonzero = 1;
    for (const std::int64_t dim : t.shape) {
      if (dim < 0) return std::nullopt;
      const auto product = checked_mul(nonzero, std::max<std::int64_t>(dim, 1));
      if (!product || *product > kMaxElements) return std::nullopt;
      nonzero = *product;
    }
    const bool packed = t.format == ir::Format::FRACTAL_Z || t.format == ir::Format::FRACTAL_Z_C04;
    const bool has_channels = ir::has_channel_blocks(t.format) || t.format == ir::Format::FRACTAL_Z_C04;
    const std::size_t least_rank = t.format == ir::Format::ND ? 0 : has_channels ? 3 : 2;
    if (t.shape.size() < least_rank) return std::nullopt;
    // Grouped weights are packed group by group, so they may take more than their shape tells.
    const std::int64_t count =
        element_count(!packed ? ir::storage_dims(t.format, t.dtype, t.shape) : t.shape);
    if (count < 0) return std::nullopt;
    return static_cast<std::int64_t>(byte_size(t.dtype, static_cast<std::size_t>(count)));
  }

  Status check_held(const PlanTensor& t) const {
    const bool plausible = std::all_of(t.shape.begin(), t.shape.end(),
                                       [](std::int64_t d) { return d >= -1 && d <= kMaxElements; });
    if (!plausible || t.bytes != 0 || t.offset != 0 || t.format != ir::Format::ND)
      return broken(label(t) + ", whose size depends on data, has shape [" + to_string(t.shape) + "], " +
                    number(t.bytes) + " bytes, offset " + number(t.offset) + " and format " +
                    std::string(ir::name(t.format)) + ", which is not legal");
    return {};
  }

  /// Whether a tensor's stretches follow each other and hold `needed` bytes.
  static bool has_items(const PlanTensor& t, std::int64_t needed) {
    if (t.bytes < 1 || t.item_stride < 1 || t.item_stride > t.bytes / (t.items - 1)) return false;
    return t.item_bytes() >= 1 && t.item_bytes() <= t.item_stride && t.item_bytes() * t.items >= needed &&
           t.item_stride % element_bytes(t.dtype) == 0;
  }

  Status check_tensor(const PlanTensor& t) const {
    if (bit_width(t.dtype) == 0) return broken(label(t) + " has no element type that can be stored");
    if (t.space == Space::Held) return check_held(t);
    const auto needed = needed_bytes(t);
    if (!needed)
      return broken(label(t) + " has shape [" + to_string(t.shape) + "] in format " +
                    std::string(ir::name(t.format)) + ", which is not legal");
    if (t.items < 1 || t.items > kMaxItems || (t.items > 1 && !has_items(t, *needed)))
      return broken(label(t) + " has " + number(t.items) + " stretches, " + number(t.item_stride) +
                    " bytes apart, that do not fit its " + number(t.bytes) + " bytes or its shape");
    if (t.bytes < *needed)
      return broken(label(t) + " has " + number(t.bytes) + " bytes, its shape [" + to_string(t.shape) +
                    "] needs " + number(*needed));
    ATC_ASSIGN(const std::int64_t room, buffer_bytes(t));
    if (t.offset < 0 || t.offset > room || t.bytes > room - t.offset)
      return broken(label(t) + " takes " + number(t.bytes) + " bytes from offset " + number(t.offset) +
                    " of a buffer of " + number(room));
    if (t.offset % element_bytes(t.dtype) != 0)
      return broken(label(t) + " is at offset " + number(t.offset) +
                    ", which is not aligned to its elements");
    return {};
  }

  /// Bytes [begin, end) of a tensor are read.
  Status check_read(int index, std::int64_t begin, std::int64_t end, const std::string& who) const {
    const PlanTensor& t = tensor(index);
    if (t.space == Space::Held && !written_held_.contains(index))
      return broken(who + " reads " + label(t) + " before it is written");
    const WrittenRanges* written = t.space == Space::Arena ? &written_arena_ : nullptr;
    if (t.space == Space::Output) written = &written_outputs_[static_cast<std::size_t>(t.index)];
    bool all = true;
    if (written != nullptr)
      t.for_stretches(begin, end - begin, [&](std::int64_t from, std::int64_t to) {
        all = all && written->contains(t.offset + from, t.offset + to);
      });
    if (!all) return broken(who + " reads " + label(t) + " before it is written");
    return {};
  }

  Status check_write(int index, const std::string& who) const {
    const PlanTensor& t = tensor(index);
    if (t.space == Space::Input || t.space == Space::Weight)
      return broken(who + " writes " + label(t) + ", which is read-only");
    return {};
  }

  void mark_written(int index, std::int64_t begin, std::int64_t end) {
    const PlanTensor& t = tensor(index);
    if (t.space == Space::Held) {
      written_held_.insert(index);
      return;
    }
    WrittenRanges& written =
        t.space == Space::Arena ? written_arena_ : written_outputs_[static_cast<std::size_t>(t.index)];
    t.for_stretches(begin, end - begin,
                    [&](std::int64_t from, std::int64_t to) { written.add(t.offset + from, t.offset + to); });
  }

  Status check_operand(const kernels::Operand& o, const std::string& who) const {
    if (!is_tensor(o.tensor))
      return broken(who + " is tensor " + number(o.tensor) + ", which does not exist");
    const PlanTensor& t = tensor(o.tensor);
    if (t.space == Space::Held) return broken(who + " is " + label(t) + ", which only regions use");
    if (o.offset < 0 || o.bytes < 0 || o.offset > t.bytes || o.bytes > t.bytes - o.offset)
      return broken(who + " takes " + number(o.bytes) + " bytes from offset " + number(o.offset) + " of " +
                    label(t) + ", which has " + number(t.bytes));
    if (bit_width(o.dtype) == 0) return broken(who + " has no element type that can be stored");
    if ((t.offset + o.offset) % element_bytes(o.dtype) != 0)
      return broken(who + " is not aligned to its elements");
    return o.output ? check_write(o.tensor, who) : check_read(o.tensor, o.offset, o.offset + o.bytes, who);
  }

  Status check_blocks(const kernels::Task& kernel, const std::string& who) const {
    const auto& tiles = kernel.block_tiles;
    if (tiles.size() < 2 || kernel.blocks() > kMaxBlocks)
      return broken(who + " has " + std::to_string(tiles.size()) +
                    " bounds of tiles, 2 to 65536 are possible");
    if (tiles.front() != 0 || !std::is_sorted(tiles.begin(), tiles.end()))
      return broken(who + " has blocks whose tiles do not follow each other from 0");
    return {};
  }

  Status check_operands(const kernels::Task& kernel, const std::string& who) const {
    for (std::size_t i = 0; i < kernel.operands.size(); ++i)
      ATC_TRY(check_operand(kernel.operands[i], "operand " + std::to_string(i) + " of " + who));
    return {};
  }

  void mark_outputs(const kernels::Task& kernel) {
    for (const kernels::Operand& o : kernel.operands)
      if (o.output) mark_written(o.tensor, o.offset, o.offset + o.bytes);
  }

  /// The library itself is looked at in the process that loads it.
  Status check_custom(const PlanTask& task, const std::string& who) {
    const CustomTask& custom = task.custom;
    if (custom.library < 0 || static_cast<std::size_t>(custom.library) >= plan_.libraries.size())
      return broken(who + " runs library " + number(custom.library) + ", which does not exist");
    ATC_TRY(check_blocks(task.kernel, who));
    ATC_TRY(check_operands(task.kernel, who));
    std::vector<bool> used(task.kernel.operands.size());
    for (const int arg : custom.args) {
      if (arg == -1) continue;
      if (arg < 0 || static_cast<std::size_t>(arg) >= used.size() || used[static_cast<std::size_t>(arg)])
        return broken(who + " has an argument that is operand " + number(arg) +
                      ", which does not exist or is taken");
      used[static_cast<std::size_t>(arg)] = true;
    }
    mark_outputs(task.kernel);
    return {};
  }

  Status check_library(const PlanLibrary& library) const {
    const bool is_hash = library.sha256.size() == 64 &&
                         library.sha256.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!is_hash) return broken("the library " + library.name + " has no SHA-256");
    if (library.name.empty() || library.name.find('/') != std::string::npos)
      return broken("a library is called '" + library.name + "', which is no file name");
    return {};
  }

  Status check_ai_core(const PlanTask& task, const std::string& who) {
    const kernels::Task& kernel = task.kernel;
    const kernels::KernelDef* def = kernels::find_kernel(kernel.kernel);
    if (def == nullptr) return broken(who + " uses kernel '" + kernel.kernel + "', which does not exist");
    ATC_TRY(check_blocks(kernel, who));
    ATC_TRY(check_operands(kernel, who));
    const auto prepared = def->prepare(kernel, *chip_);
    if (!prepared.ok()) {
      const Diagnostic& why = prepared.status().diagnostic();
      if (why.code == "E10041") return Status(prepared.status()).note("this is " + who);
      return broken(who + ": " + why.message);
    }
    mark_outputs(kernel);
    return {};
  }

  Status check_graph_task(const PlanTask& task, const std::string& who) {
    for (const auto* list : {&task.inputs, &task.outputs})
      for (const int index : *list) {
        if (!is_tensor(index))
          return broken(who + " uses tensor " + number(index) + ", which does not exist");
        if (tensor(index).space == Space::Held && task.engine != Engine::Region)
          return broken(who + " uses " + label(tensor(index)) + ", which only regions use");
      }
    for (const int index : task.inputs) ATC_TRY(check_read(index, 0, tensor(index).bytes, who));
    for (const int index : task.outputs) ATC_TRY(check_write(index, who));
    ATC_TRY(validate_air(plan_, task, who));
    for (const int index : task.outputs) mark_written(index, 0, tensor(index).bytes);
    return {};
  }

  Status check_task(std::size_t i) {
    const PlanTask& task = plan_.tasks[i];
    const std::string who = "task " + std::to_string(i) + " '" + task.name + "' (" + task.op_type + ")";
    if (task.kernel.macs < 0) return broken(who + " has a negative count of multiply-accumulates");
    switch (task.engine) {
      case Engine::AiCore:
        return check_ai_core(task, who);
      case Engine::Custom:
        return check_custom(task, who);
      case Engine::AiCpu:
      case Engine::Region:
        return check_graph_task(task, who);
    }
    return broken(who + " runs on an engine that does not exist");
  }

  Status check_outputs_written() const {
    for (std::size_t i = 0; i < plan_.outputs.size(); ++i)
      if (const int index = plan_.outputs[i].tensor; tensor(index).space == Space::Held) {
        ATC_TRY(check_read(index, 0, 0, "output " + std::to_string(i) + " '" + plan_.outputs[i].name + "'"));
      } else if (!written_outputs_[i].contains(0, tensor(plan_.outputs[i].tensor).bytes))
        return broken("no task writes all of output " + std::to_string(i) + " '" + plan_.outputs[i].name +
                      "'");
    return {};
  }

  const Plan& plan_;
  const soc::Chip* chip_ = nullptr;
  WrittenRanges written_arena_;
  std::vector<WrittenRanges> written_outputs_;
  std::set<int> written_held_;
};

}  // namespace

Status validate(const Plan& plan) { return Validator(plan).run(); }

}  // namespace atc::plan
