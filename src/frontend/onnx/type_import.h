#pragma once

#include <set>
#include <string>

#include "atc/base/status.h"
#include "atc/ir/type.h"
#include "frontend/onnx/context.h"

namespace onnx {
class GraphProto;
class TypeProto;
class ValueInfoProto;
}  // namespace onnx

namespace atc::frontend {

/// Names for dims that the model leaves open without a name: "?0", "?1", ..., none of which the model
/// itself uses. Dims of the same name are equal, so each open dim needs its own.
class SymbolTable {
 public:
  /// Notes the names that the inputs of the graph use.
  explicit SymbolTable(const onnx::GraphProto& graph);
  std::string fresh();

 private:
  std::set<std::string> used_;
  int next_ = 0;
};

/// The declared type of an input of the main graph. A negative dim, one without value and name, and the
/// names "?" and "-1" are open dims of their own; no shape at all is unknown rank.
/// E13025 for types other than dense tensors, and for a missing element type.
StatusOr<ir::TensorType> import_input_type(const onnx::ValueInfoProto& input, SymbolTable& symbols,
                                           const Context& context);

/// The element type that an input of a subgraph declares (Undefined when none). Its shape is not taken:
/// exporters write shapes there that hold for one iteration or one branch only. E13025 as above.
StatusOr<ir::TensorType> import_body_input_type(const onnx::ValueInfoProto& input, const Context& context);

/// ONNX's own notation: "tensor(float)", "seq(tensor(int64))", "optional(...)", "map(string,...)".
std::string type_text(const onnx::TypeProto& type);

}  // namespace atc::frontend
