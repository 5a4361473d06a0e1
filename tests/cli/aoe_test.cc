#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "command.h"

namespace atc::cli {
namespace {

std::string lenet(const std::string& name, const std::string& more) {
  return program(name) +
         " --framework=5 --soc_version=Ascend910B3 --export_compile_stat=0 --output=net --model=" +
         model("lenet5.onnx") + " " + more;
}

nlohmann::json json_of(const std::filesystem::path& path) { return nlohmann::json::parse(slurp(path)); }

double microseconds(const nlohmann::json& report) {
  double us = 0;
  for (const auto& task : report["tasks"]) us += task["us"].get<double>();
  return us;
}

// aoe writes a bank; atc with the bank makes the same model as aoe did, and says which tasks it tuned.
TEST(Aoe, WritesABankThatAtcTakesTilesFrom) {
  Scratch s;
  const Outcome tuned = run(lenet("aoe", "--job_type=2 --op_bank_path=bank"), s.path());
  ASSERT_EQ(tuned.code, 0) << tuned.out;
  EXPECT_NE(tuned.out.find("tuned "), std::string::npos) << tuned.out;
  const std::string om = slurp(s / "net.om"), bank = slurp(s / "bank/Ascend910B3_tiles.json");
  EXPECT_FALSE(nlohmann::json::parse(bank)["tasks"].empty());

  ASSERT_EQ(run(lenet("atc", "--op_bank_path=bank --report=with.json"), s.path()).code, 0);
  EXPECT_EQ(slurp(s / "net.om"), om);
  ASSERT_EQ(run(lenet("atc", "--report=without.json"), s.path()).code, 0);
  const auto with = json_of(s / "with.json"), without = json_of(s / "without.json");
  EXPECT_LE(microseconds(with), microseconds(without) * 1.001);
  std::size_t taken = 0;
  for (const auto& task : with["tasks"]) {
    const bool cube = task["kernel"] == "cube_conv" || task["kernel"] == "cube_matmul";
    EXPECT_EQ(task.contains("tuned"), cube) << task.dump();
    taken += cube ? 1 : 0;
  }
  EXPECT_GT(taken, 0U);
  EXPECT_EQ(without.dump().find("tuned"), std::string::npos);

  // Once more: what is in the bank stays as it is.
  ASSERT_EQ(run(lenet("aoe", "--job_type=2 --op_bank_path=bank"), s.path()).code, 0);
  EXPECT_EQ(slurp(s / "bank/Ascend910B3_tiles.json"), bank);
}

TEST(Aoe, BanksThatAreOfNoUseAreTold) {
  Scratch s;
  std::filesystem::create_directories(s / "empty");
  const Outcome none = run(lenet("atc", "--mdl_bank_path=empty"), s.path());
  EXPECT_EQ(none.code, 0);
  EXPECT_NE(none.out.find("has no bank of tiles for Ascend910B3"), std::string::npos) << none.out;
  EXPECT_NE(run(lenet("atc", "--op_bank_path=nowhere"), s.path()).out.find("(E10001)"), std::string::npos);

  ASSERT_EQ(run(lenet("aoe", "--job_type=2 --op_bank_path=bank --precision_mode_v2=origin"), s.path()).code,
            0);
  const Outcome other = run(lenet("atc", "--op_bank_path=bank"), s.path());
  EXPECT_EQ(other.code, 0);
  EXPECT_NE(other.out.find("no task of the model is in the bank"), std::string::npos) << other.out;

  std::ofstream(s / "bank/Ascend910B3_tiles.json") << "{";
  std::filesystem::remove(s / "net.om");
  const Outcome broken = run(lenet("atc", "--op_bank_path=bank"), s.path());
  EXPECT_NE(broken.code, 0);
  EXPECT_NE(broken.out.find("(E10032)"), std::string::npos) << broken.out;
  EXPECT_FALSE(std::filesystem::exists(s / "net.om"));
}

}  // namespace
}  // namespace atc::cli
