#include "add_custom_tiling.h"

#include <algorithm>

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
constexpr uint32_t kLeast = 2048;  // elements worth a core of their own
constexpr uint32_t kAlign = 16;    // elements of a data block of 32 bytes in fp16; two blocks in fp32

static ge::graphStatus TilingFunc(gert::TilingContext* context) {
  const uint32_t length = static_cast<uint32_t>(context->GetInputShape(0)->GetStorageShape().GetShapeSize());
  const auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
  const uint32_t cores = std::clamp<uint32_t>((length + kLeast - 1) / kLeast, 1, platform.GetCoreNumAiv());
  const uint32_t perCore = ((length + cores - 1) / cores + kAlign - 1) / kAlign * kAlign;
  AddCustomTilingData tiling;
  tiling.set_length(length);
  tiling.set_perCore(perCore);
  context->SetBlockDim((length + perCore - 1) / perCore);
  tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
  context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
  context->GetWorkspaceSizes(1)[0] = 0;
  return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ge {
static graphStatus InferShape(gert::InferShapeContext* context) {
  if (*context->GetInputShape(0) != *context->GetInputShape(1)) return GRAPH_PARAM_INVALID;
  *context->GetOutputShape(0) = *context->GetInputShape(0);
  return GRAPH_SUCCESS;
}
static graphStatus InferDataType(gert::InferDataTypeContext* context) {
  return context->SetOutputDataType(0, context->GetInputDataType(0));
}
}  // namespace ge

namespace ops {
class AddCustom : public OpDef {
 public:
  explicit AddCustom(const char* name) : OpDef(name) {
    for (const char* tensor : {"x", "y"})
      this->Input(tensor).ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
    this->Output("z").ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
    this->SetInferShape(ge::InferShape).SetInferDataType(ge::InferDataType);
    this->AICore().SetTiling(optiling::TilingFunc);
    this->AICore().AddConfig("ascend910b").AddConfig("ascend910_93");
  }
};
OP_ADD(AddCustom);
}  // namespace ops
