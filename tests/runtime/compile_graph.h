#pragma once

#include <cmath>
#include <cstring>

#include "passes/pass_manager.h"
#include "passes/pipeline.h"
#include "plan/build.h"
#include "plan/plan.h"
#include "runtime/session.h"

/// The whole way from a graph of ONNX operators to values, for tests.
namespace atc::runtime {

struct Target {
  std::string_view chip;
  passes::Precision precision;
  double tolerance;  ///< root mean square of the error, relative to the values'
};

inline Bytes join(const plan::BuiltPlan& built) {
  MutableBytes all(static_cast<std::size_t>(built.plan.weight_bytes));
  for (const plan::WeightPiece& piece : built.weights)
    if (!piece.bytes.empty()) std::memcpy(all.data() + piece.offset, piece.bytes.data(), piece.bytes.size());
  return std::move(all).freeze();
}

/// Values of the outputs. `tasks`, when given, gets the operator types of the plan's tasks.
inline StatusOr<std::vector<Tensor>> compile_and_run(ir::Graph& graph, const Target& target,
                                                     const std::vector<Tensor>& inputs,
                                                     std::vector<std::string>* tasks = nullptr) {
  ATC_ASSIGN(const soc::Chip* chip, soc::find_chip(target.chip));
  passes::PassContext context;
  context.options.chip = chip;
  context.options.precision = target.precision;
  passes::PassManager manager(passes::pipeline(), {.verify_each = true});
  ATC_TRY(manager.run(graph, context));
  ATC_ASSIGN(plan::BuiltPlan built, plan::build_plan(graph, *chip));
  ATC_TRY(plan::validate(built.plan));
  if (tasks != nullptr)
    for (const plan::PlanTask& t : built.plan.tasks) tasks->push_back(t.op_type);
  const Bytes weights = join(built);
  ATC_ASSIGN(auto prepared, prepare(std::move(built.plan)));
  ATC_ASSIGN(auto session, Session::create(prepared, weights, {.threads = 1}));
  return session->run(inputs);
}

/// Error relative to the values, both as root mean squares; values below 0.05 count as that.
inline double relative_error(const Tensor& actual, const Tensor& expected) {
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
