#include "driver/opp_description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "custom/library_source.h"
#include "driver/opp_generate.h"
#include "driver/opp_registered.h"

namespace atc::driver {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

StatusOr<std::vector<OppDescription>> read(const std::string& json) {
  const custom_test::Folder folder;
  std::ofstream(folder / "op.json") << json;
  return read_opp_json(folder / "op.json");
}

std::string fault(const std::string& json) { return read(json).status().to_string(); }

constexpr const char* kAdd = R"([{"op": "AddCustom", "language": "cpp",
  "input_desc": [{"name": "x", "param_type": "required", "format": ["ND", "ND"], "type": ["fp16", "float"]}],
  "output_desc": [{"name": "z", "param_type": "required", "format": ["ND", "ND"], "type": ["float16", "fp32"]}],
  "attr": [{"name": "alpha", "param_type": "optional", "type": "float", "default_value": "0.5"}]}])";

TEST(OppDescription, ReadsWhatMsopgenReads) {
  const auto ops = read(kAdd);
  ASSERT_TRUE(ops.ok()) << ops.status().to_string();
  const OppDescription& op = ops->at(0);
  EXPECT_EQ(op.file, "add_custom");
  EXPECT_THAT(op.inputs.at(0).types, ElementsAre("DT_FLOAT16", "DT_FLOAT"));
  EXPECT_THAT(op.outputs.at(0).types, ElementsAre("DT_FLOAT16", "DT_FLOAT"));
  EXPECT_EQ(op.attrs.at(0).setter, "Float");
  EXPECT_EQ(op.attrs.at(0).default_value, "0.5");
}

TEST(OppDescription, NamesWhatIsWrong) {
  EXPECT_THAT(fault("{"), AllOf(HasSubstr("E10032"), HasSubstr("op.json")));
  EXPECT_THAT(fault("[]"), HasSubstr("lists no operator"));
  EXPECT_THAT(fault(R"({"op": "1x"})"), HasSubstr("\"op\" is '1x'"));
  EXPECT_THAT(fault(R"({"op": "class"})"), HasSubstr("\"op\" is 'class'"));
  EXPECT_THAT(fault(R"({"op": "X", "output_desc": [{"name": "new", "type": ["float"]}]})"),
              HasSubstr("'new': \"name\" is no identifier"));
  EXPECT_THAT(fault(R"({"op": "X", "output_desc": []})"),
              AllOf(HasSubstr("operator X"), HasSubstr("no tensor")));
  EXPECT_THAT(fault(R"({"op": "X", "output_desc": [{"name": "y", "type": ["float13"]}]})"),
              AllOf(HasSubstr("'y'"), HasSubstr("'float13' is not supported")));
  EXPECT_THAT(fault(R"({"op": "X", "input_desc": [{"name": "x", "type": ["float"], "param_type": "dynamic"}],
                       "output_desc": [{"name": "y", "type": ["float"]}]})"),
              AllOf(HasSubstr("'dynamic'"), HasSubstr("required and optional")));
  EXPECT_THAT(fault(R"({"op": "X", "input_desc": [{"name": "x", "type": ["float", "fp16"]}],
                       "output_desc": [{"name": "y", "type": ["float"]}]})"),
              AllOf(HasSubstr("'x' lists 2 types"), HasSubstr("'y' has 1")));
}

TEST(OppDescription, NamesFilesAsTheToolkitDoes) {
  EXPECT_EQ(snake_case("AddCustom"), "add_custom");
  EXPECT_EQ(snake_case("RMSNorm"), "rms_norm");
  EXPECT_EQ(snake_case("Softmax"), "softmax");
  EXPECT_EQ(snake_case("MatMulV2"), "mat_mul_v2");
}

TEST(OppGenerate, MakesTheUsualLayoutAndLosesNothing) {
  const auto ops = read(kAdd);
  const auto files = opp_files(*ops, "ascend910b", false);
  const custom_test::Folder folder;
  ASSERT_TRUE(write_opp_files(files, folder.path()).ok());
  for (const char* file :
       {"op_host/add_custom.cpp", "op_host/add_custom_tiling.h", "op_kernel/add_custom.cpp",
        "framework/onnx_plugin/add_custom_plugin.cc", "build.sh", "CMakePresets.json"})
    EXPECT_TRUE(std::filesystem::exists(folder / file)) << file;
  EXPECT_THAT(write_opp_files(files, folder.path()).to_string(), HasSubstr("exists already"));
}

TEST(OppRegistered, ReadsWhatTheProjectPrints) {
  const auto ops = parse_registered(
      "op Add 2 2\nparameter 1 x\nparameter 0 z\nchip ascend910b\ntypes 0 1 1\nformats 0 2 2\ntypes 1 0 0\n"
      "formats 1 2 2\ntiling AddTiling 3\nstruct alignas(8) AddTiling {\n  uint32_t n;\n};\nop Sub 1 1\n"
      "parameter 0 y\ntypes 0 0\nformats 0 2\n");
  ASSERT_TRUE(ops.ok()) << ops.status().to_string();
  ASSERT_EQ(ops->size(), 2U);
  EXPECT_EQ(ops->at(0).tiling_class, "AddTiling");
  const std::string unit = kernel_unit(ops->at(0), 1, "/p/add.cpp", "add", "entry_1");
  for (const char* part : {"#define DTYPE_X float\n", "#define ORIG_DTYPE_Z DT_FLOAT\n", "__NPU_ARCH__ 2201",
                           "struct alignas(8) AddTiling", "GET_TILING_DATA_WITH_STRUCT(AddTiling",
                           "#include \"/p/add.cpp\"", "void entry_1("})
    EXPECT_THAT(unit, HasSubstr(part));
  EXPECT_EQ(kernel_unit(ops->at(1), 0, "f", "f", "s").find("GET_TILING_DATA"), std::string::npos);
}

TEST(OppRegistered, RefusesFaultsAndOtherTexts) {
  EXPECT_THAT(parse_registered("fault Add: parameter x lists no types\n").status().to_string(),
              HasSubstr("parameter x lists no types"));
  EXPECT_THAT(parse_registered("hello\n").status().to_string(), HasSubstr("'hello'"));
  EXPECT_THAT(parse_registered("op A 1 1\nparameter 1 x\ntypes 0 1 1\n").status().to_string(),
              HasSubstr("types 0 1 1"));
}

TEST(OppRegistered, FindsTheKernelsType) {
  EXPECT_EQ(declared_kernel_type("void f() { KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2); }"), 5);
  EXPECT_EQ(declared_kernel_type("void f() {}"), 0);
  EXPECT_EQ(declared_kernel_type("void f() { REGIST_MATMUL_OBJ(&pipe, workspace, mm, &t); }"), 5);
  EXPECT_EQ(declared_kernel_type("#define ASCENDC_CUBE_ONLY\nvoid f() { REGIST_MATMUL_OBJ(&pipe, w, mm); }"),
            1);
}

}  // namespace
}  // namespace atc::driver
