#include "kernels/gather.h"

#include <numeric>
#include <string>

#include "ops/axis_view.h"
#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/flat_index.h"
#include "ops/indices.h"
#include "ops/infer_checks.h"
#include "ops/move.h"
#include "ops/op.h"
#include "ops/reference_util.h"
#include "ops/shape_value.h"

// Reading elements by index: Gather, GatherElements, GatherND.
namespace atc::ops {
namespace {

constexpr std::string_view kAxis = "axis";  // Int, 0

// Gather --------------------------------------------------------------------------------------------

/// Picks elements of a shape value; an index outside the shape is the user's fault.
Status gather_elements(InferContext& ctx) {
  const auto data = elements_of(ctx, 0);
  const auto indices = literals_of(ctx, 1);
  if (!data || !indices || !ctx.ranked(1) || ctx.shape(1).size() > 1) return {};
  ir::Shape out;
  for (std::int64_t index : *indices) {
    const auto at = normalize_axis(index, static_cast<std::int64_t>(data->size()));
    if (!at)
      return ctx.input_error(1, "has the index " + std::to_string(index) + ", outside an axis of length " +
                                    std::to_string(data->size()));
    out.push_back((*data)[static_cast<std::size_t>(*at)]);
  }
  set_elements(ctx, 0, std::move(out));
  return {};
}

Status infer_gather(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 1, kIndexTypes, "type i32 or i64"));
  ATC_TRY(require_rank(ctx, 0, 1));
  if (!ctx.ranked(0) || !ctx.ranked(1)) {
    ctx.set_output(0, ctx.dtype(0), std::nullopt);
    return gather_elements(ctx);
  }
  ir::Shape shape = ctx.shape(0);
  ATC_ASSIGN(const std::int64_t axis, axis_attribute(ctx, kAxis, 0, shape.size()));
  const auto at = shape.erase(shape.begin() + axis);
  shape.insert(at, ctx.shape(1).begin(), ctx.shape(1).end());
  const bool vector = ctx.shape(0).size() == 1;
  ctx.set_output(0, ctx.dtype(0), std::move(shape));
  if (vector) return gather_elements(ctx);
  return {};
}

Status reference_gather(EvalContext& ctx) {
  const Tensor& data = ctx.input(0);
  const auto axis =
      normalize_axis(ctx.node().attrs.get_int(kAxis, 0), static_cast<std::int64_t>(data.shape.size()));
  if (!axis) return ctx.error("attribute axis is outside the rank " + std::to_string(data.shape.size()));
  const std::int64_t length = data.shape[static_cast<std::size_t>(*axis)];
  ATC_ASSIGN(const std::vector<std::int64_t> indices, normal_indices(ctx, 1, length));

  Dims shape = data.shape;
  const auto at = shape.erase(shape.begin() + *axis);
  shape.insert(at, ctx.input(1).shape.begin(), ctx.input(1).shape.end());
  const AxisView view = axis_view(data.shape, *axis);
  const auto outer = static_cast<std::int64_t>(view.outer);
  const auto inner = static_cast<std::int64_t>(view.inner);
  ElementWriter out(data.dtype, std::move(shape));
  std::int64_t to = 0;
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t index : indices) {
      out.copy(to, data, (o * length + index) * inner, inner);
      to += inner;
    }
  ctx.outputs[0] = std::move(out).freeze();
  return {};
}

// GatherElements --------------------------------------------------------------------------------------

Status infer_gather_elements(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 1, kIndexTypes, "type i32 or i64"));
  ATC_TRY(require_rank(ctx, 0, 1));
  if (ctx.ranked(0)) {
    ATC_TRY(require_rank(ctx, 1, ctx.shape(0).size(), ctx.shape(0).size()));
    ATC_TRY(axis_attribute(ctx, kAxis, 0, ctx.shape(0).size()).status());
  }
  ctx.set_output(0, ctx.dtype(0), ctx.type(1).shape);
  return {};
}

Status reference_gather_elements(EvalContext& ctx) {
  const Tensor& data = ctx.input(0);
  ATC_ASSIGN(const std::vector<std::int64_t> source, element_targets(ctx, data.shape));
  ElementWriter out(data.dtype, ctx.input(1).shape);
  for (std::size_t i = 0; i < source.size(); ++i) out.copy(static_cast<std::int64_t>(i), data, source[i]);
  ctx.outputs[0] = std::move(out).freeze();
  return {};
}

// GatherND --------------------------------------------------------------------------------------------

constexpr std::string_view kBatchDims = "batch_dims";  // Int, 0, since 12

Status infer_gather_nd(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 1, {DType::I64}, "type i64"));
  ATC_TRY(require_rank(ctx, 0, 1));
  ATC_TRY(require_rank(ctx, 1, 1));
  ctx.set_output(0, ctx.dtype(0), std::nullopt);
  if (!ctx.ranked(0) || !ctx.ranked(1) || !ctx.shape(1).back().known()) return {};
  const ir::Shape& data = ctx.shape(0);
  const ir::Shape& indices = ctx.shape(1);
  const std::int64_t batch = ctx.node().attrs.get_int(kBatchDims, 0);
  const std::int64_t tuple = indices.back().value;
  if (batch < 0 || batch >= static_cast<std::int64_t>(std::min(data.size(), indices.size())))
    return ctx.error("attribute batch_dims is " + std::to_string(batch) + ", expected less than both ranks " +
                     std::to_string(data.size()) + " and " + std::to_string(indices.size()));
  if (batch + tuple > static_cast<std::int64_t>(data.size()))
    return ctx.input_error(
        1, "has index tuples of length " + std::to_string(tuple) + ", more than the axes of data");
  ir::Shape shape(indices.begin(), indices.end() - 1);
  shape.insert(shape.end(), data.begin() + batch + tuple, data.end());
  ctx.set_output(0, ctx.dtype(0), std::move(shape));
  return {};
}

Status reference_gather_nd(EvalContext& ctx) {
  const Tensor& data = ctx.input(0);
  const Dims& index_dims = ctx.input(1).shape;
  const auto batch = static_cast<std::size_t>(ctx.node().attrs.get_int(kBatchDims, 0));
  ATC_ASSIGN(const TupleTargets targets, tuple_targets(ctx, data.shape, batch));
  Dims shape(index_dims.begin(), index_dims.end() - 1);
  shape.insert(shape.end(), data.shape.begin() + static_cast<std::ptrdiff_t>(batch) + index_dims.back(),
               data.shape.end());
  ElementWriter out(data.dtype, std::move(shape));
  std::int64_t to = 0;
  for (std::int64_t offset : targets.offsets) {
    out.copy(to, data, offset, targets.run);
    to += targets.run;
  }
  ctx.outputs[0] = std::move(out).freeze();
  return {};
}

// Lowering ------------------------------------------------------------------------------------------

bool lowers_gather(const ir::Node& node) {
  const DType index = node.input(1)->type.dtype;
  return copies_input(node) && (index == DType::I32 || index == DType::I64);
}

Status lower_gather(LowerContext& ctx) {
  const ir::Node& n = ctx.node();
  const Dims data = n.input(0)->type.dims();
  const auto axis = *normalize_axis(n.attrs.get_int(kAxis, 0), std::ssize(data));
  kernels::GatherSpec s;
  s.element_bytes = bit_width(n.input(0)->type.dtype) / 8;
  s.outer = element_count(Dims(data.begin(), data.begin() + axis));
  s.axis = data[static_cast<std::size_t>(axis)];
  s.count = element_count(n.input(1)->type.dims());
  s.inner = element_count(Dims(data.begin() + axis + 1, data.end()));
  ATC_ASSIGN(kernels::Task task,
             kernels::make_gather(s, {ctx.read(n.input(0)), ctx.read(n.input(1)), ctx.write(n.output(0))},
                                  ctx.chip()));
  ctx.emit(std::move(task));
  return {};
}

/// The elements of input 0 that `index` names, in the gather's own order.
Status emit_gather(LowerContext& ctx, kernels::GatherSpec spec, const kernels::Operand& index) {
  const ir::Node& n = ctx.node();
  spec.element_bytes = bit_width(n.input(0)->type.dtype) / 8;
  ATC_ASSIGN(kernels::Task task,
             kernels::make_gather(spec, {ctx.read(n.input(0)), index, ctx.write(n.output(0))}, ctx.chip()));
  ctx.emit(std::move(task));
  return {};
}

/// Indices become positions in the slab of their outer axes, whose elements then are gathered from UB. When
/// the slabs are long and the indices few, or the outer axes differ, positions are those of the whole data.
Status lower_gather_elements(LowerContext& ctx) {
  const ir::Node& n = ctx.node();
  const Dims data = n.input(0)->type.dims(), dims = n.input(1)->type.dims();
  const auto axis = static_cast<std::size_t>(*normalize_axis(n.attrs.get_int(kAxis, 0), std::ssize(data)));
  ATC_TRY(check_beside_axis(n, axis));
  const Dims strides = row_major_strides(data);
  const auto split = static_cast<std::ptrdiff_t>(axis);
  const Dims outer(data.begin(), data.begin() + split);
  const std::int64_t slab = element_count(Dims(data.begin() + split, data.end()));
  const std::int64_t per_slab = element_count(Dims(dims.begin() + split, dims.end()));
  constexpr std::int64_t kSparse = 16;  // elements loaded for one that is gathered
  const bool by_slab = std::equal(outer.begin(), outer.end(), dims.begin()) && slab / kSparse <= per_slab;

  Dims steps = strides;
  steps[axis] = 0;
  if (by_slab) std::fill(steps.begin(), steps.begin() + split, 0);
  kernels::GatherSpec s;
  s.batch = by_slab ? element_count(outer) : 1;
  s.axis = by_slab ? slab : element_count(data);
  s.count = by_slab ? per_slab : element_count(dims);
  ATC_ASSIGN(
      const kernels::Operand index,
      emit_flat_indices(ctx, dims, {{n.input(1), 0, row_major_strides(dims), data[axis], strides[axis]}},
                        steps, s.axis));
  return emit_gather(ctx, s, index);
}

Status lower_gather_nd(LowerContext& ctx) {
  const ir::Node& n = ctx.node();
  const Dims data = n.input(0)->type.dims(), dims = n.input(1)->type.dims();
  const std::int64_t batch_dims = n.attrs.get_int(kBatchDims, 0), tuple = dims.back();
  const Dims tuples(dims.begin(), dims.end() - 1);
  const auto rows_begin = data.begin() + batch_dims, rows_end = rows_begin + tuple;
  const Dims rows(rows_begin, rows_end);
  kernels::GatherSpec s;
  s.batch = element_count(Dims(data.begin(), rows_begin));
  s.axis = element_count(rows);
  s.count = element_count(Dims(tuples.begin() + batch_dims, tuples.end()));
  s.inner = element_count(Dims(rows_end, data.end()));
  ATC_ASSIGN(const kernels::Operand index,
             emit_flat_indices(ctx, tuples, tuple_parts(n.input(1), rows), Dims(tuples.size(), 0), s.axis));
  return emit_gather(ctx, s, index);
}

}  // namespace

void register_gather(Registry& r) {
  r.add({.name = "Gather",
         .attrs = {{kAxis, AttrKind::Int}},
         .inputs = {2, 2},
         .infer = infer_gather,
         .reference = reference_gather,
         .lower = lower_gather,
         .lowers = lowers_gather});
  r.add({.name = "GatherElements",
         .since = 11,
         .attrs = {{kAxis, AttrKind::Int}},
         .inputs = {2, 2},
         .infer = infer_gather_elements,
         .reference = reference_gather_elements,
         .lower = lower_gather_elements,
         .lowers = lowers_gather});
  r.add({.name = "GatherND",
         .since = 11,
         .attrs = {{kBatchDims, AttrKind::Int, false, 12}},
         .inputs = {2, 2},
         .infer = infer_gather_nd,
         .reference = reference_gather_nd,
         .lower = lower_gather_nd,
         .lowers = lowers_gather});
}

}  // namespace atc::ops
