#include "rope_tiling.h"

#include <algorithm>

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
static ge::graphStatus TilingFunc(gert::TilingContext* context) {
  const gert::Shape& x = context->GetInputShape(0)->GetStorageShape();
  const gert::Shape& cos = context->GetInputShape(1)->GetStorageShape();
  const size_t rank = x.GetDimNum() - 1, lead = x.GetDimNum() - cos.GetDimNum();
  const uint32_t width = static_cast<uint32_t>(x.GetDim(rank));
  const uint32_t rows = static_cast<uint32_t>(x.GetShapeSize() / width);
  const auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
  const uint32_t cores = std::clamp<uint32_t>(rows, 1, platform.GetCoreNumAiv());
  const uint32_t rowsPerCore = (rows + cores - 1) / cores;
  // cos and sin are broadcast over the axes where they have length 1.
  uint32_t dims[8] = {}, table[8] = {};
  uint32_t step = 1;
  for (size_t i = rank; i-- > 0;) {
    dims[i] = static_cast<uint32_t>(x.GetDim(i));
    if (i < lead || cos.GetDim(i - lead) == 1) continue;
    table[i] = step;
    step *= dims[i];
  }
  RoPETilingData tiling;
  tiling.set_rows(rows);
  tiling.set_rowsPerCore(rowsPerCore);
  tiling.set_width(width);
  tiling.set_interleaved(static_cast<uint32_t>(*context->GetAttrs()->GetInt(0)));
  tiling.set_rank(static_cast<uint32_t>(rank));
  tiling.set_dims(dims);
  tiling.set_table(table);
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
  const int64_t mode = *context->GetAttrs()->GetInt(0);
  if (mode != 0 && mode != 1) return GRAPH_PARAM_INVALID;
  // Halves of a head are whole data blocks of 32 bytes in fp16.
  if (x.GetDimNum() < 1 || x.GetDimNum() > 8 || x.GetDim(x.GetDimNum() - 1) % 32 != 0) return GRAPH_PARAM_INVALID;
  *context->GetOutputShape(0) = x;
  return GRAPH_SUCCESS;
}
}  // namespace ge

namespace ops {
class RoPE : public OpDef {
 public:
  explicit RoPE(const char* name) : OpDef(name) {
    this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
    this->Input("cos").ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
    this->Input("sin").ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
    this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
    this->Attr("mode").AttrType(OPTIONAL).Int(0);
    this->SetInferShape(ge::InferShape);
    this->AICore().SetTiling(optiling::TilingFunc);
    this->AICore().AddConfig("ascend910b").AddConfig("ascend910_93");
  }
};
OP_ADD(RoPE);
}  // namespace ops
