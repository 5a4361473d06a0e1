#include "frontend/onnx/type_import.h"

#include "frontend/onnx/proto.h"

namespace atc::frontend {
namespace {

std::string element_text(int elem_type) {
  if (elem_type <= 0 || elem_type >= kDTypeCount) return "element type " + std::to_string(elem_type);
  std::string text(onnx_name(static_cast<DType>(elem_type)));
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

bool is_anonymous(const std::string& dim_param) {
  return dim_param.empty() || dim_param == "?" || dim_param == "-1";
}

Status refuse(const onnx::ValueInfoProto& input, const Context& context, const std::string& why) {
  return Status::error("E13025", "input '" + input.name() + "' of model " + context.file + " " + why);
}

Status check_dense(const onnx::ValueInfoProto& input, const Context& context) {
  const onnx::TypeProto& type = input.type();
  if (type.value_case() != onnx::TypeProto::VALUE_NOT_SET && !type.has_tensor_type())
    return refuse(input, context, "has type " + type_text(type) + ", only dense tensors are supported")
        .solution("Export the model with tensors as inputs.");
  const int elem_type = type.tensor_type().elem_type();
  if (elem_type < 0 || elem_type >= kDTypeCount)
    return refuse(input, context, "has the unknown element type " + std::to_string(elem_type));
  return {};
}

}  // namespace

SymbolTable::SymbolTable(const onnx::GraphProto& graph) {
  for (const auto& input : graph.input())
    for (const auto& dim : input.type().tensor_type().shape().dim()) used_.insert(dim.dim_param());
}

std::string SymbolTable::fresh() {
  for (;;) {
    std::string symbol = "?" + std::to_string(next_++);
    if (!used_.contains(symbol)) return symbol;
  }
}

StatusOr<ir::TensorType> import_input_type(const onnx::ValueInfoProto& input, SymbolTable& symbols,
                                           const Context& context) {
  ATC_TRY(check_dense(input, context));
  const auto& tensor = input.type().tensor_type();
  ir::TensorType type;
  type.dtype = static_cast<DType>(tensor.elem_type());
  if (type.dtype == DType::Undefined) return refuse(input, context, "has no element type");
  if (!tensor.has_shape()) return type;
  type.shape.emplace();
  for (const auto& dim : tensor.shape().dim()) {
    if (dim.has_dim_value() && dim.dim_value() >= 0) {
      type.shape->push_back(ir::Dim::of(dim.dim_value()));
    } else if (dim.has_dim_param() && !is_anonymous(dim.dim_param())) {
      type.shape->push_back(ir::Dim::named(dim.dim_param()));
    } else {
      type.shape->push_back(ir::Dim::named(symbols.fresh()));
    }
  }
  return type;
}

StatusOr<ir::TensorType> import_body_input_type(const onnx::ValueInfoProto& input, const Context& context) {
  ATC_TRY(check_dense(input, context));
  ir::TensorType type;
  type.dtype = static_cast<DType>(input.type().tensor_type().elem_type());
  return type;
}

std::string type_text(const onnx::TypeProto& type) {
  switch (type.value_case()) {
    case onnx::TypeProto::kTensorType:
      return "tensor(" + element_text(type.tensor_type().elem_type()) + ")";
    case onnx::TypeProto::kSparseTensorType:
      return "sparse_tensor(" + element_text(type.sparse_tensor_type().elem_type()) + ")";
    case onnx::TypeProto::kSequenceType:
      return "seq(" + type_text(type.sequence_type().elem_type()) + ")";
    case onnx::TypeProto::kOptionalType:
      return "optional(" + type_text(type.optional_type().elem_type()) + ")";
    case onnx::TypeProto::kMapType:
      return "map(" + element_text(type.map_type().key_type()) + "," +
             type_text(type.map_type().value_type()) + ")";
    case onnx::TypeProto::kOpaqueType:
      return "opaque(" + type.opaque_type().domain() + "," + type.opaque_type().name() + ")";
    case onnx::TypeProto::VALUE_NOT_SET:
      break;
  }
  return "undefined";
}

}  // namespace atc::frontend
