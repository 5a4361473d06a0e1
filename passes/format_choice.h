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
/// Costs are bytes moved: a conversion reads and writes the tensor and is a launch (kLaunchBytes), unless the
/// program that makes or reads the value takes it over (mixes_formats) and turns its tiles in UB. That counts
/// once the tensor's bytes, as it does where an epilogue stores or reads ND. A window that stores NC1HWC0
/// writes the lanes that pad its channels too. With one position and whole blocks both formats are the same
/// bytes, and constants are converted at compile time: nothing. Equal costs leave values in ND.
///
/// Convolutions of up to four channels read blocks of four (NC1HWC0_C04), a fourth of the bytes and of the
/// cube's steps. In the cut they read ND: what stands in front of them stores C04 as well as it does ND
/// (stores_small_channels, epilogues), and converting ND costs what converting to NC1HWC0 would. Where
/// another kind of window reads the value too, it is in NC1HWC0 for all of them.
class FormatChoice {
 public:
  explicit FormatChoice(const ir::Graph& graph);

  /// NC1HWC0 for the outputs of a node, and for the operands of one that carries it.
  bool is_blocked(const ir::Value* value) const { return blocked_.contains(value); }
  bool carries_blocked(const ir::Node* node) const { return carriers_.contains(node); }
  /// NC1HWC0_C04 for input 0 of the node.
  bool reads_small_blocks(const ir::Node* node) const { return small_.contains(node); }

 private:
  std::set<const ir::Value*> blocked_;
  std::set<const ir::Node*> carriers_;
  std::set<const ir::Node*> small_;
};

/// Convolutions, pools and depthwise windows in their fused form: their input 0 is in NC1HWC0.
bool works_on_blocks(const ir::Node& node);
/// Input 1 of the node is weights, which pack-weights packs from ND.
bool has_weight(const ir::Node& node);
/// Axes of the node's results; 0 when it has none.
std::size_t rank_of(const ir::Node& node);
/// A program that may have operands in both formats: its channels are whole blocks or one.
bool mixes_formats(const ir::Node& node);
/// Whether the operand of a node in NC1HWC0 is broadcast from a single element, which stays in ND.
bool is_single_operand(const ir::Node& node, std::size_t input);

}  // namespace atc::passes
