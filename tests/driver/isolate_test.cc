#include "driver/isolate.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <stdexcept>
#include <vector>

namespace atc::driver {
namespace {

using End = IsolatedResult::End;
using std::chrono::milliseconds;

std::vector<IsolatedResult> run_all(std::size_t count, int jobs, milliseconds limit,
                                    const std::function<std::string(std::size_t)>& work) {
  std::vector<IsolatedResult> results;
  run_isolated(count, jobs, limit, work, [&](std::size_t i, const IsolatedResult& r) {
    EXPECT_EQ(i, results.size());
    results.push_back(r);
  });
  return results;
}

TEST(Isolate, ReturnsResultsInOrder) {
  for (const int jobs : {1, 3}) {
    const auto results = run_all(7, jobs, milliseconds(20000), [](std::size_t i) {
      usleep(static_cast<useconds_t>((7 - i) * 2000));             // later ones end sooner
      return std::string(i * 100000, static_cast<char>('a' + i));  // beyond a pipe's buffer
    });
    ASSERT_EQ(results.size(), 7U);
    for (std::size_t i = 0; i < results.size(); ++i) {
      EXPECT_EQ(results[i].end, End::Finished);
      EXPECT_EQ(results[i].result, std::string(i * 100000, static_cast<char>('a' + i)));
    }
  }
}

TEST(Isolate, ACrashOrAHangEndsOnlyItsOwnCase) {
  const auto results = run_all(5, 2, milliseconds(1500), [](std::size_t i) -> std::string {
    switch (i) {
      case 1:
        std::fprintf(stderr, "first\nlast words\n");
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
        break;
      case 2:
        for (;;) pause();
      case 3:
        throw std::runtime_error("thrown");
      default:
        break;
    }
    return "fine";
  });
  ASSERT_EQ(results.size(), 5U);
  EXPECT_EQ(results[0].result, "fine");
  EXPECT_EQ(results[1].end, End::Crashed);
  EXPECT_NE(results[1].crash.find("signal 11"), std::string::npos) << results[1].crash;
  EXPECT_EQ(results[1].last_line, "last words");
  EXPECT_EQ(results[2].end, End::TimedOut);
  EXPECT_EQ(results[3].end, End::Crashed);
  EXPECT_EQ(results[3].last_line, "thrown");
  EXPECT_EQ(results[4].result, "fine");
}

TEST(Isolate, ReportsAnExitCode) {
  const auto results = run_all(1, 1, milliseconds(20000), [](std::size_t) -> std::string { _exit(3); });
  EXPECT_EQ(results[0].end, End::Crashed);
  EXPECT_EQ(results[0].crash, "exit code 3");
}

}  // namespace
}  // namespace atc::driver
