#include "driver/verify_case.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <limits>

#include "driver/verify_report.h"

namespace atc::driver {
namespace {

namespace fs = std::filesystem;

class VerifyCase : public testing::Test {
 protected:
  void SetUp() override {
    dir_ = fs::temp_directory_path() / ("verify_case_" + std::to_string(getpid()));
    fs::create_directories(dir_);
  }
  void TearDown() override { fs::remove_all(dir_); }
  void put(const std::string& path, const std::string& text = "") {
    fs::create_directories((dir_ / path).parent_path());
    std::ofstream(dir_ / path) << text;
  }
  fs::path dir_;
};

TEST_F(VerifyCase, FindsCasesInSortedOrder) {
  for (const char* name : {"b/model.onnx", "a/model.onnx", "group/c/model.onnx", "empty/other.onnx"})
    put(name);
  put("a/nested/model.onnx");  // belongs to the case
  put("a/test_data_set_10/input_0.pb");
  put("a/test_data_set_2/input_1.pb");
  put("a/test_data_set_2/output_0.pb");
  put("a/test_data_set_2/notes.txt");
  put("a/test_data_set_x/input_0.pb");
  const auto cases = find_cases({dir_.string() + "/"});
  ASSERT_TRUE(cases.ok()) << cases.status().to_string();
  ASSERT_EQ(cases.value().size(), 3U);
  EXPECT_EQ(cases.value()[0].name, "a");
  EXPECT_EQ(cases.value()[1].name, "b");
  EXPECT_EQ(cases.value()[2].name, "c");
  const std::vector<DataSet>& sets = cases.value()[0].data_sets;
  ASSERT_EQ(sets.size(), 2U);
  EXPECT_EQ(sets[0].name, "test_data_set_2");  // by number
  ASSERT_EQ(sets[0].inputs.size(), 2U);
  EXPECT_TRUE(sets[0].inputs[0].empty());
  EXPECT_EQ(sets[0].inputs[1].filename(), "input_1.pb");
  EXPECT_EQ(sets[0].outputs.size(), 1U);

  const auto one = find_cases({(dir_ / "b").string(), (dir_ / "a").string()});
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one.value()[0].name, "b");
  EXPECT_EQ(find_cases({(dir_ / "empty").string()}).status().diagnostic().code, "E13000");
  EXPECT_EQ(find_cases({(dir_ / "nowhere").string()}).status().diagnostic().code, "E13000");
}

TEST_F(VerifyCase, ReadsMeta) {
  put("m/meta.json",
      R"({"id": "1", "options": ["--input_shape=x:1,4"], "expect": "error", "mention": ["x", "y"],
                         "rtol": 0.5, "limits": {"max_artifact_bytes": 10, "max_compile_seconds": 1.5}})");
  const auto meta = read_meta(dir_ / "m");
  ASSERT_TRUE(meta.ok()) << meta.status().to_string();
  EXPECT_EQ(meta.value().options, std::vector<std::string>{"--input_shape=x:1,4"});
  EXPECT_FALSE(meta.value().may_compile);
  EXPECT_TRUE(meta.value().may_refuse);
  EXPECT_EQ(meta.value().mention, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(meta.value().rtol, 0.5);
  EXPECT_FALSE(meta.value().atol.has_value());
  EXPECT_EQ(meta.value().max_artifact_bytes, 10);
  EXPECT_EQ(meta.value().max_compile_seconds, 1.5);

  const auto none = read_meta(dir_);
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none.value().may_compile);
  EXPECT_FALSE(none.value().may_refuse);

  put("s/meta.json", R"({"steps": 1.5})");
  EXPECT_EQ(read_meta(dir_ / "s").value().steps, 1.5);
  put("e/meta.json", R"({"expect": "ok", "accept": ["error"]})");
  EXPECT_TRUE(read_meta(dir_ / "e").value().may_compile);
  EXPECT_TRUE(read_meta(dir_ / "e").value().may_refuse);

  for (const char* bad : {"", "[]", "{", R"({"options": 3})", R"({"expect": "maybe"})", R"({"rtol": "x"})",
                          R"({"steps": 0})", R"({"steps": "1"})", R"({"steps": 1, "atol": 1})"}) {
    put("bad/meta.json", bad);
    const auto result = read_meta(dir_ / "bad");
    ASSERT_FALSE(result.ok()) << bad;
    EXPECT_EQ(result.status().diagnostic().code, "E10032");
  }
}

TEST(SplitOptions, FollowsTheShell) {
  EXPECT_EQ(split_options("").value(), std::vector<std::string>{});
  EXPECT_EQ(split_options("  --a=1   --b ").value(), (std::vector<std::string>{"--a=1", "--b"}));
  EXPECT_EQ(split_options("--s=\"x:1,2;y: 3\" --t='a \"b'").value(),
            (std::vector<std::string>{"--s=x:1,2;y: 3", "--t=a \"b"}));
  EXPECT_EQ(split_options("--e \"\"").value(), (std::vector<std::string>{"--e", ""}));
  EXPECT_EQ(split_options("--a='b").status().diagnostic().code, "E10001");
}

TEST(VerifyReport, ResultsSurviveThePipe) {
  CaseResult sent;
  sent.status = CaseStatus::Fail;
  sent.reason = "a \"quoted\" reason\n\xff";
  sent.max_abs = std::numeric_limits<double>::infinity();
  sent.max_rel = 1.0 / 3;
  sent.min_cosine = 0.5;
  CaseResult got;
  ASSERT_TRUE(decode_result(encode_result(sent), got));
  EXPECT_EQ(got.status, CaseStatus::Fail);
  EXPECT_EQ(got.reason.substr(0, 18), "a \"quoted\" reason\n");
  EXPECT_EQ(got.max_abs, sent.max_abs);
  EXPECT_EQ(got.max_rel, sent.max_rel);
  EXPECT_EQ(got.min_cosine, 0.5);
  for (const char* bad : {"", "{}", "[1]", R"({"status": "PASS"})"})
    EXPECT_FALSE(decode_result(bad, got)) << bad;
}

TEST(VerifyReport, LinesAndTotals) {
  CaseFolder folder;
  folder.name = "conv";
  CaseResult result;
  result.status = CaseStatus::Unsupported;
  result.reason = "E16002: Foo";
  const std::string line = result_line(folder, result);
  EXPECT_EQ(line.find("UNSUPPORTED conv "), 0U) << line;
  EXPECT_NE(line.find("E16002: Foo"), std::string::npos);
  VerifyTotals totals;
  for (const CaseStatus s :
       {CaseStatus::Pass, CaseStatus::Pass, CaseStatus::Fail, CaseStatus::Error, CaseStatus::Unsupported})
    totals.add(s);
  EXPECT_EQ(totals_line(totals), "2 passed, 2 failed, 1 skipped");
}

TEST(VerifyReport, UnsupportedIsNotEveryError) {
  EXPECT_TRUE(is_unsupported_code("E16002"));
  EXPECT_TRUE(is_unsupported_code("E10055"));
  EXPECT_FALSE(is_unsupported_code("E19999"));
  EXPECT_FALSE(is_unsupported_code("E10041"));
  EXPECT_FALSE(is_unsupported_code("E16006"));
}

}  // namespace
}  // namespace atc::driver
