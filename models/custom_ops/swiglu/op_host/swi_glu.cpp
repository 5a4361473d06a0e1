#include "swi_glu_tiling.h"

#include <algorithm>

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
static ge::graphStatus TilingFunc(gert::TilingContext* context) {
  const gert::Shape& x = context->GetInputShape(0)->GetStorageShape();
  const uint32_t width = static_cast<uint32_t>(x.GetDim(x.GetDimNum() - 1));
  const uint32_t rows = static_cast<uint32_t>(x.GetShapeSize() / width);
  const auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
  const uint32_t cores = std::clamp<uint32_t>(rows, 1, platform.GetCoreNumAiv());
  const uint32_t rowsPerCore = (rows + cores - 1) / cores;
  SwiGluTilingData tiling;
  tiling.set_rows(rows);
  tiling.set_rowsPerCore(rowsPerCore);
  tiling.set_halfWidth(width / 2);
  context->SetBlockDim((rows + rowsPerCore - 1) / rowsPerCore);
  tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
  context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
  context->GetWorkspaceSizes(1)[0] = 0;
  return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ge {
static graphStatus InferShape(gert::InferShapeContext* context) {
  const gert::Shape& x = *context->GetInputShape(0);
  const int64_t dim = *context->GetAttrs()->GetInt(0), last = static_cast<int64_t>(x.GetDimNum()) - 1;
  if ((dim != -1 && dim != last) || last < 0 || x.GetDim(last) % 2 != 0) return GRAPH_PARAM_INVALID;
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
    this->Attr("dim").AttrType(OPTIONAL).Int(-1);
    this->SetInferShape(ge::InferShape);
    this->AICore().SetTiling(optiling::TilingFunc);
    this->AICore().AddConfig("ascend910b").AddConfig("ascend910_93");
  }
};
OP_ADD(SwiGlu);
}  // namespace ops
