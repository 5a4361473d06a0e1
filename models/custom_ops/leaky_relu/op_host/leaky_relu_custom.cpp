#include "leaky_relu_custom_tiling.h"

#include <algorithm>

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
constexpr uint32_t kLeast = 2048;
constexpr uint32_t kAlign = 16;

static ge::graphStatus TilingFunc(gert::TilingContext* context) {
  const uint32_t length = static_cast<uint32_t>(context->GetInputShape(0)->GetStorageShape().GetShapeSize());
  const auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
  const uint32_t cores = std::clamp<uint32_t>((length + kLeast - 1) / kLeast, 1, platform.GetCoreNumAiv());
  const uint32_t perCore = ((length + cores - 1) / cores + kAlign - 1) / kAlign * kAlign;
  const float* slope = context->GetAttrs()->GetAttrPointer<float>(0);
  if (slope == nullptr) return ge::GRAPH_FAILED;
  LeakyReluCustomTilingData tiling;
  tiling.set_length(length);
  tiling.set_perCore(perCore);
  tiling.set_negativeSlope(*slope);
  context->SetBlockDim((length + perCore - 1) / perCore);
  tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
  context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
  context->GetWorkspaceSizes(1)[0] = 0;
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
class LeakyReluCustom : public OpDef {
 public:
  explicit LeakyReluCustom(const char* name) : OpDef(name) {
    this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
    this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
    this->Attr("negative_slope").AttrType(OPTIONAL).Float(0.01f);
    this->SetInferShape(ge::InferShape);
    this->AICore().SetTiling(optiling::TilingFunc);
    this->AICore().AddConfig("ascend910b").AddConfig("ascend910_93");
  }
};
OP_ADD(LeakyReluCustom);
}  // namespace ops
