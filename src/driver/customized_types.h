#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "atc/base/status.h"
#include "atc/ir/graph.h"
#include "driver/precision_files.h"
#include "driver/written_forms.h"

namespace atc::driver {

/// Tells whether the nodes of an imported graph can have the types that --customize_dtypes names. An operator
/// is compiled for float16 (bfloat16) and float32 wherever the model has a floating type; any other type is
/// the model's own, or what a quantised model reads through DequantizeLinear and writes through
/// QuantizeLinear.
class CustomizedTypes {
 public:
  /// Types follow from `input_shapes` (--input_shape) in a copy of the graph; what cannot be typed is not
  /// checked: compiling it says why.
  explicit CustomizedTypes(const ir::Graph& graph,
                           const std::map<std::string, std::vector<std::int64_t>>& input_shapes = {});

  /// E10001 naming the line, the node, the first entry none of the targets can have, and what is possible.
  /// `nodes`: what the entry names itself; `forms`: written-out operators that it names.
  Status check(const PrecisionEntry& entry, const std::vector<const ir::Node*>& nodes,
               const std::vector<const WrittenForm*>& forms) const;

 private:
  std::string fault_of(const PrecisionEntry& entry, const ir::Node& node) const;

  std::unique_ptr<ir::Graph> typed_;
  std::map<const ir::Node*, const ir::Node*> copy_of_;  // node of the graph -> of typed_
};

/// The nodes of the graph and of its nested graphs, in order.
std::vector<const ir::Node*> all_nodes(const ir::Graph& graph);

}  // namespace atc::driver
