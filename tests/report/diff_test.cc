#include "report/diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace atc::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Snapshot::Task task(const std::string& op, std::vector<std::string> sources,
                    const std::string& engine = "AiCore") {
  return {op + "_task", op, engine, std::move(sources), {}};
}

Snapshot snapshot(std::vector<Snapshot::Task> tasks, std::int64_t arena) {
  Snapshot s;
  s.tasks = std::move(tasks);
  s.arena_bytes = arena;
  return s;
}

std::vector<std::string> operators(const std::vector<Snapshot::Task>& tasks) {
  std::vector<std::string> out;
  for (const auto& t : tasks) out.push_back(t.op_type);
  return out;
}

TEST(Diff, EqualTasksInAnotherOrderAreNoDifference) {
  const Snapshot a = snapshot({task("Conv", {"c", "r"}), task("Add", {"a"})}, 64);
  const Snapshot b = snapshot({task("Add", {"a"}), task("Conv", {"r", "c"})}, 64);
  EXPECT_TRUE(compare(a, b).empty());
  EXPECT_EQ(to_text(compare(a, b)), "no difference\n");
}

// Two tasks that became one, one that split, one that moved to the AI CPU, one that is new.
TEST(Diff, TasksAreJoinedByTheirNodes) {
  const Snapshot before = snapshot(
      {task("MatMul", {"q"}), task("Softmax", {"s"}), task("Gelu", {"g", "m"}), task("TopK", {"t"})}, 100);
  const Snapshot after = snapshot({task("Attention", {"q", "s"}), task("MatMul", {"m"}), task("Erf", {"g"}),
                                   task("TopK", {"t"}, "AiCpu"), task("Cast", {})},
                                  150);
  const Diff d = compare(before, after);
  ASSERT_EQ(d.regrouped.size(), 4u);
  EXPECT_THAT(operators(d.regrouped[0].before), ElementsAre("MatMul", "Softmax"));
  EXPECT_THAT(operators(d.regrouped[0].after), ElementsAre("Attention"));
  EXPECT_THAT(operators(d.regrouped[1].before), ElementsAre("Gelu"));
  EXPECT_THAT(operators(d.regrouped[1].after), ElementsAre("MatMul", "Erf"));
  EXPECT_THAT(operators(d.regrouped[2].after), ElementsAre("TopK"));
  EXPECT_TRUE(d.regrouped[3].before.empty());
  EXPECT_DOUBLE_EQ(d.arena_bytes.increase_percent(), 50);
  EXPECT_DOUBLE_EQ(d.tasks.increase_percent(), 25);
  const std::string text = to_text(d);
  EXPECT_THAT(text, HasSubstr("- MatMul [q] + Softmax [s]\n+ Attention [q, s]\n"));
  EXPECT_THAT(text, HasSubstr("+ TopK on AiCpu [t]\n"));
  EXPECT_THAT(to_markdown(d), HasSubstr("| memory (bytes) | 100 | 150 | +50.0 % |"));
  EXPECT_THAT(to_json(d), HasSubstr("\"increase_percent\": 50.0"));
}

TEST(Diff, WhatOneSideDoesNotTellIsUnknown) {
  Snapshot fusions;
  fusions.fusions = {{"A", 2}, {"B", 1}};
  Snapshot newer;
  newer.fusions = {{"A", 1}, {"B", 1}, {"C", 3}};
  newer.us = 5;
  const Diff d = compare(fusions, newer);
  EXPECT_EQ(d.fusions.size(), 2u);
  EXPECT_FALSE(d.us.both());
  EXPECT_THAT(to_text(d), HasSubstr("unknown -> 5"));
  EXPECT_THAT(to_text(d), HasSubstr("fusion A: 2 -> 1\nfusion C: 0 -> 3\n"));
  EXPECT_TRUE(d.regrouped.empty());
}

TEST(Diff, RemarksThatCameAndWent) {
  Snapshot before, after;
  before.near_misses = {{"Attention", "pv", "axis"}, {"Attention", "pv2", "axis"}};
  after.near_misses = {{"Attention", "pv2", "axis"}, {"SwiGlu", "mul", "two tensors | or three"}};
  before.precision.emplace();
  after.precision = {{"kept fp32", "sum", "range"}};
  const Diff d = compare(before, after);
  EXPECT_FALSE(d.empty());
  ASSERT_EQ(d.near_misses.gone.size(), 1u);
  EXPECT_EQ(d.near_misses.gone[0].where, "pv");
  ASSERT_EQ(d.near_misses.come.size(), 1u);
  const std::string text = to_text(d);
  EXPECT_THAT(text, HasSubstr("near miss - Attention at pv: axis\n"));
  EXPECT_THAT(text, HasSubstr("near miss + SwiGlu at mul"));
  EXPECT_THAT(text, HasSubstr("precision + kept fp32 at sum: range\n"));
  EXPECT_THAT(to_markdown(d), HasSubstr("| new | SwiGlu at mul: two tensors \\| or three |"));
  EXPECT_THAT(to_json(d), HasSubstr("\"where\": \"sum\""));
  // A side that does not tell them has none to compare.
  EXPECT_TRUE(compare(Snapshot(), after).near_misses.empty());
}

TEST(Diff, TimesOfTasksThatBothSidesHave) {
  const auto timed = [](const std::string& op, const std::string& source, double us,
                        const std::string& bound) {
    Snapshot::Task t = task(op, {source});
    t.us = us;
    t.bound_by = bound;
    return t;
  };
  const Snapshot before = snapshot({timed("Conv", "a", 10, "cube"), timed("Conv", "b", 5, "copy in"),
                                    timed("Add", "c", 2, "launch"), timed("Mul", "d", 1, "launch")},
                                   64);
  const Snapshot after = snapshot({timed("Conv", "b", 8, "copy in"), timed("Conv", "a", 10, "waiting"),
                                   timed("Add", "c", 2, "launch"), task("Mul", {"d"})},
                                  64);
  const Diff d = compare(before, after);
  ASSERT_EQ(d.retimed.size(), 2u)
      << "the same time and limit, or a time that one side does not tell, are no change";
  EXPECT_EQ(d.retimed[0].after.sources, std::vector<std::string>{"b"});
  EXPECT_EQ(d.retimed[1].before.bound_by, "cube");
  EXPECT_THAT(to_text(d), HasSubstr("time of Conv_task: 5 us (copy in) -> 8 us (copy in)\n"));
  EXPECT_THAT(to_markdown(d), HasSubstr("| Conv_task | 10 us (cube) | 10 us (waiting) |\n"));
  EXPECT_THAT(to_json(d), HasSubstr("\"retimed\": [\n    {\n      \"bound_by\""));
  EXPECT_TRUE(compare(before, before).empty());
  // An .om tells no limits, and a file rounds.
  Snapshot om = snapshot({timed("Conv", "a", 10, ""), timed("Conv", "b", 5.0000000000001, "")}, 64);
  EXPECT_TRUE(compare(om, snapshot({timed("Conv", "a", 10, "cube"), timed("Conv", "b", 5, "cube")}, 64))
                  .retimed.empty());
}

TEST(Diff, WeightsOfOtherContents) {
  Snapshot a = snapshot({}, 64), b = a;
  a.weight_bytes = b.weight_bytes = 8;
  a.weight_contents = 1;
  EXPECT_TRUE(compare(a, b).empty()) << "one side does not tell";
  b.weight_contents = 1;
  EXPECT_TRUE(compare(a, b).empty());
  b.weight_contents = 2;
  EXPECT_EQ(to_text(compare(a, b)), "weights: contents differ\n");
  EXPECT_THAT(to_markdown(compare(a, b)), HasSubstr("| weights (contents) | | | differ |"));
  EXPECT_THAT(to_json(compare(a, b)), HasSubstr("\"weights_differ\": true"));
}

TEST(Diff, FiguresOfTheNewerReport) {
  Snapshot before, after;
  before.file_bytes = 1000;
  after.file_bytes = 1100;
  before.saved_bytes = 10;
  after.saved_bytes = 5;
  const Diff d = compare(before, after);
  EXPECT_DOUBLE_EQ(d.file_bytes.increase_percent(), 10);
  EXPECT_THAT(to_text(d), HasSubstr("kept on chip (bytes)"));
}

constexpr const char* kReport = R"({"schema_version": 1, "model": "m", "soc_version": "Ascend910B3",
  "tasks": [{"name": "t", "op_type": "Conv", "engine": "AiCore", "sources": ["c"]}],
  "totals": {"arena_bytes": 64, "weight_bytes": 128},
  "fusions": {"graph_fusion": {"P": {"match_times": 2, "effect_times": 1}}, "ub_fusion": {}}})";

TEST(ReadReport, BothKinds) {
  const auto compiled = read_report(kReport);
  ASSERT_TRUE(compiled.ok()) << compiled.status().to_string();
  EXPECT_EQ(compiled->tasks->front().sources, std::vector<std::string>{"c"});
  EXPECT_EQ(compiled->weight_bytes, 128);
  EXPECT_EQ(compiled->fusions->at("P"), 1);
  const auto fusions = read_report(
      R"({"session_and_graph_id_0_0": {"graph_fusion": {"P": {"effect_times": "3", "match_times": "4"}}}})");
  ASSERT_TRUE(fusions.ok()) << fusions.status().to_string();
  EXPECT_EQ(fusions->fusions->at("P"), 3);
  EXPECT_FALSE(fusions->tasks.has_value());
}

TEST(ReadReport, WhatTasksAreMadeByAndWhatFailed) {
  std::string text(kReport);
  text.replace(text.find("\"sources\": [\"c\"]"), 16,
               "\"sources\": [\"c\"], \"formed_by\": [{\"pass\": \"p\"}]");
  text.replace(text.rfind('}'), 1,
               ", \"near_misses\": [{\"fusion\": \"F\", \"node\": \"n\", \"reason\": \"r\"}], \"size\": "
               "{\"file_bytes\": 77}, \"precision\": {\"changes\": [{\"change\": \"kept\", \"value\": \"v\", "
               "\"reason\": \"w\"}]}}");
  const auto s = read_report(text);
  ASSERT_TRUE(s.ok()) << s.status().to_string() << text;
  EXPECT_THAT(s->tasks->front().formed_by, ElementsAre("p"));
  EXPECT_THAT(*s->near_misses, ElementsAre(Snapshot::Remark{"F", "n", "r"}));
  EXPECT_THAT(*s->precision, ElementsAre(Snapshot::Remark{"kept", "v", "w"}));
  EXPECT_EQ(s->file_bytes, 77);
  EXPECT_EQ(read_report(R"({"simulated": {"us": 12.5}})")->us, 12.5);
}

TEST(ReadReport, AProfile) {
  const auto s =
      read_report(R"({"schema_version": 1, "kind": "profile", "model": "m", "soc_version": "Ascend910B3",
    "us": 12.5, "by_bound": {}, "tasks": [{"name": "n", "op_type": "Add", "engine": "AiCore", "core": "vector",
    "sources": ["a", "b"], "us": 12.5, "start_us": 0, "blocks": 1, "bound_by": "launch"}]})");
  ASSERT_TRUE(s.ok()) << s.status().to_string();
  EXPECT_EQ(s->us, 12.5);
  ASSERT_EQ(s->tasks->size(), 1u);
  EXPECT_EQ(s->tasks->front().us, 12.5);
  EXPECT_EQ(s->tasks->front().bound_by, "launch");
  EXPECT_EQ(s->tasks->front().sources, (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(s->fusions.has_value());
  EXPECT_FALSE(read_report(R"({"schema_version": 1, "kind": "profile"})").ok());
}

TEST(ReadReport, AnythingElseIsRefused) {
  std::string truncated(kReport);
  truncated.resize(truncated.size() / 2);
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{}"), truncated,
        std::string("{\"schema_version\": 2}"), std::string("{\"schema_version\": 1}"),
        std::string("{\"schema_version\": 1, \"tasks\": 3}"),
        std::string("{\"session_and_graph_id_0_0\": {\"graph_fusion\": {\"P\": {\"effect_times\": \"x\"}}}}"),
        std::string("{\"model\": 1}")}) {
    const auto read = read_report(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.status().diagnostic().code, "E10041") << text;
  }
}

TEST(ReadReport, RefusalsNameThePlaceAndWhatIsThere) {
  const auto reason = [](const std::string& text) {
    const auto read = read_report(text);
    return read.ok() ? std::string() : read.status().diagnostic().message;
  };
  const std::string start = R"({"schema_version": 1, "tasks": )",
                    task = R"({"name": "a", "op_type": "Relu", )";
  const std::pair<std::string, const char*> cases[] = {
      {start + "null}", "/tasks should be a list, found null"},
      {start + "[3]}", "/tasks/0 should be an object, found 3"},
      {start + R"([{"name": null}]})", "/tasks/0/name should be a text, found null"},
      {start + "[" + task + R"("engine": "AI Core", "sources": ["x", 1]}]})",
       "/tasks/0/sources/1 should be a text, found 1"},
      {start + "[]}", "its outermost object has no 'totals'"},
      {start + R"([], "totals": {"arena_bytes": "many"}})",
       "/totals/arena_bytes should be an integer, found \"many\""},
      {start + R"([], "totals": {"arena_bytes": 1e400}})", "a number in it is too large"},
      {R"({"simulated": {"us": [1]}})", "/simulated/us should be a number, found [1]"},
      {R"({"schema_version": 1, "kind": "profile", "model": {}})", "/model should be a text, found {}"},
      {"{\n  \"a\": nonsense}", "it is not valid JSON at line 2, column 9"},
  };
  for (const auto& [text, part] : cases) {
    EXPECT_THAT(reason(text), HasSubstr(part)) << text;
    EXPECT_THAT(reason(text), Not(HasSubstr("exception"))) << text;
  }
}

}  // namespace
}  // namespace atc::report
