#include "runtime/region.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "atc/ir/text.h"
#include "runtime/region_split.h"

namespace atc::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::unique_ptr<ir::Graph> graph_of(const std::string& inputs, const std::string& outputs,
                                    const std::string& body) {
  auto graph = ir::parse("air 1\ngraph \"g\"(" + inputs + ") -> (" + outputs + ") {\n" + body + "}\n");
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  return std::move(graph).value();
}

Tensor floats(const Dims& shape, const std::vector<double>& v) { return from_doubles(DType::F32, shape, v); }
Tensor ints(const Dims& shape, const std::vector<std::int64_t>& v) {
  return from_int64s(DType::I64, shape, v);
}
Tensor truth(bool v) { return from_doubles(DType::Bool, {}, std::vector<double>{v ? 1.0 : 0.0}); }

class Region : public ::testing::TestWithParam<std::string_view> {
 protected:
  RegionRunner runner(std::unique_ptr<ir::Graph> graph, passes::Switches switches = {}) {
    const soc::Chip& chip = **soc::find_chip(GetParam());
    RegionOptions options;
    options.passes = {.chip = &chip,
                      .precision = passes::Precision::Origin,
                      .switches = std::move(switches),
                      .node_precisions = {}};
    options.session.workers = std::make_shared<Workers>(chip, aicore::Values::Fast, 2);
    return RegionRunner(std::move(graph), options);
  }
};

std::vector<Tensor> run(RegionRunner& region, const std::vector<Tensor>& inputs) {
  auto outputs = region.run(inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.status().to_string();
  return outputs.ok() ? std::move(outputs).value() : std::vector<Tensor>();
}

// NonZero is evaluated; what reads it is compiled for the size that it has then.
TEST_P(Region, StagesFollowTheData) {
  RegionRunner r = runner(graph_of("%0 \"x\": f32[?a]", "%3, %4",
                                   "  %1 = NonZero@13(%0) : i64[1,?b]\n"
                                   "  %2 = Squeeze@11(%1) {axes=[0]} : i64[?b]\n"
                                   "  %3 = Gather@13(%0, %2) {axis=0} : f32[?b]\n"
                                   "  %4 = Add@14(%3, %3) : f32[?b]\n"));
  const auto first = run(r, {floats({5}, {0, 3, 0, -1, 2})});
  EXPECT_THAT(to_doubles(first[0]), ElementsAre(3, -1, 2));
  EXPECT_THAT(to_doubles(first[1]), ElementsAre(6, -2, 4));
  const auto second = run(r, {floats({3}, {0, 0, 7})});
  EXPECT_THAT(to_doubles(second[1]), ElementsAre(14));
  const auto none = run(r, {floats({2}, {0, 0})});
  EXPECT_EQ(none[1].shape, (Dims{0}));
}

// The elements of an input that decides shapes are constants of the compiled form; other data is not.
TEST_P(Region, AShapeThatIsFedSelectsTheForm) {
  const auto graph =
      graph_of("%0 \"x\": f32[6], %1 \"s\": i64[2]", "%2", "  %2 = Reshape@14(%0, %1) : f32[?a,?b]\n");
  const auto split = split_region(*graph, {floats({6}, {1, 2, 3, 4, 5, 6}), ints({2}, {2, 3})});
  ASSERT_TRUE(split.ok()) << split.status().to_string();
  EXPECT_THAT(split->bound, ElementsAre(1u));
  EXPECT_EQ(split->fixed.size(), 1u);
  EXPECT_TRUE(split->evaluated.empty() && split->remaining.empty());
  RegionRunner r = runner(graph->clone());
  const Tensor x = floats({6}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(run(r, {x, ints({2}, {2, 3})})[0].shape, (Dims{2, 3}));
  EXPECT_EQ(run(r, {x, ints({2}, {-1, 2})})[0].shape, (Dims{3, 2}));
  EXPECT_THAT(to_doubles(run(r, {x, ints({2}, {3, 2})})[0]), ElementsAre(1, 2, 3, 4, 5, 6));
}

// A shape computed from data waits for the stage that knows it.
TEST_P(Region, AComputedShapeWaits) {
  RegionRunner r = runner(graph_of("%0 \"x\": f32[4], %1 \"v\": f32[1]", "%5",
                                   "  %2 = NonZero@13(%0) : i64[1,?b]\n"
                                   "  %3 = Shape@13(%2) : i64[2]\n"
                                   "  %4 = Expand@13(%1, %3) : f32[?c,?d]\n"
                                   "  %5 = Neg@13(%4) : f32[?c,?d]\n"));
  const auto y = run(r, {floats({4}, {1, 0, 1, 1}), floats({1}, {2})});
  EXPECT_EQ(y[0].shape, (Dims{1, 3}));
  EXPECT_THAT(to_doubles(y[0]), ElementsAre(-2, -2, -2));
}

TEST_P(Region, IfTakesOneBranch) {
  RegionRunner r = runner(graph_of("%0 \"x\": f32[4], %1 \"c\": bool[]", "%2",
                                   "  %2 \"y\" = If@16(%1) {else_branch=graph \"e\"() -> (%0) {\n"
                                   "    %0 = Neg@13(^%0) : f32[4]\n"
                                   "  }, then_branch=graph \"t\"() -> (%0) {\n"
                                   "    %0 = Add@14(^%0, ^%0) : f32[4]\n"
                                   "  }} : f32[4]\n"));
  const Tensor x = floats({4}, {1, 2, 3, 4});
  EXPECT_THAT(to_doubles(run(r, {x, truth(true)})[0]), ElementsAre(2, 4, 6, 8));
  EXPECT_THAT(to_doubles(run(r, {x, truth(false)})[0]), ElementsAre(-1, -2, -3, -4));
}

// A state that grows, an outer value, a condition that ends the loop, and a scan output.
TEST_P(Region, LoopRunsUntilItsConditionOrCount) {
  const auto graph = graph_of("%0 \"x\": f32[1], %1 \"n\": i64[]", "%3, %4",
                              "  %2 \"true\" = const bool[] {1}\n"
                              "  %3 \"all\", %4 \"sums\" = Loop@16(%1, %2, %0) {body=graph \"b\"(%0 \"i\": "
                              "i64[], %1 \"c\": bool[], %2 \"s\": "
                              "f32[?s]) -> (%6, %4, %5) {\n"
                              "    %7 \"limit\" = const f32[1] {100.0}\n"
                              "    %3 \"new\" = Mul@14(^%0, ^%0) : f32[1]\n"
                              "    %4 \"next\" = Concat@13(%2, %3) {axis=0} : f32[?t]\n"
                              "    %5 \"sum\" = ReduceSum@11(%4) {axes=[0], keepdims=1} : f32[1]\n"
                              "    %8 \"less\" = Less@13(%5, %7) : bool[1]\n"
                              "    %6 \"go\" = Squeeze@11(%8) {axes=[0]} : bool[]\n"
                              "  }} : f32[?u], f32[?v,1]\n");
  RegionRunner r = runner(graph->clone());
  const auto three = run(r, {floats({1}, {3}), ints({}, {3})});
  EXPECT_THAT(to_doubles(three[0]), ElementsAre(3, 9, 9, 9));
  EXPECT_EQ(three[1].shape, (Dims{3, 1}));
  EXPECT_THAT(to_doubles(three[1]), ElementsAre(12, 21, 30));
  const auto ended = run(r, {floats({1}, {7}), ints({}, {50})});
  EXPECT_THAT(to_doubles(ended[1]), ElementsAre(56, 105));
  const auto none = run(r, {floats({1}, {7}), ints({}, {0})});
  EXPECT_THAT(to_doubles(none[0]), ElementsAre(7));
  EXPECT_EQ(none[1].shape, (Dims{0, 1}));
}

// A pass that is switched off is off in what is compiled at run time too.
TEST_P(Region, FollowsTheSwitches) {
  const auto graph = graph_of("%0 \"x\": f32[?a]", "%2",
                              "  %1 \"t\" = Tanh@13(%0) : f32[?a]\n  %2 \"y\" = Neg@13(%1) : f32[?a]\n");
  const auto tasks = [&](passes::Switches switches) {
    RegionRunner r = runner(graph->clone(), std::move(switches));
    r.start_count();
    EXPECT_THAT(to_doubles(run(r, {floats({2}, {0, 0})})[0]), ElementsAre(0, 0));
    Simulation sum;
    EXPECT_TRUE(r.add_simulation(sum).ok());
    return sum.by_engine["vector"].tasks;
  };
  EXPECT_EQ(tasks({}), 1);
  passes::Switches off;
  off.passes["AutomaticUbFusion"] = false;
  EXPECT_EQ(tasks(off), 2);
}

// What ran is counted by engine: three iterations of a program, and a NonZero on the AI CPU.
TEST_P(Region, CountsWhatRan) {
  RegionRunner r = runner(graph_of(
      "%0 \"x\": f32[64], %1 \"n\": i64[]", "%3, %4",
      "  %2 \"true\" = const bool[] {1}\n"
      "  %3 \"y\" = Loop@16(%1, %2, %0) {body=graph \"b\"(%0 \"i\": i64[], %1 \"c\": bool[], %2 \"s\": "
      "f32[64]) -> (%1, %3) {\n"
      "    %3 \"t\" = Mul@14(%2, %2) : f32[64]\n"
      "  }} : f32[64]\n"
      "  %4 \"z\" = NonZero@13(%0) : i64[1,?a]\n"));
  const std::vector<Tensor> inputs = {floats({64}, std::vector<double>(64, 1.0)), ints({}, {3})};
  for (int repeat = 0; repeat < 2; ++repeat) {
    r.start_count();
    run(r, inputs);
    Simulation sum;
    ASSERT_TRUE(r.add_simulation(sum).ok());
    EXPECT_EQ(sum.by_engine["vector"].tasks, 3);
    EXPECT_EQ(sum.by_engine["ai_cpu"].tasks, 1);
    EXPECT_GT(sum.by_engine["vector"].us, 3 * soc::find_chip(GetParam()).value()->launch_us);
    EXPECT_DOUBLE_EQ(sum.us, sum.by_engine["vector"].us + sum.by_engine["ai_cpu"].us);
  }
}

TEST_P(Region, ScanWalksBothWays) {
  const std::string head = "%0 \"s\": f32[2], %1 \"x\": f32[3,2]";
  const std::string tail =
      "body=graph \"b\"(%0 \"s\": f32[2], %1 \"x\": f32[2]) -> (%2, %3) {\n"
      "    %2 \"sum\" = Add@14(%0, %1) : f32[2]\n"
      "    %3 \"out\" = Identity@13(%2) : f32[2]\n"
      "  }, num_scan_inputs=1";
  RegionRunner forward =
      runner(graph_of(head, "%2, %3", "  %2, %3 = Scan@11(%0, %1) {" + tail + "} : f32[2], f32[3,2]\n"));
  const std::vector<Tensor> inputs = {floats({2}, {0, 10}), floats({3, 2}, {1, 2, 3, 4, 5, 6})};
  const auto y = run(forward, inputs);
  EXPECT_THAT(to_doubles(y[0]), ElementsAre(9, 22));
  EXPECT_THAT(to_doubles(y[1]), ElementsAre(1, 12, 4, 16, 9, 22));
  RegionRunner backward =
      runner(graph_of(head, "%2, %3",
                      "  %2, %3 = Scan@11(%0, %1) {" + tail +
                          ", scan_input_directions=[1], scan_output_axes=[1]} : f32[2], f32[2,3]\n"));
  EXPECT_THAT(to_doubles(run(backward, inputs)[1]), ElementsAre(5, 8, 9, 16, 20, 22));
}

TEST_P(Region, FaultsAreToldWhenTheyHappen) {
  RegionRunner r = runner(
      graph_of("%0 \"x\": f32[6], %1 \"s\": i64[2]", "%2", "  %2 = Reshape@14(%0, %1) : f32[?a,?b]\n"));
  const auto wrong = r.run({floats({6}, {1, 2, 3, 4, 5, 6}), ints({2}, {4, 4})});
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.status().to_string(), HasSubstr("Reshape"));
  EXPECT_TRUE(r.run({floats({6}, {1, 2, 3, 4, 5, 6}), ints({2}, {6, 1})}).ok());
}

INSTANTIATE_TEST_SUITE_P(Chips, Region, ::testing::Values("Ascend910B3", "Ascend310P3"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace atc::runtime
