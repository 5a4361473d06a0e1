#include "runtime/compile_run.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "passes/kept_dead_code.h"
#include "passes/pass_manager.h"
#include "passes/pipeline.h"
#include "plan/build.h"
#include "runtime/session.h"

namespace atc::runtime {
StatusOr<CompiledRun> compile_and_run(ir::Graph& graph, const CompileTarget& target,
                                      const std::vector<Tensor>& inputs) {
  ATC_ASSIGN(const soc::Chip* chip, soc::find_chip(target.chip));
  passes::PassContext context;
  context.options.chip = chip;
  context.options.precision = target.precision;
  context.options.switches = target.switches;
  std::optional<passes::KeptDeadCode> unread;
  if (target.keeps_dead_code) unread.emplace(graph).attach(graph);
  passes::PassManager manager(passes::pipeline(), {.verify_each = true});
  ATC_TRY(manager.run(graph, context));
  ATC_ASSIGN(plan::BuiltPlan built, plan::build_plan(graph, *chip, {}, unread ? unread->count() : 0));
  if (unread) unread->detach(graph);
  ATC_TRY(plan::validate(built.plan));
  CompiledRun run;
  run.fusions = context.fusions;
  for (const plan::PlanTask& task : built.plan.tasks) {
    run.tasks.push_back(task.op_type);
    if (task.engine != plan::Engine::AiCore) run.on_ai_cpu.push_back(task.op_type);
  }
  const Bytes weights = built.weight_section();
  ATC_ASSIGN(auto prepared, prepare(std::move(built.plan)));
  ATC_ASSIGN(auto session, Session::create(prepared, weights, {.threads = 1}));
  ATC_ASSIGN(run.outputs, session->run(inputs));
  return run;
}

double relative_error(const Tensor& actual, const Tensor& expected) {
  const auto a = to_doubles(actual), e = to_doubles(expected);
  double error = 0, size = 0;
  for (std::size_t i = 0; i < e.size(); ++i) {
    error += (a[i] - e[i]) * (a[i] - e[i]);
    size += e[i] * e[i];
  }
  if (e.empty()) return 0;
  const double n = static_cast<double>(e.size());
  return std::sqrt(error / n) / std::max(0.05, std::sqrt(size / n));
}

}  // namespace atc::runtime
