#pragma once

#include <vector>

#include "driver/options.h"
#include "plan/arena.h"

namespace atc::driver {

/// How the arena is planned: --disable_reuse_memory, and the environment variable OP_NO_REUSE_MEM, a list
/// "name1,Type1" of nodes and operator types whose results get memory of their own. Types may be ONNX's or
/// ATC's. `graph` is the one that is lowered.
plan::MemoryOptions memory_options(const CompileOptions& options, const ir::Graph& graph);

/// A warning for each name in OP_NO_REUSE_MEM that nothing in the plan has.
void warn_of_unknown_names(const plan::MemoryRecord& record, std::vector<Diagnostic>& warnings);

}  // namespace atc::driver
