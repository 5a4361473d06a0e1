#include "runtime/region.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "atc/base/check.h"
#include "ops/op.h"
#include "passes/extract.h"
#include "passes/pass_manager.h"
#include "passes/pipeline.h"
#include "passes/plan_info.h"
#include "plan/build.h"
#include "runtime/region_split.h"

namespace atc::runtime {
namespace {

using ir::Node;
using ir::Value;

/// Compiled forms kept for one graph: each holds its packed weights.
constexpr std::size_t kMaxStages = 16;

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.data.size() == b.data.size() &&
         (a.data.empty() || std::memcmp(a.data.data(), b.data.data(), a.data.size()) == 0);
}

Tensor copy_of(const Tensor& t) {
  Tensor out = t;
  if (t.dtype != DType::String) out.data = Bytes::copy_of(t.data.span());
  return out;
}

StatusOr<std::unique_ptr<Session>> compile(ir::Graph& graph, const RegionOptions& options) {
  passes::PassContext context;
  context.options = options.passes;
  passes::PassManager manager(passes::pipeline());
  ATC_TRY(manager.run(graph, context));
  ATC_ASSIGN(plan::BuiltPlan built, plan::build_plan(graph, *options.passes.chip));
  passes::write_plan_info(options.passes, built.plan.info);
  Bytes weights = built.weight_section();
  ATC_ASSIGN(auto prepared, prepare(std::move(built.plan)));
  return Session::create(std::move(prepared), std::move(weights), options.session);
}

}  // namespace

/// The graph compiled for one set of shapes, and what each run of it does.
struct RegionRunner::Stage {
  struct Nested {
    std::unique_ptr<RegionRunner> runner;
    std::vector<Value*> outer;  // inputs behind the graph's own
  };
  using Values = std::unordered_map<const Value*, Tensor>;

  std::vector<Tensor> inputs;  // shapes of all; elements of `split.bound` only
  RegionSplit split;
  std::unique_ptr<Session> session;  // of split.fixed; null when there are none
  std::vector<Value*> session_inputs, session_outputs;
  std::unique_ptr<RegionRunner> rest;  // of split.remaining; null when there are none
  std::vector<Value*> rest_inputs, rest_outputs;
  std::map<const ir::Graph*, Nested> nested;
  int runs = 0;        // since the count began
  EngineTotal on_cpu;  // operators evaluated since

  bool fits(const std::vector<Tensor>& given) const;
  Status build(const RegionOptions& options);
  StatusOr<std::vector<Tensor>> run(const std::vector<Tensor>& given, const RegionOptions& options);

 private:
  static const Tensor& value(const Values& values, const Value* v);
  Status evaluate(const Node& node, Values& values, const RegionOptions& options);
  void count(const Node& node, const Values& values, const std::vector<Tensor>& outputs,
             const soc::Chip& chip);
  StatusOr<std::vector<Tensor>> run_nested(const ir::Graph& body, std::vector<Tensor> arguments,
                                           const Values& values, const RegionOptions& options);
};

bool RegionRunner::Stage::fits(const std::vector<Tensor>& given) const {
  for (std::size_t i = 0; i < given.size(); ++i)
    if (given[i].dtype != inputs[i].dtype || given[i].shape != inputs[i].shape) return false;
  return std::all_of(split.bound.begin(), split.bound.end(),
                     [&](std::size_t i) { return same_bytes(given[i], inputs[i]); });
}

Status RegionRunner::Stage::build(const RegionOptions& options) {
  // What later steps and the graph's outputs need of the earlier ones.
  std::unordered_set<const Value*> needed(split.graph->outputs().begin(), split.graph->outputs().end());
  for (const auto* nodes : {&split.evaluated, &split.remaining})
    for (const Node* n : *nodes) {
      needed.insert(n->inputs().begin(), n->inputs().end());
      for (const auto& body : ir::subgraphs(*n))
        for (const Value* v : passes::outer_values(*body)) needed.insert(v);
    }
  const auto made_by = [&](const std::vector<Node*>& nodes, const auto& is_wanted) {
    std::vector<Value*> out;
    for (const Node* n : nodes)
      for (Value* v : n->outputs())
        if (v != nullptr && is_wanted(v)) out.push_back(v);
    return out;
  };
  if (!split.fixed.empty()) {
    session_outputs = made_by(split.fixed, [&](const Value* v) { return needed.contains(v); });
    passes::Extracted fixed = passes::extract(split.fixed, session_outputs);
    session_inputs = std::move(fixed.inputs);
    ATC_ASSIGN(session, compile(*fixed.graph, options));
  }
  if (!split.remaining.empty()) {
    rest_outputs = made_by(split.remaining, [&](const Value* v) { return split.graph->is_output(v); });
    passes::Extracted remaining = passes::extract(split.remaining, rest_outputs);
    rest_inputs = std::move(remaining.inputs);
    ATC_CHECK(!split.fixed.empty() || !split.evaluated.empty(), "a region that makes no progress");
    rest = std::make_unique<RegionRunner>(std::move(remaining.graph), options);
  }
  return {};
}

const Tensor& RegionRunner::Stage::value(const Values& values, const Value* v) {
  if (v->is_constant()) return v->constant();
  const auto found = values.find(v);
  ATC_CHECK(found != values.end(), "value '" + v->name() + "' is read before it is written");
  return found->second;
}

StatusOr<std::vector<Tensor>> RegionRunner::Stage::run(const std::vector<Tensor>& given,
                                                       const RegionOptions& options) {
  ++runs;
  Values values;
  for (std::size_t i = 0; i < given.size(); ++i) values[split.graph->inputs()[i]] = given[i];
  const auto all = [&](const std::vector<Value*>& list) {
    std::vector<Tensor> out;
    for (const Value* v : list) out.push_back(value(values, v));
    return out;
  };
  const auto keep = [&](const std::vector<Value*>& list, std::vector<Tensor> tensors) {
    for (std::size_t i = 0; i < list.size(); ++i) values[list[i]] = std::move(tensors[i]);
  };
  if (session != nullptr) {
    ATC_ASSIGN(std::vector<Tensor> made, session->run(all(session_inputs)));
    keep(session_outputs, std::move(made));
  }
  for (const Node* n : split.evaluated) ATC_TRY(evaluate(*n, values, options));
  if (rest != nullptr) {
    ATC_ASSIGN(std::vector<Tensor> made, rest->run(all(rest_inputs)));
    keep(rest_outputs, std::move(made));
  }
  const auto outputs = split.graph->outputs();
  return all(std::vector<Value*>(outputs.begin(), outputs.end()));
}

Status RegionRunner::Stage::evaluate(const Node& node, Values& values, const RegionOptions& options) {
  const ops::OpDef* def = ops::Registry::instance().find(node);
  ATC_CHECK(def != nullptr, "no operator " + node.label());
  if (def->reference == nullptr)
    return Status::error("E10055",
                         "node " + node.label() + ": the AI CPU has no implementation of this operator");
  std::vector<const Tensor*> arguments;
  for (const Value* v : node.inputs()) arguments.push_back(v == nullptr ? nullptr : &value(values, v));
  ops::EvalContext context(node, std::move(arguments));
  context.eval_subgraph = [&](const ir::Graph& body, std::vector<Tensor> given) {
    return run_nested(body, std::move(given), values, options);
  };
  ATC_TRY(def->reference(context));
  if (ir::subgraphs(node).empty()) count(node, values, context.outputs, *options.passes.chip);
  for (std::size_t i = 0; i < node.outputs().size(); ++i)
    if (const Value* v = node.output(i); v != nullptr) values[v] = std::move(context.outputs[i]);
  return {};
}

void RegionRunner::Stage::count(const Node& node, const Values& values, const std::vector<Tensor>& outputs,
                                const soc::Chip& chip) {
  double elements = 0, bytes = 0;
  const auto touch = [&](const Tensor& t) {
    elements += static_cast<double>(t.count());
    bytes += static_cast<double>(t.data.size());
  };
  for (const Value* v : node.inputs())
    if (v != nullptr) touch(value(values, v));
  for (const Tensor& t : outputs) touch(t);
  const double us = ai_cpu_us(elements, bytes);
  ++on_cpu.tasks;
  on_cpu.us += us;
  on_cpu.cycles += std::llround(us * chip.cube_mhz);
}

void RegionRunner::start_count() {
  for (const auto& stage : stages_) {
    stage->runs = 0;
    stage->on_cpu = {};
    if (stage->rest != nullptr) stage->rest->start_count();
    for (auto& [body, nested] : stage->nested) nested.runner->start_count();
  }
}

Status RegionRunner::add_simulation(Simulation& sum) const {
  for (const auto& stage : stages_) {
    if (stage->runs == 0) continue;
    if (stage->session != nullptr) {
      ATC_ASSIGN(const Simulation fixed, simulate(stage->session->prepared()));
      add_runs(sum, fixed, stage->runs, *options_.passes.chip);
    }
    Simulation evaluated;
    if (stage->on_cpu.tasks > 0) evaluated.by_engine["ai_cpu"] = stage->on_cpu;
    add_runs(sum, evaluated, 1, *options_.passes.chip);
    if (stage->rest != nullptr) ATC_TRY(stage->rest->add_simulation(sum));
    for (const auto& [body, nested] : stage->nested) ATC_TRY(nested.runner->add_simulation(sum));
  }
  return {};
}

StatusOr<std::vector<Tensor>> RegionRunner::Stage::run_nested(const ir::Graph& body,
                                                              std::vector<Tensor> arguments,
                                                              const Values& values,
                                                              const RegionOptions& options) {
  Nested& own = nested[&body];
  if (own.runner == nullptr) {
    passes::Extracted copy = passes::stand_alone(body);
    own.outer = std::move(copy.inputs);
    own.runner = std::make_unique<RegionRunner>(std::move(copy.graph), options);
  }
  for (const Value* v : own.outer) arguments.push_back(value(values, v));
  return own.runner->run(arguments);
}

RegionRunner::RegionRunner(std::unique_ptr<ir::Graph> graph, RegionOptions options)
    : graph_(std::move(graph)), options_(std::move(options)) {}

RegionRunner::~RegionRunner() = default;

StatusOr<RegionRunner::Stage*> RegionRunner::stage_for(const std::vector<Tensor>& inputs) {
  for (auto it = stages_.begin(); it != stages_.end(); ++it)
    if ((*it)->fits(inputs)) {
      stages_.splice(stages_.begin(), stages_, it);
      return stages_.front().get();
    }
  auto stage = std::make_unique<Stage>();
  ATC_ASSIGN(stage->split, split_region(*graph_, inputs));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto& bound = stage->split.bound;
    const bool is_bound = std::find(bound.begin(), bound.end(), i) != bound.end();
    stage->inputs.push_back(is_bound ? copy_of(inputs[i]) : Tensor{inputs[i].dtype, inputs[i].shape, {}, {}});
  }
  ATC_TRY(stage->build(options_));
  stages_.push_front(std::move(stage));
  if (stages_.size() > kMaxStages) stages_.pop_back();
  return stages_.front().get();
}

StatusOr<std::vector<Tensor>> RegionRunner::run(const std::vector<Tensor>& inputs) {
  ATC_CHECK(inputs.size() == graph_->inputs().size(), "a region was given other inputs than it has");
  ATC_ASSIGN(Stage* const stage, stage_for(inputs));
  return stage->run(inputs, options_);
}

}  // namespace atc::runtime
