// What --oo_constant_folding=false and --oo_dead_code_elimination=false leave in a network runs, and changes
// no result.
#include "runtime/exporter_form.h"

namespace atc::runtime {
namespace {

using V = FormWriter::V;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

CompiledRun run_of(const FormWriter& w, bool folds, bool keeps_dead_code = false) {
  CompileTarget target{"Ascend910B3", passes::Precision::Origin};
  if (!folds) target.switches.passes["constant-folding"] = false;
  target.keeps_dead_code = keeps_dead_code;
  const auto graph = w.graph().clone();
  const auto run = compile_and_run(*graph, target, w.inputs());
  EXPECT_TRUE(run.ok()) << run.status().to_string();
  const auto expected = evaluate_reference(w.graph(), w.inputs());
  EXPECT_TRUE(expected.ok()) << expected.status().to_string();
  if (!run.ok() || !expected.ok()) return {};
  EXPECT_EQ(run->outputs.size(), expected->size());
  for (std::size_t i = 0; i < std::min(run->outputs.size(), expected->size()); ++i)
    EXPECT_LT(relative_error(run->outputs[i], (*expected)[i]), 2e-5) << "output " << i;
  EXPECT_THAT(run->on_ai_cpu, IsEmpty());
  return *run;
}

TEST(ConstantFoldingOff, TablesAndWeightsOfProductsAreComputedAtRunTime) {
  FormWriter w;
  V weight = w.op("Exp", {w.weights({8, 16})});
  V table = w.op("Tanh", {w.weights({4, 8})});
  w.output(w.add(w.matmul(w.input({4, 16}), w.transpose(weight, {1, 0})), table));
  EXPECT_THAT(run_of(w, true).tasks, Not(Contains(HasSubstr("Exp"))));
  EXPECT_THAT(run_of(w, false).tasks, Contains(HasSubstr("Exp")));
}

TEST(ConstantFoldingOff, WhatKernelsNeedIsFolded) {
  FormWriter w;
  V x = w.input({1, 4, 6, 6});
  V filter = w.transpose(w.weights({3, 3, 4, 8}), {3, 2, 0, 1});
  V y = w.op("Conv", {x, filter, w.op("Neg", {w.weights({8})})});
  // Sizes in floats, as exporters write them for Resize; a scale of one number.
  V size =
      w.cast(w.op("Floor", {w.mul(w.cast(w.ints({1, 8, 4, 4}), DType::F32), w.reals({4}, {1, 1, 2, 2}))}),
             DType::I64);
  V large = w.op("Resize", {y, nullptr, nullptr, size}, {{"mode", std::string("nearest")}});
  w.output(w.mul(large, w.op("Sqrt", {w.number(4)})));
  EXPECT_EQ(run_of(w, false).tasks.size(), run_of(w, true).tasks.size());
}

TEST(DeadCodeElimination, WhatNothingReadsRunsWhereItIsOff) {
  FormWriter w;
  V x = w.input({4, 16});
  V y = w.op("Relu", {x});
  w.softmax(w.matmul(y, w.weights({16, 16})));  // dead
  w.reshape(x, {64});                           // dead, and no task
  w.output(y);
  EXPECT_THAT(run_of(w, true).tasks, ElementsAre("Relu"));
  const CompiledRun kept = run_of(w, true, true);
  EXPECT_THAT(kept.tasks, Contains("MatMul"));
  EXPECT_GE(kept.tasks.size(), 3u);
}

TEST(DeadCodeElimination, BothOffTogether) {
  FormWriter w;
  V table = w.op("Exp", {w.weights({4, 16})});
  V x = w.input({4, 16});
  w.output(w.mul(x, table)).output(x);
  w.op("Tanh", {w.add(w.op("Sin", {table}), x)});  // dead
  w.op("Identity", {w.weights({3})});              // dead, of a constant
  EXPECT_THAT(run_of(w, true).tasks, Not(Contains(AnyOf(HasSubstr("Exp"), HasSubstr("Tanh")))));
  const CompiledRun kept = run_of(w, false, true);
  EXPECT_THAT(kept.tasks, Contains(HasSubstr("Exp")));
  EXPECT_THAT(kept.tasks, Contains(HasSubstr("Tanh")));
}

}  // namespace
}  // namespace atc::runtime
