#pragma once

#include <vector>

#include "atc/ir/graph.h"
#include "kernels/vector_program.h"

namespace atc::ops {

/// What an elementwise operator sees when it is put into a vector program: its inputs are registers,
/// it emits instructions and sets its outputs. Used for single nodes and for fused bodies alike.
/// Narrow integers are kept wrapped by the caller after each operator (Add of u8 wraps at 256).
class VectorEmitter {
 public:
  using Reg = int;
  VectorEmitter(const ir::Node& node, kernels::VectorProgram& program, std::vector<Reg> inputs)
      : node_(node), program_(program), inputs_(std::move(inputs)), outputs_(node.outputs().size(), -1) {}

  const ir::Node& node() const { return node_; }
  std::size_t input_count() const { return inputs_.size(); }
  bool has_input(std::size_t i) const { return i < inputs_.size() && inputs_[i] >= 0; }
  Reg input(std::size_t i) const { return inputs_[i]; }
  /// Storage dtype of input i / output i of the node.
  DType dtype(std::size_t i) const { return node_.input(i)->type.dtype; }
  DType output_dtype(std::size_t i = 0) const { return node_.output(i)->type.dtype; }
  kernels::RegType type(Reg r) const { return program_.type_of(r); }

  Reg constant(kernels::RegType type, double value) { return program_.constant(type, value); }
  /// Result has the type of `a`, B8 for comparisons and logic.
  Reg binary(kernels::VecOp op, Reg a, Reg b);
  Reg unary(kernels::VecOp op, Reg a);
  Reg select(Reg condition, Reg a, Reg b);
  Reg cast(Reg a, kernels::RegType type);
  void set_output(std::size_t i, Reg r) { outputs_[i] = r; }
  Reg output(std::size_t i) const { return outputs_[i]; }
  kernels::VectorProgram& program() { return program_; }

 private:
  const ir::Node& node_;
  kernels::VectorProgram& program_;
  std::vector<Reg> inputs_;
  std::vector<Reg> outputs_;
};

}  // namespace atc::ops
