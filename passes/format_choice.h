#pragma once

#include <map>
#include <set>

#include "atc/ir/graph.h"

namespace atc::passes {

/// Which values of a graph are kept in NC1HWC0, chosen for the whole graph at once as a minimum cut.
///
///     source = NC1HWC0   --- [x] --- [node] --- [y] ---   sink = ND
///
/// A node that works in either format (carries_blocked_channels) and its outputs are one vertex of the cut, a
/// node that works on ND alone is the sink, the output of a convolution or window is a vertex of its own
/// (its epilogue stores either format) and the input of one is the source. For each value p that is read:
///
///     p ---- cost ----> u, u = infinite => each reader    (one conversion to ND serves all readers in ND)
///     reader = infinite => w, w ---- cost ----> p         (one conversion to NC1HWC0 serves those in blocks)
///
/// Costs are bytes moved: a conversion reads and writes the tensor and is a launch (kLaunchBytes); an
/// epilogue that stores or reads ND turns its tiles in UB (once the tensor's bytes); a node in NC1HWC0 moves
/// the lanes that pad its channels. With one position and whole blocks both formats are the same bytes, and
/// constants are converted at compile time: nothing. Equal costs leave values in ND.
class FormatChoice {
 public:
  explicit FormatChoice(const ir::Graph& graph);

  /// NC1HWC0 for the outputs of a node, and for the operands of one that carries it.
  bool is_blocked(const ir::Value* value) const { return blocked_.contains(value); }
  bool carries_blocked(const ir::Node* node) const { return carriers_.contains(node); }

 private:
  std::set<const ir::Value*> blocked_;
  std::set<const ir::Node*> carriers_;
};

/// Convolutions, pools and depthwise windows in their fused form: their input 0 is in NC1HWC0.
bool works_on_blocks(const ir::Node& node);
/// Whether the operand of a node in NC1HWC0 is broadcast from a single element, which stays in ND.
bool is_single_operand(const ir::Node& node, std::size_t input);

}  // namespace atc::passes
