#pragma once

#include <span>
#include <vector>

#include "aicore/core.h"
#include "kernels/vector_program.h"

namespace atc::kernels {

/// A tile of the Unified Buffer that a step program reads or writes in place of an operand.
struct Port {
  RegType type = RegType::F32;
  Lanes lanes = Lanes::Full;
  bool readable = true;
  bool writable = false;
};

/// A vector program without reductions whose operands are buffers on chip ("ports"): what a recurrent kernel
/// runs in each time step. Loads are free; a result that is stored is computed in its port's buffer where
/// nothing reads that port afterwards, else it is copied there. Immutable.
class StepProgram {
 public:
  /// E10041 when the program is not well formed for these ports, or reads a port after it was stored to.
  static StatusOr<StepProgram> create(const VectorProgram& program, std::vector<Port> ports);

  /// Temporary buffers (each for a whole tile of 4-byte elements) and constants (one element each).
  int slots() const { return slots_; }
  const std::vector<VecInstr>& constants() const { return constants_; }
  int instructions() const { return static_cast<int>(program_.code.size()); }
  /// Ports that the program stores to, ascending.
  const std::vector<int>& stored() const { return stored_; }

  /// Fills the buffers of constants().
  void fill_constants(aicore::Core& core, std::span<aicore::Buffer* const> constants) const;
  /// One tile of rows x cols. `ports` in the order of create(); null where the program does not use one.
  void run(aicore::Core& core, std::span<aicore::Buffer* const> slots,
           std::span<aicore::Buffer* const> constants, std::span<aicore::Buffer* const> ports, int rows,
           int cols) const;

 private:
  enum class Place : std::uint8_t { Slot, Constant, Port };
  struct Register {
    RegType type = RegType::F32;
    Lanes lanes = Lanes::Scalar;
    Place place = Place::Slot;
    int index = -1;  // of its place
  };
  Status analyse();
  void place_stores();
  Status check_order() const;
  void assign_slots();

  VectorProgram program_;
  std::vector<Port> ports_;
  std::vector<Register> registers_;
  std::vector<VecInstr> constants_;
  std::vector<int> stored_;
  int slots_ = 0;
};

}  // namespace atc::kernels
