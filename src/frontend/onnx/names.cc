#include "frontend/onnx/names.h"

#include "frontend/onnx/proto.h"

namespace atc::frontend {

std::string node_tag(const onnx::NodeProto& node, int index) {
  return node.name().empty() ? "#" + std::to_string(index) : node.name();
}

std::string node_label(const onnx::NodeProto& node, const std::string& prefix, int index) {
  const std::string domain(normal_domain(node.domain()));
  return "node '" + prefix + node_tag(node, index) + "' (" + (domain.empty() ? "" : domain + ".") +
         node.op_type() + ")";
}

}  // namespace atc::frontend
