#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "atc/ir/text.h"
#include "atc/ir/verifier.h"
#include "passes/pass.h"

namespace atc::passes {

/// The graph of an `.air` text; a test failure and an empty graph when it cannot be read.
inline std::unique_ptr<ir::Graph> graph_of(std::string_view text) {
  auto graph = ir::parse(text);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  return graph.ok() ? std::move(graph).value() : std::make_unique<ir::Graph>();
}

/// Wraps statements into a graph: "%0 "x": f32[2]" , "%1", "%1 = Relu@14(%0) : f32[2]".
inline std::string air(std::string_view inputs, std::string_view outputs, std::string_view body) {
  return "air 1\ngraph \"g\"(" + std::string(inputs) + ") -> (" + std::string(outputs) + ") {\n" +
         std::string(body) + "}\n";
}

/// Runs the pass, verifies, and checks that a second run changes nothing. Returns the printed result, and
/// the first run's change count in `changes`.
inline std::string run_pass(const Pass& pass, std::string_view before, int* changes = nullptr) {
  const auto graph = graph_of(before);
  PassContext context;
  const auto first = pass.run(*graph, context);
  EXPECT_TRUE(first.ok()) << first.status().to_string();
  if (!first.ok()) return {};
  if (changes != nullptr) *changes = *first;
  EXPECT_EQ(ir::verify(*graph), "");
  const std::string after = ir::print(*graph);
  const auto second = pass.run(*graph, context);
  EXPECT_TRUE(second.ok()) << second.status().to_string();
  if (!second.ok()) return after;
  EXPECT_EQ(*second, 0) << "a second run makes changes\n" << after;
  EXPECT_EQ(ir::print(*graph), after) << "a second run changes the graph";
  return after;
}

/// The pass turns `before` into `after`, both as printed by ir::print.
inline void expect_rewrite(const Pass& pass, std::string_view before, std::string_view after) {
  int changes = 0;
  EXPECT_EQ(run_pass(pass, before, &changes), after);
  EXPECT_GT(changes, 0);
}

/// The pass leaves `text` (in printed form) alone.
inline void expect_unchanged(const Pass& pass, std::string_view text) {
  int changes = -1;
  EXPECT_EQ(run_pass(pass, text, &changes), text);
  EXPECT_EQ(changes, 0);
}

/// The diagnostic with which the pass refuses `text`.
inline Diagnostic fault_of(const Pass& pass, std::string_view text) {
  const auto graph = graph_of(text);
  PassContext context;
  const auto result = pass.run(*graph, context);
  EXPECT_FALSE(result.ok()) << ir::print(*graph);
  return result.ok() ? Diagnostic{} : result.status().diagnostic();
}

}  // namespace atc::passes
