#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "atc/base/status.h"
#include "atc/ir/graph.h"
#include "om/container.h"
#include "plan/plan.h"

namespace atc::om {

/// A .om file but for the bytes of its weights, which stay where they are until they are written: `plan`'s
/// pieces must outlive it.
struct OmImage {
  std::vector<SectionSize> sections;  ///< in file order
  std::string head;                   ///< header and partition table
  std::string model_def, task_info, kernels, inout_info;
  std::vector<const plan::WeightPiece*> pieces;  ///< in file order
  std::int64_t weight_bytes = 0;

  std::uint64_t file_bytes() const;
};

/// Encodes everything; what write_om says of pieces and errors holds.
StatusOr<OmImage> make_om(const plan::Plan& plan, const std::vector<plan::WeightPiece>& weights,
                          const ir::Graph& graph);
Status write_om(const std::filesystem::path& path, const OmImage& image);

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
