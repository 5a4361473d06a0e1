#include "ops/move.h"

#include "ops/reference_util.h"

namespace atc::ops {

Status lower_view(LowerContext& ctx) {
  ctx.alias(ctx.node().output(0), ctx.node().input(0));
  return {};
}

Status emit_copies(LowerContext& ctx, DType dtype, std::vector<kernels::CopySegment> segments,
                   std::vector<kernels::Operand> operands) {
  kernels::CopySpec spec;
  spec.element_bytes = bit_width(dtype) / 8;
  spec.segments = std::move(segments);
  ATC_ASSIGN(kernels::Task task, kernels::make_strided_copy(spec, std::move(operands), ctx.chip()));
  ctx.emit(std::move(task));
  return {};
}

Status emit_copy(LowerContext& ctx, const Dims& dims, const Box& from, const Box& to) {
  kernels::CopySegment s;
  s.dims = dims;
  s.src_offset = from.offset;
  s.src_strides = from.strides;
  s.dst_offset = to.offset;
  s.dst_strides = to.strides;
  const ir::Node& n = ctx.node();
  return emit_copies(ctx, n.input(0)->type.dtype, {std::move(s)},
                     {ctx.read(n.input(0)), ctx.write(n.output(0))});
}

bool is_copyable(DType dtype) {
  const int bits = bit_width(dtype);
  return bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

bool copies_input(const ir::Node& node) { return is_copyable(node.input(0)->type.dtype); }

std::optional<Dims> constant_list(const ir::Node& node, std::size_t input) {
  const ir::Value* v = node.input(input);
  if (v == nullptr || !v->is_constant()) return std::nullopt;
  return to_int64s(v->constant());
}

bool parameters_are_constant(const ir::Node& node, std::size_t first) {
  for (std::size_t i = first; i < node.inputs().size(); ++i)
    if (node.input(i) != nullptr && !node.input(i)->is_constant()) return false;
  return true;
}

}  // namespace atc::ops
