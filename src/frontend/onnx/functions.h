#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "atc/base/status.h"
#include "frontend/onnx/context.h"

namespace onnx {
class AttributeProto;
class FunctionProto;
class ModelProto;
class NodeProto;
}  // namespace onnx

namespace atc::frontend {

/// Opset versions by domain ("" is the default one).
using Opsets = std::map<std::string, int, std::less<>>;

/// The opset_import list: of a domain named twice the higher version, clamped to [0, 2^31).
Opsets read_opsets(const onnx::ModelProto& model);
Opsets read_opsets(const onnx::FunctionProto& function);

/// One model-local function.
struct Function {
  const onnx::FunctionProto* proto = nullptr;
  Opsets opsets;      ///< under which its nodes are written
  std::string label;  ///< "local.Block", "local.Block:overload"
  std::map<std::string_view, std::shared_ptr<const onnx::AttributeProto>> defaults;
};

/// The model-local functions of a model. Keeps pointers into the model's messages. What the messages of
/// libonnx 1.12 do not know (overload, attribute_proto) is read from the unknown fields.
class FunctionTable {
 public:
  /// E10041: two functions of the same domain, name and overload, or an unreadable attribute default.
  Status load(const onnx::ModelProto& model, const Context& context);
  /// The function that the node calls; null when it is an operator.
  const Function* find(const onnx::NodeProto& node) const;
  /// How many nodes a call stands for once all is inlined, nested calls and nodes of subgraphs included;
  /// saturates at 2^62. Recursion is not followed, nor are graphs that callers hand over as attributes.
  std::size_t expanded_nodes(const Function& function);

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // domain, name, overload
  std::map<Key, Function> functions_;
  std::map<const onnx::FunctionProto*, std::size_t> expanded_;
};

}  // namespace atc::frontend
