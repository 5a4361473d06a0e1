// omverify's cases from end to end: models of the shared cases, with expectations changed here.
#include "driver/verify_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "atc/base/file.h"
#include "driver/omverify.h"
#include "runtime/tensor_io.h"
#include "runtime/tensor_proto.h"

namespace atc::driver {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

fs::path cases() {
  if (const char* given = std::getenv("ATC_CASES"); given != nullptr) return given;
  return fs::path(ATC_SOURCE_DIR) / ".." / "shared" / "cases";
}

class VerifyRun : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(cases() / "models")) GTEST_SKIP() << "no cases at " << cases();
    dir_ = fs::temp_directory_path() / ("verify_run_" + std::to_string(getpid()));
    fs::create_directories(dir_ / "scratch");
    before_ = fs::current_path();
  }
  void TearDown() override {
    if (dir_.empty()) return;
    fs::current_path(before_);  // verify_case leaves it in the scratch folder
    fs::remove_all(dir_);
  }

  /// A folder with the files of a case of models/ or the like, to be changed.
  fs::path copy_of(const std::string& original) {
    const fs::path target = dir_ / "case";
    fs::remove_all(target);
    fs::copy(cases() / original, target, fs::copy_options::recursive);
    return target;
  }
  CaseResult verify(const fs::path& folder, const VerifyOptions& options = {}) {
    StatusOr<std::vector<CaseFolder>> found = find_cases({folder.string()});
    EXPECT_TRUE(found.ok()) << found.status().to_string();
    return verify_case(found.value().at(0), options, dir_ / "scratch");
  }
  void put(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

  fs::path dir_, before_;
};

TEST_F(VerifyRun, PassesARealModelInBothPrecisions) {
  const CaseResult origin = verify(cases() / "models" / "mnist_cntk");
  EXPECT_EQ(origin.status, CaseStatus::Pass) << origin.reason;
  EXPECT_LT(origin.max_abs, 1e-3);
  EXPECT_GT(origin.compile_ms, 0);
  VerifyOptions half;
  half.precision = "fp16";
  const CaseResult fp16 = verify(cases() / "models" / "mnist_cntk", half);
  EXPECT_EQ(fp16.status, CaseStatus::Pass) << fp16.reason;
  EXPECT_GT(fp16.max_abs, origin.max_abs);  // it was really run in halves
}

TEST_F(VerifyRun, FailsWhenOneElementIsOff) {
  const fs::path folder = copy_of("models/mnist_cntk");
  const fs::path file = folder / "test_data_set_0" / "output_0.pb";
  Tensor expected = runtime::decode_tensor_proto(map_file(file).value()).value().tensor;
  std::vector<double> values = to_doubles(expected);
  values[3] += 1;
  expected = from_doubles(expected.dtype, expected.shape, values);
  ASSERT_TRUE(runtime::write_tensor(file, runtime::TensorFormat::Pb, "", expected).ok());
  const CaseResult result = verify(folder);
  EXPECT_EQ(result.status, CaseStatus::Fail);
  EXPECT_NEAR(result.max_abs, 1, 1e-3);
  EXPECT_THAT(result.reason, HasSubstr("[0,3]"));
  // The case's own tolerance wins.
  put(folder / "meta.json", R"({"atol": 1.1})");
  EXPECT_EQ(verify(folder).status, CaseStatus::Pass);
}

TEST_F(VerifyRun, QuantizedModelsMayBeComparedByTheirSteps) {
  const fs::path folder = copy_of("exported/mlp_qdq");
  const fs::path file = folder / "test_data_set_0" / "output_0.pb";
  Tensor expected = runtime::decode_tensor_proto(map_file(file).value()).value().tensor;
  std::vector<double> values = to_doubles(expected);
  const double step = *std::max_element(values.begin(), values.end()) / 255;  // of softmax: from 0 on
  values[1] += 0.9 * step;
  expected = from_doubles(expected.dtype, expected.shape, values);
  ASSERT_TRUE(runtime::write_tensor(file, runtime::TensorFormat::Pb, "", expected).ok());
  EXPECT_EQ(verify(folder).status, CaseStatus::Fail);
  VerifyOptions options;
  options.steps = 1;
  EXPECT_EQ(verify(folder, options).status, CaseStatus::Pass);
  options.steps = 0.5;
  const CaseResult narrow = verify(folder, options);
  EXPECT_EQ(narrow.status, CaseStatus::Fail);
  EXPECT_GT(narrow.beyond_steps, 0);
  EXPECT_THAT(narrow.reason, HasSubstr("within 0.5 quantization steps"));
  // What the case says wins, one way and the other.
  put(folder / "meta.json", R"({"steps": 1})");
  EXPECT_EQ(verify(folder, options).status, CaseStatus::Pass);
  EXPECT_EQ(verify(folder).status, CaseStatus::Pass);
  put(folder / "meta.json", R"({"rtol": 0, "atol": 1e-5})");
  options.steps = 1;
  EXPECT_EQ(verify(folder, options).status, CaseStatus::Fail);
}

TEST_F(VerifyRun, FailsWhenOutputsAreMissingOrSuperfluous) {
  const fs::path folder = copy_of("models/mnist_cntk");
  const fs::path set = folder / "test_data_set_0";
  fs::copy(set / "output_0.pb", set / "output_1.pb");
  EXPECT_EQ(verify(folder).status, CaseStatus::Fail);
  fs::remove(set / "output_0.pb");
  fs::remove(set / "output_1.pb");
  EXPECT_EQ(verify(folder).status, CaseStatus::Fail);
}

TEST_F(VerifyRun, ReportsFilesThatCannotBeRead) {
  const fs::path folder = copy_of("models/mnist_cntk");
  put(folder / "test_data_set_0" / "input_0.pb", "garbage");
  const CaseResult result = verify(folder);
  EXPECT_EQ(result.status, CaseStatus::Error);
  EXPECT_THAT(result.reason, HasSubstr("input_0.pb"));
}

TEST_F(VerifyRun, RefusalsAreJudgedByMeta) {
  const fs::path folder = copy_of("models/mnist_cntk");
  put(folder / "meta.json", R"({"expect": "error"})");
  const CaseResult compiles = verify(folder);
  EXPECT_EQ(compiles.status, CaseStatus::Fail);
  EXPECT_THAT(compiles.reason, HasSubstr("a refusal is expected"));

  put(folder / "meta.json",
      R"({"options": ["--input_shape=nobody:1"], "expect": "error", "mention": ["nobody"]})");
  EXPECT_EQ(verify(folder).status, CaseStatus::Pass);
  put(folder / "meta.json",
      R"({"options": ["--input_shape=nobody:1"], "expect": "error", "mention": ["absent"]})");
  const CaseResult vague = verify(folder);
  EXPECT_EQ(vague.status, CaseStatus::Fail);
  EXPECT_THAT(vague.reason, HasSubstr("does not mention 'absent'"));
  put(folder / "meta.json", R"({"options": ["--input_shape=nobody:1"]})");
  EXPECT_EQ(verify(folder).status, CaseStatus::Error);
}

TEST_F(VerifyRun, UnsupportedOperatorsAreNotFailures) {
  const CaseResult result = verify(cases() / "models" / "candy");
  EXPECT_EQ(result.status, CaseStatus::Unsupported) << result.reason;
  for (const char* op : {"Affine", "Crop", "ImageScaler"}) EXPECT_THAT(result.reason, HasSubstr(op));
}

// Numbers of another generator are never a pass; a wrong type or shape is a failure all the same.
TEST_F(VerifyRun, RandomNumbersAreNotCompared) {
  const fs::path folder = copy_of("onnx_node/test_bernoulli_seed");
  const CaseResult result = verify(folder);
  EXPECT_EQ(result.status, CaseStatus::Unsupported) << result.reason;
  EXPECT_THAT(result.reason, HasSubstr("random numbers"));
  const fs::path file = folder / "test_data_set_0" / "output_0.pb";
  const Tensor expected = runtime::decode_tensor_proto(map_file(file).value()).value().tensor;
  const Tensor other = from_doubles(DType::I32, expected.shape, to_doubles(expected));
  ASSERT_TRUE(runtime::write_tensor(file, runtime::TensorFormat::Pb, "", other).ok());
  EXPECT_EQ(verify(folder).status, CaseStatus::Fail);
  // Dropout's sequence is the one of the standard's reference.
  EXPECT_EQ(verify(cases() / "onnx_node" / "test_training_dropout_default").status, CaseStatus::Pass);
}

// Bits of bf16 in a u16 tensor, as older recordings have them: one place off will do, two will not.
TEST_F(VerifyRun, ReadsBf16RecordedAsBits) {
  const fs::path folder = copy_of("onnx_node/test_cast_FLOAT_to_BFLOAT16");
  const fs::path file = folder / "test_data_set_0" / "output_0.pb";
  const Tensor expected = runtime::decode_tensor_proto(map_file(file).value()).value().tensor;
  ASSERT_EQ(bit_width(expected.dtype), 16);
  const auto verdict = [&](int off) {
    MutableTensor bits(DType::U16, expected.shape);
    std::copy_n(expected.data.data(), expected.data.size(), bits.bytes().begin());
    for (std::uint16_t& b : bits.as<std::uint16_t>())
      if ((b & 0x7FFFU) < 0x7F00U && (b & 0x7FFFU) > 0x0100U) b = static_cast<std::uint16_t>(b + off);
    EXPECT_TRUE(runtime::write_tensor(file, runtime::TensorFormat::Pb, "", std::move(bits).freeze()).ok());
    return verify(folder).status;
  };
  EXPECT_EQ(verdict(0), CaseStatus::Pass);
  EXPECT_EQ(verdict(-1), CaseStatus::Pass);
  EXPECT_EQ(verdict(-3), CaseStatus::Fail);
}

TEST_F(VerifyRun, BindsOpenDimsToTheData) {
  const CaseResult result = verify(cases() / "exported" / "llama_decode_dyn");
  EXPECT_EQ(result.status, CaseStatus::Pass) << result.reason;
}

TEST_F(VerifyRun, LimitsAreChecked) {
  const fs::path folder = copy_of("models/mnist_cntk");
  put(folder / "meta.json", R"({"limits": {"max_artifact_bytes": 100}})");
  const CaseResult result = verify(folder);
  EXPECT_EQ(result.status, CaseStatus::Fail);
  EXPECT_THAT(result.reason, HasSubstr("at most 100"));
  put(folder / "meta.json", R"({"limits": {"max_compile_seconds": 0}})");
  EXPECT_EQ(verify(folder).status, CaseStatus::Fail);
}

TEST_F(VerifyRun, TheCommandCountsAndExits) {
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "omverify");
    std::vector<char*> argv;
    for (std::string& a : arguments) argv.push_back(a.data());
    argv.push_back(nullptr);
    testing::internal::CaptureStdout();
    const int code = omverify_main(static_cast<int>(arguments.size()), argv.data());
    return std::pair(code, testing::internal::GetCapturedStdout());
  };
  const std::string mnist = (cases() / "models" / "mnist_cntk").string();
  const std::string candy = (cases() / "models" / "candy").string();
  const fs::path json = dir_ / "result.json";
  const auto [good, text] = run({mnist, candy, "--json", json.string()});
  EXPECT_EQ(good, 0);
  EXPECT_THAT(text, HasSubstr("1 passed, 0 failed, 1 skipped\n"));
  EXPECT_TRUE(fs::exists(json));
  const auto [bad, other] = run({mnist, "--atol", "0", "--rtol", "0"});
  EXPECT_EQ(bad, 1);
  EXPECT_THAT(other, HasSubstr("0 passed, 1 failed, 0 skipped\n"));
}

}  // namespace
}  // namespace atc::driver
