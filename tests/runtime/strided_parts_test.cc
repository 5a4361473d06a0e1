// Parts of a batch of several items stay inside what Concat joins and Split cuts: no task copies them.
#include <gtest/gtest.h>

#include <cmath>

#include "atc/base/half.h"
#include "ops/reference_util.h"
#include "passes/pass_manager.h"
#include "passes/pipeline.h"
#include "plan/build.h"
#include "runtime/network_maker.h"
#include "runtime/session.h"
#include "soc/chip.h"

namespace atc::runtime {
namespace {

constexpr std::int64_t kBatch = 3;

struct Net {
  NetworkMaker maker{7};
  ir::Value* x = nullptr;

  explicit Net(std::int64_t channels) { x = maker.input({kBatch, channels, 6, 5}); }

  ir::Value* conv(ir::Value* from, std::int64_t channels, std::int64_t kernel) {
    ir::Node* n =
        maker.node("Conv", {from, maker.constant({channels, from->type.dims()[1], kernel, kernel}, 0.1),
                            maker.constant({channels})});
    n->attrs.set("pads", Dims(4, kernel / 2));
    return maker.add("Relu", {maker.finish(n)});
  }
  ir::Value* pool(ir::Value* from) {
    ir::Node* n = maker.node("MaxPool", {from});
    n->attrs.set("kernel_shape", Dims{3, 3});
    n->attrs.set("pads", Dims(4, 1));
    return maker.finish(n);
  }
  ir::Value* concat(std::vector<ir::Value*> parts) {
    ir::Node* n = maker.node("Concat", std::move(parts));
    n->attrs.set("axis", std::int64_t{1});
    return maker.finish(n);
  }
};

/// Compiles and runs; checks the output against the reference, and that no task is a Concat or Split.
void expect_no_copies(Net& net, ir::Value* y, const char* soc, passes::Precision precision) {
  const Tensor input = net.maker.result(net.x);
  const std::vector<double> expected = to_doubles(net.maker.result(y));
  net.maker.graph().add_output(y);
  const auto graph = net.maker.graph().clone();
  const soc::Chip& chip = **soc::find_chip(soc);
  passes::PassContext context;
  context.options.chip = &chip;
  context.options.precision = precision;
  ASSERT_TRUE(passes::PassManager(passes::pipeline(), {}).run(*graph, context).ok());
  auto built = plan::build_plan(*graph, chip, {});
  ASSERT_TRUE(built.ok()) << built.status().to_string();
  const Status sound = plan::validate(built->plan);
  ASSERT_TRUE(sound.ok()) << sound.to_string();
  bool strided = false;
  for (const plan::PlanTask& task : built->plan.tasks)
    EXPECT_TRUE(task.op_type != "Concat" && task.op_type != "Split") << task.name;
  for (const plan::PlanTensor& t : built->plan.tensors) strided = strided || t.items == kBatch;
  EXPECT_TRUE(strided);
  for (const aicore::Values values : {aicore::Values::Fast, aicore::Values::Literal}) {
    auto prepared = prepare(built->plan);
    ASSERT_TRUE(prepared.ok()) << prepared.status().to_string();
    auto session = Session::create(*prepared, built->weight_section(), {2, values});
    ASSERT_TRUE(session.ok()) << session.status().to_string();
    auto outputs = (*session)->run({input});
    ASSERT_TRUE(outputs.ok()) << outputs.status().to_string();
    const std::vector<double> actual = to_doubles(outputs->at(0));
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i)
      ASSERT_NEAR(actual[i], expected[i], 0.02 * (1 + std::abs(expected[i]))) << i;
  }
}

const char* const kChips[] = {"Ascend910B3", "Ascend310P3"};

TEST(StridedParts, ConvolutionsAndWindowsWriteTheirParts) {
  for (const char* soc : kChips)
    for (const auto precision : {passes::Precision::Origin, passes::Precision::Fp16}) {
      Net net(16);
      ir::Value* squeezed = net.conv(net.x, 32, 1);
      ir::Value* joined =
          net.concat({net.conv(squeezed, 16, 1), net.conv(squeezed, 48, 3), net.pool(squeezed)});
      expect_no_copies(net, net.conv(joined, 16, 1), soc, precision);
    }
}

TEST(StridedParts, PartsAreReadWhereTheyLie) {
  for (const char* soc : kChips) {
    Net net(16);
    ir::Value* first = net.conv(net.x, 32, 3);
    ir::Value* second = net.pool(first);
    ir::Value* third = net.maker.add("Add", {first, net.conv(second, 32, 3)});
    ir::Value* joined = net.concat({first, second, third});
    expect_no_copies(net, net.conv(net.concat({joined, net.conv(joined, 16, 1)}), 16, 1), soc,
                     passes::Precision::Fp16);
  }
}

TEST(StridedParts, PartsOfASplit) {
  Net net(16);
  ir::Node* split = net.maker.node("Split", {net.conv(net.x, 64, 1)}, 2, 11);
  split->attrs.set("axis", std::int64_t{1});
  net.maker.finish(split);
  ir::Value* left = split->output(0);
  ir::Value* right = net.conv(split->output(1), 32, 3);
  expect_no_copies(net, net.conv(net.concat({net.conv(left, 32, 1), right}), 16, 1), kChips[0],
                   passes::Precision::Fp16);
}

}  // namespace
}  // namespace atc::runtime
