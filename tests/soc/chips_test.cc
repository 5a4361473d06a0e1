#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "soc/chip.h"

namespace atc::soc {
namespace {

const Chip& chip(std::string_view name) {
  auto found = find_chip(name);
  EXPECT_TRUE(found.ok()) << name;
  return **found;
}

TEST(Chips, SortedAndUnique) {
  const auto& all = chips();
  ASSERT_GE(all.size(), 20U);
  EXPECT_TRUE(std::adjacent_find(all.begin(), all.end(),
                                 [](const Chip& a, const Chip& b) { return a.name >= b.name; }) == all.end());
}

TEST(Chips, EveryNumberIsThereAndPlausible) {
  for (const Chip& c : chips()) {
    SCOPED_TRACE(c.name);
    EXPECT_GT(c.cube_cores, 0);
    EXPECT_GT(c.cube_mhz, 0);
    EXPECT_GT(c.vector_mhz, 0);
    // Smaller memories lie nearer to the cube.
    EXPECT_GT(c.l0a, 0);
    EXPECT_EQ(c.l0a, c.l0b);
    EXPECT_GT(c.l0c, c.l0a);
    EXPECT_GT(c.ub, c.l0c / 4);
    EXPECT_GT(c.l1, c.l0a + c.l0b);
    EXPECT_GT(c.l2, c.l1);
    EXPECT_GT(c.global_memory, c.l2);
    for (const int rate : {c.gm_mbps, c.ddr_read, c.ddr_write, c.l2_read, c.l2_write, c.l1_to_l0a,
                           c.l1_to_l0b, c.l0c_out, c.ub_write_l2, c.ub_write_ddr})
      EXPECT_GT(rate, 0);
    EXPECT_GE(c.l2_read, c.ddr_read);
    EXPECT_EQ(c.split, c.vector_cores == 2 * c.cube_cores);
    EXPECT_EQ(c.vector_blocks(), c.split ? c.vector_cores : c.cube_cores);
  }
}

// Peak fp16 rates of the public data sheets, in TFLOPS.
TEST(Chips, PeakRatesMatchDataSheets) {
  const auto peak = [](std::string_view name) {
    const Chip& c = chip(name);
    return c.cube_cores * 2.0 * c.cube_macs_f16 * c.cube_mhz * 1e6 / 1e12;
  };
  EXPECT_NEAR(peak("Ascend910A"), 256, 10);
  EXPECT_NEAR(peak("Ascend310P3"), 70, 2);
  EXPECT_NEAR(peak("Ascend310"), 11, 0.5);
  EXPECT_NEAR(peak("Ascend310B1"), 10, 0.5);
  EXPECT_NEAR(peak("Ascend910B3"), 295, 5);
}

TEST(Chips, SplitParts) {
  for (const char* name : {"Ascend910B1", "Ascend910B4-1", "Ascend910_9362", "Ascend910_9391"})
    EXPECT_TRUE(chip(name).split) << name;
  for (const char* name :
       {"Ascend310", "Ascend310P3", "Ascend910", "Ascend910B", "Ascend910ProB", "Ascend310B4"})
    EXPECT_FALSE(chip(name).split) << name;
  EXPECT_EQ(chip("Ascend910B4").ub, 196608);
  EXPECT_EQ(chip("Ascend310P3").ub, 262144);
}

TEST(Chips, UnknownNamesGetTheListAndTheNearest) {
  const auto near = [](std::string_view name) {
    const auto found = find_chip(name);
    EXPECT_FALSE(found.ok());
    const Diagnostic& d = found.status().diagnostic();
    EXPECT_EQ(d.code, "E10001");
    EXPECT_NE(d.message.find("--soc_version"), std::string::npos);
    EXPECT_NE(d.notes.at(0).find("Ascend910_9391"), std::string::npos);
    return d.message;
  };
  EXPECT_NE(near("ASCEND310P3").find("the nearest is Ascend310P3."), std::string::npos);
  EXPECT_NE(near("Ascend310p3").find("the nearest is Ascend310P3."), std::string::npos);
  EXPECT_NE(near("Ascend310P").find("the nearest is Ascend310P"), std::string::npos);
  EXPECT_NE(near("Ascend310B").find("the nearest is Ascend310B"), std::string::npos);
  EXPECT_NE(near("Ascend910_9393").find("the nearest is Ascend910_939"), std::string::npos);
  EXPECT_NE(near("310P3").find("Value 310P3"), std::string::npos);
  EXPECT_EQ(near("xxx").find("the nearest"), std::string::npos);
  EXPECT_EQ(near("").find("the nearest"), std::string::npos);
}

}  // namespace
}  // namespace atc::soc
