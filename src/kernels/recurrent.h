#pragma once

#include <vector>

#include "kernels/vector_program.h"

namespace atc::kernels {

/// Where vectors of `hidden` elements lie in an operand, in elements: row b of direction d at time t is at
/// offset + d * direction_stride + t * time_stride + b * row_stride.
struct RecurrentAccess {
  int operand = -1;  ///< -1: none
  std::int64_t offset = 0;
  std::int64_t direction_stride = 0;
  std::int64_t time_stride = 0;
  std::int64_t row_stride = 0;
};

/// A recurrence over time: state vectors h, c, ... of [batch, hidden] for each direction stay on chip as f32;
/// in each time step every stage multiplies one of them by its gates' weights on the cube and runs a vector
/// program on the products.
///
/// Operand 0 holds what the input contributes to each gate, f32 [direction][gate][sequence][batch][hidden].
/// Operand 1 holds the recurrent weights, [direction][gate] matrices of f32, f16 or bf16, which is also the
/// type in which a state enters the product.
struct RecurrentSpec {
  /// One product and the program behind it; the stages of a step run in order.
  struct Stage {
    int first_gate = 0, gates = 1;
    int state = 0;  ///< the state that is multiplied
    VectorProgram program;
  };
  struct Direction {
    bool reverse = false;  ///< from the last time step to the first
    std::vector<Stage> stages;
  };
  enum class Layout : std::uint8_t {
    Panels,      ///< FRACTAL_Z of each matrix: [n1][k1][16 k][16 n]
    Transposed,  ///< row-major [hidden n][hidden k], as ONNX stores R
  };

  std::int64_t sequence = 0, batch = 0, hidden = 0;
  int gates = 1;   ///< of a direction
  int states = 1;  ///< state 0 is the output's
  std::vector<Direction> directions;
  Layout layout = Layout::Panels;
  std::vector<RecurrentAccess> vectors;  ///< vectors of a direction for all rows: biases, peepholes
  RecurrentAccess lengths;               ///< i32 [batch] (offset, row_stride); rows end after so many steps
  std::vector<RecurrentAccess> initial;  ///< one a state; none: zeros
  std::vector<RecurrentAccess> final_states;  ///< one a state
  RecurrentAccess output;  ///< Y: state 0 after each step, or what the program stores to output_port()

  // Ports of the programs, as operands of Load and Store.
  int product_port(int gate) const { return gate; }              ///< state x weights of a gate of the stage
  int input_port(int gate) const { return gates + gate; }        ///< operand 0, of a gate of the stage
  int state_port(int state) const { return 2 * gates + state; }  ///< loads the old, stores the new
  int vector_port(int vector) const { return 2 * gates + states + vector; }
  /// Steps that each row has (i32, one a row) and the number of the step (i32): with lengths only.
  int lengths_port() const { return vector_port(static_cast<int>(vectors.size())); }
  int time_port() const { return lengths_port() + 1; }
  /// What goes to Y: with lengths only.
  int output_port() const { return lengths_port() + 2; }
  int ports() const { return lengths_port() + 3; }
};

/// One task for all directions: a tile is a block of batch rows of one direction over all time steps. E10041
/// when the specification is not well formed, E10055 when not even one row fits the chip.
StatusOr<Task> make_recurrent_task(const RecurrentSpec& spec, std::vector<Operand> operands,
                                   const soc::Chip& chip);

/// True when some tile of the recurrence fits the chip, with weights of `dtype`.
bool recurrent_fits(const RecurrentSpec& spec, DType dtype, const soc::Chip& chip);

}  // namespace atc::kernels
