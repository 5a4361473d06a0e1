#pragma once

#include <string>
#include <string_view>

namespace onnx {
class NodeProto;
}

namespace atc::frontend {

/// "ai.onnx" is another name of the default domain "".
inline std::string_view normal_domain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

/// The node's name, or "#index" of an unnamed one.
std::string node_tag(const onnx::NodeProto& node, int index);

/// "node 'Conv_17' (Conv)"; `prefix` is put before the tag ("f_0/").
std::string node_label(const onnx::NodeProto& node, const std::string& prefix, int index);

}  // namespace atc::frontend
