#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "command.h"

namespace atc::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

struct Example {
  const char* folder;
  const char* op;
  bool standard;     ///< the model runs without the library too
  double tolerance;  ///< between both, relative to the largest value
};

/// models/custom_ops/<folder>, built in a copy.
class CustomExample : public ::testing::TestWithParam<Example> {
 protected:
  void SetUp() override {
    fs::copy(fs::path(ATC_SOURCE_DIR) / "models/custom_ops" / GetParam().folder, s_ / "p",
             fs::copy_options::recursive);
    const Outcome built = run(program("msopgen") + " compile -i p", s_.path());
    ASSERT_EQ(built.code, 0) << built.out;
    ASSERT_TRUE(fs::exists(s_ / "p/build_out/libp.so")) << built.out;
  }
  Outcome compile(const std::string& name, const std::string& more) const {
    return run(program("atc") +
                   " --framework=5 --export_compile_stat=0 --soc_version=Ascend910B3 --model=p/model.onnx "
                   "--output=" +
                   name + " " + more,
               s_.path());
  }
  std::vector<float> outputs(const std::string& name) const {
    const Outcome o = run(program("omrun") + " --model " + name + ".om --seed 3 --output out", s_.path());
    EXPECT_EQ(o.code, 0) << o.out;
    const std::string bytes = slurp(s_ / ("out/" + name + "_output_0.bin"));
    std::vector<float> out(bytes.size() / sizeof(float));
    std::memcpy(out.data(), bytes.data(), out.size() * sizeof(float));
    return out;
  }
  Scratch s_;
};

TEST_P(CustomExample, GivesWhatTheBuiltInOperatorsGive) {
  if (!GetParam().standard) GTEST_SKIP() << "the model has an operator of its own";
  for (const char* precision : {"origin", "fp16"}) {
    const std::string mode = std::string("--precision_mode_v2=") + precision;
    ASSERT_EQ(compile("plain", mode).code, 0);
    const Outcome o =
        compile("custom", mode + " --report=r.json --custom_op=" + GetParam().op + ":p/build_out/libp.so");
    ASSERT_EQ(o.code, 0) << o.out;
    EXPECT_THAT(slurp(s_ / "r.json"), HasSubstr("\"engine\": \"Custom\""));
    const std::vector<float> plain = outputs("plain"), custom = outputs("custom");
    ASSERT_EQ(plain.size(), custom.size());
    ASSERT_FALSE(plain.empty());
    double largest = 0, worst = 0;
    for (std::size_t i = 0; i < plain.size(); ++i) {
      largest = std::max(largest, std::abs(static_cast<double>(plain[i])));
      worst = std::max(worst, std::abs(static_cast<double>(plain[i]) - static_cast<double>(custom[i])));
    }
    EXPECT_LE(worst, (std::string(precision) == "origin" ? GetParam().tolerance : 4e-3) * largest)
        << precision;
  }
}

TEST_P(CustomExample, PassesItsUnitTest) {
  if (!fs::exists(s_ / "p/unit_test")) GTEST_SKIP() << "the example has none";
  for (const auto& test : fs::directory_iterator(s_ / "p/unit_test")) {
    const Outcome o = run((s_ / ("p/build_out/" + test.path().stem().string())).string(), s_.path());
    EXPECT_EQ(o.code, 0) << o.out;
    EXPECT_THAT(o.out, AllOf(HasSubstr("ok "), HasSubstr(" 0 failed")));
  }
}

TEST_P(CustomExample, RunsOnItsOwnModel) {
  const Outcome o =
      compile("custom", std::string("--precision_mode_v2=origin --custom_op=p/build_out/libp.so"));
  ASSERT_EQ(o.code, 0) << o.out;
  EXPECT_FALSE(outputs("custom").empty());
}

INSTANTIATE_TEST_SUITE_P(
    Examples, CustomExample,
    ::testing::Values(
        Example{"add", "AddCustom", false, 0}, Example{"leaky_relu", "LeakyReluCustom", true, 1e-6},
        Example{"rms_norm", "RmsNorm", true, 1e-5}, Example{"rope", "RoPE", true, 1e-5},
        Example{"swiglu", "SwiGlu", true, 1e-5}, Example{"swiglu_strided", "SwiGlu", true, 1e-5},
        Example{"softmax_mul_reduce_sum", "SoftmaxMulReduceSum", true, 1e-5},
        Example{"gem_pool", "GemPool", false, 0}, Example{"layer_norm", "LayerNorm", true, 1e-5},
        // A product in fp16 stands for one in fp32.
        Example{"matmul", "MatmulCustom", true, 2e-3}),
    [](const auto& one) { return std::string(one.param.folder); });

TEST(Msopgen, GeneratedProjectsBuild) {
  Scratch s;
  std::ofstream(s / "op.json")
      << R"([{"op": "ScaleCustom", "input_desc": [{"name": "x", "type": ["fp16", "float"]}],
    "output_desc": [{"name": "y", "type": ["fp16", "float"]}], "attr": [{"name": "k", "type": "float", "default_value": 2.0}]}])";
  const Outcome made =
      run(program("msopgen") + " gen -i op.json -f onnx -c ai_core-Ascend910B -lan cpp -out p", s.path());
  ASSERT_EQ(made.code, 0) << made.out;
  const Outcome built = run("MSOPGEN=" + program("msopgen") + " p/build.sh", s.path());
  ASSERT_EQ(built.code, 0) << built.out;
  EXPECT_TRUE(fs::exists(s / "p/build_out/libp.so")) << built.out;
  // The generated kernel computes nothing yet: the generated unit test says so.
  const Outcome empty = run("p/build_out/scale_custom_test", s.path());
  EXPECT_EQ(empty.code, 1);
  EXPECT_THAT(empty.out, AllOf(HasSubstr("FAILED ScaleCustom"), HasSubstr("never written")));
}

/// A project whose kernel gives x + x, in the way of older samples: a function that launches it by <<<...>>>.
void write_doubling(const Scratch& s, const std::string& kernel_line) {
  std::ofstream(s / "op.json")
      << R"([{"op": "DoubleCustom", "input_desc": [{"name": "x", "type": ["fp16", "float"]}],
    "output_desc": [{"name": "y", "type": ["fp16", "float"]}]}])";
  const Outcome made =
      run(program("msopgen") + " gen -i op.json -f onnx -c ai_core-Ascend910B -lan cpp -out p", s.path());
  ASSERT_EQ(made.code, 0) << made.out;
  std::ofstream(s / "p/op_kernel/double_custom.cpp") << R"(#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void double_custom(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
  GET_TILING_DATA(tiling_data, tiling);
  ASSERT(tiling_data.size != 0 && "no elements");
  TPipe pipe;
  TQue<QuePosition::VECIN, 1> in;
  TQue<QuePosition::VECOUT, 1> out;
  pipe.InitBuffer(in, 1, 65536);
  pipe.InitBuffer(out, 1, 65536);
  GlobalTensor<DTYPE_X> gx, gy;
  gx.SetGlobalBuffer((__gm__ DTYPE_X*)x, tiling_data.size);
  gy.SetGlobalBuffer((__gm__ DTYPE_X*)y, tiling_data.size);
  const uint32_t n = tiling_data.size;
  const DataCopyExtParams bytes = {1, static_cast<uint32_t>(n * sizeof(DTYPE_X)), 0, 0, 0};
  LocalTensor<DTYPE_X> a = in.AllocTensor<DTYPE_X>();
  DataCopyPad(a, gx, bytes, DataCopyPadExtParams<DTYPE_X>{false, 0, 0, static_cast<DTYPE_X>(0)});
  in.EnQue(a);
  a = in.DeQue<DTYPE_X>();
  LocalTensor<DTYPE_X> b = out.AllocTensor<DTYPE_X>();
  )" << kernel_line << R"(
  out.EnQue(b);
  in.FreeTensor(a);
  b = out.DeQue<DTYPE_X>();
  DataCopyPad(gy, b, bytes);
  out.FreeTensor(b);
}
#ifndef ASCENDC_CPU_DEBUG
void double_custom_do(uint32_t blocks, void* l2, void* stream, uint8_t* x, uint8_t* y, uint8_t* w, uint8_t* t) {
  double_custom<<<blocks, l2, stream>>>(x, y, w, t);
}
#endif
)";
  std::ofstream(s / "p/unit_test/double_custom_test.cpp") << R"(#include "atc_opp/unit_test.h"
int main() {
  atc_opp::UnitTest test("DoubleCustom", [](const auto& inputs, auto& outputs) {
    for (std::size_t i = 0; i < inputs[0].data.size(); ++i) outputs[0][i] = 2 * inputs[0][i];
    return true;
  });
  test.Run({{32, 8}});
  test.Run({{7, 37}});
  return test.Failures();
}
)";
}

TEST(Msopgen, UnitTestsCompareWithTheGoldenFunction) {
  Scratch s;
  write_doubling(s, "Add(b, a, a, n);");
  const Outcome built = run(program("msopgen") + " compile -i p", s.path());
  ASSERT_EQ(built.code, 0) << built.out;
  const Outcome ran = run("p/build_out/double_custom_test", s.path());
  EXPECT_EQ(ran.code, 0) << ran.out;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("ok     DoubleCustom half[7,37]"), HasSubstr("float[32,8]"),
                             HasSubstr("cycles"), HasSubstr("4 runs, 0 failed")));
  EXPECT_THAT(ran.out, ::testing::Not(HasSubstr("bound by")));
  EXPECT_FALSE(fs::exists(s / "prof"));
}

TEST(Msopgen, HeadersOfKernelsMayAskWhichCoreRuns) {
  Scratch s;
  write_doubling(s, "\n#include \"twice.h\"\n");
  std::ofstream(s / "p/op_kernel/twice.h")
      << "if constexpr (g_coreType == AscendC::AIC) {\n  Muls(b, a, (DTYPE_X)9, n);\n"
         "} else {\n  Add(b, a, a, n);\n}\n";
  const Outcome built = run(program("msopgen") + " compile -i p", s.path());
  ASSERT_EQ(built.code, 0) << built.out;
  const Outcome ran = run("p/build_out/double_custom_test", s.path());
  EXPECT_EQ(ran.code, 0) << ran.out;
}

TEST(Msopgen, HostPartsMayUseTypeUtils) {
  Scratch s;
  write_doubling(s, "Add(b, a, a, n);");
  std::ofstream(s / "p/op_host/types.cpp") << R"(#include "graph/utils/type_utils.h"
static uint32_t bytes(ge::DataType type) {
  uint32_t n = 77;
  return ge::TypeUtils::GetDataTypeLength(type, n) ? n : n + 1;
}
static const bool right = bytes(ge::DT_FLOAT16) == 2 && bytes(ge::DT_INT64) == 8 && bytes(ge::DT_INT4) == 78 &&
                          ge::TypeUtils::DataTypeToSerialString(ge::DT_BF16) == "DT_BF16";
static const int checked = right ? 0 : throw 1;
)";
  const Outcome built = run(program("msopgen") + " compile -i p", s.path());
  EXPECT_EQ(built.code, 0) << built.out;
}

TEST(Msopgen, UnitTestsTakeProfile) {
  Scratch s;
  write_doubling(s, "Add(b, a, a, n);");
  ASSERT_EQ(run(program("msopgen") + " compile -i p", s.path()).code, 0);
  const auto lines = [&](const char* folder) {
    const std::string table = slurp(s / folder / "PipeUtilization.csv");
    return std::count(table.begin(), table.end(), '\n');
  };
  Outcome ran = run("p/build_out/double_custom_test --profile prof", s.path());
  EXPECT_EQ(ran.code, 0) << ran.out;
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("DoubleCustom #0: "), HasSubstr("DoubleCustom #1: "), HasSubstr("bound by")));
  EXPECT_EQ(lines("prof"), 5) << "a core in each of four runs";
  EXPECT_THAT(slurp(s / "prof/trace.json"), AllOf(HasSubstr("\"name\":\"Add\""), HasSubstr("DataCopyPad")));
  ran = run("ATC_PROFILE=other p/build_out/double_custom_test", s.path());
  EXPECT_EQ(ran.code, 0) << ran.out;
  EXPECT_EQ(lines("other"), 5);
  EXPECT_EQ(run("p/build_out/double_custom_test --profile p/build.sh", s.path()).code, 1) << "no folder";
}

TEST(Msopgen, UnitTestsTellWhatIsWrong) {
  Scratch s;
  // Tails are left out, and the wild write ends in a diagnostic with its line.
  write_doubling(s, "Add(b, a, a, n / 64 * 64); if (n == 259) *(volatile int*)64 = 1;");
  ASSERT_EQ(run(program("msopgen") + " compile -i p", s.path()).code, 0);
  const Outcome ran = run("p/build_out/double_custom_test", s.path());
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("FAILED DoubleCustom half[7,37]"), HasSubstr("E40021"),
                             HasSubstr("double_custom.cpp:"), HasSubstr("4 runs, 2 failed")));
}

TEST(Msopgen, FaultsAreDiagnostics) {
  Scratch s;
  std::ofstream(s / "op.json") << R"({"op": "X", "output_desc": [{"name": "y", "type": ["float"]}]})";
  EXPECT_THAT(run(program("msopgen") + " gen -i op.json -c cube-1 -out p", s.path()).out,
              HasSubstr("E10001"));
  EXPECT_THAT(run(program("msopgen") + " gen -i op.json -f caffe -c ai_core-Ascend910B -out p", s.path()).out,
              HasSubstr("E10055"));
  EXPECT_THAT(run(program("msopgen") + " compile -i .", s.path()).out, HasSubstr("is no operator project"));
  ASSERT_EQ(run(program("msopgen") + " gen -i op.json -c ai_core-Ascend910B -out p", s.path()).code, 0);
  std::ofstream(s / "p/op_kernel/x.cpp") << "int x( {";
  const Outcome broken = run(program("msopgen") + " compile -i p", s.path());
  EXPECT_EQ(broken.code, 1);
  EXPECT_THAT(broken.out, ::testing::AllOf(HasSubstr("op_kernel/x.cpp"), HasSubstr("E20001")));
}

TEST(AscendcGxx, CompilesAndRunsALaunch) {
  Scratch s;
  std::ofstream(s / "k.asc") << R"(#include "kernel_operator.h"
#include <cstdio>
extern "C" __global__ __aicore__ void twice(GM_ADDR x, GM_ADDR y) {
  AscendC::TPipe pipe;
  AscendC::TQue<AscendC::QuePosition::VECIN, 1> in;
  AscendC::TQue<AscendC::QuePosition::VECOUT, 1> out;
  pipe.InitBuffer(in, 1, 256);
  pipe.InitBuffer(out, 1, 256);
  AscendC::GlobalTensor<float> gx, gy;
  gx.SetGlobalBuffer((__gm__ float*)x + 64 * AscendC::GetBlockIdx(), 64);
  gy.SetGlobalBuffer((__gm__ float*)y + 64 * AscendC::GetBlockIdx(), 64);
  auto a = in.AllocTensor<float>();
  AscendC::DataCopy(a, gx, 64);
  in.EnQue(a);
  a = in.DeQue<float>();
  auto b = out.AllocTensor<float>();
  AscendC::Add(b, a, a, 64);
  out.EnQue(b);
  in.FreeTensor(a);
  b = out.DeQue<float>();
  AscendC::DataCopy(gy, b, 64);
  out.FreeTensor(b);
}
using namespace AscendC;
int main() {
  printf("before %d\n", 1);
  auto* x = (float*)atc_gm_alloc(512);
  auto* y = (float*)atc_gm_alloc(512);
  for (int i = 0; i < 128; ++i) x[i] = i;
  twice<<<2, nullptr, nullptr>>>((uint8_t*)x, (uint8_t*)y);
  int wrong = 0;
  for (int i = 0; i < 128; ++i) wrong += y[i] != 2.0f * i;
  printf("wrong %d errors %d\n", wrong, atc_host_errors());
  return atc_host_errors() > 0 ? 0 : wrong;
}
)";
  const Outcome built = run(program("ascendc-g++") + " -O1 -o k k.asc", s.path());
  ASSERT_EQ(built.code, 0) << built.out;
  const Outcome ran = run("./k", s.path());
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, HasSubstr("before 1\n"));
  EXPECT_THAT(ran.out, HasSubstr("wrong 0 errors 0"));
  const Outcome unknown = run("ATC_SOC_VERSION=Bogus ./k", s.path());
  EXPECT_NE(unknown.code, 0);
  EXPECT_THAT(unknown.out, HasSubstr("Bogus"));
  const Outcome profiled = run("ATC_PROFILE=p ./k", s.path());
  EXPECT_EQ(profiled.code, 0);
  EXPECT_THAT(profiled.out, HasSubstr("twice: "));
  EXPECT_THAT(profiled.out, HasSubstr("bound by launch"));
  const std::string pipes = slurp(s / "p/PipeUtilization.csv");
  EXPECT_EQ(std::count(pipes.begin(), pipes.end(), '\n'), 3) << "a line for each of two cores";
  EXPECT_THAT(slurp(s / "p/trace.json"), HasSubstr("\"name\":\"Add\""));
  EXPECT_NE(run("ATC_PROFILE=k ./k", s.path()).out.find("ATC_PROFILE: "), std::string::npos)
      << "a file, no folder";
}

}  // namespace
}  // namespace atc::cli
