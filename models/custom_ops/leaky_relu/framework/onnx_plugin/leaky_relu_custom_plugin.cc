#include "register/register.h"

namespace domi {
// ONNX calls the slope "alpha".
static Status ParseParams(const ge::Operator& node, ge::Operator& op) {
  float slope = 0.01f;
  node.GetAttr("alpha", slope);
  op.SetAttr("negative_slope", slope);
  return SUCCESS;
}

REGISTER_CUSTOM_OP("LeakyReluCustom")
    .FrameworkType(ONNX)
    .OriginOpType("ai.onnx::LeakyRelu")
    .ParseParamsByOperatorFn(ParseParams)
    .ImplyType(ImplyType::TVM);
}  // namespace domi
