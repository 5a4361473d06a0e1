#include "softmax_mul_reduce_sum_tiling.h"

#include <algorithm>

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace {
constexpr int64_t kLongest = 8192;  // of the summed axis, where its weights stay on the chip

size_t AxisOf(int64_t axis, size_t rank) { return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis); }
}  // namespace

namespace optiling {
static ge::graphStatus TilingFunc(gert::TilingContext* context) {
  const gert::Shape& scores = context->GetInputShape(0)->GetStorageShape();
  const gert::Shape& x = context->GetInputShape(1)->GetStorageShape();
  const size_t rank = x.GetDimNum(), axis = AxisOf(*context->GetAttrs()->GetInt(0), rank);
  uint32_t outer = 1, inner = 1, scoresInner = 1;
  for (size_t i = 0; i < axis; ++i) outer *= static_cast<uint32_t>(x.GetDim(i));
  for (size_t i = axis + 1; i < rank; ++i) {
    inner *= static_cast<uint32_t>(x.GetDim(i));
    scoresInner *= static_cast<uint32_t>(scores.GetDim(i));
  }
  const auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
  const uint32_t cores = std::clamp<uint32_t>(outer, 1, platform.GetCoreNumAiv());
  const uint32_t outerPerCore = (outer + cores - 1) / cores;
  SoftmaxMulReduceSumTilingData tiling;
  tiling.set_outer(outer);
  tiling.set_length(static_cast<uint32_t>(x.GetDim(axis)));
  tiling.set_inner(inner);
  tiling.set_perScore(scoresInner == inner && inner > 1 ? 1 : 0);
  tiling.set_outerPerCore(outerPerCore);
  context->SetBlockDim((outer + outerPerCore - 1) / outerPerCore);
  tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
  context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
  context->GetWorkspaceSizes(1)[0] = 0;
  return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ge {
// Scores have the dims of x, or 1 on every axis behind the summed one.
static graphStatus InferShape(gert::InferShapeContext* context) {
  const gert::Shape &scores = *context->GetInputShape(0), &x = *context->GetInputShape(1);
  const size_t rank = x.GetDimNum(), axis = AxisOf(*context->GetAttrs()->GetInt(0), rank);
  if (axis >= rank || scores.GetDimNum() != rank || x.GetDim(axis) > kLongest) return GRAPH_PARAM_INVALID;
  bool whole = true, single = true;
  for (size_t i = 0; i < rank; ++i) {
    if (i <= axis && scores.GetDim(i) != x.GetDim(i)) return GRAPH_PARAM_INVALID;
    if (i > axis) whole = whole && scores.GetDim(i) == x.GetDim(i), single = single && scores.GetDim(i) == 1;
  }
  if (!whole && !single) return GRAPH_PARAM_INVALID;
  *context->GetOutputShape(0) = x;
  context->GetOutputShape(0)->SetDim(axis, 1);
  return GRAPH_SUCCESS;
}
}  // namespace ge

namespace ops {
class SoftmaxMulReduceSum : public OpDef {
 public:
  explicit SoftmaxMulReduceSum(const char* name) : OpDef(name) {
    for (const char* tensor : {"scores", "x"})
      this->Input(tensor).ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
    this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
    this->Attr("axis").AttrType(OPTIONAL).Int(-1);
    this->SetInferShape(ge::InferShape);
    this->AICore().SetTiling(optiling::TilingFunc);
    this->AICore().AddConfig("ascend910b").AddConfig("ascend910_93");
  }
};
OP_ADD(SoftmaxMulReduceSum);
}  // namespace ops
