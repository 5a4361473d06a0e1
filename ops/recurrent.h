#pragma once

#include <functional>
#include <vector>

#include "ops/op.h"
#include "ops/recurrent_activation.h"

// What LSTM, GRU and RNN share: shapes, activations, and the walk over time.
namespace atc::ops {

/// Inputs of a recurrent node; initial_c and P are LSTM's.
namespace recurrent {
inline constexpr std::size_t kX = 0;
inline constexpr std::size_t kW = 1;
inline constexpr std::size_t kR = 2;
inline constexpr std::size_t kB = 3;
inline constexpr std::size_t kLengths = 4;
inline constexpr std::size_t kInitialH = 5;
inline constexpr std::size_t kInitialC = 6;
inline constexpr std::size_t kPeephole = 7;
}  // namespace recurrent

/// Sizes and directions of a recurrent node.
struct RecurrentGeometry {
  std::int64_t sequence = 0;
  std::int64_t batch = 0;
  std::int64_t input = 0;
  std::int64_t hidden = 0;
  std::int64_t directions = 1;
  bool first_is_reverse = false;  ///< direction "reverse"; of "bidirectional" the second one is
  bool batch_first = false;       ///< layout 1: X is [batch, sequence, input]

  bool is_reverse(std::int64_t direction) const { return first_is_reverse || direction == 1; }
};

/// Sizes of a node that has passed inference and whose X and R have static shapes.
RecurrentGeometry recurrent_geometry(const ir::Node& node);

/// True when the node runs on the AI Core: f32, f16 or bf16, no empty dims, and not more units than every
/// chip has room for. Its operands may then be of different types.
bool lowers_recurrent(const ir::Node& node);

/// Types and shapes of Y, Y_h (and Y_c) of a cell with `gates` gates; checks every input.
Status infer_recurrent(InferContext& ctx, int gates);

/// Weights of one direction of a cell, row-major doubles; gate g has rows [g * hidden, (g + 1) * hidden).
struct RecurrentCell {
  std::int64_t input = 0;
  std::int64_t hidden = 0;
  const double* w = nullptr;   ///< [gates * hidden, input]
  const double* r = nullptr;   ///< [gates * hidden, hidden]
  std::vector<double> w_bias;  ///< [gates * hidden], zeros where the node has none
  std::vector<double> r_bias;
  const double* peephole = nullptr;              ///< LSTM: [3 * hidden] for i, o, f; null: none
  std::vector<RecurrentActivation> activations;  ///< f, g, h

  /// out = W x + W_bias of a gate.
  void input_part(int gate, const double* x, std::vector<double>& out) const;
  /// out += R h + R_bias of a gate.
  void add_recurrent_part(int gate, const double* h, std::vector<double>& out) const;
};

/// Updates h and c (LSTM) from the input of one time step.
using RecurrentStep = std::function<void(const RecurrentCell& cell, const double* x, std::vector<double>& h,
                                         std::vector<double>& c)>;

/// Evaluates a node: runs `step` over every direction, batch element and time step (as far as
/// sequence_lens goes; Y is zero after it) and sets the outputs. `defaults`: activations of one direction.
Status run_recurrent(EvalContext& ctx, int gates, const std::vector<std::string>& defaults,
                     const RecurrentStep& step);

}  // namespace atc::ops
