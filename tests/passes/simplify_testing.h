#pragma once

#include <cstring>
#include <random>

#include "pass_testing.h"
#include "reference_run.h"

// What the tests of the simplifying passes share: they check the operators that are left, and that the
// results are the same as before.
namespace atc::passes {

/// "Slice Relu": the operators of a graph, in order.
inline std::string operators_of(const ir::Graph& graph) {
  std::string out;
  for (const auto& n : graph.nodes()) out += (out.empty() ? "" : " ") + n->op_type;
  return out;
}

/// Small integers, in any type: sums of them are exact. Some zeros are negative.
inline std::vector<Tensor> small_integers(const ir::Graph& graph, unsigned seed) {
  std::mt19937 rng(seed);
  std::vector<Tensor> out;
  for (const ir::Value* v : graph.inputs()) {
    const bool is_signed =
        is_float(v->type.dtype) || v->type.dtype == DType::I64 || v->type.dtype == DType::I32;
    std::vector<double> values;
    for (std::int64_t i = 0; i < element_count(v->type.dims()); ++i)
      values.push_back(static_cast<double>(rng() % 7) - (is_signed ? 3.0 : 0.0));
    if (is_float(v->type.dtype) && !values.empty()) values[0] = -0.0;
    if (v->type.dtype == DType::Bool)
      for (double& x : values) x = x > 3 ? 1 : 0;
    out.push_back(from_doubles(v->type.dtype, v->type.dims(), values));
  }
  return out;
}

/// `tolerance` 0: the same bits.
inline void expect_same_tensors(const std::vector<Tensor>& a, const std::vector<Tensor>& b,
                                double tolerance = 0) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].dtype, b[i].dtype);
    ASSERT_EQ(a[i].shape, b[i].shape) << "output " << i;
    if (tolerance == 0) {
      ASSERT_EQ(a[i].data.size(), b[i].data.size());
      EXPECT_EQ(std::memcmp(a[i].data.data(), b[i].data.data(), a[i].data.size()), 0) << "output " << i;
      continue;
    }
    const std::vector<double> x = to_doubles(a[i]), y = to_doubles(b[i]);
    for (std::size_t k = 0; k < x.size(); ++k)
      EXPECT_NEAR(x[k], y[k], tolerance * (1 + std::abs(x[k]))) << "output " << i << " element " << k;
  }
}

/// The pass leaves the graph alone.
inline void expect_kept(const Pass& pass, std::string_view text) {
  expect_unchanged(pass, ir::print(*graph_of(text)));
}

/// The operators that are left of `before`; checks that a second run changes nothing, that the outputs keep
/// their names and types, and that the results are the same.
inline std::string simplified(const Pass& pass, std::string_view before, double tolerance = 0) {
  const auto old_graph = graph_of(before);
  const auto new_graph = graph_of(run_pass(pass, before));
  EXPECT_EQ(old_graph->outputs().size(), new_graph->outputs().size());
  if (old_graph->outputs().size() != new_graph->outputs().size()) return {};
  for (std::size_t i = 0; i < old_graph->outputs().size(); ++i) {
    EXPECT_EQ(old_graph->outputs()[i]->name(), new_graph->outputs()[i]->name());
    EXPECT_EQ(old_graph->outputs()[i]->type, new_graph->outputs()[i]->type);
  }
  for (unsigned seed = 0; seed < 3; ++seed) {
    const std::vector<Tensor> inputs = small_integers(*old_graph, seed);
    expect_same_tensors(reference_run(*old_graph, inputs), reference_run(*new_graph, inputs), tolerance);
  }
  return operators_of(*new_graph);
}

}  // namespace atc::passes
