#include <limits>
#include <numeric>

#include "kernels/vector_program.h"
#include "ops/axis_view.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/lower.h"
#include "ops/reduce.h"
#include "ops/reference_util.h"

// ArgMax, ArgMin: the index along one axis; i64. NaN comes before every number, as NumPy has it.
namespace atc::ops {

namespace {

bool keeps_dims(const ir::Node& node) { return node.attrs.get_int("keepdims", 1) != 0; }

Status infer_arg(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 0, kNumericTypes, "a numeric type"));
  ATC_TRY(require_rank(ctx, 0, 1));
  std::optional<ir::Shape> shape;
  if (ctx.ranked(0)) {
    ATC_ASSIGN(const std::int64_t axis, axis_attribute(ctx, "axis", 0, ctx.shape(0).size()));
    if (ctx.shape(0)[static_cast<std::size_t>(axis)] == ir::Dim::of(0))
      return ctx.input_error(
          0, "is empty along axis " + std::to_string(axis) + ", there is no largest or smallest element");
    shape = reduced_shape(ctx.shape(0), {axis}, keeps_dims(ctx.node()));
  }
  ctx.set_output(0, DType::I64, std::move(shape));
  return {};
}

template <bool kLargest>
Status reference_arg(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const bool last = ctx.node().attrs.get_int("select_last_index", 0) != 0;
  const std::int64_t axis = *normalize_axis(ctx.node().attrs.get_int("axis", 0), std::ssize(x.shape));
  const AxisView v = axis_view(x.shape, axis);
  std::vector<std::int64_t> y(v.outer * v.inner);
  dispatch(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto in = x.as<T>();
    for (std::size_t o = 0; o < v.outer; ++o)
      for (std::size_t i = 0; i < v.inner; ++i) {
        std::size_t best = 0;
        for (std::size_t k = 1; k < v.length; ++k) {
          const auto a = widen(in[v.column(o, i) + k * v.inner]);
          const auto b = widen(in[v.column(o, i) + best * v.inner]);
          const bool a_nan = a != a, b_nan = b != b;
          const bool better = a_nan ? !b_nan : !b_nan && (kLargest ? a > b : a < b);
          if (better || (last && (a == b || (a_nan && b_nan)))) best = k;
        }
        y[o * v.inner + i] = static_cast<std::int64_t>(best);
      }
  });
  ctx.outputs[0] = from_int64s(DType::I64, reduced_shape(x.shape, {axis}, keeps_dims(ctx.node())), y);
  return {};
}

// Lowering ------------------------------------------------------------------------------------------

using kernels::RegType;
using kernels::VecOp;

std::size_t arg_axis(const ir::Node& node) {
  const std::int64_t rank = std::ssize(node.input(0)->type.dims());
  return static_cast<std::size_t>(*normalize_axis(node.attrs.get_int("axis", 0), rank));
}

bool lowers_arg(const ir::Node& node) {
  const auto type = kernels::reg_type_of(node.input(0)->type.dtype);
  return type && *type != RegType::B8 &&
         node.input(0)->type.dims()[arg_axis(node)] <= std::numeric_limits<std::int32_t>::max();
}

/// The best value of the axis, then the first (or last) position that holds it: two dependent reductions of
/// one vector program, the second over a table of positions.
template <bool kLargest>
Status lower_arg(LowerContext& ctx) {
  const ir::Node& n = ctx.node();
  const bool last = n.attrs.get_int("select_last_index", 0) != 0;
  const std::size_t axis = arg_axis(n);
  kernels::VectorSpace space;
  space.dims = n.input(0)->type.dims();
  space.reduce_axis = static_cast<int>(axis);
  std::vector<std::int64_t> positions(static_cast<std::size_t>(space.dims[axis]));
  std::iota(positions.begin(), positions.end(), 0);
  const Tensor table = from_int64s(DType::I32, {std::ssize(positions)}, positions);
  Dims along(space.dims.size(), 0),
      reduced = row_major_strides(reduced_shape(space.dims, {static_cast<std::int64_t>(axis)}, true));
  along[axis] = 1;
  reduced[axis] = 0;
  space.strides = {row_major_strides(space.dims), along, reduced};
  space.offsets = {0, 0, 0};

  kernels::VectorProgram p;
  const RegType type = *kernels::reg_type_of(n.input(0)->type.dtype);
  const int x = p.load(0, type), position = p.load(1, RegType::I32);
  const int best = p.emit(kLargest ? VecOp::ReduceMax : VecOp::ReduceMin, type, x);
  int is_best = p.emit(VecOp::Equal, type, x, best);
  if (type == RegType::F32) is_best = p.emit(VecOp::Or, RegType::B8, is_best, p.emit(VecOp::IsNaN, type, x));
  const double none = last ? -1.0 : static_cast<double>(std::numeric_limits<std::int32_t>::max());
  const int candidate =
      p.emit(VecOp::Select, RegType::I32, position, p.constant(RegType::I32, none), is_best);
  const int found = p.emit(last ? VecOp::ReduceMax : VecOp::ReduceMin, RegType::I32, candidate);
  p.store(2, RegType::I64, p.emit(VecOp::Cast, RegType::I64, found));
  ATC_ASSIGN(kernels::Task task,
             kernels::make_vector_task(
                 p, space,
                 {ctx.read(n.input(0)), ctx.constant(n.name + "/positions", table), ctx.write(n.output(0))},
                 ctx.chip()));
  ctx.emit(std::move(task));
  return {};
}

}  // namespace

void register_arg_reduce(Registry& registry) {
  const std::vector<AttrSpec> attrs = {
      {"axis", AttrKind::Int}, {"keepdims", AttrKind::Int}, {"select_last_index", AttrKind::Int, false, 12}};
  registry.add({.name = "ArgMax",
                .attrs = attrs,
                .infer = infer_arg,
                .reference = reference_arg<true>,
                .lower = lower_arg<true>,
                .lowers = lowers_arg});
  registry.add({.name = "ArgMin",
                .attrs = attrs,
                .infer = infer_arg,
                .reference = reference_arg<false>,
                .lower = lower_arg<false>,
                .lowers = lowers_arg});
}

}  // namespace atc::ops
