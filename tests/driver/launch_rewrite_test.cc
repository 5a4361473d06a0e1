#include "driver/launch_rewrite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace atc::driver {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string rewritten(const std::string& source) {
  const auto out = rewrite_launches(source, "k.asc");
  if (!out.ok()) return out.status().to_string();
  const std::string head = "#line 1 \"k.asc\"\n";
  EXPECT_EQ(out->substr(0, head.size()), head);
  return out->substr(head.size());
}

TEST(LaunchRewrite, MakesACall) {
  EXPECT_EQ(rewritten("add<<<8, nullptr, stream>>>(x, y);"),
            "ATC_KERNEL_LAUNCH((add), (8), ( nullptr), ( stream))(x, y);");
  EXPECT_EQ(rewritten("  ns::add<float, 2> <<<f(1, 2), nullptr, s>>>();"),
            "  ATC_KERNEL_LAUNCH((ns::add<float, 2>), (f(1, 2)), ( nullptr), ( s))();");
}

TEST(LaunchRewrite, KeepsLines) {
  EXPECT_EQ(rewritten("int a;\nadd<<<8,\n nullptr, s>>>(x);\nint b;"),
            "int a;\nATC_KERNEL_LAUNCH((add), (8), (\n nullptr), ( s))(x);\nint b;");
}

TEST(LaunchRewrite, LeavesTextsAndCommentsAlone) {
  for (const char* text :
       {"// add<<<1, 2, 3>>>(x)\n", "/* <<<\n>>> */", "\"add<<<1>>>(\\\"\"", "'\\''", "R\"x(a<<<)x\"",
        "1'000'000 << 3", "std::vector<std::vector<std::vector<int>>> v;", "a << b << c"})
    EXPECT_EQ(rewritten(text), text);
}

TEST(LaunchRewrite, AsksForTheCoreWhenTheKernelRuns) {
  EXPECT_EQ(rewritten("if constexpr (g_coreType == AscendC::AIC) { a(); }"),
            "if  (g_coreType == AscendC::AIC) { a(); }");
  const std::string other = "if constexpr (sizeof(T) == 2) { a(); } constexpr int x = f(g_coreType);";
  EXPECT_EQ(rewritten(other), other);
}

TEST(LaunchRewrite, NamesTheLineOfWhatItCannotRead) {
  EXPECT_THAT(rewritten("\n\nadd<<<8>>>(x);"),
              AllOf(HasSubstr("k.asc:3"), HasSubstr("has 1 arguments, three are expected")));
  EXPECT_THAT(rewritten("add<<<8, 0, s;\n"), HasSubstr("k.asc:1: the launch <<<...>>> has no closing >>>"));
  EXPECT_THAT(rewritten("(<<<1, 2, 3>>>(x));"), HasSubstr("has no kernel's name before it"));
  EXPECT_THAT(rewritten("add<<<8, , s>>>(x);"), HasSubstr("empty argument"));
}

}  // namespace
}  // namespace atc::driver
