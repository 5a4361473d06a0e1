#pragma once

#include <string>
#include <vector>

#include "atc/base/status.h"
#include "atc/ir/graph.h"
#include "kernels/vector_program.h"

namespace atc::ops {

/// One activation function of a recurrent node with its parameters.
class RecurrentActivation {
 public:
  enum class Kind {
    Affine,
    Elu,
    HardSigmoid,
    LeakyRelu,
    Relu,
    ScaledTanh,
    Sigmoid,
    Softplus,
    Softsign,
    Tanh,
    ThresholdedRelu
  };
  RecurrentActivation(Kind kind, double alpha, double beta, double clip)
      : kind_(kind), alpha_(alpha), beta_(beta), clip_(clip) {}

  /// The function of x, clipped to [-clip, clip] first when the node has clip > 0.
  double operator()(double x) const;
  /// The same as instructions on register x (f32); gives the result's register.
  int emit(kernels::VectorProgram& program, int x) const;

 private:
  Kind kind_;
  double alpha_, beta_, clip_;
};

/// The activation functions of a recurrent node in order (f, g, h of the first direction, then of the
/// second): `activations` or else `defaults` for each direction. activation_alpha and activation_beta are
/// consumed in order by those functions that have them; what is missing takes the function's default.
StatusOr<std::vector<RecurrentActivation>> recurrent_activations(const ir::Node& node,
                                                                 const std::vector<std::string>& defaults,
                                                                 std::size_t directions);

}  // namespace atc::ops
