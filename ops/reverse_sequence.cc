#include <numeric>
#include <string>

#include "kernels/gather.h"
#include "kernels/vector_program.h"
#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/move.h"
#include "ops/op.h"
#include "ops/reference_util.h"

// ReverseSequence: the first sequence_lens[b] steps of each batch entry in reverse order, the rest kept.
namespace atc::ops {
namespace {

constexpr std::string_view kBatchAxis = "batch_axis";  // Int, 1: one of axes 0 and 1
constexpr std::string_view kTimeAxis = "time_axis";    // Int, 0: the other

struct Axes {
  std::size_t batch = 1;
  std::size_t time = 0;
};

StatusOr<Axes> axes_of(const ir::Node& node, const auto& ctx) {
  const std::int64_t batch = node.attrs.get_int(kBatchAxis, 1);
  const std::int64_t time = node.attrs.get_int(kTimeAxis, 0);
  if (batch + time != 1 || batch * time != 0)
    return ctx.error("attributes batch_axis and time_axis are " + std::to_string(batch) + " and " +
                     std::to_string(time) + ", expected 0 and 1 or 1 and 0");
  return Axes{static_cast<std::size_t>(batch), static_cast<std::size_t>(time)};
}

Status infer_reverse_sequence(InferContext& ctx) {
  ATC_ASSIGN(const Axes axes, axes_of(ctx.node(), ctx));
  ATC_TRY(require_dtype(ctx, 1, {DType::I64}, "type i64"));
  ATC_TRY(require_rank(ctx, 0, 2));
  if (ctx.ranked(0)) ATC_TRY(require_vector(ctx, 1, ctx.shape(0)[axes.batch]));
  return infer_same_as_input(ctx);
}

Status reference_reverse_sequence(EvalContext& ctx) {
  ATC_ASSIGN(const Axes axes, axes_of(ctx.node(), ctx));
  const Tensor& x = ctx.input(0);
  const std::vector<std::int64_t> lengths = to_int64s(ctx.input(1));
  if (x.shape.size() < 2 || static_cast<std::int64_t>(lengths.size()) != x.shape[axes.batch])
    return ctx.error("sequence_lens does not fit an input of shape [" + to_string(x.shape) + "]");
  for (std::int64_t length : lengths)
    if (length < 0 || length > x.shape[axes.time])
      return ctx.error("sequence length " + std::to_string(length) + " is outside [0, " +
                       std::to_string(x.shape[axes.time]) + "]");
  const std::int64_t step = row_major_strides(x.shape)[axes.time];
  ElementWriter out(x.dtype, x.shape);
  for (NdIndex at(x.shape); !at.done(); at.next()) {
    const std::int64_t length = lengths[static_cast<std::size_t>(at[axes.batch])];
    const std::int64_t t = at[axes.time];
    const std::int64_t source = t < length ? length - 1 - t : t;
    out.copy(at.position(), x, at.position() + (source - t) * step);
  }
  ctx.outputs[0] = std::move(out).freeze();
  return {};
}

// Lowering ------------------------------------------------------------------------------------------

using kernels::RegType;
using kernels::VecOp;

Tensor positions(std::int64_t count) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  return from_int64s(DType::I64, {count}, values);
}

/// The row that every position of the first two axes reads, then a gather of rows. A length outside its range
/// (an error that only the run can see) names no row, or another one of its sequence.
Status lower_reverse_sequence(LowerContext& ctx) {
  const ir::Node& n = ctx.node();
  ATC_ASSIGN(const Axes axes, axes_of(n, InferContext(n)));
  const Dims x = n.input(0)->type.dims();
  const std::int64_t rows = x[0] * x[1];
  // Batch by batch where its rows are together, else over all rows.
  const bool by_batch = axes.batch == 0;

  kernels::VectorSpace space;
  space.dims = {x[0], x[1]};
  Dims along_batch(2, 0), along_time(2, 0);
  along_batch[axes.batch] = 1;
  along_time[axes.time] = 1;
  std::vector<kernels::Operand> operands = {ctx.read(n.input(1)),
                                            ctx.constant(n.name + "/steps", positions(x[axes.time]))};
  space.strides = {along_batch, along_time};
  kernels::VectorProgram p;
  const int length = p.load(0, RegType::I64), t = p.load(1, RegType::I64);
  const int last = p.emit(VecOp::Sub, RegType::I64, length, p.constant(RegType::I64, 1));
  const int mirrored = p.emit(VecOp::Sub, RegType::I64, last, t);
  int row = p.emit(VecOp::Select, RegType::I64, mirrored, t, p.emit(VecOp::Less, RegType::I64, t, length));
  if (!by_batch) {
    operands.push_back(ctx.constant(n.name + "/entries", positions(x[1])));
    space.strides.push_back(along_batch);
    row = p.emit(VecOp::Mul, RegType::I64, row, p.constant(RegType::I64, static_cast<double>(x[1])));
    row = p.emit(VecOp::Add, RegType::I64, row, p.load(2, RegType::I64));
  }
  const kernels::Operand index = ctx.workspace(DType::I64, rows * 8);
  operands.push_back(index);
  space.strides.push_back({x[1], 1});
  space.offsets.assign(operands.size(), 0);
  p.store(static_cast<int>(operands.size()) - 1, RegType::I64, row);
  ATC_ASSIGN(kernels::Task rows_task, kernels::make_vector_task(p, space, std::move(operands), ctx.chip()));
  ctx.emit(std::move(rows_task), "ReverseSequence/index");

  kernels::GatherSpec s;
  s.element_bytes = bit_width(n.input(0)->type.dtype) / 8;
  s.batch = by_batch ? x[0] : 1;
  s.axis = s.count = by_batch ? x[1] : rows;
  s.inner = element_count(Dims(x.begin() + 2, x.end()));
  kernels::Operand from = index;
  from.output = false;
  ATC_ASSIGN(kernels::Task task,
             kernels::make_gather(s, {ctx.read(n.input(0)), from, ctx.write(n.output(0))}, ctx.chip()));
  ctx.emit(std::move(task));
  return {};
}

}  // namespace

void register_reverse_sequence(Registry& r) {
  r.add({.name = "ReverseSequence",
         .since = 10,
         .attrs = {{kBatchAxis, AttrKind::Int}, {kTimeAxis, AttrKind::Int}},
         .inputs = {2, 2},
         .infer = infer_reverse_sequence,
         .reference = reference_reverse_sequence,
         .lower = lower_reverse_sequence,
         .lowers = copies_input});
}

}  // namespace atc::ops
