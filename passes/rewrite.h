#pragma once

#include "atc/ir/graph.h"

/// Steps that several passes share.
namespace atc::passes {

/// True when `to` can stand for `from` everywhere: the outputs of the main graph keep their names, so
/// when `from` is one of them, `to` must be able to take its name (not an input, not itself an output).
bool can_replace(const ir::Value* from, const ir::Value* to);

/// Replaces every use of `from`, graph outputs included; a main graph's output keeps its name.
/// Precondition: can_replace(from, to).
void replace_value(ir::Value* from, ir::Value* to);

/// One node reads the value, once, and no graph returns it.
bool is_private(const ir::Value* v);

/// True when the shapes of all inputs and outputs are known.
bool has_static_shapes(const ir::Node& node);

/// `node` stands for the ONNX nodes of `other` too. Keeps the order, adds none twice.
void add_sources(ir::Node& node, const ir::Node& other);

}  // namespace atc::passes
