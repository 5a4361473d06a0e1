#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "atc/base/status.h"
#include "atc/ir/verifier.h"

namespace atc::frontend {

/// A loaded model whose graph the verifier accepts.
#define ASSERT_LOADS(result)                                   \
  ASSERT_TRUE((result).ok()) << (result).status().to_string(); \
  ASSERT_EQ(ir::verify(*(result)->graph), "")

/// A refusal with this code whose message has all of these words.
template <class Result, class... Words>
void expect_refused(const Result& result, const std::string& code, const Words&... words) {
  ASSERT_FALSE(result.ok()) << "expected " << code;
  const Diagnostic& d = result.status().diagnostic();
  EXPECT_EQ(d.code, code) << d.message;
  for (const std::string& word : std::vector<std::string>{words...})
    EXPECT_THAT(d.message, testing::HasSubstr(word));
}

}  // namespace atc::frontend
