#include "driver/opp_generate.h"

#include "atc/base/file.h"
#include "atc/base/strings.h"

namespace atc::driver {
namespace {

namespace fs = std::filesystem;

/// Text with @NAME@ for what differs.
std::string fill(std::string text, const std::vector<std::pair<std::string, std::string>>& values) {
  for (const auto& [name, value] : values) {
    const std::string mark = "@" + name + "@";
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + value.size()))
      text.replace(at, mark.size(), value);
  }
  return text;
}

std::string list_of(const std::vector<std::string>& items) {
  std::vector<std::string> out;
  for (const std::string& i : items) out.push_back("ge::" + i);
  return "{" + join(out, ", ") + "}";
}

constexpr const char* kTilingHeader = R"(#ifndef @GUARD@_TILING_H
#define @GUARD@_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(@TYPE@TilingData)
  TILING_DATA_FIELD_DEF(uint32_t, size);
END_TILING_DATA_DEF;

REGISTER_TILING_DATA_CLASS(@TYPE@, @TYPE@TilingData)
}  // namespace optiling
#endif
)";

constexpr const char* kHost = R"(#include "@FILE@_tiling.h"

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
// How the work is split over the cores, and what the kernel must know of it.
static ge::graphStatus TilingFunc(gert::TilingContext* context) {
  @TYPE@TilingData tiling;
  const gert::StorageShape* shape = context->@FIRST@;
  tiling.set_size(static_cast<uint32_t>(shape->GetStorageShape().GetShapeSize()));
  context->SetBlockDim(1);
  tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
  context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
  context->GetWorkspaceSizes(1)[0] = 0;
  return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ge {
static graphStatus InferShape(gert::InferShapeContext* context) {
@SHAPES@  return GRAPH_SUCCESS;
}

static graphStatus InferDataType(gert::InferDataTypeContext* context) {
@DTYPES@  return GRAPH_SUCCESS;
}
}  // namespace ge

namespace ops {
class @TYPE@ : public OpDef {
 public:
  explicit @TYPE@(const char* name) : OpDef(name) {
@PARAMS@    this->SetInferShape(ge::InferShape).SetInferDataType(ge::InferDataType);
    this->AICore().SetTiling(optiling::TilingFunc);
    this->AICore().AddConfig("@UNIT@");
  }
};

OP_ADD(@TYPE@);
}  // namespace ops
)";

constexpr const char* kKernel = R"(#include "kernel_operator.h"

extern "C" __global__ __aicore__ void @FILE@(@ARGS@, GM_ADDR workspace, GM_ADDR tiling) {
  GET_TILING_DATA(tiling_data, tiling);
  // The kernel: what one core does with its part of the tensors.
}
)";

constexpr const char* kUnitTest = R"(#include "atc_opp/unit_test.h"

// What @TYPE@ must give: fill every output and return true. Until then results are only checked to be written and
// finite.
static bool Golden(const std::vector<atc_opp::Tensor>& inputs, std::vector<atc_opp::Tensor>& outputs) {
  (void)inputs;
  (void)outputs;
  return false;
}

int main() {
  atc_opp::UnitTest test("@TYPE@", Golden);
  // The dims of each input: some that share out evenly, some that leave tails.
  test.Run({@EVEN@});
  test.Run({@TAILS@});
  return test.Failures();
}
)";

constexpr const char* kPlugin = R"(#include "register/register.h"

namespace domi {
// The attributes of the ONNX node have the operator's names.
REGISTER_CUSTOM_OP("@TYPE@")
    .FrameworkType(ONNX)
    .OriginOpType({ge::AscendString("ai.onnx::@TYPE@")})
    .ParseParamsByOperatorFn(AutoMappingByOpFn)
    .ImplyType(ImplyType::TVM);
}  // namespace domi
)";

constexpr const char* kBuild = R"SH(#!/bin/bash
# Builds build_out/: the library for atc --custom_op, and the unit tests.
set -e
cd "$(dirname "$0")"
exec "${MSOPGEN:-msopgen}" compile -i . "$@"
)SH";

constexpr const char* kPresets = R"({
  "version": 1,
  "cmakeMinimumRequired": {"major": 3, "minor": 19, "patch": 0},
  "configurePresets": [
    {
      "name": "default",
      "generator": "Unix Makefiles",
      "binaryDir": "${sourceDir}/build_out",
      "cacheVariables": {
        "CMAKE_BUILD_TYPE": {"type": "STRING", "value": "Release"},
        "ENABLE_SOURCE_PACKAGE": {"type": "BOOL", "value": "True"},
        "ENABLE_BINARY_PACKAGE": {"type": "BOOL", "value": "True"},
        "ASCEND_COMPUTE_UNIT": {"type": "STRING", "value": "@UNIT@"},
        "vendor_name": {"type": "STRING", "value": "customize"}
      }
    }
  ]
}
)";

constexpr const char* kCMake = R"(cmake_minimum_required(VERSION 3.16)
project(opp LANGUAGES NONE)
add_custom_target(custom_op ALL COMMAND msopgen compile -i ${CMAKE_SOURCE_DIR})
)";

std::string params_text(const OppDescription& op) {
  std::string out;
  const auto add = [&](const std::vector<OppParam>& list, const char* what) {
    for (const OppParam& p : list)
      out += std::string("    this->") + what + "(\"" + p.name + "\")\n        .ParamType(" + p.kind +
             ")\n        .DataType(" + list_of(p.types) + ")\n        .Format(" + list_of(p.formats) +
             ")\n        .UnknownShapeFormat(" + list_of(p.formats) + ");\n";
  };
  add(op.inputs, "Input");
  add(op.outputs, "Output");
  for (const OppAttr& a : op.attrs)
    out += "    this->Attr(\"" + a.name + "\").AttrType(" + (a.required ? "REQUIRED" : "OPTIONAL") + ")." +
           a.setter + "(" + a.default_value + ");\n";
  return out;
}

void add_operator(const OppDescription& op, const std::string& unit, std::vector<OppFile>& out) {
  std::vector<std::string> args;
  for (const auto* list : {&op.inputs, &op.outputs})
    for (const OppParam& p : *list) args.push_back("GM_ADDR " + p.name);
  std::string shapes, dtypes, guard;
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    const std::string n = std::to_string(i);
    if (op.inputs.empty()) {
      shapes += "  context->GetOutputShape(" + n + ")->SetScalar();\n";
      continue;
    }
    shapes += "  *context->GetOutputShape(" + n + ") = *context->GetInputShape(0);\n";
    dtypes += "  context->SetOutputDataType(" + n + ", context->GetInputDataType(0));\n";
  }
  for (const char c : op.file) guard += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  const std::vector<std::pair<std::string, std::string>> values = {
      {"GUARD", guard},
      {"TYPE", op.type},
      {"FILE", op.file},
      {"SHAPES", shapes},
      {"DTYPES", dtypes},
      {"FIRST", op.inputs.empty() ? "GetOutputShape(0)" : "GetInputShape(0)"},
      {"UNIT", unit},
      {"PARAMS", params_text(op)},
      {"ARGS", join(args, ", ")},
      {"EVEN", join(std::vector<std::string>(op.inputs.size(), "{32, 256}"), ", ")},
      {"TAILS", join(std::vector<std::string>(op.inputs.size(), "{7, 37}"), ", ")}};
  out.push_back({fs::path("op_host") / (op.file + "_tiling.h"), fill(kTilingHeader, values), false});
  out.push_back({fs::path("op_host") / (op.file + ".cpp"), fill(kHost, values), false});
  out.push_back({fs::path("op_kernel") / (op.file + ".cpp"), fill(kKernel, values), false});
  out.push_back({fs::path("unit_test") / (op.file + "_test.cpp"), fill(kUnitTest, values), false});
  out.push_back({fs::path("framework/onnx_plugin") / (op.file + "_plugin.cc"), fill(kPlugin, values), false});
}

}  // namespace

std::vector<OppFile> opp_files(const std::vector<OppDescription>& operators, const std::string& unit,
                               bool add) {
  std::vector<OppFile> out;
  for (const OppDescription& op : operators) add_operator(op, unit, out);
  if (add) return out;
  out.push_back({"build.sh", kBuild, true});
  out.push_back({"CMakeLists.txt", kCMake, false});
  out.push_back({"CMakePresets.json", fill(kPresets, {{"UNIT", unit}}), false});
  return out;
}

Status write_opp_files(const std::vector<OppFile>& files, const fs::path& folder) {
  std::error_code error;
  for (const OppFile& f : files)
    if (fs::exists(folder / f.path, error))
      return Status::error("E13001", "File " + (folder / f.path).string() + " exists already")
          .solution("Choose another folder for -out, or -m 1 to add an operator to a project.");
  for (const OppFile& f : files) {
    const fs::path path = folder / f.path;
    fs::create_directories(path.parent_path(), error);
    if (error)
      return Status::error("E13002",
                           "Folder " + path.parent_path().string() + " cannot be made: " + error.message());
    ATC_TRY(write_file(path, f.text));
    if (f.executable)
      fs::permissions(path, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                      fs::perm_options::add, error);
  }
  return {};
}

}  // namespace atc::driver
