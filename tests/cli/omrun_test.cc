#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "command.h"

namespace atc::cli {
namespace {

/// models/lenet5.onnx compiled to net.om in the folder.
::testing::AssertionResult compiles(const Scratch& s, const std::string& soc) {
  const Outcome o =
      run(program("atc") + " --framework=5 --export_compile_stat=0 --output=net --soc_version=" + soc +
              " --model=" + model("lenet5.onnx"),
          s.path());
  return o.code == 0 ? ::testing::AssertionSuccess() : ::testing::AssertionFailure() << o.out;
}

TEST(Omrun, ReadsTheDigit) {
  Scratch s;
  ASSERT_TRUE(compiles(s, "Ascend310P3"));
  const Outcome o = run(program("omrun") + " --model net.om --input " + model("lenet5_digit.npy") +
                            " --output out --outfmt TXT",
                        s.path());
  ASSERT_EQ(o.code, 0) << o.out;
  std::string text;
  for (const auto& f : std::filesystem::directory_iterator(s / "out")) text = slurp(f.path());
  std::istringstream in(text);
  std::vector<double> p;
  for (double v; in >> v;) p.push_back(v);
  ASSERT_EQ(p.size(), 10U) << text;
  EXPECT_EQ(std::max_element(p.begin(), p.end()) - p.begin(), 7) << text;
}

TEST(Omrun, OutputsDoNotDependOnThreads) {
  Scratch s;
  ASSERT_TRUE(compiles(s, "Ascend910B3"));
  for (const char* t : {"1", "2"})
    ASSERT_EQ(
        run(program("omrun") + " --model net.om --seed 5 --output out" + t + " --outfmt BIN --threads " + t,
            s.path())
            .code,
        0);
  for (const auto& f : std::filesystem::directory_iterator(s / "out1"))
    EXPECT_EQ(slurp(f.path()), slurp(s / ("out2/" + f.path().filename().string())));
}

TEST(Omrun, DryRunGivesTimesWithoutValues) {
  Scratch s;
  ASSERT_TRUE(compiles(s, "Ascend910B3"));
  const Outcome dry = run(program("omrun") + " --model net.om --dry-run --json", s.path());
  ASSERT_EQ(dry.code, 0) << dry.out;
  EXPECT_NE(dry.out.find("\"cycles\""), std::string::npos) << dry.out;
  EXPECT_NE(dry.out.find("\"ai_core\""), std::string::npos) << dry.out;
}

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::istringstream in(slurp(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// What the files say is one run: the same tasks, times that follow each other, instructions that fill cycles.
TEST(Omrun, ProfileFilesAgree) {
  using nlohmann::json;
  for (const char* soc : {"Ascend910B3", "Ascend310P3"}) {
    Scratch s;
    ASSERT_TRUE(compiles(s, soc));
    const Outcome o = run(program("omrun") + " --model net.om --dry-run --json --profile p", s.path());
    ASSERT_EQ(o.code, 0) << o.out;
    const json run_report = json::parse(o.out), profile = json::parse(slurp(s / "p/profile.json"));
    const json events = json::parse(slurp(s / "p/trace.json"))["traceEvents"];
    const std::vector<std::string> summary = lines_of(s / "p/op_summary.csv"),
                                   times = lines_of(s / "p/task_time.csv"),
                                   pipes = lines_of(s / "p/PipeUtilization.csv");
    EXPECT_DOUBLE_EQ(profile["us"], run_report["simulated"]["us"]);
    const std::size_t tasks = profile["tasks"].size();
    EXPECT_GT(tasks, 3U);
    EXPECT_EQ(summary.size(), tasks + 1);
    const bool split = std::string(soc) == "Ascend910B3";
    for (const char* column :
         {split ? ",aic_icache_miss_rate,aiv_time(us)," : ",icache_miss_rate,memory_bound",
          split ? ",aiv_icache_miss_rate,cube_utilization(%)" : ",mte3_ratio,"})
      EXPECT_NE(summary[0].find(column), std::string::npos) << summary[0];
    for (std::size_t t = 1; t < summary.size(); ++t) {
      // Blocks of 20 cube cores have 40 vector cores beside them.
      const bool mixed = summary[t].find(",MIX_AIC,") != std::string::npos;
      const std::string blocks = std::to_string(profile["tasks"][t - 1]["blocks"].get<int>());
      const std::string mix =
          mixed ? std::to_string(2 * profile["tasks"][t - 1]["blocks"].get<int>()) : std::string("0");
      EXPECT_NE(summary[t].find("," + blocks + "," + mix + ",NO,"), std::string::npos) << summary[t];
      EXPECT_NE(summary[t].find(",FLOAT16"), std::string::npos) << summary[t];
      EXPECT_EQ(summary[t].find("F16;"), std::string::npos) << summary[t];
    }
    EXPECT_EQ(times.size(), tasks + 1);
    const auto fields = [](const std::string& line) { return std::count(line.begin(), line.end(), ','); };
    double us = 0, bounds = 0;
    std::size_t cores = 0;
    for (std::size_t t = 0; t < tasks; ++t) {
      const json& task = profile["tasks"][t];
      EXPECT_DOUBLE_EQ(task["start_us"], us);
      us += task["us"].get<double>();
      EXPECT_EQ(task["cycles"], run_report["simulated"]["tasks"][t]["cycles"]) << task["name"];
      EXPECT_FALSE(task["bound_by"].get<std::string>().empty());
      cores += task["blocks"].get<std::size_t>();
      for (const auto& [pipe, use] : task["longest_core"]["pipes"].items()) {
        EXPECT_EQ(use["busy"].get<int>() + use["wait"].get<int>(), task["cycles"]) << pipe;
        EXPECT_LE(use["overlap"], use["busy"]) << pipe;
      }
    }
    EXPECT_NEAR(us, profile["us"], 1e-6);
    for (const auto& [bound, part] : profile["by_bound"].items()) bounds += part.get<double>();
    EXPECT_NEAR(bounds, us, 1e-6);
    EXPECT_EQ(pipes.size(), cores + 1) << "no task here has more blocks than the chip has cores";
    for (const std::string& line : pipes) EXPECT_EQ(fields(line), fields(pipes[0])) << line;
    double last = 0;
    for (const json& e : events)
      if (e["ph"] == "X") last = std::max(last, e["ts"].get<double>() + e["dur"].get<double>());
    EXPECT_NEAR(last, us, 1e-3);
    ASSERT_EQ(run(program("omrun") + " --model net.om --dry-run --profile q", s.path()).code, 0);
    EXPECT_EQ(slurp(s / "p/profile.json"), slurp(s / "q/profile.json"));
    EXPECT_EQ(run(program("omdiff") + " p q --max-latency-increase 0", s.path()).out, "no difference\n");
  }
}

TEST(Omrun, BadInputIsOneDiagnostic) {
  Scratch s;
  ASSERT_TRUE(compiles(s, "Ascend910B3"));
  const std::string om = slurp(s / "net.om");
  std::ofstream(s / "cut.om", std::ios::binary) << om.substr(0, om.size() - 100);
  std::ofstream(s / "short.bin", std::ios::binary) << "1234";
  for (const char* arguments : {"--model none.om", "--model cut.om", "--model net.om --input short.bin",
                                "--model net.om --input none.npy", "--model net.om --dims image:1,1,28,28",
                                "--model net.om --profile net.om", "--model net.om --loop x"}) {
    const Outcome o = run(program("omrun") + " " + arguments, s.path());
    EXPECT_EQ(o.code, 1) << arguments << o.out;
    EXPECT_NE(o.out.find("error"), std::string::npos) << arguments << o.out;
  }
}

}  // namespace
}  // namespace atc::cli
