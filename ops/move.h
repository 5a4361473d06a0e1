#pragma once

#include "kernels/strided_copy.h"
#include "ops/lower.h"

// Lowering of operators that move elements: views, and strided copies.
namespace atc::ops {

/// Output 0 has the elements of input 0 in the same order: no task. Lowering of Reshape and its kin.
Status lower_view(LowerContext& ctx);

/// A dense box of elements of one operand, to be read or written: offset and strides in elements.
struct Box {
  std::int64_t offset = 0;
  Dims strides;
};

/// dst box <- src box, one segment. Operands: 0 src, 1 dst.
Status emit_copy(LowerContext& ctx, const Dims& dims, const Box& from, const Box& to);

/// Any list of segments over the given operands. `dtype` gives the element size.
Status emit_copies(LowerContext& ctx, DType dtype, std::vector<kernels::CopySegment> segments,
                   std::vector<kernels::Operand> operands);

/// True for element sizes that copies move (whole bytes).
bool is_copyable(DType dtype);
bool copies_input(const ir::Node& node);  ///< is_copyable of input 0

/// The elements of a constant integer input (shape, axes, starts), nullopt when absent or not constant.
std::optional<Dims> constant_list(const ir::Node& node, std::size_t input);
/// True when every present input from `first` on is constant.
bool parameters_are_constant(const ir::Node& node, std::size_t first);

}  // namespace atc::ops
