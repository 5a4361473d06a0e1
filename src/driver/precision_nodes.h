#pragma once

#include <vector>

#include "atc/base/status.h"
#include "atc/ir/graph.h"
#include "driver/customized_types.h"
#include "driver/precision_files.h"
#include "driver/written_forms.h"

namespace atc::driver {

/// What the entries ask for the nodes of an imported graph; later entries win. A type is ONNX's or ATC's,
/// with or without its version ("MatMulV2", "ReduceMeanD"), or that of a written-out form ("Gelu"). A name is
/// that of a node, or of a node of a written-out form and "/" and the form's type. `forms`:
/// written_forms(graph); `types` of the graph.
///
/// Warnings: W11002 names that the model has not, by option; W11003 operators that have one implementation
/// only, which the mode does not change, among them a written-out GELU whose fusion is switched off.
/// E10001 for types of --customize_dtypes that no node which the entry names can have.
StatusOr<passes::NodePrecisions> resolve_precisions(const ir::Graph& graph,
                                                    const std::vector<PrecisionEntry>& entries,
                                                    std::vector<WrittenForm> forms,
                                                    const CustomizedTypes& types,
                                                    std::vector<Diagnostic>& warnings);

}  // namespace atc::driver
