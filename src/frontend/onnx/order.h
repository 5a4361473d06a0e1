#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "atc/base/status.h"
#include "frontend/onnx/context.h"

namespace google::protobuf {
template <typename Element>
class RepeatedPtrField;
}
namespace onnx {
class NodeProto;
}

namespace atc::frontend {

using NodeProtos = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

/// Indices of the nodes of one graph or function body so that every node comes after those whose outputs
/// it reads, itself or in its subgraphs. Stable: sorted nodes keep their order. A name that a subgraph
/// defines hides the outer one.
/// E10041: a name that two nodes define, or that `is_defined` knows already (inputs, initializers); a
/// cycle, with the nodes on it. `prefix` is put before node tags in diagnostics.
StatusOr<std::vector<int>> topological_order(const NodeProtos& nodes,
                                             const std::function<bool(std::string_view)>& is_defined,
                                             const std::string& prefix, const Context& context);

}  // namespace atc::frontend
