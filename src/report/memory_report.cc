#include "report/memory_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace atc::report {
namespace {

using nlohmann::json;

/// A tensor's name. What passes have made has none: then that of the first task that uses it.
std::string name_of(const plan::Plan& plan, const plan::MemoryRecord::Buffer& b) {
  const std::string& name = plan.tensors[static_cast<std::size_t>(b.tensor)].name;
  return name.empty() ? "of " + plan.tasks[static_cast<std::size_t>(b.first)].name : name;
}

const plan::MemoryRecord::Buffer& buffer_of(const plan::MemoryRecord& memory, int tensor) {
  return *std::find_if(memory.buffers.begin(), memory.buffers.end(),
                       [&](const plan::MemoryRecord::Buffer& b) { return b.tensor == tensor; });
}

json task_json(const plan::Plan& plan, int index) {
  return {{"index", index}, {"name", plan.tasks[static_cast<std::size_t>(index)].name}};
}

json buffer_json(const plan::Plan& plan, const plan::MemoryRecord::Buffer& b) {
  json j = {{"tensor", name_of(plan, b)},
            {"offset", b.offset},
            {"bytes", b.bytes},
            {"first_task", task_json(plan, b.first)},
            {"last_task", task_json(plan, b.last)}};
  if (b.in_place_of >= 0) j["in_place_of"] = name_of(plan, buffer_of(plan.memory, b.in_place_of));
  return j;
}

json peak_json(const plan::Plan& plan) {
  const plan::MemoryRecord& memory = plan.memory;
  json live = json::array();
  for (const int t : memory.peak_tensors) {
    const plan::MemoryRecord::Buffer& b = buffer_of(memory, t);
    live.push_back({{"tensor", name_of(plan, b)}, {"bytes", b.bytes}});
  }
  json j = {{"live", std::move(live)}};
  if (memory.peak_task >= 0) j["task"] = task_json(plan, memory.peak_task);
  return j;
}

}  // namespace

json memory_json(const plan::Plan& plan) {
  const plan::MemoryRecord& memory = plan.memory;
  json buffers = json::array();
  for (const plan::MemoryRecord::Buffer& b : memory.buffers) buffers.push_back(buffer_json(plan, b));
  return {{"peak_bytes", memory.peak},
          {"bound_bytes", memory.bound},
          {"model_order_bound_bytes", memory.model_order_bound},
          {"task_bound_bytes", memory.task_bound},
          {"moved_tasks", memory.moved_tasks},
          {"peak_at", peak_json(plan)},
          {"plan", std::move(buffers)}};
}

}  // namespace atc::report
