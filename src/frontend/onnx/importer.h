#pragma once

#include <filesystem>
#include <string>

#include "atc/base/bytes.h"
#include "atc/base/status.h"
#include "atc/ir/graph.h"

namespace atc::frontend {

/// Loads an ONNX model (IR version 3 and later, any opset) as it is written: model-local functions are
/// inlined, initializers become constants, If/Loop/Scan bodies become graph attributes, nodes come in
/// topological order. Names and roles of graph inputs and outputs are kept; value_info and the declared
/// types of outputs are ignored. Nothing is inferred or folded.
///
/// Tensor bytes are views of the mapped model or external data files, at whatever address they have there
/// (see Tensor); typed data fields are converted.
///
/// Errors: E13000/E13001/E13003 a file that cannot be read; E10041 not an ONNX model, or an inconsistent
/// one (undefined value, cycle, ...); E16001 a graph without outputs or without anything in it; E16004 no
/// graph; E16005 a node of the default domain without opset_import; E13025 an input of the graph or of a
/// subgraph that is not a dense tensor.
StatusOr<ir::Model> import_model(const std::filesystem::path& file);

/// The same for a model in memory. External data is looked up in `base_dir`; `display_name` is how the
/// model is called in diagnostics.
StatusOr<ir::Model> import_model(Bytes file_bytes, const std::filesystem::path& base_dir,
                                 std::string display_name);

}  // namespace atc::frontend
