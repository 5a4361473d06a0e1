#pragma once

#include <string>
#include <vector>

#include "kernels/recurrent.h"
#include "ops/lower.h"
#include "ops/recurrent.h"
#include "ops/recurrent_activation.h"

// LSTM, GRU and RNN on the AI Core: one matrix product gives what the input contributes to all gates of all
// time steps; one recurrent task walks over time.
namespace atc::ops {

/// What the gates' programs of a cell see while they are written.
struct StepForm {
  kernels::RecurrentSpec& spec;
  const ir::Node& node;
  int peephole = -1;        ///< number of the first of three vectors (i, o, f), -1: none
  std::vector<int> r_bias;  ///< for each gate the vector that its product still lacks, -1: none
};

/// Appends the stages of one direction to `direction`; `f` are its activations.
using StepBuilder = void (*)(const StepForm& form, const std::vector<RecurrentActivation>& f,
                             kernels::RecurrentSpec::Direction& direction);

/// What lowering needs to know of a cell.
struct CellForm {
  int gates = 1;
  int outer_states = 1;                  ///< states with initial values and outputs: h, and c of LSTM
  int states = 1;                        ///< with those that live within a step
  std::vector<std::string> activations;  ///< defaults of one direction
  /// A gate whose recurrent bias stays with the product (GRU with linear_before_reset), -1: none.
  int separate_bias = -1;
  StepBuilder build = nullptr;
};

/// Precondition: lowers_recurrent(ctx.node()).
Status lower_recurrent(LowerContext& ctx, const CellForm& cell);

/// Writes the program of a stage: gates, masks, stores.
class StepWriter {
 public:
  StepWriter(const StepForm& form, kernels::RecurrentSpec::Stage& stage)
      : form_(form), spec_(form.spec), p_(stage.program) {}

  int op(kernels::VecOp o, int a, int b = -1, int c = -1) {
    return p_.emit(o, kernels::RegType::F32, a, b, c);
  }
  int constant(double v) { return p_.constant(kernels::RegType::F32, v); }
  int state(int s) { return load(spec_.state_port(s)); }
  int input(int gate) { return load(spec_.input_port(gate)); }
  /// State x weights of a gate, with the bias that belongs to it.
  int product(int gate);
  /// All that enters a gate's activation but peepholes.
  int sum(int gate) { return op(kernels::VecOp::Add, product(gate), input(gate)); }
  /// `x` + peephole k of the node times `state`, or x.
  int with_peephole(int x, int k, int state);
  int activate(const RecurrentActivation& f, int x) { return f.emit(p_, x); }
  void store(int state, int value) { p_.store(spec_.state_port(state), kernels::RegType::F32, value); }
  /// Stores the new values of the states that leave the step, and the output. Rows that have ended keep their
  /// states and put out zeros. `fresh` holds one register a state, `old` the states as loaded.
  void finish(const std::vector<int>& fresh, const std::vector<int>& old);

 private:
  int load(int port) { return p_.load(port, kernels::RegType::F32); }
  const StepForm& form_;
  const kernels::RecurrentSpec& spec_;
  kernels::VectorProgram& p_;
};

}  // namespace atc::ops
