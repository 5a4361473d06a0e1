// Every pass keeps every bit of the outputs, and their names.
#include <cstring>

#include "pass_testing.h"
#include "passes/common_subexpression.h"
#include "passes/constant_folding.h"
#include "passes/dead_code.h"
#include "passes/identity_removal.h"
#include "passes/infer_shapes.h"
#include "passes/pass_manager.h"
#include "passes/pipeline.h"
#include "reference_run.h"

namespace atc::passes {
namespace {

Tensor random_input(std::mt19937& rng) {
  std::vector<double> values;
  for (int i = 0; i < 24; ++i) values.push_back(static_cast<double>(rng() % 7) - 3.0);
  values[3] = -0.0;
  return from_doubles(DType::F32, {2, 3, 4}, values);
}

void expect_same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].dtype, b[i].dtype);
    EXPECT_EQ(a[i].shape, b[i].shape);
    ASSERT_EQ(a[i].data.size(), b[i].data.size());
    EXPECT_EQ(std::memcmp(a[i].data.data(), b[i].data.data(), a[i].data.size()), 0) << "output " << i;
  }
}

TEST(Numerics, PassesKeepEveryBitOnRandomGraphs) {
  const std::vector<Pass> passes = {constant_folding_pass(), infer_shapes_pass(), identity_removal_pass(),
                                    common_subexpression_pass(), dead_code_pass()};
  int changes = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 rng(seed);
    const auto graph = random_foldable_graph(rng, 25);
    const Tensor input = random_input(rng);
    const auto expected = reference_run(*graph, {input});
    for (const Pass& pass : passes) {
      SCOPED_TRACE(std::string(pass.name));
      const auto copy = graph->clone();
      PassContext context;
      const auto result = pass.run(*copy, context);
      ASSERT_TRUE(result.ok()) << result.status().to_string();
      changes += *result;
      ASSERT_EQ(ir::verify(*copy), "");
      expect_same(expected, reference_run(*copy, {input}));
    }
  }
  EXPECT_GT(changes, 1000) << "the graphs give the passes too little to do";
}

TEST(Numerics, ThePipelineKeepsBitsNamesAndIsIdempotent) {
  for (unsigned seed = 100; seed < 140; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 rng(seed);
    const auto graph = random_foldable_graph(rng, 40);
    const Tensor input = random_input(rng);
    const auto expected = reference_run(*graph, {input});
    PassContext context;
    PassManager manager(canonical_passes(), {.verify_each = true});
    const Status status = manager.run(*graph, context);
    ASSERT_TRUE(status.ok()) << status.to_string();
    expect_same(expected, reference_run(*graph, {input}));
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(graph->outputs()[i]->name(), "out" + std::to_string(i));
    const std::string once = ir::print(*graph);
    ASSERT_TRUE(manager.run(*graph, context).ok());
    EXPECT_EQ(ir::print(*graph), once);
  }
}

}  // namespace
}  // namespace atc::passes
