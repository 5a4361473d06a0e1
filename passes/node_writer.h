#pragma once

#include <string>
#include <vector>

#include "atc/ir/graph.h"

namespace atc::passes {

/// Writes typed ONNX nodes in front of the node that they stand for. Names are the node's own with a suffix.
class NodeWriter {
 public:
  NodeWriter(ir::Graph& graph, ir::Node& node) : graph_(graph), node_(node) {}

  ir::Node* insert(std::string type, std::vector<ir::Value*> inputs, const ir::TensorType& out,
                   const std::string& suffix);
  /// Elementwise: the dims of `like`, which both operands broadcast to.
  ir::Value* binary(const std::string& type, ir::Value* a, ir::Value* b, const ir::Value* like,
                    const std::string& suffix);
  ir::Value* unary(const std::string& type, ir::Value* x, const std::string& suffix);
  /// Mean over axes (ascending), which stay as ones.
  ir::Value* mean(ir::Value* x, const Dims& axes, const std::string& suffix);
  ir::Value* scalar(double value, DType dtype, const std::string& suffix);
  ir::Value* int64s(const Dims& values, const std::string& suffix);
  /// `x` itself when it has these dims already.
  ir::Value* reshape(ir::Value* x, const Dims& dims, const std::string& suffix);
  /// `y` in place of the node's output 0; the node is gone then.
  void finish(ir::Value* y);

 private:
  ir::Graph& graph_;
  ir::Node& node_;
};

}  // namespace atc::passes
