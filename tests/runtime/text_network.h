#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "atc/ir/text.h"
#include "runtime/compile_run.h"
#include "runtime/reference_graph.h"

namespace atc::runtime {

using Tasks = std::vector<std::string>;

/// Compiles and runs `text` on random inputs, expects the reference's values, and gives the tasks.
inline Tasks tasks_of(const std::string& text, passes::Precision precision = passes::Precision::Origin) {
  auto graph = ir::parse("air 1\ngraph \"g\"" + text);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  if (!graph.ok()) return {};
  std::mt19937 rng(7);
  std::uniform_real_distribution<double> dist(-2, 2);
  std::vector<Tensor> inputs;
  for (const ir::Value* v : (*graph)->inputs()) {
    std::vector<double> values(static_cast<std::size_t>(element_count(v->type.dims())));
    for (double& x : values) x = dist(rng);
    inputs.push_back(from_doubles(v->type.dtype, v->type.dims(), values));
  }
  const auto expected = evaluate_reference(**graph, inputs);
  EXPECT_TRUE(expected.ok()) << expected.status().to_string();
  const auto run = compile_and_run(**graph, {"Ascend910B3", precision}, inputs);
  EXPECT_TRUE(run.ok()) << run.status().to_string();
  if (!run.ok() || !expected.ok()) return {};
  EXPECT_TRUE(run->on_ai_cpu.empty());
  for (std::size_t i = 0; i < run->outputs.size(); ++i) {
    EXPECT_EQ(run->outputs[i].shape, (*expected)[i].shape);
    EXPECT_LT(relative_error(run->outputs[i], (*expected)[i]),
              precision == passes::Precision::Origin ? 1e-5 : 2e-3);
  }
  return run->tasks;
}

}  // namespace atc::runtime
