#pragma once

#include <functional>
#include <vector>

#include "ops/op.h"

// What LSTM, GRU and RNN share: shapes, activations, and the walk over time.
namespace atc::ops {

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
  const double* peephole = nullptr;                        ///< LSTM: [3 * hidden] for i, o, f; null: none
  std::vector<std::function<double(double)>> activations;  ///< f, g, h; their inputs clipped as `clip` asks

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
