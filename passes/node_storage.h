#pragma once

#include "atc/ir/graph.h"
#include "passes/node_precision.h"

namespace atc::passes {

/// What NodePrecisions ask of the fused graph's tasks, operators inside vector programs and epilogues
/// included: those have the ONNX nodes they stand for as their sources.
class NodeStorage {
 public:
  /// `narrow`: the narrow type of the precision mode.
  NodeStorage(const NodePrecisions& asked, DType narrow) : asked_(asked), narrow_(narrow) {}

  /// Of a node that is no task of several, or of a node in a body.
  Storage storage_of(const ir::Node& node) const;
  /// Of the operands of a product (a cube task, attention, a recurrent network).
  Storage operands_of(const ir::Node& task) const;
  /// Of the output of `task` that is `inner` in its body, made there by `maker` (null: it is what the cube
  /// accumulated).
  Storage output_of(const ir::Node& task, const ir::Node* maker, const ir::Value& inner) const;

  /// Whatever reads input i of the task is to read the model's own type.
  bool keeps(const ir::Node& task, std::size_t i) const;
  /// All readers of the value are; false when it has none.
  bool keep_all(const ir::Value& value) const;

  /// The option that asks something of one of the task's nodes.
  std::string option_of(const ir::Node& task) const;

 private:
  const NodePrecision* anchor_of(const ir::Node& task) const;
  Storage of_type(DType dtype) const;
  bool keeps_slot(const NodePrecision* asked, std::size_t slot) const;

  const NodePrecisions& asked_;
  DType narrow_;
};

}  // namespace atc::passes
