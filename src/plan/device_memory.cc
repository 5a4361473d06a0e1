#include "plan/device_memory.h"

#include "ops/lower.h"

namespace atc::plan {
namespace {

Status does_not_fit(const std::string& what, const soc::Chip& chip) {
  return Status::error("E10013", what + ", the memory of " + std::string(chip.name) + " has " +
                                     std::to_string(chip.global_memory))
      .solution("Use smaller shapes, such as a smaller batch, or a chip with more memory.");
}

}  // namespace

Status check_values_fit(const ir::Graph& graph, const soc::Chip& chip) {
  for (const ir::Value* v : graph.values()) {
    if (!v->type.is_static() || v->type.dtype == DType::String || v->type.dtype == DType::Undefined) continue;
    const auto count = static_cast<std::size_t>(element_count(ops::storage_dims_of(v)));
    const std::size_t bytes = byte_size(v->type.dtype, count);
    if (bytes <= static_cast<std::size_t>(chip.global_memory)) continue;
    const std::string producer = v->producer() == nullptr ? "" : " of " + v->producer()->label();
    return does_not_fit("Value '" + v->name() + "'" + producer + " of shape [" +
                            ir::to_string(*v->type.shape) + "] is out of range: it takes " +
                            std::to_string(bytes) + " bytes",
                        chip);
  }
  return {};
}

Status check_plan_fits(const Plan& plan, const soc::Chip& chip) {
  std::int64_t ports = 0;
  for (const PlanTensor& t : plan.tensors)
    if (t.space == Space::Input || t.space == Space::Output) ports += t.bytes;
  const std::int64_t all = plan.weight_bytes + plan.arena_bytes + ports;
  if (all <= chip.global_memory) return {};
  return does_not_fit("The model is out of range: its weights take " + std::to_string(plan.weight_bytes) +
                          " bytes, its activations " + std::to_string(plan.arena_bytes) +
                          ", its inputs and outputs " + std::to_string(ports) + ", together " +
                          std::to_string(all),
                      chip);
}

}  // namespace atc::plan
