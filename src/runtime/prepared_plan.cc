#include "runtime/prepared_plan.h"

#include "atc/base/check.h"
#include "atc/ir/text.h"
#include "passes/plan_info.h"

namespace atc::runtime {
namespace {

std::vector<TensorSpec> specs(const plan::Plan& plan, const std::vector<plan::PlanPort>& ports) {
  std::vector<TensorSpec> out;
  for (const plan::PlanPort& port : ports) {
    const plan::PlanTensor& tensor = plan.tensors.at(static_cast<std::size_t>(port.tensor));
    out.push_back({port.name, tensor.dtype, tensor.shape});
  }
  return out;
}

Status broken(const plan::PlanTask& task, const std::string& what) {
  return Status::error("E10041", "task '" + task.name + "' (" + task.op_type + "): " + what);
}

StatusOr<PreparedTask> prepare_ai_core(const plan::PlanTask& task, const soc::Chip& chip) {
  PreparedTask prepared;
  prepared.kernel_def = kernels::find_kernel(task.kernel.kernel);
  if (prepared.kernel_def == nullptr) return broken(task, "kernel '" + task.kernel.kernel + "' is not known");
  ATC_ASSIGN(prepared.kernel, prepared.kernel_def->prepare(task.kernel, chip));
  return prepared;
}

StatusOr<PreparedTask> prepare_graph(const plan::Plan& plan, const plan::PlanTask& task) {
  PreparedTask prepared;
  ATC_ASSIGN(prepared.graph, ir::parse(task.air));
  if (prepared.graph->inputs().size() != task.inputs.size() ||
      prepared.graph->outputs().size() != task.outputs.size())
    return broken(task, "its graph has " + std::to_string(prepared.graph->inputs().size()) + " inputs and " +
                            std::to_string(prepared.graph->outputs().size()) + " outputs, the task " +
                            std::to_string(task.inputs.size()) + " and " +
                            std::to_string(task.outputs.size()));
  for (const std::vector<int>* list : {&task.inputs, &task.outputs})
    for (const int index : *list)
      if (plan.tensors.at(static_cast<std::size_t>(index)).format != ir::Format::ND)
        return broken(task, "its engine takes tensors in ND format only");
  return prepared;
}

}  // namespace

std::vector<TensorSpec> PreparedPlan::input_specs() const { return specs(plan, plan.inputs); }
std::vector<TensorSpec> PreparedPlan::output_specs() const { return specs(plan, plan.outputs); }

StatusOr<std::shared_ptr<const PreparedPlan>> prepare(plan::Plan plan) {
  auto prepared = std::make_shared<PreparedPlan>();
  prepared->plan = std::move(plan);
  const plan::Plan& p = prepared->plan;
  ATC_ASSIGN(prepared->chip, soc::find_chip(p.soc_version));
  prepared->passes.chip = prepared->chip;
  prepared->passes.precision = passes::Precision::Origin;
  ATC_TRY(passes::read_plan_info(p.info, prepared->passes));
  prepared->tasks.reserve(p.tasks.size());
  for (const plan::PlanTask& task : p.tasks) {
    StatusOr<PreparedTask> one = task.engine == plan::Engine::AiCore ? prepare_ai_core(task, *prepared->chip)
                                 : task.engine == plan::Engine::Custom
                                     ? StatusOr<PreparedTask>(PreparedTask{})  // see CustomRunner
                                     : prepare_graph(p, task);
    if (!one.ok()) return std::move(one).status().while_doing("preparing task '" + task.name + "'");
    prepared->tasks.push_back(std::move(one).value());
  }
  return std::shared_ptr<const PreparedPlan>(std::move(prepared));
}

}  // namespace atc::runtime
