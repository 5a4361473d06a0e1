#pragma once

#include <string>

#include "atc/base/status.h"
#include "atc/ir/attribute.h"
#include "frontend/onnx/context.h"
#include "frontend/onnx/tensor_import.h"

namespace onnx {
class AttributeProto;
}

namespace atc::frontend {

/// AttributeProto.type, or what the filled field tells when a writer left it out: some number of
/// onnx.AttributeProto.AttributeType. INTS when nothing is filled either: an empty list.
int attribute_kind(const onnx::AttributeProto& attribute);

/// Every kind but subgraphs. Sparse tensors become dense ones, type_protos text in ONNX's notation.
/// `who` names node and attribute in diagnostics. Errors: E10041.
StatusOr<ir::Attribute> import_attribute(const onnx::AttributeProto& attribute, const std::string& who,
                                         TensorImporter& tensors, const Context& context);

}  // namespace atc::frontend
