#pragma once

#include <array>
#include <span>
#include <vector>

#include "aicore/core.h"
#include "kernels/recurrent_tiling.h"

namespace atc::kernels {

/// One block of a recurrent task: its buffers and the walk over time of its tiles.
class RecurrentBlock {
 public:
  /// Takes the buffers of `core`; `dtypes` are those of the operands. Everything given outlives the block.
  RecurrentBlock(aicore::Core& core, std::span<const aicore::Gm> operands, const RecurrentTiling& tiling,
                 const StepPrograms& programs, const std::vector<DType>& dtypes);
  /// All time steps of a block of rows of one direction.
  void run(std::int64_t tile);

 private:
  using Buffer = aicore::Buffer;
  using Direction = RecurrentSpec::Direction;
  using Stage = RecurrentSpec::Stage;

  Buffer* ub(std::int64_t bytes) { return &core_.alloc(aicore::Memory::UB, bytes); }
  const Direction& direction() const;
  DType dtype(const RecurrentAccess& a) const;
  const aicore::Gm& gm(const RecurrentAccess& a) const;
  std::int64_t address(const RecurrentAccess& a, std::int64_t time, std::int64_t row) const;
  std::int64_t time_of(std::int64_t step) const;
  bool has_lengths() const { return s_.lengths.operand >= 0; }

  void alloc_cube();
  void alloc_vector();
  /// Weights of one chunk of a gate.
  aicore::Core::CubeTile load_piece(Buffer& l1, int gate, int chunk);
  /// Weights that stay in L1 and vectors of the direction, unless they are there.
  void load_direction();
  void load_lengths();
  void load_states();
  void store_states();
  /// rows x cols of an operand as f32, dense.
  void load(Buffer& dst, Buffer& staging, const RecurrentAccess& a, std::int64_t element, int rows, int cols);
  void store(const RecurrentAccess& a, std::int64_t element, Buffer& src, int cols);

  void step(std::int64_t index);
  /// What the input contributes to a chunk of a stage's gates in a step.
  void load_input(std::int64_t step, const Stage& stage, int chunk, const std::vector<Buffer*>& to);
  /// State x weights of a chunk of a stage's gates, to the ports.
  void products(const Stage& stage, int chunk);
  void apply(const StepProgram& program, const std::vector<Buffer*>& constants, int chunk);
  /// A chunk of a state goes to the tile that the next product of this state reads.
  void multiply_next(int state, int chunk);
  /// True for the stage behind which a chunk of the output is complete.
  bool completes_output(const StepProgram& program, bool last) const;
  void write_output(std::int64_t index, int chunk);

  aicore::Core& core_;
  std::span<const aicore::Gm> operands_;
  const RecurrentTiling& t_;
  const RecurrentSpec& s_;
  const StepPrograms& programs_;
  const std::vector<DType>& dtypes_;

  // Cube: for each multiplied state the tile that products read and the one that is being written.
  std::vector<std::array<Buffer*, 2>> a_tiles_;
  std::vector<Buffer*> resident_;
  std::vector<aicore::Core::CubeTile> weights_;
  std::array<Buffer*, 2> stream_{};
  aicore::Core::CubeBuffers l0_;
  std::vector<Buffer*> l0c_;
  aicore::RowMap map_;

  // Vector.
  std::vector<Buffer*> product_, dense_, slots_;
  std::array<std::vector<Buffer*>, 2> input_;
  std::vector<std::vector<std::vector<Buffer*>>> constants_;  // [direction][stage]
  std::vector<std::vector<Buffer*>> states_, vectors_;        // [state or vector][chunk]
  Buffer* output_ = nullptr;
  Buffer* storage_ = nullptr;     // what is moved between UB and Global Memory in another type
  Buffer* multiplied_ = nullptr;  // what is moved from UB to L1 in another type
  Buffer* vector_storage_ = nullptr;
  Buffer* lengths_ = nullptr;
  Buffer* time_ = nullptr;
  std::vector<Buffer*> ports_;

  int direction_ = 0, loaded_direction_ = -1;
  std::int64_t row0_ = 0;
  int rows_ = 1;
  int turn_ = 0, stream_turn_ = 0;
};

}  // namespace atc::kernels
