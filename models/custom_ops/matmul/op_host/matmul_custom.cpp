#include "matmul_custom_tiling.h"

#include <algorithm>

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace {
uint32_t RoundUp(uint32_t v) { return (v + 15) / 16 * 16; }
}  // namespace

namespace optiling {
// One tile of the result for each step of a core: 128 x 128 in fp32 fill half of L0C, 128 x 128 in fp16 half of L0A and
// of L0B, so that two tiles fit each. Smaller where there are fewer tiles than cores.
static ge::graphStatus TilingFunc(gert::TilingContext* context) {
  const gert::Shape& a = context->GetInputShape(0)->GetStorageShape();
  const gert::Shape& b = context->GetInputShape(1)->GetStorageShape();
  const size_t last = a.GetDimNum() - 1;
  const uint32_t k = static_cast<uint32_t>(a.GetDim(last)), n = static_cast<uint32_t>(b.GetDim(1));
  const uint32_t m = static_cast<uint32_t>(a.GetShapeSize() / k);
  const auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
  const uint32_t cores = std::max<uint32_t>(platform.GetCoreNumAic(), 1);
  uint32_t tileM = std::min<uint32_t>(RoundUp(m), 128), tileN = std::min<uint32_t>(RoundUp(n), 128);
  const auto tiles = [&] { return ((m + tileM - 1) / tileM) * ((n + tileN - 1) / tileN); };
  while (tiles() < cores && tileN > 32) tileN = RoundUp(tileN / 2);
  MatmulCustomTilingData tiling;
  tiling.set_m(m);
  tiling.set_k(k);
  tiling.set_n(n);
  tiling.set_tileM(tileM);
  tiling.set_tileN(tileN);
  tiling.set_tileK(std::min<uint32_t>(RoundUp(k), 128));
  context->SetBlockDim(std::min(tiles(), cores));
  tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
  context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
  context->GetWorkspaceSizes(1)[0] = 0;
  return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ge {
// [..., m, k] x [k, n]
static graphStatus InferShape(gert::InferShapeContext* context) {
  const gert::Shape &a = *context->GetInputShape(0), &b = *context->GetInputShape(1);
  const size_t rank = a.GetDimNum();
  if (rank < 2 || b.GetDimNum() != 2 || a.GetDim(rank - 1) != b.GetDim(0)) return GRAPH_PARAM_INVALID;
  *context->GetOutputShape(0) = a;
  context->GetOutputShape(0)->SetDim(rank - 1, b.GetDim(1));
  return GRAPH_SUCCESS;
}
}  // namespace ge

namespace ops {
class MatmulCustom : public OpDef {
 public:
  explicit MatmulCustom(const char* name) : OpDef(name) {
    for (const char* tensor : {"a", "b"}) this->Input(tensor).ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
    this->Output("c").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
    this->SetInferShape(ge::InferShape);
    this->AICore().SetTiling(optiling::TilingFunc);
    this->AICore().AddConfig("ascend910b").AddConfig("ascend910_93");
  }
};
OP_ADD(MatmulCustom);
}  // namespace ops
