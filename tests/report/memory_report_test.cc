#include "report/memory_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace atc::report {
namespace {

TEST(MemoryReport, TellsPeakBoundsPlaceAndPlan) {
  plan::Plan plan;
  for (const char* name : {"a", ""}) plan.tensors.emplace_back().name = name;
  for (const char* name : {"first", "second", "third"}) plan.tasks.emplace_back().name = name;
  plan.memory.peak = 192;
  plan.memory.bound = 128;
  plan.memory.model_order_bound = 256;
  plan.memory.task_bound = 64;
  plan.memory.moved_tasks = 2;
  plan.memory.peak_task = 1;
  plan.memory.peak_tensors = {1};
  plan.memory.buffers = {{0, 64, 128, 0, 1, -1}, {1, 64, 128, 1, 2, 0}};
  EXPECT_EQ(memory_json(plan), nlohmann::json::parse(R"({
    "peak_bytes": 192, "bound_bytes": 128, "model_order_bound_bytes": 256, "task_bound_bytes": 64,
    "moved_tasks": 2,
    "peak_at": {"task": {"index": 1, "name": "second"}, "live": [{"tensor": "of second", "bytes": 128}]},
    "plan": [
      {"tensor": "a", "offset": 64, "bytes": 128, "first_task": {"index": 0, "name": "first"},
       "last_task": {"index": 1, "name": "second"}},
      {"tensor": "of second", "offset": 64, "bytes": 128, "first_task": {"index": 1, "name": "second"},
       "last_task": {"index": 2, "name": "third"}, "in_place_of": "a"}]
  })"));
}

TEST(MemoryReport, AModelWithoutActivationsHasNoPeak) {
  const nlohmann::json j = memory_json({});
  EXPECT_EQ(j["peak_bytes"], 0);
  EXPECT_FALSE(j["peak_at"].contains("task"));
  EXPECT_TRUE(j["plan"].empty());
}

}  // namespace
}  // namespace atc::report
