#include "driver/template_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace atc::driver {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(TemplateKernel, ReadsTheParametersOfTheKernelAlone) {
  const auto params = template_params(
      "template <typename U> void other(U u);\n"
      "template <typename T, // of x\n  class U = Pair<int, half>, uint32_t N = (1, 2), const bool B /* , "
      "*/>\n"
      "__global__ __aicore__ __mix__(1, 2) [aicore] void add_custom (GM_ADDR x) { "
      "other<int>(add_custom_2(x)); }",
      "add_custom");
  ASSERT_TRUE(params.ok()) << params.status().to_string();
  ASSERT_EQ(params->size(), 4u);
  EXPECT_TRUE(params->at(0).is_type);
  EXPECT_TRUE(params->at(1).is_type);
  EXPECT_EQ(params->at(2).type, "uint32_t");
  EXPECT_EQ(params->at(3).type, "const bool");
}

TEST(TemplateKernel, OtherKernelsHaveNone) {
  for (const char* source :
       {"template <class T> struct A { void add_custom_init(T t); };\nextern \"C\" __global__ void "
        "add_custom(int x) {}",
        "template <class T> void f(T); extern \"C\" __global__ __aicore__ void add_custom(int x);", ""}) {
    const auto params = template_params(source, "add_custom");
    ASSERT_TRUE(params.ok()) << source;
    EXPECT_TRUE(params->empty()) << source;
  }
}

TEST(TemplateKernel, WhatTheTextDoesNotTellIsRefused) {
  for (const char* parameter : {"KEY_PARAMS", "typename... T", "template <class> class P", ""}) {
    const auto params =
        template_params(std::string("template <typename T, ") + parameter + "> void k(int x) {}", "k");
    ASSERT_FALSE(params.ok()) << parameter;
    EXPECT_THAT(params.status().to_string(), AllOf(HasSubstr("E40021"), HasSubstr("of kernel k")))
        << parameter;
  }
}

}  // namespace
}  // namespace atc::driver
