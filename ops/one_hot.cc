#include <numeric>
#include <string>

#include "kernels/vector_program.h"
#include "ops/axis_view.h"
#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/lower.h"
#include "ops/op.h"
#include "ops/reference_util.h"
#include "ops/shape_value.h"

// OneHot: each index becomes a vector along a new axis, `on` at the index and `off` elsewhere.
namespace atc::ops {
namespace {

constexpr std::string_view kAxis = "axis";  // Int, -1: of the output
constexpr std::size_t kDepth = 1;           // scalar or one-element vector
constexpr std::size_t kValues = 2;          // [off, on]

Status infer_one_hot(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 0, kNumericTypes, "a numeric type"));
  ATC_TRY(require_dtype(ctx, kDepth, kNumericTypes, "a numeric type"));
  ATC_TRY(require_vector(ctx, kValues, ir::Dim::of(2)));
  ctx.set_output(0, ctx.dtype(kValues), std::nullopt);
  if (!ctx.ranked(0)) return {};
  ir::Shape shape = ctx.shape(0);
  ATC_ASSIGN(const std::int64_t axis, axis_attribute(ctx, kAxis, -1, shape.size() + 1));

  ir::Dim depth = ctx.unknown_dim();
  if (const Tensor* constant = ctx.constant(kDepth); constant != nullptr && constant->count() == 1)
    depth = literal(int_at(*constant, 0));
  else if (const auto elements = elements_of(ctx, kDepth); elements && elements->size() == 1)
    depth = elements->front();
  if (is_literal(depth) && depth.value < 0)
    return ctx.input_error(kDepth, "is " + std::to_string(depth.value) + ", expected 0 or more");
  shape.insert(shape.begin() + axis, depth);
  ctx.set_output(0, ctx.dtype(kValues), std::move(shape));
  return {};
}

Status reference_one_hot(EvalContext& ctx) {
  const Tensor& indices = ctx.input(0);
  const Tensor& values = ctx.input(kValues);
  if (ctx.input(kDepth).count() != 1 || values.count() != 2)
    return ctx.error("depth must have one element and values two");
  const std::int64_t depth = int_at(ctx.input(kDepth), 0);
  if (depth < 0) return ctx.error("depth is " + std::to_string(depth) + ", expected 0 or more");
  Dims shape = indices.shape;
  const auto axis =
      normalize_axis(ctx.node().attrs.get_int(kAxis, -1), static_cast<std::int64_t>(shape.size()) + 1);
  if (!axis) return ctx.error("attribute axis is outside the rank of the output");
  shape.insert(shape.begin() + *axis, depth);

  // Negative indices count from the end since opset 11; all others outside are all `off`.
  const bool wraps = ctx.version() >= 11;
  const AxisView view = axis_view(shape, *axis);
  ElementWriter out(values.dtype, shape);
  out.copy(0, filled(values, shape), 0, element_count(shape));
  const std::vector<std::int64_t> index = to_int64s(indices);
  for (std::size_t i = 0; i < index.size(); ++i) {
    const std::int64_t at = wraps && index[i] < 0 ? index[i] + depth : index[i];
    if (at < 0 || at >= depth) continue;
    const std::size_t column = view.column(i / view.inner, i % view.inner);
    out.copy(static_cast<std::int64_t>(column) + at * static_cast<std::int64_t>(view.inner), values, 1);
  }
  ctx.outputs[0] = std::move(out).freeze();
  return {};
}

// Lowering ------------------------------------------------------------------------------------------

using kernels::RegType;
using kernels::VecOp;

bool lowers_one_hot(const ir::Node& node) {
  const auto index = kernels::reg_type_of(node.input(0)->type.dtype);
  return index && *index != RegType::B8 && kernels::reg_type_of(node.input(kValues)->type.dtype);
}

/// A comparison of the indices with a table of positions along the new axis. In 64 bits: an index may be any.
Status lower_one_hot(LowerContext& ctx) {
  const ir::Node& n = ctx.node();
  kernels::VectorSpace space;
  space.dims = n.output(0)->type.dims();
  const auto axis =
      static_cast<std::size_t>(*normalize_axis(n.attrs.get_int(kAxis, -1), std::ssize(space.dims)));
  const auto depth = static_cast<std::size_t>(space.dims[axis]);
  std::vector<std::int64_t> positions(depth);
  std::iota(positions.begin(), positions.end(), 0);
  Dims indices = row_major_strides(n.input(0)->type.dims());
  indices.insert(indices.begin() + static_cast<std::ptrdiff_t>(axis), 0);
  Dims along(space.dims.size(), 0);
  const Dims nowhere = along;
  along[axis] = 1;
  space.strides = {indices, along, nowhere, nowhere, row_major_strides(space.dims)};
  space.offsets = {0, 0, 0, 1, 0};

  kernels::VectorProgram p;
  int index = p.load(0, *kernels::reg_type_of(n.input(0)->type.dtype));
  if (p.type_of(index) != RegType::I64) index = p.emit(VecOp::Cast, RegType::I64, index);
  if (n.version >= 11) {
    const int from_end =
        p.emit(VecOp::Add, RegType::I64, index, p.constant(RegType::I64, static_cast<double>(depth)));
    const int negative = p.emit(VecOp::Less, RegType::I64, index, p.constant(RegType::I64, 0));
    index = p.emit(VecOp::Select, RegType::I64, from_end, index, negative);
  }
  const int position = p.load(1, RegType::I64);
  const RegType type = *kernels::reg_type_of(n.input(kValues)->type.dtype);
  const int off = p.load(2, type), on = p.load(3, type);
  p.store(4, type, p.emit(VecOp::Select, type, on, off, p.emit(VecOp::Equal, RegType::I64, index, position)));
  const kernels::Operand values = ctx.read(n.input(kValues));
  const Tensor table = from_int64s(DType::I64, {static_cast<std::int64_t>(depth)}, positions);
  ATC_ASSIGN(kernels::Task task,
             kernels::make_vector_task(p, space,
                                       {ctx.read(n.input(0)), ctx.constant(n.name + "/positions", table),
                                        values, values, ctx.write(n.output(0))},
                                       ctx.chip()));
  ctx.emit(std::move(task));
  return {};
}

}  // namespace

void register_one_hot(Registry& r) {
  r.add({.name = "OneHot",
         .since = 9,
         .attrs = {{kAxis, AttrKind::Int}},
         .inputs = {3, 3},
         .infer = infer_one_hot,
         .reference = reference_one_hot,
         .lower = lower_one_hot,
         .lowers = lowers_one_hot});
}

}  // namespace atc::ops
