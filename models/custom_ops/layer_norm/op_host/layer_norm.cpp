#include "layer_norm_tiling.h"

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
  // A row stays on the chip: two buffers in and two out, gamma, beta and two rows in fp32.
  uint64_t ub = 0;
  platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ub);
  if (static_cast<uint64_t>(width + 64) * 40 > ub) return ge::GRAPH_FAILED;
  LayerNormTilingData tiling;
  tiling.set_rows(rows);
  tiling.set_rowsPerCore(rowsPerCore);
  tiling.set_width(width);
  tiling.set_epsilon(*context->GetAttrs()->GetFloat(0));
  context->SetBlockDim((rows + rowsPerCore - 1) / rowsPerCore);
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
// Two operators that differ in the kernel alone.
class LayerNormDef : public OpDef {
 public:
  explicit LayerNormDef(const char* name) : OpDef(name) {
    for (const char* tensor : {"x", "gamma", "beta"})
      this->Input(tensor).ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
    this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
    this->Attr("epsilon").AttrType(OPTIONAL).Float(1e-5f);
    this->SetInferShape(ge::InferShape);
    this->AICore().SetTiling(optiling::TilingFunc);
    this->AICore().AddConfig("ascend910b").AddConfig("ascend910_93");
  }
};
class LayerNorm : public LayerNormDef {
 public:
  explicit LayerNorm(const char* name) : LayerNormDef(name) {}
};
class LayerNormSingle : public LayerNormDef {
 public:
  explicit LayerNormSingle(const char* name) : LayerNormDef(name) {}
};
OP_ADD(LayerNorm);
OP_ADD(LayerNormSingle);
}  // namespace ops
