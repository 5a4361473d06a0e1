#pragma once

#include <string>

#include "atc/ir/graph.h"

namespace atc::om {

/// The name that ATC users and model viewers know for the node's operator: "Conv2D" for Conv on
/// images, "SoftmaxV2" for Softmax. Operators without a one-to-one counterpart keep their own name.
std::string atc_op_type(const ir::Node& node);

/// "ai.onnx::17::Conv": what the node was in the ONNX model, as ATC writes operator types.
std::string onnx_op_type(const ir::Node& node);

}  // namespace atc::om
