#include "frontend/onnx/attribute_import.h"

#include "frontend/onnx/proto.h"
#include "frontend/onnx/type_import.h"

namespace atc::frontend {
namespace {

using Proto = onnx::AttributeProto;

/// By the one field that is filled; UNDEFINED when none is.
int filled_kind(const Proto& a) {
  if (a.has_f()) return Proto::FLOAT;
  if (a.has_i()) return Proto::INT;
  if (a.has_s()) return Proto::STRING;
  if (a.has_t()) return Proto::TENSOR;
  if (a.has_g()) return Proto::GRAPH;
  if (a.has_sparse_tensor()) return Proto::SPARSE_TENSOR;
  if (a.has_tp()) return Proto::TYPE_PROTO;
  if (a.floats_size() > 0) return Proto::FLOATS;
  if (a.ints_size() > 0) return Proto::INTS;
  if (a.strings_size() > 0) return Proto::STRINGS;
  if (a.tensors_size() > 0) return Proto::TENSORS;
  if (a.graphs_size() > 0) return Proto::GRAPHS;
  if (a.sparse_tensors_size() > 0) return Proto::SPARSE_TENSORS;
  if (a.type_protos_size() > 0) return Proto::TYPE_PROTOS;
  return Proto::UNDEFINED;
}

std::string kind_name(int kind) { return Proto::AttributeType_Name(static_cast<Proto::AttributeType>(kind)); }

StatusOr<ir::Attribute> import_list(const Proto& a, int kind, const std::string& who,
                                    TensorImporter& tensors) {
  std::vector<Tensor> list;
  if (kind == Proto::TENSORS) {
    for (const auto& proto : a.tensors()) {
      ATC_ASSIGN(Tensor tensor, tensors.import(proto, who));
      list.push_back(std::move(tensor));
    }
  } else {
    for (const auto& proto : a.sparse_tensors()) {
      ATC_ASSIGN(Tensor tensor, tensors.import_sparse(proto, who));
      list.push_back(std::move(tensor));
    }
  }
  return ir::Attribute(std::move(list));
}

}  // namespace

int attribute_kind(const Proto& attribute) {
  if (attribute.type() != Proto::UNDEFINED) return attribute.type();
  const int filled = filled_kind(attribute);
  return filled == Proto::UNDEFINED ? static_cast<int>(Proto::INTS) : filled;
}

StatusOr<ir::Attribute> import_attribute(const Proto& a, const std::string& who, TensorImporter& tensors,
                                         const Context& context) {
  const int kind = attribute_kind(a);
  // A zero, an empty string or list may be left out; a value of another kind is a contradiction.
  const int filled = filled_kind(a);
  if (filled != Proto::UNDEFINED && filled != kind)
    return context.fault(who + " says that it is of kind " + kind_name(kind) + ", but has a value of kind " +
                         kind_name(filled));
  switch (kind) {
    case Proto::FLOAT:
      return ir::Attribute(a.f());
    case Proto::INT:
      return ir::Attribute(std::int64_t{a.i()});
    case Proto::STRING:
      return ir::Attribute(a.s());
    case Proto::FLOATS:
      return ir::Attribute(std::vector<float>(a.floats().begin(), a.floats().end()));
    case Proto::INTS:
      return ir::Attribute(std::vector<std::int64_t>(a.ints().begin(), a.ints().end()));
    case Proto::STRINGS:
      return ir::Attribute(std::vector<std::string>(a.strings().begin(), a.strings().end()));
    case Proto::TENSOR: {
      ATC_ASSIGN(Tensor tensor, tensors.import(a.t(), who));
      return ir::Attribute(std::move(tensor));
    }
    case Proto::SPARSE_TENSOR: {
      ATC_ASSIGN(Tensor tensor, tensors.import_sparse(a.sparse_tensor(), who));
      return ir::Attribute(std::move(tensor));
    }
    case Proto::TENSORS:
    case Proto::SPARSE_TENSORS:
      return import_list(a, kind, who, tensors);
    case Proto::TYPE_PROTO:
      return ir::Attribute(type_text(a.tp()));
    case Proto::TYPE_PROTOS: {
      std::vector<std::string> list;
      for (const auto& type : a.type_protos()) list.push_back(type_text(type));
      return ir::Attribute(std::move(list));
    }
    default:
      return context.fault(who + " is of kind " + kind_name(kind) + ", which is not supported");
  }
}

}  // namespace atc::frontend
