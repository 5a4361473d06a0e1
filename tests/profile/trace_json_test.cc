#include "profile/trace_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "profile/pipe_table.h"

namespace atc::profile {
namespace {

using aicore::Pipe;
using nlohmann::json;

std::shared_ptr<const BlockTrace> block(aicore::Cycle length) {
  auto trace = std::make_shared<BlockTrace>();
  trace->events = {{Pipe::MTE2, "DataCopy", 0, length, 64}, {Pipe::V, "Add \"x\"\n", length, 2 * length, 32}};
  trace->cycles = 2 * length;
  trace->use = core_use(trace->events, trace->cycles);
  return trace;
}

/// Three cores: two alike, one with two blocks behind each other.
LaunchProfile launch() {
  const auto a = block(100), b = block(50);
  LaunchProfile l{"n,1", "Add", 10, 4, 1, 1000, 4, 8, {}};
  l.cores = {
      {"core0.veccore0", {{0, a}}}, {"core0.veccore1", {{0, a}}}, {"core1.veccore0", {{0, b}, {100, b}}}};
  return l;
}

json trace(std::int64_t most) {
  const LaunchProfile l = launch();
  std::ostringstream out;
  write_trace_json(out, std::span(&l, 1), most);
  return json::parse(out.str())["traceEvents"];
}

std::string name_of(const json& events, const char* what, int pid, int tid) {
  for (const json& e : events)
    if (e["ph"] == "M" && e["name"] == what && e["pid"] == pid && e["tid"] == tid) return e["args"]["name"];
  return "";
}

TEST(TraceJson, AnEventForEachInstructionOfEachCore) {
  const json events = trace(100);
  std::vector<json> adds;
  for (const json& e : events)
    if (e["ph"] == "X" && e["name"] == "Add \"x\"\n") adds.push_back(e);
  ASSERT_EQ(adds.size(), 4U);
  // Launched at 10 us, 1 us of launch, 1000 MHz: 100 cycles are 0.1 us.
  EXPECT_DOUBLE_EQ(adds[0]["ts"], 11.1);
  EXPECT_DOUBLE_EQ(adds[0]["dur"], 0.1);
  EXPECT_EQ(adds[0]["args"]["bytes"], 32);
  EXPECT_DOUBLE_EQ(adds[3]["ts"], 11.15) << "the second block begins where the first ends";
  EXPECT_EQ(name_of(events, "process_name", adds[3]["pid"], 0), "core1.veccore0");
  EXPECT_EQ(name_of(events, "thread_name", adds[3]["pid"], adds[3]["tid"]), aicore::name(Pipe::V));
}

TEST(TraceJson, TasksAreAProcessOfTheirOwn) {
  const json events = trace(100);
  EXPECT_EQ(name_of(events, "process_name", 0, 0), "tasks");
  for (const json& e : events) {
    if (e["ph"] != "X" || e["pid"] != 0) continue;
    EXPECT_EQ(e["name"], "n,1");
    EXPECT_DOUBLE_EQ(e["ts"], 10);
    EXPECT_DOUBLE_EQ(e["dur"], 4);
    EXPECT_EQ(e["args"]["type"], "Add");
    return;
  }
  FAIL() << "no task";
}

TEST(TraceJson, CoresAlikeAreShownOnceInLongTraces) {
  const json events = trace(7);
  int copies = 0;
  for (const json& e : events) {
    if (e["ph"] != "X" || e["name"] != "DataCopy") continue;
    ++copies;
    if (name_of(events, "process_name", e["pid"], 0) == "core0.veccore0")
      EXPECT_EQ(e["args"]["cores"], 2);
    else
      EXPECT_FALSE(e["args"].contains("cores"));
  }
  EXPECT_EQ(copies, 3);
}

TEST(PipeTable, ALineForEachCore) {
  const LaunchProfile l = launch();
  std::ostringstream out;
  write_pipe_table(out, std::span(&l, 1));
  std::istringstream in(out.str());
  std::string header, first, second, third, more;
  ASSERT_TRUE(std::getline(in, header) && std::getline(in, first) && std::getline(in, second) &&
              std::getline(in, third));
  EXPECT_FALSE(std::getline(in, more));
  EXPECT_EQ(std::count(header.begin(), header.end(), ','), 27);
  EXPECT_EQ(first.substr(0, 34), "\"n,1\",core0.veccore0,200,0.200,0,2");
  EXPECT_TRUE(third.ends_with(",100,100,0")) << third;
}

TEST(PipeTable, FieldsAreQuotedWhereTheyMust) {
  EXPECT_EQ(csv_field("a b"), "a b");
  EXPECT_EQ(csv_field("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(csv_field("a\nb"), "\"a\nb\"");
}

}  // namespace
}  // namespace atc::profile
