#include "driver/memplan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "driver/memory_csv.h"

namespace atc::driver {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string diagnostic(std::string_view text) {
  const StatusOr<MemoryProblem> problem = parse_memory_csv(text, "p.csv");
  return problem.ok() ? "accepted" : problem.status().to_string();
}

TEST(MemoryCsv, ReadsColumnsByName) {
  const StatusOr<MemoryProblem> problem = parse_memory_csv("size,id,upper,lower\r\n7,b0,9,2\r\n\n", "p.csv");
  ASSERT_TRUE(problem.ok());
  ASSERT_EQ(problem->buffers.size(), 1U);
  EXPECT_EQ(problem->buffers[0].size, 7);
  EXPECT_EQ(problem->buffers[0].lower, 2);
  EXPECT_EQ(problem->buffers[0].upper, 9);
  plan::MemoryLayout layout;
  layout.offsets = {5};
  EXPECT_EQ(memory_csv_text(*problem, layout), "id,lower,upper,size,offset\nb0,2,9,7,5\n");
}

TEST(MemoryCsv, RefusesWhatItCannotPlan) {
  EXPECT_THAT(diagnostic(""), HasSubstr("line 1: the heading"));
  EXPECT_THAT(diagnostic("id,lower,upper\n"), HasSubstr("line 1: the heading"));
  EXPECT_THAT(diagnostic("id,lower,upper,size\n0,1,2\n"), HasSubstr("line 2: 4 fields are expected"));
  EXPECT_THAT(diagnostic("id,lower,upper,size\n0,1,2,x\n"), HasSubstr("size must be an integer"));
  EXPECT_THAT(diagnostic("id,lower,upper,size\n0,1,2,-4\n"), HasSubstr("it is '-4'"));
  EXPECT_THAT(diagnostic("id,lower,upper,size\n0,2,2,4\n"), HasSubstr("upper must be greater than lower"));
  EXPECT_THAT(diagnostic("id,lower,upper,size\n0,1,2,9223372036854775808\n"), HasSubstr("size must be"));
  EXPECT_THAT(diagnostic("id,lower,upper,size\n0,1,2,9223372036854775807\n1,1,2,1\n"),
              HasSubstr("line 3: the sum of the sizes exceeds"));
}

struct Outcome {
  int code;
  std::string out, err;
};

Outcome memplan(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "memplan");
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int code = memplan_main(static_cast<int>(arguments.size()), argv.data());
  std::string out = testing::internal::GetCapturedStdout();
  return {code, out, testing::internal::GetCapturedStderr()};
}

TEST(Memplan, PrintsAndExitsByCapacity) {
  const fs::path file = fs::path(testing::TempDir()) / "memplan_small.csv";
  std::ofstream(file) << "id,lower,upper,size\n0,0,2,4\n1,1,3,6\n2,2,4,4\n";
  const Outcome fits = memplan({"--input", file.string(), "--capacity", "10", "--json"});
  EXPECT_EQ(fits.code, 0);
  EXPECT_THAT(fits.out, HasSubstr(R"({"height":10,"lower_bound":10,"time_ms":)"));
  EXPECT_THAT(fits.out, HasSubstr(R"("first_height":)"));
  const Outcome over = memplan({"--input", file.string(), "--capacity", "9"});
  EXPECT_EQ(over.code, 1);
  EXPECT_THAT(over.err, HasSubstr("no packing within 9"));
  for (const char* wrong : {"0", "-3"}) {
    const Outcome refused = memplan({"--input", file.string(), "--capacity", wrong});
    EXPECT_EQ(refused.code, 1);
    EXPECT_THAT(refused.err, HasSubstr("is not a positive number of bytes"));
  }
  fs::remove(file);
  const Outcome missing = memplan({"--input", file.string()});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr("E13000"));
}

}  // namespace
}  // namespace atc::driver
