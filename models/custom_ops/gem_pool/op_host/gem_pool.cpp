#include "gem_pool_tiling.h"

#include <algorithm>

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
static ge::graphStatus TilingFunc(gert::TilingContext* context) {
  const gert::Shape& x = context->GetInputShape(0)->GetStorageShape();
  const uint32_t planes = static_cast<uint32_t>(x.GetDim(0) * x.GetDim(1));
  const auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
  const uint32_t cores = std::clamp<uint32_t>(planes, 1, platform.GetCoreNumAiv());
  const uint32_t planesPerCore = (planes + cores - 1) / cores;
  const float p = *context->GetAttrs()->GetFloat(0), epsilon = *context->GetAttrs()->GetFloat(1);
  // Powers are made by the logarithm, which needs positive values.
  if (p == 0 || epsilon <= 0) return ge::GRAPH_FAILED;
  GemPoolTilingData tiling;
  tiling.set_planes(planes);
  tiling.set_planesPerCore(planesPerCore);
  tiling.set_area(static_cast<uint32_t>(x.GetDim(2) * x.GetDim(3)));
  tiling.set_p(p);
  tiling.set_epsilon(epsilon);
  context->SetBlockDim((planes + planesPerCore - 1) / planesPerCore);
  tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
  context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
  context->GetWorkspaceSizes(1)[0] = 0;
  return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ge {
static graphStatus InferShape(gert::InferShapeContext* context) {
  const gert::Shape& x = *context->GetInputShape(0);
  if (x.GetDimNum() != 4) return GRAPH_PARAM_INVALID;
  *context->GetOutputShape(0) = x;
  context->GetOutputShape(0)->SetDim(2, 1);
  context->GetOutputShape(0)->SetDim(3, 1);
  return GRAPH_SUCCESS;
}
}  // namespace ge

namespace ops {
class GemPool : public OpDef {
 public:
  explicit GemPool(const char* name) : OpDef(name) {
    this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
    this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
    this->Attr("p").AttrType(OPTIONAL).Float(3.0f);
    this->Attr("epsilon").AttrType(OPTIONAL).Float(1e-6f);
    this->SetInferShape(ge::InferShape);
    this->AICore().SetTiling(optiling::TilingFunc);
    this->AICore().AddConfig("ascend910b").AddConfig("ascend910_93");
  }
};
OP_ADD(GemPool);
}  // namespace ops
