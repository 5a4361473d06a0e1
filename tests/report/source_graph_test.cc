#include "report/source_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "atc/ir/text.h"

namespace atc::report {
namespace {

// x -> A -> Reshape -> B -> C -> y, and D reads A too.
constexpr const char* kGraph = R"(air 1
graph "g"(%0 "x": f32[4,8]) -> (%4, %5) {
  %6 = const i64[1] {32}
  %1 "a" = Relu@14(%0) : f32[4,8] from "A"
  %2 "r" = Reshape@14(%1, %6) : f32[32] from "R"
  %3 "b" = Tanh@13(%2) : f32[32] from "B"
  %4 "y" = Exp@13(%3) : f32[32] from "C"
  %5 "z" = Neg@13(%1) : f32[4,8] from "D"
})";

plan::PlanTask task(std::vector<std::string> sources) {
  plan::PlanTask t;
  t.sources = std::move(sources);
  return t;
}

std::vector<Saved> saved(const std::vector<plan::PlanTask>& tasks, bool narrow = false) {
  const auto graph = ir::parse(kGraph);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  return SourceGraph(**graph).saved_by(tasks, narrow);
}

TEST(SourceGraph, ATaskForEachNodeSavesNothing) {
  for (const Saved& s : saved({task({"A"}), task({"B"}), task({"C"}), task({"D"})})) {
    EXPECT_EQ(s.tasks, 0);
    EXPECT_EQ(s.bytes_written + s.bytes_read, 0);
  }
}

TEST(SourceGraph, AChainInOneTask) {
  // B's result is neither written nor read: 32 elements of 4 bytes.
  const auto s = saved({task({"A", "R"}), task({"B", "C"}), task({"D"})});
  EXPECT_EQ(s[0].tasks, 0) << "a view launches nothing";
  EXPECT_EQ(s[1].tasks, 1);
  EXPECT_EQ(s[1].bytes_written, 128);
  EXPECT_EQ(s[1].bytes_read, 128);
}

TEST(SourceGraph, ThroughAViewAndWithAnotherReader) {
  // D still reads what A wrote: only B's reading is saved.
  const auto s = saved({task({"A", "R", "B"}), task({"C"}), task({"D"})});
  EXPECT_EQ(s[0].tasks, 1);
  EXPECT_EQ(s[0].bytes_written, 0);
  EXPECT_EQ(s[0].bytes_read, 128);
  // Everything in one: two reads of A and one of B, both written never.
  const auto all = saved({task({"A", "R", "B", "C", "D"})});
  EXPECT_EQ(all[0].tasks, 3);
  EXPECT_EQ(all[0].bytes_written, 256);
  EXPECT_EQ(all[0].bytes_read, 384);
}

TEST(SourceGraph, HalvesWhereTheModeStoresHalves) {
  const auto s = saved({task({"A"}), task({"B", "C"}), task({"D"})}, true);
  EXPECT_EQ(s[1].bytes_written, 64);
}

TEST(SourceGraph, ANodeOfSeveralTasksCountsOnce) {
  const auto s = saved({task({"A"}), task({"B"}), task({"B", "C"}), task({"D"})});
  EXPECT_EQ(s[1].tasks + s[2].tasks, 0);
}

}  // namespace
}  // namespace atc::report
