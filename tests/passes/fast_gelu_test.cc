#include "passes/fast_gelu.h"

#include <cmath>

#include "pass_testing.h"
#include "passes/gelu_fusion.h"
#include "reference_run.h"

namespace atc::passes {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kErf =
    "  %1 = const f32[] {1.4142135}\n  %2 = const f32[] {1.0}\n  %3 = const f32[] {0.5}\n"
    "  %4 = Div@14(%0, %1) : f32[33] from \"d\"\n"
    "  %5 = Erf@13(%4) : f32[33] from \"e\"\n"
    "  %6 = Add@14(%5, %2) : f32[33] from \"a\"\n"
    "  %7 = Mul@14(%0, %6) : f32[33] from \"m\"\n"
    "  %8 \"y\" = Mul@14(%7, %3) : f32[33] from \"n\"\n";

std::string run(const std::string& text, const char* node, std::unique_ptr<ir::Graph>* out = nullptr,
                PrecisionRecord* record = nullptr) {
  auto graph = graph_of(text);
  PassContext context;
  if (node != nullptr) context.options.node_precisions.nodes[node] = {Storage::Mode, {}, {}, true, "--test"};
  EXPECT_TRUE(gelu_fusion_pass().run(*graph, context).ok());
  const auto changes = fast_gelu_pass().run(*graph, context);
  EXPECT_TRUE(changes.ok());
  EXPECT_EQ(ir::verify(*graph), "");
  const std::string printed = ir::print(*graph);
  EXPECT_EQ(*fast_gelu_pass().run(*graph, context), 0) << "a second run makes changes";
  EXPECT_EQ(ir::print(*graph), printed);
  if (record != nullptr) *record = context.precision;
  if (out != nullptr) *out = std::move(graph);
  return printed;
}

Tensor ramp() {
  std::vector<double> x(33);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = (static_cast<double>(i) - 16) * 0.4;
  return from_doubles(DType::F32, {33}, x);
}

// Against the definition by the error function, in double.
double worst_error(const ir::Graph& graph) {
  const Tensor x = ramp();
  const auto y = to_doubles(reference_run(graph, {x})[0]);
  const auto in = to_doubles(x);
  double worst = 0;
  for (std::size_t i = 0; i < y.size(); ++i)
    worst = std::max(worst, std::abs(y[i] - 0.5 * in[i] * (1 + std::erf(in[i] / std::sqrt(2.0)))));
  return worst;
}

TEST(FastGelu, WrittenOutByErf) {
  std::unique_ptr<ir::Graph> graph;
  PrecisionRecord record;
  const std::string text = run(air("%0 \"x\": f32[33]", "%8", kErf), "e", &graph, &record);
  EXPECT_THAT(text, Not(HasSubstr("Erf")));
  EXPECT_THAT(text, HasSubstr("Sigmoid"));
  EXPECT_LT(worst_error(*graph), 5e-4);
  EXPECT_GT(worst_error(*graph), 1e-7) << "it is another function";
  ASSERT_EQ(record.changes.size(), 1u);
  EXPECT_EQ(record.changes[0].kind, PrecisionChange::Kind::Faster);
  EXPECT_THAT(record.changes[0].sources, testing::UnorderedElementsAre("d", "e", "a", "m", "n"));
}

TEST(FastGelu, TheOperator) {
  for (const char* attributes : {"", " {approximate=\"tanh\"}"}) {
    std::unique_ptr<ir::Graph> graph;
    const std::string body = "  %1 \"y\" = Gelu@20(%0)" + std::string(attributes) + " : f32[33] from \"g\"\n";
    EXPECT_THAT(run(air("%0 \"x\": f32[33]", "%1", body), "g", &graph), Not(HasSubstr("Gelu@")));
    EXPECT_LT(worst_error(*graph), 5e-4);
  }
}

TEST(FastGelu, OnlyWhereItIsAskedFor) {
  const std::string text = air("%0 \"x\": f32[33]", "%1", "  %1 \"y\" = Gelu@20(%0) : f32[33] from \"g\"\n");
  EXPECT_EQ(run(text, nullptr), text);
  EXPECT_EQ(run(text, "another"), text);
}

TEST(FastGelu, NotInTypesWithoutTheForm) {
  const std::string text = air("%0 \"x\": f64[33]", "%1", "  %1 \"y\" = Gelu@20(%0) : f64[33] from \"g\"\n");
  EXPECT_EQ(run(text, "g"), text);
}

}  // namespace
}  // namespace atc::passes
