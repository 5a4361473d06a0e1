#pragma once

#include <memory>
#include <string>
#include <vector>

#include "atc/base/status.h"
#include "atc/ir/graph.h"
#include "custom/library.h"
#include "soc/chip.h"

namespace atc::passes {

/// An operator that the user gave: by type, or with all others of its library.
struct CustomEntry {
  std::shared_ptr<custom::Library> library;
  std::uint32_t op = 0;
  bool asked = true;  ///< by --custom_op; else found in a folder: what does not fit is passed over
  const custom::OpInfo& info() const { return library->info().ops[op]; }
};

/// In order of precedence.
struct CustomOperators {
  std::vector<CustomEntry> entries;
  /// The entry with one of these types; null when there is none for the chip.
  const CustomEntry* find_type(std::initializer_list<std::string_view> types, const soc::Chip& chip) const;
};

/// What a custom operator took, for reports.
struct CustomTaken {
  std::string op;       ///< its type
  std::string library;  ///< file name
  std::string pattern;  ///< that was recognised ("RoPE"); empty: a node of the model
  std::string node;
  std::vector<std::string> sources;  ///< ONNX nodes
};

/// The user's operators and what they took, as passes find them in PassContext::custom.
struct CustomTakeover {
  CustomOperators operators;
  std::vector<CustomTaken> taken;
};

/// Nodes of the types (or of the ONNX origins) that the operators list become atc::Custom, those of nested
/// graphs too, with the attributes that the operator's own function makes of the node's. Errors: an operator
/// that does not support the chip (E10055), an attribute that is no number, text or list (E16006), what a
/// library says.
Status take_custom_nodes(ir::Graph& graph, const CustomOperators& operators, const soc::Chip& chip,
                         std::vector<CustomTaken>& taken);

/// The attributes by which a node is that operator's.
void set_custom(ir::Node& node, const CustomEntry& entry);

}  // namespace atc::passes
