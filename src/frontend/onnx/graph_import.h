#pragma once

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "atc/base/status.h"
#include "atc/ir/graph.h"
#include "frontend/onnx/context.h"
#include "frontend/onnx/functions.h"
#include "frontend/onnx/order.h"
#include "frontend/onnx/scope.h"
#include "frontend/onnx/tensor_import.h"
#include "frontend/onnx/type_import.h"

namespace onnx {
class GraphProto;
class NodeProto;
}  // namespace onnx

namespace atc::frontend {

/// Builds the IR of one model's graph. Files: graph_import.cc (graphs), node_import.cc (nodes and their
/// attributes), inline_function.cc (calls of model-local functions).
class GraphImporter {
 public:
  /// All arguments outlive the importer.
  GraphImporter(const Context& context, TensorImporter& tensors, FunctionTable& functions,
                const Opsets& model_opsets)
      : context_(context), tensors_(tensors), functions_(functions), model_opsets_(model_opsets) {}

  /// E10041, E13025, E16001, E16005 as import_model says.
  StatusOr<std::unique_ptr<ir::Graph>> import_main(const onnx::GraphProto& proto);

 private:
  Status import_initializers(const onnx::GraphProto& proto, Scope& scope, ir::Graph& graph, bool is_main);
  Status import_outputs(const onnx::GraphProto& proto, Scope& scope, ir::Graph& graph);
  StatusOr<std::shared_ptr<ir::Graph>> import_body(const onnx::GraphProto& proto, const Scope& outer,
                                                   ir::Graph& parent, const std::string& node_prefix);

  Status import_nodes(const NodeProtos& nodes, Scope& scope, ir::Graph& graph);
  Status import_node(const onnx::NodeProto& proto, int index, Scope& scope, ir::Graph& graph);
  StatusOr<std::vector<ir::Value*>> node_inputs(const onnx::NodeProto& proto, const std::string& label,
                                                const Scope& scope);
  Status import_attributes(const onnx::NodeProto& proto, const std::string& label, const std::string& tag,
                           const Scope& scope, ir::Graph& graph, ir::Attributes& out);
  /// Follows a reference to an attribute of the enclosing function; a null proto when it has no value.
  StatusOr<BoundAttribute> resolve(const onnx::AttributeProto& attribute, const std::string& label,
                                   const Scope& scope);
  StatusOr<int> version_of(std::string_view domain, const std::string& label, const Scope& scope);

  Status inline_call(const Function& function, const onnx::NodeProto& call, int index, Scope& caller,
                     ir::Graph& graph);
  Status bind_arguments(const onnx::NodeProto& node, const std::string& label, Scope& caller, Scope& body);
  Status bind_results(const onnx::NodeProto& node, const std::string& label, Scope& caller, Scope& body,
                      ir::Graph& graph);

  /// The name of a value that the scope defines as `name`: unique over all inlined functions.
  std::string value_name(const Scope& scope, const std::string& name);
  ir::Value* add_identity(ir::Value* from, std::string name, const std::string& source, const Scope& scope,
                          ir::Graph& graph);
  Status undefined(const std::string& what, std::string_view name, const Scope& scope) const;
  /// Call and subgraph nesting is bounded.
  Status enter(const std::string& label);
  /// So is the number of nodes: a few functions that call each other twice make an exponential graph.
  Status check_growth(std::size_t nodes, const std::string& label) const;

  const Context& context_;
  TensorImporter& tensors_;
  FunctionTable& functions_;
  const Opsets& model_opsets_;
  std::unordered_set<std::string> taken_names_;
  std::vector<const Function*> calls_;  ///< being inlined, outermost first
  int depth_ = 0;
  std::size_t node_count_ = 0;
};

}  // namespace atc::frontend
