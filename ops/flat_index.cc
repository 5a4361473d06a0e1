#include "ops/flat_index.h"

#include <limits>

#include "atc/base/math.h"
#include "kernels/vector_program.h"
#include "ops/reference_util.h"

namespace atc::ops {
namespace {

using kernels::RegType;
using kernels::VecOp;

/// Registers of a part's flat value and of whether it is in range.
struct Normal {
  int flat;
  int valid;
};

Normal emit_part(kernels::VectorProgram& p, int x, const IndexPart& part, RegType result) {
  const RegType type = p.type_of(x);
  const int zero = p.constant(type, 0), length = p.constant(type, static_cast<double>(part.length));
  const int negative = p.emit(VecOp::Less, type, x, zero);
  const int from_end = p.emit(VecOp::Add, type, x, length);
  const int row = p.emit(VecOp::Select, type, from_end, x, negative);
  const int below = p.emit(VecOp::Less, type, row, length);
  const int valid = p.emit(VecOp::And, RegType::B8, below, p.emit(VecOp::GreaterEqual, type, row, zero));
  // Zero where it is out of range, whence what is narrowed and multiplied is small.
  int flat = p.emit(VecOp::Select, type, row, zero, valid);
  if (type != result) flat = p.emit(VecOp::Cast, result, flat);
  if (part.step != 1)
    flat = p.emit(VecOp::Mul, result, flat, p.constant(result, static_cast<double>(part.step)));
  return {flat, valid};
}

Tensor steps_table(DType dtype, std::int64_t length, std::int64_t step) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < length; ++i) values.push_back(i * step);
  return from_int64s(dtype, {length}, values);
}

}  // namespace

std::vector<IndexPart> tuple_parts(const ir::Value* value, const Dims& lengths) {
  Dims strides = row_major_strides(value->type.dims());
  strides.pop_back();
  const Dims steps = row_major_strides(lengths);
  std::vector<IndexPart> parts;
  for (std::size_t k = 0; k < lengths.size(); ++k)
    parts.push_back({value, static_cast<std::int64_t>(k), strides, lengths[k], steps[k]});
  return parts;
}

Status check_beside_axis(const ir::Node& node, std::size_t axis) {
  const Dims data = node.input(0)->type.dims(), indices = node.input(1)->type.dims();
  for (std::size_t d = 0; d < data.size(); ++d)
    if (d != axis && indices[d] > data[d])
      return cannot_lower(node, "has indices of shape [" + to_string(indices) +
                                    "] that exceed data of shape [" + to_string(data) + "] in axis " +
                                    std::to_string(d));
  return {};
}

StatusOr<kernels::Operand> emit_flat_indices(LowerContext& ctx, const Dims& dims,
                                             const std::vector<IndexPart>& parts, const Dims& position_steps,
                                             std::int64_t rows) {
  // Registers hold integers of programs as doubles.
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  if (rows > kExact) return cannot_lower(ctx.node(), "indexes more than 2^53 elements");
  const bool narrow = rows <= std::numeric_limits<std::int32_t>::max();
  const RegType type = narrow ? RegType::I32 : RegType::I64;
  const DType dtype = narrow ? DType::I32 : DType::I64;

  kernels::VectorProgram p;
  kernels::VectorSpace space;
  space.dims = dims;
  std::vector<kernels::Operand> operands;
  auto load = [&](const kernels::Operand& operand, std::int64_t offset, Dims strides) {
    operands.push_back(operand);
    space.offsets.push_back(offset);
    space.strides.push_back(std::move(strides));
    return p.load(static_cast<int>(operands.size()) - 1, *aicore::reg_type_of(operand.dtype));
  };
  int sum = -1, valid = -1;
  auto add = [&](int x) { sum = sum < 0 ? x : p.emit(VecOp::Add, type, sum, x); };
  for (const IndexPart& part : parts) {
    const Normal n = emit_part(p, load(ctx.read(part.value), part.offset, part.strides), part, type);
    add(n.flat);
    valid = valid < 0 ? n.valid : p.emit(VecOp::And, RegType::B8, valid, n.valid);
  }
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 1 || position_steps[d] == 0) continue;
    const Tensor table = steps_table(dtype, dims[d], position_steps[d]);
    Dims strides(dims.size(), 0);
    strides[d] = 1;
    const std::string name = ctx.node().name + "/steps" + std::to_string(d);
    add(load(ctx.constant(name, table), 0, std::move(strides)));
  }
  const int outside = p.constant(type, static_cast<double>(rows));
  int result = sum < 0 ? p.constant(type, 0) : sum;
  if (valid >= 0) result = p.emit(VecOp::Select, type, result, outside, valid);

  const auto bytes = checked_mul(element_count(dims), static_cast<std::int64_t>(bit_width(dtype) / 8));
  if (!bytes) return cannot_lower(ctx.node(), "has more indices than 64 bits count");
  const kernels::Operand out = ctx.workspace(dtype, *bytes);
  operands.push_back(out);
  space.offsets.push_back(0);
  space.strides.push_back(row_major_strides(dims));
  p.store(static_cast<int>(operands.size()) - 1, type, result);
  ATC_ASSIGN(kernels::Task task, kernels::make_vector_task(p, space, std::move(operands), ctx.chip()));
  ctx.emit(std::move(task), ctx.node().op_type + "/index");
  kernels::Operand in = out;
  in.output = false;
  return in;
}

}  // namespace atc::ops
