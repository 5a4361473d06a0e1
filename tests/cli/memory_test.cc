// Memory reuse as the command line, the environment and the report have it.
#include <gtest/gtest.h>

#include <charconv>

#include "command.h"

namespace atc::cli {
namespace {

std::string compile(const std::string& more, const std::string& environment = "") {
  return environment + program("atc") +
         " --framework=5 --soc_version=Ascend310P3 --export_compile_stat=0 --model=" + model("lenet5.onnx") +
         " --output=net --report=r.json " + more;
}

/// The first number behind "key": in the report.
std::int64_t number(const std::string& report, const std::string& key) {
  const std::size_t at = report.find("\"" + key + "\": ");
  EXPECT_NE(at, std::string::npos) << key;
  if (at == std::string::npos) return -1;
  std::int64_t value = -1;
  const char* begin = report.data() + at + key.size() + 4;
  std::from_chars(begin, report.data() + report.size(), value);
  return value;
}

TEST(Memory, TheReportHasItsPlan) {
  Scratch s;
  ASSERT_EQ(run(compile(""), s.path()).code, 0);
  const std::string report = slurp(s / "r.json");
  const std::int64_t peak = number(report, "peak_bytes");
  EXPECT_EQ(peak, number(report, "arena_bytes"));
  EXPECT_EQ(peak, number(report, "bound_bytes"));
  EXPECT_LE(peak, number(report, "model_order_bound_bytes"));
  EXPECT_GE(peak, number(report, "task_bound_bytes"));
  for (const char* key : {"\"peak_at\"", "\"live\"", "\"plan\"", "\"first_task\"", "\"last_task\""})
    EXPECT_NE(report.find(key), std::string::npos) << key;
}

TEST(Memory, WithoutReuseEachTensorHasItsOwn) {
  Scratch s;
  ASSERT_EQ(run(compile(""), s.path()).code, 0);
  const std::int64_t reused = number(slurp(s / "r.json"), "peak_bytes");
  const std::string run_model =
      program("omrun") + " --model net.om --input " + model("lenet5_digit.npy") + " --json";
  const Outcome expected = run(run_model, s.path());
  ASSERT_EQ(expected.code, 0) << expected.out;
  const Outcome off = run(compile("--disable_reuse_memory=1"), s.path());
  ASSERT_EQ(off.code, 0) << off.out;
  EXPECT_EQ(off.out.find("disable_reuse_memory"), std::string::npos) << off.out;
  EXPECT_GT(number(slurp(s / "r.json"), "peak_bytes"), reused);
  EXPECT_EQ(run(run_model, s.path()).code, 0);
  const Outcome wrong = run(compile("--disable_reuse_memory=2"), s.path());
  EXPECT_EQ(wrong.code, 255);
  EXPECT_NE(wrong.out.find("disable_reuse_memory"), std::string::npos) << wrong.out;
}

TEST(Memory, SingleNodesAndTypesCanBeLeftOut) {
  Scratch s;
  ASSERT_EQ(run(compile(""), s.path()).code, 0);
  const std::int64_t reused = number(slurp(s / "r.json"), "peak_bytes");
  // A node, ONNX's type and ATC's type.
  for (const char* list : {"conv2", " conv2 ,", "Conv", "Conv2D"}) {
    const Outcome o = run(compile("", "OP_NO_REUSE_MEM='" + std::string(list) + "' "), s.path());
    EXPECT_EQ(o.code, 0) << o.out;
    EXPECT_EQ(o.out.find("W10001"), std::string::npos) << o.out;
    EXPECT_GT(number(slurp(s / "r.json"), "peak_bytes"), reused) << list;
  }
}

TEST(Memory, UnknownNamesAreWarnedOf) {
  Scratch s;
  const Outcome o = run(compile("", "OP_NO_REUSE_MEM=nobody,conv1 "), s.path());
  EXPECT_EQ(o.code, 0) << o.out;
  EXPECT_NE(o.out.find("W10001"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("OP_NO_REUSE_MEM has no effect for 'nobody'"), std::string::npos) << o.out;
  EXPECT_EQ(o.out.find("'conv1'"), std::string::npos) << o.out;
}

}  // namespace
}  // namespace atc::cli
