#include "register/register.h"

namespace domi {
// Stands for ONNX's MatMul, which has no attributes.
REGISTER_CUSTOM_OP("MatmulCustom")
    .FrameworkType(ONNX)
    .OriginOpType("ai.onnx::MatMul")
    .ParseParamsByOperatorFn(AutoMappingByOpFn)
    .ImplyType(ImplyType::TVM);
}  // namespace domi
