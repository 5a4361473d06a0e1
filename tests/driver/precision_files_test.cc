#include "driver/precision_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace atc::driver {
namespace {

using passes::Storage;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Read = StatusOr<std::vector<PrecisionEntry>>;

std::vector<PrecisionEntry> good(const Read& read) {
  EXPECT_TRUE(read.ok()) << read.status().to_string();
  return read.ok() ? *read : std::vector<PrecisionEntry>();
}

std::string fault(const Read& read, const std::string& code = "E10001") {
  EXPECT_FALSE(read.ok());
  if (read.ok()) return "";
  EXPECT_EQ(read.status().diagnostic().code, code);
  return read.status().diagnostic().message;
}

std::vector<std::string> names(const std::vector<PrecisionEntry>& entries) {
  std::vector<std::string> out;
  for (const PrecisionEntry& e : entries) out.push_back((e.by_type ? "type " : "") + e.name);
  return out;
}

TEST(KeepDtype, NamesAndTypes) {
  const auto entries =
      good(parse_keep_dtype("\xEF\xBB\xBF# kept\r\n  /gnn_layers.0/Mul_2 \r\n\nOpType::InstanceNorm\n"
                            "OpType:: Pow\nAdd_44",
                            "k.cfg"));
  EXPECT_THAT(names(entries), ElementsAre("/gnn_layers.0/Mul_2", "type InstanceNorm", "type Pow", "Add_44"));
  for (const auto& e : entries) {
    EXPECT_EQ(e.asked.storage, Storage::Keep);
    EXPECT_EQ(e.asked.option, "--keep_dtype");
  }
  EXPECT_THAT(fault(parse_keep_dtype("a\nOpType::\n", "k.cfg")), HasSubstr("line 2, 'OpType::'"));
  EXPECT_TRUE(good(parse_keep_dtype("", "k.cfg")).empty());
}

Read customize(std::string_view text, DType narrow = DType::F16) {
  return parse_customize_dtypes(text, "c.cfg", narrow);
}

TEST(CustomizeDtypes, EveryForm) {
  const auto entries =
      good(customize("Gemm_1732::InputDtype:float16,OutputDtype:float16\n"
                     "OpType::MatMulV2:InputDtype:float16, float32,OutputDtype:float32\n"
                     "/up_blocks.2/resnets.0/norm2/Mul/GroupNorm:InputDtype:float32\n"
                     "# a comment\n"
                     "x:y:OutputDtype:float\n"
                     "TopK_1:OutputDtype:float16,int32,InputDtype:float32\n"));
  EXPECT_THAT(names(entries), ElementsAre("Gemm_1732", "type MatMulV2",
                                          "/up_blocks.2/resnets.0/norm2/Mul/GroupNorm", "x:y", "TopK_1"));
  EXPECT_THAT(entries[0].asked.inputs, ElementsAre(DType::F16));
  EXPECT_THAT(entries[0].asked.outputs, ElementsAre(DType::F16));
  EXPECT_THAT(entries[1].asked.inputs, ElementsAre(DType::F16, DType::F32));
  EXPECT_THAT(entries[1].asked.outputs, ElementsAre(DType::F32));
  EXPECT_TRUE(entries[2].asked.outputs.empty());
  EXPECT_THAT(entries[3].asked.outputs, ElementsAre(DType::F32));
  EXPECT_THAT(entries[4].asked.outputs, ElementsAre(DType::F16, DType::I32));
  EXPECT_THAT(entries[4].asked.inputs, ElementsAre(DType::F32));
  EXPECT_EQ(entries[0].file, "c.cfg");
  EXPECT_EQ(entries[3].place, "line 5, 'x:y:OutputDtype:float'");
}

TEST(CustomizeDtypes, Refusals) {
  EXPECT_THAT(fault(customize("Conv_1\n")), HasSubstr("neither InputDtype: nor OutputDtype:"));
  EXPECT_THAT(fault(customize("Conv_1 InputDtype:float16")), HasSubstr("a colon is missing"));
  EXPECT_THAT(fault(customize("::InputDtype:float16")), HasSubstr("the name"));
  EXPECT_THAT(fault(customize("a:InputDtype:")), HasSubstr("empty"));
  EXPECT_THAT(fault(customize("a:InputDtype:float17")), HasSubstr("'float17'"));
  EXPECT_THAT(fault(customize("a:InputDtype:double")), HasSubstr("'double'"));
  EXPECT_THAT(fault(customize("\na:OutputDtype:bfloat16")), HasSubstr("line 2"));
  EXPECT_THAT(good(customize("a:OutputDtype:bfloat16", DType::BF16))[0].asked.outputs,
              ElementsAre(DType::BF16));
  EXPECT_THAT(fault(customize("a:OutputDtype:float16", DType::BF16)),
              HasSubstr("whose 16-bit type is bfloat16"));
}

Read modes(std::string_view text) { return parse_op_precision_mode(text, "op_precision.ini"); }

TEST(OpPrecisionMode, SectionsAndModes) {
  const auto entries =
      good(modes("[ByNodeName]\nMul_105/Gelu = high_performance\na=b=keep_fp16\n"
                 "[ByOpType]\n; note\nGelu=high_performance\nTanh =high_precision\n"
                 "MatMul=enable_float_32_execution\nBatchMultiClassNonMaxSuppression=norm_class\n"));
  // Types first: a node's name says more.
  EXPECT_THAT(names(entries), ElementsAre("type Gelu", "type Tanh", "type MatMul",
                                          "type BatchMultiClassNonMaxSuppression", "Mul_105/Gelu", "a=b"));
  EXPECT_TRUE(entries[0].asked.fast);
  EXPECT_FALSE(entries[1].asked.fast);
  EXPECT_EQ(entries[2].asked.storage, Storage::Keep);
  EXPECT_TRUE(entries[4].asked.fast);
  EXPECT_EQ(entries[5].asked.storage, Storage::Narrow);
}

TEST(OpPrecisionMode, Refusals) {
  EXPECT_THAT(fault(modes("Gelu=high_performance")), HasSubstr("before [ByOpType]"));
  EXPECT_THAT(fault(modes("[ByType]\n")), HasSubstr("'[ByType]'"));
  EXPECT_THAT(fault(modes("[ByOpType]\nGelu\n")), HasSubstr("not of the form name=mode"));
  EXPECT_THAT(fault(modes("[ByOpType]\n=high_precision\n")), HasSubstr("not of the form name=mode"));
  EXPECT_THAT(fault(modes("[ByOpType]\nGelu=fast\n")), HasSubstr("'fast' is no mode"));
}

Read mixlist(std::string_view text) { return parse_modify_mixlist(text, "m.json"); }

TEST(ModifyMixlist, Lists) {
  const auto entries = good(mixlist(R"({"black-list": {"to-add": ["LayerNorm"], "to-remove": ["ReduceSum"]},
      "white-list": {"to-remove": ["Conv2D"], "to-add": ["ReduceSum"]}, "gray-list": {"to-add": ["Exp"]}})"));
  // Removals first, so that what moves from one list to another ends on the other.
  EXPECT_THAT(names(entries),
              ElementsAre("type ReduceSum", "type Conv2D", "type LayerNorm", "type ReduceSum", "type Exp"));
  EXPECT_EQ(entries[0].asked.storage, Storage::Follow);
  EXPECT_EQ(entries[2].asked.storage, Storage::Keep);
  EXPECT_EQ(entries[3].asked.storage, Storage::Narrow);
  EXPECT_EQ(entries[4].asked.storage, Storage::Follow);
}

TEST(ModifyMixlist, Refusals) {
  EXPECT_THAT(fault(mixlist("{"), "E10032"), HasSubstr("m.json"));
  EXPECT_THAT(fault(mixlist("[]")), HasSubstr("no JSON object"));
  EXPECT_THAT(fault(mixlist(R"({"blacklist": {}})")), HasSubstr("'blacklist'"));
  EXPECT_THAT(fault(mixlist(R"({"black-list": []})")), HasSubstr("black-list is no object"));
  EXPECT_THAT(fault(mixlist(R"({"black-list": {"add": []}})")), HasSubstr("'add' of black-list"));
  EXPECT_THAT(fault(mixlist(R"({"black-list": {"to-add": "Conv"}})")), HasSubstr("is no list"));
  EXPECT_THAT(fault(mixlist(R"({"black-list": {"to-add": [1]}})")), HasSubstr("no operator type"));
  EXPECT_THAT(fault(mixlist(R"({"black-list": {"to-add": ["A"]}, "white-list": {"to-add": ["A"]}})")),
              HasSubstr("operator type A is added to black-list and white-list"));
}

TEST(ImplementationMode, TypesOfTheList) {
  const auto entries = good(parse_implementation_mode("high_performance", "Gelu, Sigmoid"));
  EXPECT_THAT(names(entries), ElementsAre("type Gelu", "type Sigmoid"));
  EXPECT_TRUE(entries[1].asked.fast);
  EXPECT_TRUE(entries[1].named);
  const auto all = good(parse_implementation_mode("high_performance_for_all", ""));
  EXPECT_THAT(names(all), ElementsAre("type Gelu"));
  EXPECT_TRUE(all[0].asked.fast);
  EXPECT_FALSE(all[0].named);
  EXPECT_FALSE(good(parse_implementation_mode("high_precision", "Gelu"))[0].asked.fast);
  EXPECT_THAT(fault(parse_implementation_mode("high_performance", "Gelu,,Tanh")), HasSubstr("empty entry"));
}

}  // namespace
}  // namespace atc::driver
