#include <numeric>
#include <string>

#include "kernels/scatter.h"
#include "kernels/vector_program.h"
#include "ops/axis_view.h"
#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/move.h"
#include "ops/op.h"
#include "ops/reference_util.h"

// TensorScatter: writes new steps into a key/value cache, at a position of its own for each batch entry.
namespace atc::ops {
namespace {

constexpr std::string_view kAxis = "axis";  // Int, -2: the sequence axis of the cache
constexpr std::string_view kMode = "mode";  // String, "linear" or "circular": whether positions wrap
constexpr std::size_t kWriteIndices = 2;    // optional, [batch]; 0 when absent

Status infer_tensor_scatter(InferContext& ctx) {
  const std::string mode = ctx.node().attrs.get_string(kMode, "linear");
  if (mode != "linear" && mode != "circular")
    return ctx.error("attribute mode must be linear or circular, found '" + mode + "'");
  ATC_TRY(require_same_dtype(ctx, 1, 0));
  ATC_TRY(require_rank(ctx, 0, 2));
  if (ctx.ranked(0)) {
    const std::size_t rank = ctx.shape(0).size();
    ATC_ASSIGN(const std::int64_t axis, axis_attribute(ctx, kAxis, -2, rank));
    if (axis == 0) return ctx.error("attribute axis must not be the batch axis 0");
    ATC_TRY(require_rank(ctx, 1, rank, rank));
    ATC_TRY(require_vector(ctx, kWriteIndices, ctx.shape(0)[0]));
  }
  if (ctx.has_input(kWriteIndices)) ATC_TRY(require_dtype(ctx, kWriteIndices, {DType::I64}, "type i64"));
  return infer_same_as_input(ctx);
}

Status reference_tensor_scatter(EvalContext& ctx) {
  const Tensor& cache = ctx.input(0);
  const Tensor& update = ctx.input(1);
  const auto rank = static_cast<std::int64_t>(cache.shape.size());
  const auto axis = normalize_axis(ctx.node().attrs.get_int(kAxis, -2), rank);
  if (!axis || *axis == 0) return ctx.error("attribute axis does not name a sequence axis of the cache");
  const auto at = static_cast<std::size_t>(*axis);
  Dims expected = cache.shape;
  const std::int64_t steps = update.shape.size() == cache.shape.size() ? update.shape[at] : -1;
  expected[at] = steps;
  if (update.shape != expected)
    return ctx.error("update of shape [" + to_string(update.shape) + "] does not fit a cache of shape [" +
                     to_string(cache.shape) + "]");
  const std::int64_t batches = cache.shape[0];
  const Dims first = ctx.has_input(kWriteIndices) ? to_int64s(ctx.input(kWriteIndices))
                                                  : Dims(static_cast<std::size_t>(batches), 0);
  if (static_cast<std::int64_t>(first.size()) != batches)
    return ctx.error("write_indices must have one entry a batch");

  const bool circular = ctx.node().attrs.get_string(kMode, "linear") == "circular";
  const AxisView view = axis_view(cache.shape, *axis);
  const auto length = static_cast<std::int64_t>(view.length);
  const auto inner = static_cast<std::int64_t>(view.inner);
  const auto outer = static_cast<std::int64_t>(view.outer);
  ElementWriter out(cache.dtype, cache.shape);
  out.copy(0, cache, 0, cache.count());
  for (std::int64_t o = 0; o < outer; ++o) {
    const std::int64_t batch = o / (outer / batches);
    const std::int64_t start = first[static_cast<std::size_t>(batch)];
    if (start < 0 || (circular ? start >= length : start > length - steps))
      return ctx.error("positions " + std::to_string(start) + " to " + std::to_string(start + steps - 1) +
                       " of batch " + std::to_string(batch) + " are outside an axis of length " +
                       std::to_string(length));
    for (std::int64_t s = 0; s < steps; ++s)
      out.copy((o * length + (start + s) % length) * inner, update, (o * steps + s) * inner, inner);
  }
  ctx.outputs[0] = std::move(out).freeze();
  return {};
}

// Lowering ------------------------------------------------------------------------------------------

using kernels::RegType;
using kernels::VecOp;

/// The row of the cache that each step of each batch entry goes to, [outer, steps], in I64. A position
/// outside the cache (an error that only the run can see) names no row, and that step is dropped.
StatusOr<kernels::Operand> emit_rows(LowerContext& ctx, const Dims& space_dims, std::int64_t length) {
  const ir::Node& n = ctx.node();
  std::vector<std::int64_t> steps(static_cast<std::size_t>(space_dims.back()));
  std::iota(steps.begin(), steps.end(), 0);
  kernels::VectorSpace space;
  space.dims = space_dims;
  space.strides = {{0, 0, 1}};
  std::vector<kernels::Operand> operands = {
      ctx.constant(n.name + "/steps", from_int64s(DType::I64, {std::ssize(steps)}, steps))};
  kernels::VectorProgram p;
  int row = p.load(0, RegType::I64);
  if (n.input(kWriteIndices) != nullptr) {
    operands.push_back(ctx.read(n.input(kWriteIndices)));
    space.strides.push_back({1, 0, 0});
    row = p.emit(VecOp::Add, RegType::I64, p.load(1, RegType::I64), row);
  }
  if (n.attrs.get_string(kMode, "linear") == "circular")
    row = p.emit(VecOp::Mod, RegType::I64, row, p.constant(RegType::I64, static_cast<double>(length)));
  const kernels::Operand rows = ctx.workspace(DType::I64, element_count(space_dims) * 8);
  operands.push_back(rows);
  space.strides.push_back(row_major_strides(space_dims));
  space.offsets.assign(operands.size(), 0);
  p.store(static_cast<int>(operands.size()) - 1, RegType::I64, row);
  ATC_ASSIGN(kernels::Task task, kernels::make_vector_task(p, space, std::move(operands), ctx.chip()));
  ctx.emit(std::move(task), "TensorScatter/index");
  kernels::Operand from = rows;
  from.output = false;
  return from;
}

Status lower_tensor_scatter(LowerContext& ctx) {
  const ir::Node& n = ctx.node();
  const Dims cache = n.input(0)->type.dims(), update = n.input(1)->type.dims();
  const auto axis = static_cast<std::size_t>(*normalize_axis(n.attrs.get_int(kAxis, -2), std::ssize(cache)));
  Dims expected = cache;
  expected[axis] = update[axis];
  if (update != expected)
    return cannot_lower(n, "has an update of shape [" + to_string(update) +
                               "] that does not fit a cache of [" + to_string(cache) + "]");
  const AxisView view = axis_view(cache, static_cast<std::int64_t>(axis));
  kernels::ScatterSpec s;
  s.batch = static_cast<std::int64_t>(view.outer);
  s.axis = static_cast<std::int64_t>(view.length);
  s.count = update[axis];
  s.inner = static_cast<std::int64_t>(view.inner);
  ATC_ASSIGN(const kernels::Operand rows, emit_rows(ctx, {cache[0], s.batch / cache[0], s.count}, s.axis));
  ATC_ASSIGN(kernels::Task task,
             kernels::make_scatter(
                 s, {ctx.read(n.input(0)), rows, ctx.read(n.input(1)), ctx.write(n.output(0))}, ctx.chip()));
  ctx.emit(std::move(task));
  return {};
}

}  // namespace

void register_tensor_scatter(Registry& r) {
  r.add({.name = "TensorScatter",
         .since = 24,
         .attrs = {{kAxis, AttrKind::Int}, {kMode, AttrKind::String}},
         .inputs = {2, 3},
         .infer = infer_tensor_scatter,
         .reference = reference_tensor_scatter,
         .lower = lower_tensor_scatter,
         .lowers = copies_input});
}

}  // namespace atc::ops
