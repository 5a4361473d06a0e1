// What the hardware's compiler refuses, and what is not simulated, does not compile here either: with a
// message that names it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

std::string compile(const std::string& body) {
  const auto file = std::filesystem::temp_directory_path() /
                    ("ascendc_refused_" + std::to_string(std::hash<std::string>{}(body)) + ".cpp");
  std::ofstream(file) << "#include \"kernel_operator.h\"\nusing namespace AscendC;\n" << body << "\n";
  const std::string source = ATC_SOURCE_DIR;
  const std::string command = "g++ -std=c++17 -fsyntax-only -Wall -Wextra -Werror -I" + source +
                              "/include -I" + source + "/include/ascendc " + file.string() + " 2>&1";
  std::string output;
  std::array<char, 4096> buffer{};
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "no compiler";
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) output += buffer.data();
  pclose(pipe);
  std::filesystem::remove(file);
  return output;
}

using ::testing::HasSubstr;

TEST(Refused, NothingInWhatIsAllowed) {
  EXPECT_EQ(compile("void f(LocalTensor<float> a, LocalTensor<half> b, LocalTensor<int32_t> c, "
                    "LocalTensor<uint8_t> m) {"
                    "  Add(a, a, a, 64); Muls(b, b, (half)2.0, 64); Adds(c, c, 1, 64); Cast(a, b, "
                    "RoundMode::CAST_NONE, 64);"
                    "  constexpr half one = 1.0f; Duplicate(b, one, 64); m = a < a; a = a * a; }"),
            "");
}

TEST(Refused, VectorArithmeticOfBfloat16) {
  EXPECT_THAT(compile("void f(LocalTensor<bfloat16_t> a) { Add(a, a, a, 64); }"),
              HasSubstr("no arithmetic on bfloat16_t: Cast to float first"));
}

TEST(Refused, TypesThatAnInstructionDoesNotTake) {
  EXPECT_THAT(compile("void f(LocalTensor<int32_t> a) { Div(a, a, a, 64); }"),
              HasSubstr("does not take the element type"));
  EXPECT_THAT(
      compile(
          "void f(LocalTensor<int8_t> a, LocalTensor<float> b) { Cast(a, b, RoundMode::CAST_RINT, 64); }"),
      HasSubstr("Cast does not convert between these types"));
  EXPECT_THAT(compile("void f(LocalTensor<float> c, LocalTensor<half> a, LocalTensor<int8_t> b) { Mmad(c, a, "
                      "b, MmadParams()); }"),
              HasSubstr("Mmad multiplies"));
}

TEST(Refused, RegisterLevelCode) {
  EXPECT_THAT(compile("void f() { MicroAPI::RegTensor<float> r; }"),
              HasSubstr("MicroAPI (Reg) code is not simulated"));
  EXPECT_THAT(compile("void f() { Reg::RegTensor<half> r; }"),
              HasSubstr("MicroAPI (Reg) code is not simulated"));
  EXPECT_THAT(compile("void f() { __VEC_SCOPE__ { } }"),
              HasSubstr("__VEC_SCOPE__: register-level vector code"));
  EXPECT_THAT(compile("__simt_vf__ void f() {}"), HasSubstr("__simt_vf__: SIMT code is not simulated"));
}

TEST(Refused, BarrierOfTheScalarPipe) {
  EXPECT_THAT(compile("void f() { PipeBarrier<PIPE_S>(); }"), HasSubstr("PipeBarrier<PIPE_S>"));
}

}  // namespace
