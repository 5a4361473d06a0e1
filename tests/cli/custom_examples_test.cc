#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "command.h"

namespace atc::cli {
namespace {

namespace fs = std::filesystem;
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

TEST_P(CustomExample, RunsOnItsOwnModel) {
  const Outcome o =
      compile("custom", std::string("--precision_mode_v2=origin --custom_op=p/build_out/libp.so"));
  ASSERT_EQ(o.code, 0) << o.out;
  EXPECT_FALSE(outputs("custom").empty());
}

INSTANTIATE_TEST_SUITE_P(Examples, CustomExample,
                         ::testing::Values(Example{"add", "AddCustom", false, 0},
                                           Example{"leaky_relu", "LeakyReluCustom", true, 1e-6},
                                           Example{"rms_norm", "RmsNorm", true, 1e-5},
                                           Example{"rope", "RoPE", true, 1e-5},
                                           Example{"swiglu", "SwiGlu", true, 1e-5}),
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
int main() {
  auto* x = (float*)atc_gm_alloc(512);
  auto* y = (float*)atc_gm_alloc(512);
  for (int i = 0; i < 128; ++i) x[i] = i;
  twice<<<2, nullptr, nullptr>>>((uint8_t*)x, (uint8_t*)y);
  int wrong = 0;
  for (int i = 0; i < 128; ++i) wrong += y[i] != 2.0f * i;
  std::printf("wrong %d errors %d\n", wrong, atc_host_errors());
  return wrong;
}
)";
  const Outcome built = run(program("ascendc-g++") + " -O1 -o k k.asc", s.path());
  ASSERT_EQ(built.code, 0) << built.out;
  const Outcome ran = run("./k", s.path());
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, HasSubstr("wrong 0 errors 0"));
  const Outcome profiled = run("ATC_PROFILE=p ./k", s.path());
  EXPECT_EQ(profiled.code, 0);
  EXPECT_THAT(profiled.out, HasSubstr("twice: "));
  EXPECT_THAT(profiled.out, HasSubstr("bound by launch"));
  const std::string pipes = slurp(s / "p/PipeUtilization.csv");
  EXPECT_EQ(std::count(pipes.begin(), pipes.end(), '\n'), 3) << "a line for each of two cores";
  EXPECT_THAT(slurp(s / "p/trace.json"), HasSubstr("\"name\":\"Add\""));
  EXPECT_NE(run("ATC_PROFILE=k ./k", s.path()).out.find("ATC_PROFILE: "), std::string::npos) << "a file, no folder";
}

}  // namespace
}  // namespace atc::cli
