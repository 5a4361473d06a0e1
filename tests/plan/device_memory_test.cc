#include "plan/device_memory.h"

#include <gtest/gtest.h>

#include "plan/build.h"

namespace atc::plan {
namespace {

// y = Relu(Relu(x)), of float32.
void two_relus(ir::Graph& g, const Dims& dims) {
  const ir::TensorType type = ir::tensor_type(DType::F32, dims);
  ir::Node* a = g.add_node("Relu", {g.add_input("x", type)}, 1, nullptr, "", 17);
  a->name = "first";
  a->output(0)->set_name("h");
  ir::Node* b = g.add_node("Relu", {a->output(0)}, 1, nullptr, "", 17);
  b->name = "second";
  b->output(0)->set_name("y");
  for (ir::Node* n : {a, b}) n->output(0)->type = type;
  g.add_output(b->output(0));
}

soc::Chip chip_of(std::int64_t memory) {
  soc::Chip chip = **soc::find_chip("Ascend910B3");
  chip.global_memory = memory;
  return chip;
}

TEST(DeviceMemory, AValueLargerThanTheDeviceIsNamed) {
  ir::Graph g("relus");
  two_relus(g, {1024, 4});
  EXPECT_TRUE(check_values_fit(g, chip_of(16384)).ok());
  const Status refused = check_values_fit(g, chip_of(16383));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.diagnostic().code, "E10013");
  for (const char* part : {"'x'", "[1024,4]", "16384 bytes", "Ascend910B3 has 16383"})
    EXPECT_NE(refused.to_string().find(part), std::string::npos) << part << " in " << refused.to_string();
}

// Terabytes: nothing may be tiled for them, and their sizes must not overflow.
TEST(DeviceMemory, HugeModelsAreRefusedBeforeTheyAreTiled) {
  for (const Dims& dims :
       {Dims{std::int64_t{1} << 40, 4}, Dims{2097152, 1048576}, Dims{std::int64_t{1} << 50}}) {
    ir::Graph g("relus");
    two_relus(g, dims);
    const auto built = build_plan(g, **soc::find_chip("Ascend910B3"));
    ASSERT_FALSE(built.ok());
    EXPECT_EQ(built.status().diagnostic().code, "E10013");
  }
}

TEST(DeviceMemory, WhatFitsOneByOneMustFitTogether) {
  // x, h and y of 16384 bytes each.
  ir::Graph fits("relus"), does_not("relus");
  two_relus(fits, {1024, 4});
  two_relus(does_not, {1024, 4});
  EXPECT_TRUE(build_plan(fits, chip_of(3 * 16384)).ok());
  const auto built = build_plan(does_not, chip_of(3 * 16384 - 1));
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.status().diagnostic().code, "E10013");
  for (const char* part : {"activations 16384", "inputs and outputs 32768", "together 49152"})
    EXPECT_NE(built.status().to_string().find(part), std::string::npos) << built.status().to_string();
}

}  // namespace
}  // namespace atc::plan
