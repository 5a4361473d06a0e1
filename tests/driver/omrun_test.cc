// The omrun command on a hand-built model.
#include "driver/omrun.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "driver/run_report.h"
#include "kernels/vector_program.h"
#include "om/writer.h"
#include "runtime/random_input.h"

namespace atc::driver {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

/// sum = a + b over f32[2,3].
void write_model(const fs::path& path) {
  ir::Graph graph("sum");
  const ir::TensorType type = ir::tensor_type(DType::F32, {2, 3});
  ir::Node* node =
      graph.add_node("Add", {graph.add_input("a", type), graph.add_input("b", type)}, 1, nullptr, "", 14);
  node->name = "add";
  node->output(0)->type = type;
  graph.add_output(node->output(0));

  plan::Plan plan;
  plan.model_name = "sum";
  plan.soc_version = "Ascend310P3";
  const auto tensor = [](const char* name, plan::Space space, int index) {
    return plan::PlanTensor{name, space, index, 0, 24, DType::F32, {2, 3}, ir::Format::ND};
  };
  plan.tensors = {tensor("a", plan::Space::Input, 0), tensor("b", plan::Space::Input, 1),
                  tensor("sum", plan::Space::Output, 0)};
  plan.inputs = {{"a", 0}, {"b", 1}};
  plan.outputs = {{"sum", 2}};
  kernels::VectorProgram program;
  const auto f32 = kernels::RegType::F32;
  program.store(2, f32, program.emit(kernels::VecOp::Add, f32, program.load(0, f32), program.load(1, f32)));
  kernels::VectorSpace space;
  space.dims = {2, 3};
  space.strides = {{3, 1}, {3, 1}, {3, 1}};
  space.offsets = {0, 0, 0};
  std::vector<kernels::Operand> operands;
  for (int i = 0; i < 3; ++i) operands.push_back({i, 0, 24, DType::F32, i == 2});
  StatusOr<kernels::Task> task =
      kernels::make_vector_task(program, space, operands, *soc::find_chip("Ascend310P3").value());
  ASSERT_TRUE(task.ok()) << task.status().to_string();
  plan::PlanTask add;
  add.name = "add";
  add.op_type = "Add";
  add.sources = {"Add_0"};
  add.kernel = std::move(task).value();
  plan.tasks = {add};
  const Status status = om::write_om(path, plan, {}, graph);
  ASSERT_TRUE(status.ok()) << status.to_string();
}

class OmRun : public testing::Test {
 protected:
  void SetUp() override {
    dir_ = fs::temp_directory_path() / ("omrun_" + std::to_string(getpid()));
    fs::create_directories(dir_);
    write_model(dir_ / "sum.om");
  }
  void TearDown() override { fs::remove_all(dir_); }

  int run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"omrun", "--model", (dir_ / "sum.om").string()});
    return run_raw(std::move(arguments));
  }
  int run_raw(std::vector<std::string> arguments) {
    std::vector<char*> argv;
    for (std::string& a : arguments) argv.push_back(a.data());
    argv.push_back(nullptr);
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = omrun_main(static_cast<int>(arguments.size()), argv.data());
    out_ = testing::internal::GetCapturedStdout();
    err_ = testing::internal::GetCapturedStderr();
    return code;
  }
  std::string write_input(const std::string& name, runtime::TensorFormat format, std::vector<double> values) {
    const fs::path path = dir_ / name;
    EXPECT_TRUE(runtime::write_tensor(path, format, "", from_doubles(DType::F32, {2, 3}, values)).ok());
    return path.string();
  }

  fs::path dir_;
  std::string out_, err_;
};

TEST_F(OmRun, RunsFilesAndWritesOutputs) {
  const std::string a = write_input("a.npy", runtime::TensorFormat::Npy, {1, 2, 3, 4, 5, 6});
  const std::string b = write_input("b.dat", runtime::TensorFormat::Bin, {10, 20, 30, 40, 50, 60});
  const std::string results = (dir_ / "new" / "results").string();
  ASSERT_EQ(run({"--input", a + "," + b, "--output", results, "--outfmt", "TXT", "--json", "--loop", "3"}), 0)
      << err_;
  EXPECT_EQ(err_, "");
  std::ifstream file(fs::path(results) / "sum_output_0.txt");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(text, "11 22 33\n44 55 66\n");
  const json j = json::parse(out_);
  EXPECT_EQ(j["outputs"][0]["name"], "sum");
  EXPECT_EQ(j["outputs"][0]["dtype"], "f32");
  EXPECT_EQ(j["outputs"][0]["shape"], json({2, 3}));
  EXPECT_EQ(j["outputs"][0]["min"], 11);
  EXPECT_EQ(j["outputs"][0]["max"], 66);
  EXPECT_EQ(j["outputs"][0]["mean"], 38.5);
  EXPECT_EQ(j["outputs"][0]["file"], results + "/sum_output_0.txt");
  EXPECT_EQ(j["inputs"][1]["file"], b);
  EXPECT_EQ(j["tasks"], json({{"ai_core", 1}, {"ai_cpu", 0}, {"regions", 0}}));
  EXPECT_EQ(j["simulated"]["by_engine"]["vector"]["tasks"], 1);
  EXPECT_NEAR(j["simulated"]["samples_per_s"].get<double>(), 2e6 / j["simulated"]["us"].get<double>(), 1);
  EXPECT_LE(j["wall_ms"]["min"], j["wall_ms"]["median"]);
  EXPECT_LE(j["wall_ms"]["median"], j["wall_ms"]["max"]);
  EXPECT_GT(j["peak_rss_mb"], 1);
  EXPECT_GT(j["load_ms"], 0);
}

TEST_F(OmRun, TakesInputsByNameAndSeedsTheRest) {
  const std::string b = write_input("b.pb", runtime::TensorFormat::Pb, {0, 0, 0, 0, 0, 0});
  ASSERT_EQ(run({"--input", "b=" + b, "--seed", "7", "--output", dir_.string()}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("random, seed 7"));
  const auto sum = runtime::read_tensor(dir_ / "sum_output_0.bin", {"sum", DType::F32, {2, 3}});
  ASSERT_TRUE(sum.ok());
  EXPECT_EQ(to_doubles(sum.value()), to_doubles(runtime::random_tensor({"a", DType::F32, {2, 3}}, 7, 0)));
}

TEST_F(OmRun, DryRunComputesNoValues) {
  ASSERT_EQ(run({"--dry-run", "--json"}), 0) << err_;
  const json j = json::parse(out_);
  EXPECT_TRUE(j["wall_ms"].is_null());
  EXPECT_TRUE(j["outputs"][0]["min"].is_null());
  EXPECT_GT(j["simulated"]["cycles"], 0);
}

TEST_F(OmRun, ErrorsGoToStderrWithExitCodeOne) {
  const std::string a = write_input("a.npy", runtime::TensorFormat::Npy, {1, 2, 3, 4, 5, 6});
  const auto fails = [&](const std::vector<std::string>& arguments, const std::string& word) {
    EXPECT_EQ(run(arguments), 1) << word;
    EXPECT_EQ(out_, "") << word;
    EXPECT_THAT(err_, HasSubstr(word));
    EXPECT_THAT(err_, testing::StartsWith("omrun: error: "));
  };
  fails({"--dims", "a:1,2"}, "--dims is not supported in this version");
  fails({"--outfmt", "JPG"}, "BIN, NPY, TXT or PB");
  fails({"--input", a + "," + a + "," + a}, "more files than the model has inputs (2)");
  fails({"--input", "a=" + a + ",a=" + a}, "two files for input 'a'");
  fails({"--input", a + ","}, "empty file name");
  fails({"--input", (dir_ / "none.npy").string()}, "none.npy");
  fails({"--input", (dir_ / "sum.om").string()}, "input 'a' (FLOAT[2,3])");
  fails({"--loop", "0"}, "--loop");
  fails({"--unknown"}, "--unknown");
  EXPECT_EQ(run_raw({"omrun"}), 1);
  EXPECT_THAT(err_, HasSubstr("--model"));
  EXPECT_EQ(run_raw({"omrun", "--model", a}), 1);
  EXPECT_THAT(err_, HasSubstr("E10041"));
  EXPECT_EQ(run_raw({"omrun", "--help"}), 0);
  EXPECT_THAT(out_, HasSubstr("--dry-run"));
}

TEST(RunReport, RangesAreTruthful) {
  const auto range = range_of(from_doubles(DType::F16, {4}, std::vector<double>{1, -2, 5, 0}));
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(range->min, -2);
  EXPECT_EQ(range->max, 5);
  EXPECT_EQ(range->mean, 1);
  EXPECT_FALSE(range_of(from_doubles(DType::F32, {0}, std::vector<double>{})).has_value());
  const auto nan = range_of(from_doubles(DType::F32, {3}, std::vector<double>{1, NAN, 2}));
  EXPECT_TRUE(std::isnan(nan->max) || std::isnan(nan->min));
  EXPECT_TRUE(std::isnan(nan->mean));
}

}  // namespace
}  // namespace atc::driver
