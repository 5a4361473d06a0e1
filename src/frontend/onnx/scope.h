#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "atc/ir/graph.h"
#include "frontend/onnx/functions.h"

namespace onnx {
class AttributeProto;
}

namespace atc::frontend {

struct Scope;

/// An attribute of a function call: where it is written, so that names in a graph attribute mean what
/// they mean to the caller.
struct BoundAttribute {
  const onnx::AttributeProto* proto = nullptr;
  const Scope* scope = nullptr;
};

/// One call of a model-local function while it is inlined.
struct Call {
  const Function* function = nullptr;
  std::map<std::string_view, BoundAttribute> attributes;
};

/// The names of one ONNX graph, subgraph or function body. Keys point into the model's messages.
struct Scope {
  const Scope* outer = nullptr;    ///< null for the main graph and for function bodies
  const Call* call = nullptr;      ///< null outside of functions
  const Opsets* opsets = nullptr;  ///< of the model or the function
  std::string value_prefix;        ///< before names of values: "block_3/" in an inlined function
  std::string node_prefix;         ///< before tags of nodes
  /// Null: an optional input of the function that the call leaves out.
  std::unordered_map<std::string_view, ir::Value*> values;
  /// What the results of a function are called by its caller.
  std::unordered_map<std::string_view, std::string> result_names;

  /// Innermost definition first; nullopt when nobody defines the name.
  std::optional<ir::Value*> find(std::string_view name) const;
  /// Every visible name, sorted.
  std::vector<std::string> visible_names() const;
};

}  // namespace atc::frontend
