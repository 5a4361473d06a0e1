#include "swi_glu_tiling.h"

#include <algorithm>

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
static ge::graphStatus TilingFunc(gert::TilingContext* context) {
  // Pairs lie one behind the other: rows do not matter.
  const uint32_t pairs = static_cast<uint32_t>(context->GetInputShape(0)->GetStorageShape().GetShapeSize() / 2);
  const auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
  const uint32_t cores = std::max<uint32_t>(platform.GetCoreNumAiv(), 1);
  const uint32_t pairsPerCore = ((pairs + cores - 1) / cores + 15) / 16 * 16;
  SwiGluTilingData tiling;
  tiling.set_pairs(pairs);
  tiling.set_pairsPerCore(pairsPerCore);
  context->SetBlockDim((pairs + pairsPerCore - 1) / pairsPerCore);
  tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
  context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
  context->GetWorkspaceSizes(1)[0] = 0;
  return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ge {
// Gate and value element by element; halves are the example swiglu.
static graphStatus InferShape(gert::InferShapeContext* context) {
  const gert::Shape& x = *context->GetInputShape(0);
  const int64_t last = static_cast<int64_t>(x.GetDimNum()) - 1;
  if (*context->GetAttrs()->GetInt(0) != 1 || last < 0 || x.GetDim(last) % 2 != 0) return GRAPH_PARAM_INVALID;
  *context->GetOutputShape(0) = x;
  context->GetOutputShape(0)->SetDim(last, x.GetDim(last) / 2);
  return GRAPH_SUCCESS;
}
}  // namespace ge

namespace ops {
class SwiGlu : public OpDef {
 public:
  explicit SwiGlu(const char* name) : OpDef(name) {
    this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
    this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
    this->Attr("interleaved").AttrType(OPTIONAL).Int(1);
    this->SetInferShape(ge::InferShape);
    this->AICore().SetTiling(optiling::TilingFunc);
    this->AICore().AddConfig("ascend910b").AddConfig("ascend910_93");
  }
};
OP_ADD(SwiGlu);
}  // namespace ops
