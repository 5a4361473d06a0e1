#include "report/task_operands.h"

namespace atc::report {

std::vector<int> tensors_of(const plan::PlanTask& task, bool outputs) {
  if (task.engine != plan::Engine::AiCore && task.engine != plan::Engine::Custom)
    return outputs ? task.outputs : task.inputs;
  std::vector<int> out;
  for (const kernels::Operand& o : task.kernel.operands)
    if (o.output == outputs && o.tensor >= 0) out.push_back(o.tensor);
  return out;
}

}  // namespace atc::report
