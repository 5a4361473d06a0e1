#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "om/info.h"
#include "om/json_dump.h"
#include "sample_model.h"

namespace atc::om {
namespace {

using test::odd_model;
using test::sample_model;
using test::SampleModel;
using test::TemporaryFolder;
using ::testing::ElementsAre;
using Json = nlohmann::json;

Json dumped(const SampleModel& model) {
  const TemporaryFolder folder;
  const auto text = dump_json(test::write_to_bytes(model, folder));
  EXPECT_TRUE(text.ok()) << text.status().to_string();
  return Json::parse(*text);
}

const Json& entry(const Json& map, const std::string& key) {
  static const Json kNone;
  for (const Json& e : map)
    if (e.at("key") == key) return e.at("value");
  ADD_FAILURE() << "no attribute " << key;
  return kNone;
}

const Json& op(const Json& model, const std::string& type) {
  static const Json kNone;
  for (const Json& o : model.at("graph").at(0).at("op"))
    if (o.at("type") == type) return o;
  ADD_FAILURE() << "no operation " << type;
  return kNone;
}

TEST(OmJson, IsModelDefWithFieldNames) {
  const Json model = dumped(sample_model());
  EXPECT_EQ(model.at("name"), "sample");
  EXPECT_EQ(model.at("version"), 1);
  EXPECT_EQ(entry(model.at("attr"), "atc_cmdline").at("s"), "atc --model=sample.onnx --framework=5");
  EXPECT_EQ(entry(model.at("attr"), "soc_version").at("s"), "Ascend910B3");
  EXPECT_EQ(entry(model.at("attr"), "memory_size").at("i"), 64);
  EXPECT_EQ(entry(model.at("attr"), "event_num").at("i"), 0) << "a chosen value is printed even when zero";
  EXPECT_THAT(entry(model.at("attr"), "attr_model_out_nodes_name").at("list").at("s"),
              ElementsAre("add:0:y"));
  const Json& add = op(model, "Add");
  EXPECT_EQ(add.at("name"), "add");
  EXPECT_EQ(add.at("input"), Json({"matmul:0", "b:0"}));
  EXPECT_EQ(add.at("is_input_const"), Json({false, true}));
  EXPECT_EQ(add.at("output_desc").at(0).at("dtype"), "DT_FLOAT");
  EXPECT_EQ(add.at("output_desc").at(0).at("shape").at("dim"), Json({2, 4}));
  EXPECT_EQ(op(model, "NetOutput").at("src_name"), Json({"add"}));
}

TEST(OmJson, LeavesOutDefaultsAndWeights) {
  const Json model = dumped(odd_model());
  EXPECT_FALSE(op(model, "Data").contains("id")) << "0 is the default";
  EXPECT_FALSE(model.at("graph").at(0).contains("output"));
  const std::string text = model.dump();
  for (const char* key : {"\"data\":", "\"data_offset\":", "\"weight_size\":", "\"size\":", "\"output\":"})
    EXPECT_EQ(text.find(key), std::string::npos) << key;
}

TEST(OmJson, PrintsFloatsAndBytesAsStrings) {
  const Json attrs = op(dumped(odd_model()), "SoftmaxV2").at("attr");
  EXPECT_EQ(entry(attrs, "alpha").at("f"), "0.5");
  EXPECT_EQ(entry(attrs, "floats").at("list").at("f"), Json({"1.5", "-2"}));
  EXPECT_EQ(entry(attrs, "floats").at("list").at("val_type"), "VT_LIST_FLOAT");
  EXPECT_EQ(entry(attrs, "strings").at("list").at("s"), Json({"a", "\\377"}));
  std::vector<std::string> keys;
  for (const Json& e : attrs) keys.push_back(e.at("key"));
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
}

TEST(OmInfo, PrintsTheLinesOfTheVendorAndThePorts) {
  const TemporaryFolder folder;
  SampleModel model = sample_model();
  const Bytes file = test::write_to_bytes(model, folder);
  const auto size_of = [&](std::size_t entry) {
    std::uint64_t size = 0;
    std::memcpy(&size, file.data() + 256 + 8 + 24 * entry + 16, sizeof(size));
    return std::to_string(size);
  };
  const auto info = display_info(file);
  ASSERT_TRUE(info.ok()) << info.status().to_string();
  EXPECT_EQ(*info,
            "============ Display Model Info start ============\n"
            "Original Atc command line: atc --model=sample.onnx --framework=5\n"
            "system   info: atc_version[0.1.0], soc_version[Ascend910B3], framework_type[Onnx].\n"
            "resource info: memory_size[64 B], weight_size[144 B], stream_num[1], event_num[0].\n"
            "om       info: modeldef_size[" +
                size_of(0) + " B], weight_data_size[144 B], tbe_kernels_size[" + size_of(3) +
                " B], cust_aicpu_kernel_store_size[0 B], task_info_size[" + size_of(2) +
                " B], so_store_size[0 B].\n"
                "input    info: index[0], name[x], dtype[FLOAT], shape[2,8], format[ND], size[64 B].\n"
                "output   info: index[0], name[y], dtype[FLOAT], shape[2,4], format[ND], size[32 B].\n"
                "============ Display Model Info end   ============\n");
}

TEST(OmInfo, CallsTheAxesOfAnImageByTheirOption) {
  const TemporaryFolder folder;
  SampleModel model = sample_model();
  model.plan.tensors[0].shape = {1, 2, 2, 4};
  model.plan.info["input_format"] = "NCHW";
  const auto info = display_info(test::write_to_bytes(model, folder));
  ASSERT_TRUE(info.ok());
  EXPECT_THAT(*info, ::testing::HasSubstr("name[x], dtype[FLOAT], shape[1,2,2,4], format[NCHW], size[64 B]"));
  EXPECT_THAT(*info, ::testing::HasSubstr("name[y], dtype[FLOAT], shape[2,4], format[ND]"));
}

TEST(OmInfo, NamesCannotSteerATerminal) {
  const TemporaryFolder folder;
  SampleModel model = sample_model();
  model.plan.inputs[0].name = "x\x1b[2J\ny";
  const auto info = display_info(test::write_to_bytes(model, folder));
  ASSERT_TRUE(info.ok()) << info.status().to_string();
  EXPECT_THAT(*info, ::testing::HasSubstr("index[0], name[x\\x1b[2J\\x0ay], dtype"));
}

TEST(OmInfo, MissingTextsAreEmpty) {
  const TemporaryFolder folder;
  SampleModel model = sample_model();
  model.plan.info.clear();
  const auto info = display_info(test::write_to_bytes(model, folder));
  ASSERT_TRUE(info.ok());
  EXPECT_THAT(*info, ::testing::HasSubstr("Original Atc command line: \n"));
  EXPECT_THAT(*info, ::testing::HasSubstr("atc_version[], soc_version[Ascend910B3]"));
}

}  // namespace
}  // namespace atc::om
