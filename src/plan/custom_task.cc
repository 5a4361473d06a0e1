#include "plan/custom_task.h"

#include "atc/core_api.h"
#include "ops/lower.h"

namespace atc::plan {
namespace {

/// The hardware's block index has 16 bits.
constexpr std::uint32_t kMaxBlocks = 65535;

bool is_mix(std::uint32_t type) {
  return type == ATC_KERNEL_MIX_AIV_1_0 || type == ATC_KERNEL_MIX_AIC_1_0 || type == ATC_KERNEL_MIX_AIC_1_1 ||
         type == ATC_KERNEL_MIX_AIC_1_2 || type == ATC_KERNEL_MIX_AICORE || type == ATC_KERNEL_MIX_VECTORCORE;
}

bool is_vector(std::uint32_t type) {
  return type == ATC_KERNEL_AIV_ONLY || type == ATC_KERNEL_MIX_AIV_1_0 || type == ATC_KERNEL_VECTORCORE ||
         type == ATC_KERNEL_MIX_VECTORCORE;
}

Status refuse_tiling(const ir::Node& node, const ops::CustomOperator& op, const std::string& what) {
  return Status::error("E89999", node.label() + ": the tiling function of the custom operator " +
                                     op.info().type + " (" + op.library->name() + ") " + what);
}

Status check_tiling(const ir::Node& node, const CustomPlan& plan, const soc::Chip& chip) {
  const custom::Tiling& t = plan.tiling;
  const auto number = [](std::uint64_t v) { return std::to_string(v); };
  if (t.block_dim < 1 || t.block_dim > kMaxBlocks)
    return refuse_tiling(node, plan.op,
                         "asks for " + number(t.block_dim) + " blocks, 1 to 65535 are possible");
  if (t.kernel_type > ATC_KERNEL_MIX_VECTORCORE)
    return refuse_tiling(node, plan.op,
                         "gives the kernel type " + number(t.kernel_type) + ", which does not exist");
  const bool vector = is_vector(t.kernel_type);
  const auto cores = static_cast<std::uint32_t>(vector ? chip.vector_blocks() : chip.cube_blocks());
  if ((t.schedule_mode == 1 || is_mix(t.kernel_type)) && t.block_dim > cores)
    return refuse_tiling(node, plan.op,
                         "asks for " + number(t.block_dim) + " blocks that wait for each other, " +
                             std::string(chip.name) + " has " + number(cores) +
                             (vector ? " vector cores" : " AI Cores"))
        .solution("Take the number of blocks from GetCoreNumAiv or GetCoreNumAic.");
  if (t.workspace_bytes > static_cast<std::uint64_t>(chip.global_memory))
    return refuse_tiling(node, plan.op,
                         "asks for a workspace of " + number(t.workspace_bytes) + " bytes, " +
                             std::string(chip.name) + " has " + std::to_string(chip.global_memory) +
                             " bytes of Global Memory");
  return {};
}

}  // namespace

StatusOr<CustomPlan> plan_custom(const ir::Node& node, const soc::Chip& chip) {
  CustomPlan plan;
  ATC_ASSIGN(plan.op, ops::custom_operator(node));
  for (const ir::Value* v : node.inputs())
    if (v != nullptr && (!v->type.is_static() || v->type.format != ir::Format::ND))
      return ops::cannot_lower(node, "reads '" + v->name() + "', which is " + ir::to_string(v->type) +
                                         "; custom operators take tensors of known shape in ND format");
  const auto c = ops::find_combination(plan.op.info(), ops::input_dtypes(node, plan.op.info()));
  if (!c || !c->exact) return ops::no_combination(node, plan.op.info());
  plan.combination = c->index;
  ATC_ASSIGN(custom::Call call, ops::custom_call(node, plan.op, c->index, false));
  ATC_ASSIGN(plan.outputs, plan.op.library->infer(c->index, call));
  call.outputs = plan.outputs;
  StatusOr<custom::Tiling> tiling = plan.op.library->tile(call, std::string(chip.name));
  if (!tiling.ok()) return std::move(tiling).status().note("this is node " + node.label());
  plan.tiling = std::move(tiling).value();
  ATC_TRY(check_tiling(node, plan, chip));
  return plan;
}

}  // namespace atc::plan
