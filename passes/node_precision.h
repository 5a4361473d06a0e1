#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "atc/base/dtype.h"

namespace atc::ir {
class Node;
}

namespace atc::passes {

/// How what a node stores is typed.
enum class Storage {
  Mode,    ///< as the precision mode says
  Keep,    ///< in the model's own types: --keep_dtype, black lists
  Narrow,  ///< in the mode's narrow type: keep_fp16, white lists
  Follow,  ///< narrow where an input is: gray lists
};

/// What options ask for one ONNX node, beyond the precision mode.
struct NodePrecision {
  Storage storage = Storage::Mode;
  /// --customize_dtypes: of inputs and outputs in order; Undefined or absent: not said. Beats `storage`.
  std::vector<DType> inputs, outputs;
  bool fast = false;   ///< the faster form of the operator, where there is one
  std::string option;  ///< that asks for it, for the report: "--keep_dtype"

  friend bool operator==(const NodePrecision&, const NodePrecision&) = default;
};

/// By the ONNX node's name as Node::sources has it.
struct NodePrecisions {
  std::map<std::string, NodePrecision, std::less<>> nodes;

  bool empty() const { return nodes.empty(); }
  /// What is asked for the first of the node's sources for which anything is; null: nothing.
  const NodePrecision* find(const ir::Node& node) const;

  /// One line a node, for the .om: regions are compiled when their shapes are known.
  std::string to_text() const;
  /// nullopt when the text is none of to_text().
  static std::optional<NodePrecisions> from_text(std::string_view text);
};

}  // namespace atc::passes
