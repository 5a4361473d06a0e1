#pragma once

#include <filesystem>
#include <vector>

#include "atc/base/status.h"
#include "atc/ir/graph.h"
#include "plan/plan.h"

namespace atc::om {

/// Writes a .om file (FORMAT.md): the plan, its weights and, for viewers, the compiled graph. The same
/// arguments give the same bytes. Weights are streamed; stretches that no piece covers become holes.
/// E13001 or E13004 when the file cannot be created or written: nothing is left behind then. E13023
/// when a section other than the weights is too large.
///
/// Pieces may come in any order; a piece that is not 64-byte aligned, overlaps another, or leaves
/// [0, plan.weight_bytes) is a bug of the caller (InternalError).
Status write_om(const std::filesystem::path& path, const plan::Plan& plan,
                const std::vector<plan::WeightPiece>& weights, const ir::Graph& graph);

}  // namespace atc::om
