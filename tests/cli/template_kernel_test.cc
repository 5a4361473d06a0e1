#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command.h"

namespace atc::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kKey = R"(#include "ascendc/host_api/tiling/template_argument.h"
#define FACTOR_BITS 4
ASCENDC_TPL_ARGS_DECL(ScaledCustom,
    ASCENDC_TPL_DATATYPE_DECL(T, ASCENDC_TPL_INPUT(0)),
    ASCENDC_TPL_DATATYPE_DECL(T_SUM, C_DT_FLOAT16, C_DT_FLOAT),
    ASCENDC_TPL_UINT_DECL(FACTOR, FACTOR_BITS, ASCENDC_TPL_UI_MIX, 2, 1, 2, 4, 5, 100),
    ASCENDC_TPL_BOOL_DECL(TWICE, 0, 1),
);
ASCENDC_TPL_SEL(
    ASCENDC_TPL_ARGS_SEL(
        ASCENDC_TPL_KERNEL_TYPE_SEL(ASCENDC_TPL_AIV_ONLY),
        ASCENDC_TPL_DATATYPE_SEL(T, ASCENDC_TPL_INPUT(0)),
        ASCENDC_TPL_DATATYPE_SEL(T_SUM, C_DT_FLOAT16),
        ASCENDC_TPL_UINT_SEL(FACTOR, ASCENDC_TPL_UI_RANGE, 1, 1, 2),
        ASCENDC_TPL_BOOL_SEL(TWICE, 0, 1)),
    ASCENDC_TPL_ARGS_SEL(
        ASCENDC_TPL_DATATYPE_SEL(T, ASCENDC_TPL_INPUT(0)),
        ASCENDC_TPL_DATATYPE_SEL(T_SUM, C_DT_FLOAT),
        ASCENDC_TPL_UINT_SEL(FACTOR, ASCENDC_TPL_UI_LIST, 100, 5, 2),
        ASCENDC_TPL_BOOL_SEL(TWICE, 0)),
);
)";

/// y = FACTOR * x, doubled with TWICE. The number of elements says which instance is asked for.
constexpr const char* kHost = R"(#include "scaled_custom_tiling.h"
#include "../op_kernel/scaled_key.h"
#include "register/op_def_registry.h"
namespace optiling {
static ge::graphStatus TilingFunc(gert::TilingContext* context) {
  ScaledCustomTilingData tiling;
  const uint32_t size = context->GetInputShape(0)->GetStorageShape().GetShapeSize();
  tiling.set_size(size);
  context->SetBlockDim(1);
  tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
  context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
  context->GetWorkspaceSizes(1)[0] = 0;
  const uint32_t T = context->GetInputDesc(0)->GetDataType();
  const uint32_t T_SUM = size >= 64 ? C_DT_FLOAT : C_DT_FLOAT16;
  const uint32_t FACTOR = size == 9 ? 3 : size == 128 ? 100 : 2, TWICE = size % 2;
  if (size == 16)
    context->SetTilingKey(GET_TPL_TILING_KEY({T, T_SUM, FACTOR, TWICE}));
  else
    ASCENDC_TPL_SEL_PARAM(context, T, T_SUM, FACTOR, TWICE);
  if (size == 48) context->SetTilingKey(77);
  return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
namespace ge {
static graphStatus InferShape(gert::InferShapeContext* context) {
  *context->GetOutputShape(0) = *context->GetInputShape(0);
  return GRAPH_SUCCESS;
}
}  // namespace ge
namespace ops {
class ScaledCustom : public OpDef {
 public:
  explicit ScaledCustom(const char* name) : OpDef(name) {
    this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_FLOAT});
    this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_FLOAT});
    this->SetInferShape(ge::InferShape);
    this->AICore().SetTiling(optiling::TilingFunc);
    this->AICore().AddConfig("ascend910b");
  }
};
OP_ADD(ScaledCustom);
}  // namespace ops
)";

constexpr const char* kKernel = R"(#include "kernel_operator.h"
#include "scaled_key.h"
#include <type_traits>
using namespace AscendC;
/* The instance sees its types: T is that of x. */
template <typename T, typename T_SUM, int FACTOR, bool TWICE = false>
__global__ __aicore__ void scaled_custom(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
  static_assert(std::is_same_v<T, DTYPE_X>);
  GET_TILING_DATA(tiling_data, tiling);
  const uint32_t n = tiling_data.size;
  ASSERT((n >= 64) == (std::is_same_v<T_SUM, float>));
  TPipe pipe;
  TQue<QuePosition::VECIN, 1> in;
  TQue<QuePosition::VECOUT, 1> out;
  pipe.InitBuffer(in, 1, 4096);
  pipe.InitBuffer(out, 1, 4096);
  GlobalTensor<T> gx, gy;
  gx.SetGlobalBuffer((__gm__ T*)x, n);
  gy.SetGlobalBuffer((__gm__ T*)y, n);
  const DataCopyExtParams bytes = {1, static_cast<uint32_t>(n * sizeof(T)), 0, 0, 0};
  LocalTensor<T> a = in.AllocTensor<T>();
  DataCopyPad(a, gx, bytes, DataCopyPadExtParams<T>{false, 0, 0, static_cast<T>(0)});
  in.EnQue(a);
  a = in.DeQue<T>();
  LocalTensor<T> b = out.AllocTensor<T>();
  Muls(b, a, static_cast<T>(FACTOR), n);
  if constexpr (TWICE) Add(b, b, b, n);
  out.EnQue(b);
  in.FreeTensor(a);
  b = out.DeQue<T>();
  DataCopyPad(gy, b, bytes);
  out.FreeTensor(b);
}
)";

constexpr const char* kUnitTest = R"(#include "atc_opp/unit_test.h"
int main() {
  atc_opp::UnitTest test("ScaledCustom", [](const auto& inputs, auto& outputs) {
    const std::size_t n = inputs[0].data.size();
    for (std::size_t i = 0; i < n; ++i) outputs[0][i] = inputs[0][i] * (n == 128 ? 100 : n % 2 ? 4 : 2);
    return true;
  });
  for (const std::vector<std::int64_t>& shape : SHAPES) test.Run({shape});
  return test.Failures();
}
)";

class TemplateKernel : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(s_ / "op.json")
        << R"([{"op": "ScaledCustom", "input_desc": [{"name": "x", "type": ["fp16", "float"]}],
      "output_desc": [{"name": "y", "type": ["fp16", "float"]}]}])";
    const Outcome made =
        run(program("msopgen") + " gen -i op.json -f onnx -c ai_core-Ascend910B -lan cpp -out p", s_.path());
    ASSERT_EQ(made.code, 0) << made.out;
    write("op_host/scaled_custom.cpp", kHost);
    write("op_kernel/scaled_key.h", kKey);
    write("op_kernel/scaled_custom.cpp", kKernel);
  }
  void write(const std::string& file, const std::string& text) const {
    std::ofstream(s_ / "p" / file) << text;
  }
  Outcome build() const { return run(program("msopgen") + " compile -i p", s_.path()); }
  /// Runs the unit test over tensors of these sizes.
  Outcome test(const std::string& sizes) const {
    write("unit_test/scaled_custom_test.cpp",
          "#include <vector>\n#include <cstdint>\nstatic const std::vector<std::vector<std::int64_t>> SHAPES "
          "= " +
              sizes + ";\n" + kUnitTest);
    const Outcome built = build();
    EXPECT_EQ(built.code, 0) << built.out;
    return run("p/build_out/scaled_custom_test", s_.path());
  }
  static std::string changed(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }
  Scratch s_;
};

TEST_F(TemplateKernel, TheKeyNamesTheInstance) {
  const Outcome ran = test("{{32}, {16}, {7}, {128}, {64, 2}, {8, 64}}");
  EXPECT_EQ(ran.code, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("12 runs, 0 failed"));
}

TEST_F(TemplateKernel, ValuesThatNothingHasAreRefused) {
  const Outcome ran = test("{{9}, {65}, {48}}");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("FACTOR = 3 is not declared"),
                             HasSubstr("no ASCENDC_TPL_ARGS_SEL has T = 0, T_SUM = 0, FACTOR = 2, TWICE = 1"),
                             HasSubstr("the tiling key is that of a selected combination"),
                             HasSubstr("it is 77, of 7 combinations")));
}

TEST_F(TemplateKernel, DeclarationsThatMakeNoSenseDoNotCompile) {
  write("op_kernel/scaled_key.h",
        changed(kKey, "ASCENDC_TPL_UI_LIST, 100, 5, 2)", "ASCENDC_TPL_UI_LIST, 7)"));
  Outcome built = build();
  EXPECT_EQ(built.code, 1);
  EXPECT_THAT(built.out, HasSubstr("has a value that is not declared"));
  write("op_kernel/scaled_key.h", changed(kKey, "FACTOR_BITS 4", "FACTOR_BITS 60"));
  built = build();
  EXPECT_EQ(built.code, 1);
  EXPECT_THAT(built.out, HasSubstr("more than 64 bits"));
  write("op_kernel/scaled_key.h", kKey);
  write("op_kernel/scaled_custom.cpp",
        changed(kKernel, "int FACTOR, bool TWICE = false", "FACTOR_AND_TWICE"));
  built = build();
  EXPECT_EQ(built.code, 1);
  EXPECT_THAT(built.out, AllOf(HasSubstr("E40021"), HasSubstr("'FACTOR_AND_TWICE' of kernel scaled_custom")));
}

}  // namespace
}  // namespace atc::cli
