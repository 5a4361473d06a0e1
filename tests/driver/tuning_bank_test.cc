#include "driver/tuning_bank.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/tuning.h"

namespace atc::driver {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

const soc::Chip& chip(std::string_view name = "Ascend910B3") { return **soc::find_chip(name); }
const std::string kKey(64, 'a');

std::string text_of_one() {
  kernels::PlanBank bank;
  kernels::BankEntry e;
  e.kernel = "cube_conv";
  e.tile = {128, 4, 6};
  e.k_chunk = 3;
  e.b_buffers = 8;
  e.images = 2;
  e.rows_inner = true;
  e.us = 1.25;
  e.default_us = 2.5;
  bank.put(kKey, e);
  return bank_text(bank, chip());
}

TEST(TuningBank, ReadsWhatItHasWritten) {
  const std::string text = text_of_one();
  kernels::PlanBank bank;
  ASSERT_TRUE(read_bank(text, "f.json", "op_bank_path", chip(), bank).ok());
  const kernels::BankEntry e = *bank.find(kKey);
  EXPECT_EQ(e.kernel, "cube_conv");
  EXPECT_EQ(e.tile.m, 128);
  EXPECT_EQ(e.tile.panels, 4);
  EXPECT_EQ(e.tile.k_slice, 6);
  EXPECT_EQ(e.k_chunk, 3);
  EXPECT_EQ(e.a_buffers, 2);
  EXPECT_EQ(e.b_buffers, 8);
  EXPECT_EQ(e.l0c_buffers, 2);
  EXPECT_EQ(e.images, 2);
  EXPECT_TRUE(e.rows_inner);
  EXPECT_EQ(e.us, 1.25);
  EXPECT_EQ(e.default_us, 2.5);
  EXPECT_EQ(bank_text(bank, chip()), text);
  EXPECT_EQ(bank_file("x", chip()), std::filesystem::path("x/Ascend910B3_tiles.json"));
}

TEST(TuningBank, RefusesWhatIsNoBankOfThisChip) {
  const std::string good = text_of_one();
  const auto error = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    if (!from.empty()) {
      const std::size_t at = text.find(from);
      EXPECT_NE(at, std::string::npos) << from;
      text.replace(at, from.size(), to);
    }
    kernels::PlanBank bank;
    const Status status = read_bank(text, "f.json", "op_bank_path", chip(), bank);
    return status.ok() ? std::string() : status.diagnostic().code + " " + status.diagnostic().message;
  };
  EXPECT_EQ(error("", ""), "");
  EXPECT_THAT(error("{", ""), HasSubstr("E10032"));
  EXPECT_THAT(error("atc tile bank", "a bank"), HasSubstr("no bank of tiles"));
  EXPECT_THAT(error("\"version\": 1", "\"version\": 2"), HasSubstr("another version"));
  EXPECT_THAT(error("Ascend910B3", "Ascend310P3"), HasSubstr("another chip"));
  EXPECT_THAT(error("\"tasks\"", "\"task\""), HasSubstr("no tasks"));
  EXPECT_THAT(error(kKey, "aa"), HasSubstr("'aa' is no key"));
  EXPECT_THAT(error("\"rows\": 128", "\"rows\": 0"), HasSubstr("rows is 0"));
  EXPECT_THAT(error("\"rows\": 128", "\"rows\": 1.5"), HasSubstr("rows is no whole number"));
  EXPECT_THAT(error("\"rows\": 128", "\"rows\": 18446744073709551615"),
              HasSubstr("rows is 18446744073709551615"));
  EXPECT_THAT(error("\"images\": 2", "\"image\": 2"), HasSubstr("images is no whole number"));
  EXPECT_THAT(error("\"images\": 2", "\"images\": 2, \"more\": 1"), HasSubstr("does not know"));
  EXPECT_THAT(error("\"rows_inner\": true", "\"rows_inner\": 1"), HasSubstr("rows_inner"));
  EXPECT_THAT(error("\"us\": 1.25", "\"us\": -1"), HasSubstr("us is no time"));
  EXPECT_THAT(error("\"cube_conv\"", "7"), HasSubstr("kernel is no text"));
}

TEST(ArgumentsOfAoe, JobTypeAndBank) {
  ::unsetenv("TUNE_BANK_PATH");
  EXPECT_THAT(*arguments_of_aoe(Words{"--model=m", "--job_type=2", "--op_bank_path=b"}),
              ElementsAre("--model=m", "--op_bank_path=b"));
  EXPECT_THAT(*arguments_of_aoe(Words{"--job-type", "2", "--op_bank_path", "b"}),
              ElementsAre("--op_bank_path", "b"));
  EXPECT_THAT(*arguments_of_aoe(Words{"--help"}), ElementsAre("--help"));
  const auto code = [](const Words& words) { return arguments_of_aoe(words).status().diagnostic().code; };
  EXPECT_EQ(code({"--model=m", "--op_bank_path=b"}), "E10054");
  EXPECT_EQ(code({"--job_type=1", "--op_bank_path=b"}), "E10055");
  EXPECT_EQ(code({"--job_type=3", "--op_bank_path=b"}), "E10001");
  EXPECT_EQ(code({"--job_type=2", "--model=m"}), "E10054");
  ::setenv("TUNE_BANK_PATH", "folder", 1);
  EXPECT_THAT(*arguments_of_aoe(Words{"--job_type=2"}), ElementsAre("--op_bank_path=folder"));
  ::unsetenv("TUNE_BANK_PATH");
}

}  // namespace
}  // namespace atc::driver
