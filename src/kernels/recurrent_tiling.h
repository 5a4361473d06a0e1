#pragma once

#include "atc/base/math.h"
#include "kernels/program_params.h"
#include "kernels/recurrent.h"
#include "kernels/step_program.h"

namespace atc::kernels {

/// The specification and how it is cut.
struct RecurrentTiling {
  RecurrentSpec spec;
  int rows = 1;           ///< batch rows of a tile
  int cols = 16;          ///< columns of a chunk, a multiple of 16
  int k_slice = 1;        ///< fractals of the reduction in L0 at once
  int resident = 0;       ///< pieces of the weights (chunk of a gate) that stay in L1
  int element_bytes = 4;  ///< of the weights

  std::int64_t k1() const { return ceil_div(spec.hidden, 16); }
  int chunks() const { return static_cast<int>(ceil_div(spec.hidden, cols)); }
  int pieces() const { return spec.gates * chunks(); }
  std::int64_t row_blocks() const { return ceil_div(spec.batch, rows); }
  std::int64_t tiles() const { return row_blocks() * std::ssize(spec.directions); }
  int chunk_cols(int chunk) const {
    return static_cast<int>(std::min<std::int64_t>(cols, spec.hidden - std::int64_t{chunk} * cols));
  }
  /// Products narrower than their fractals are made dense before the programs see them.
  bool needs_dense() const { return rows > 1 && (cols % 16 != 0 || spec.hidden % 16 != 0); }
  int stage_gates() const;              ///< most gates of one stage
  std::vector<int> multiplied() const;  ///< states that enter products, ascending
};

/// The programs of all stages, [direction][stage].
using StepPrograms = std::vector<std::vector<StepProgram>>;
StatusOr<StepPrograms> step_programs(const RecurrentSpec& spec);

/// On-chip bytes that a tiling takes.
struct RecurrentFootprint {
  std::int64_t ub = 0, l1 = 0, l0a = 0, l0b = 0, l0c = 0;
};
RecurrentFootprint footprint(const RecurrentTiling& t, const StepPrograms& programs);

/// Rows by cores, then the widest chunk that fits, then as much of the weights in L1 as there is room. False
/// when nothing fits.
bool choose_recurrent_tiles(RecurrentTiling& t, const StepPrograms& programs, const soc::Chip& chip);

/// The tiling as task parameters; also checks nothing of what it reads.
void write_recurrent(ParamWriter& ar, RecurrentTiling& t);
void read_recurrent(ParamReader& ar, RecurrentTiling& t);

}  // namespace atc::kernels
