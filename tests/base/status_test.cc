#include "atc/base/status.h"

#include <gtest/gtest.h>

#include "atc/base/check.h"

namespace atc {
namespace {

StatusOr<int> half_of(int v) {
  if (v % 2 != 0) return Status::error("E10003", "odd").note("came from a test");
  return v / 2;
}

StatusOr<int> quarter_of(int v) {
  ATC_ASSIGN(const int half, half_of(v));
  ATC_ASSIGN(const int quarter, half_of(half));
  return quarter;
}

Status check_quarter(int v) {
  ATC_TRY(half_of(v).status());
  auto quarter = quarter_of(v);
  return std::move(quarter).status().while_doing("halving " + std::to_string(v));
}

TEST(Status, CarriesItsDiagnosticOutwards) {
  EXPECT_EQ(*quarter_of(8), 2);
  EXPECT_TRUE(check_quarter(8).ok());
  EXPECT_EQ(check_quarter(8).to_string(), "");
  const Status status = check_quarter(6);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.diagnostic().code, "E10003");
  EXPECT_EQ(status.diagnostic().context, std::vector<std::string>{"halving 6"});
  EXPECT_EQ(status.to_string(), "E10003: odd\n  note: came from a test");
}

TEST(Status, CopiesDoNotShareLaterNotes) {
  const Status first = Status::error("E10003", "m");
  const Status second = Status(first).note("n").cause("c").solution("s");
  EXPECT_TRUE(first.diagnostic().notes.empty());
  EXPECT_EQ(second.diagnostic().notes.size(), 1U);
  EXPECT_EQ(second.diagnostic().possible_cause, "c");
  EXPECT_EQ(second.diagnostic().solution, "s");
}

TEST(Check, NamesPlaceAndReasonWithoutFolders) {
  try {
    ATC_CHECK(1 + 1 == 3, std::string("sum is ") + "2");
    FAIL();
  } catch (const InternalError& e) {
    EXPECT_EQ(std::string(e.what()).substr(0, 15), "status_test.cc:");
    EXPECT_NE(std::string(e.what()).find("sum is 2"), std::string::npos);
  }
  EXPECT_THROW(static_cast<void>(Status().diagnostic()), InternalError);
}

}  // namespace
}  // namespace atc
