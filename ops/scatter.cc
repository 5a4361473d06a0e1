#include "kernels/scatter.h"

#include <array>
#include <string>

#include "atc/base/math.h"
#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/flat_index.h"
#include "ops/indices.h"
#include "ops/infer_checks.h"
#include "ops/integer_math.h"
#include "ops/move.h"
#include "ops/op.h"
#include "ops/reference_util.h"

// Writing elements by index: Scatter, ScatterElements, ScatterND.
namespace atc::ops {
namespace {

constexpr std::string_view kAxis = "axis";            // Int, 0; not of ScatterND
constexpr std::string_view kReduction = "reduction";  // String, "none"; add, mul since 16; max, min since 18

enum class Reduction { None, Add, Mul, Max, Min };

StatusOr<Reduction> reduction_of(const ir::Node& node, const auto& ctx) {
  constexpr std::array<std::string_view, 5> kNames = {"none", "add", "mul", "max", "min"};
  const std::string wanted = node.attrs.get_string(kReduction, "none");
  const std::size_t known = node.version < 18 ? 3 : kNames.size();
  for (std::size_t i = 0; i < known; ++i)
    if (wanted == kNames[i]) return static_cast<Reduction>(i);
  return ctx.error("attribute reduction must be none, add, mul" +
                   std::string(known > 3 ? ", max or min" : "") + ", found '" + wanted + "'");
}

Status infer_scatter(InferContext& ctx) {
  ATC_TRY(reduction_of(ctx.node(), ctx).status());
  ATC_TRY(require_dtype(ctx, 1, kIndexTypes, "type i32 or i64"));
  ATC_TRY(require_same_dtype(ctx, 2, 0));
  ATC_TRY(require_rank(ctx, 0, 1));
  return infer_same_as_input(ctx);
}

Status infer_scatter_elements(InferContext& ctx) {
  ATC_TRY(infer_scatter(ctx));
  if (!ctx.ranked(0)) return {};
  const std::size_t rank = ctx.shape(0).size();
  ATC_TRY(axis_attribute(ctx, kAxis, 0, rank).status());
  ATC_TRY(require_rank(ctx, 1, rank, rank));
  return require_rank(ctx, 2, rank, rank);
}

/// Element i of `updates` goes to offset targets[i] of a copy of `data`, in order.
Tensor apply_updates(const Tensor& data, const Tensor& updates, std::span<const std::int64_t> targets,
                     Reduction reduction) {
  if (reduction == Reduction::None) {
    ElementWriter out(data.dtype, data.shape);
    out.copy(0, data, 0, data.count());
    for (std::size_t i = 0; i < targets.size(); ++i)
      out.copy(targets[i], updates, static_cast<std::int64_t>(i));
    return std::move(out).freeze();
  }
  MutableTensor y(data.dtype, data.shape);
  dispatch(data.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using W = Widened<T>;
    const auto reduce = [reduction](W a, W b) -> W {
      switch (reduction) {
        case Reduction::Add:
          return wrapping_add(a, b);
        case Reduction::Mul:
          return wrapping_mul(a, b);
        case Reduction::Max:
          return a > b || a != a ? a : b;
        default:
          return a < b || a != a ? a : b;
      }
    };
    // Sums of narrow floats stay wide until the end.
    std::vector<W> wide;
    for (T v : data.as<T>()) wide.push_back(widen(v));
    const auto u = updates.as<T>();
    for (std::size_t i = 0; i < targets.size(); ++i) {
      W& target = wide[static_cast<std::size_t>(targets[i])];
      target = reduce(target, widen(u[i]));
    }
    std::ranges::transform(wide, y.as<T>().begin(), narrow<T>);
  });
  return std::move(y).freeze();
}

StatusOr<Reduction> checked_reduction(const EvalContext& ctx) {
  ATC_ASSIGN(const Reduction reduction, reduction_of(ctx.node(), ctx));
  if (reduction != Reduction::None && !dispatchable(ctx.input(0).dtype))
    return ctx.error("reduction is not defined for type " + std::string(name(ctx.input(0).dtype)));
  return reduction;
}

Status reference_scatter_elements(EvalContext& ctx) {
  ATC_ASSIGN(const Reduction reduction, checked_reduction(ctx));
  if (ctx.input(1).shape != ctx.input(2).shape)
    return ctx.error("indices of shape [" + to_string(ctx.input(1).shape) + "] and updates of shape [" +
                     to_string(ctx.input(2).shape) + "] differ");
  ATC_ASSIGN(const std::vector<std::int64_t> targets, element_targets(ctx, ctx.input(0).shape));
  ctx.outputs[0] = apply_updates(ctx.input(0), ctx.input(2), targets, reduction);
  return {};
}

Status infer_scatter_nd(InferContext& ctx) {
  ATC_TRY(infer_scatter(ctx));
  ATC_TRY(require_rank(ctx, 1, 1));
  if (!ctx.ranked(0) || !ctx.ranked(1) || !ctx.shape(1).back().known()) return {};
  const std::int64_t tuple = ctx.shape(1).back().value;
  const std::size_t rank = ctx.shape(0).size();
  if (tuple > static_cast<std::int64_t>(rank))
    return ctx.input_error(1, "has index tuples of length " + std::to_string(tuple) +
                                  ", more than the rank " + std::to_string(rank) + " of data");
  const std::size_t expected = ctx.shape(1).size() - 1 + rank - static_cast<std::size_t>(tuple);
  return require_rank(ctx, 2, expected, expected);
}

Status reference_scatter_nd(EvalContext& ctx) {
  ATC_ASSIGN(const Reduction reduction, checked_reduction(ctx));
  ATC_ASSIGN(const TupleTargets slices, tuple_targets(ctx, ctx.input(0).shape, 0));
  std::vector<std::int64_t> targets;
  for (std::int64_t offset : slices.offsets)
    for (std::int64_t k = 0; k < slices.run; ++k) targets.push_back(offset + k);
  if (static_cast<std::int64_t>(targets.size()) != ctx.input(2).count())
    return ctx.error("updates of shape [" + to_string(ctx.input(2).shape) +
                     "] do not fit indices of shape [" + to_string(ctx.input(1).shape) + "]");
  ctx.outputs[0] = apply_updates(ctx.input(0), ctx.input(2), targets, reduction);
  return {};
}

// Lowering ------------------------------------------------------------------------------------------

bool lowers_scatter(const ir::Node& node) {
  if (!copies_input(node)) return false;
  if (node.attrs.get_string(kReduction, "none") == "none") return true;
  const auto type = aicore::reg_type_of(node.input(0)->type.dtype);
  return type && *type != aicore::RegType::B8;
}

Status emit_scatter(LowerContext& ctx, kernels::ScatterSpec spec, const kernels::Operand& index) {
  const ir::Node& n = ctx.node();
  ATC_ASSIGN(const Reduction reduction, reduction_of(n, InferContext(n)));
  constexpr std::array kOps = {aicore::ScatterOp::Set, aicore::ScatterOp::Add, aicore::ScatterOp::Mul,
                               aicore::ScatterOp::Max, aicore::ScatterOp::Min};
  spec.op = kOps[static_cast<std::size_t>(reduction)];
  ATC_ASSIGN(
      kernels::Task task,
      kernels::make_scatter(spec, {ctx.read(n.input(0)), index, ctx.read(n.input(2)), ctx.write(n.output(0))},
                            ctx.chip()));
  ctx.emit(std::move(task));
  return {};
}

/// Indices become positions of elements: in the slab of their outer axes where those are data's, so that a
/// tile reads the updates of its own slab alone.
Status lower_scatter_elements(LowerContext& ctx) {
  const ir::Node& n = ctx.node();
  const Dims data = n.input(0)->type.dims(), dims = n.input(1)->type.dims();
  if (n.input(2)->type.dims() != dims)
    return cannot_lower(n, "has indices of shape [" + to_string(dims) + "] and updates of shape [" +
                               to_string(n.input(2)->type.dims()) + "], expected equal ones");
  const auto axis = static_cast<std::size_t>(*normalize_axis(n.attrs.get_int(kAxis, 0), std::ssize(data)));
  ATC_TRY(check_beside_axis(n, axis));
  const auto split = static_cast<std::ptrdiff_t>(axis);
  const Dims outer(data.begin(), data.begin() + split);
  const bool by_slab = std::equal(outer.begin(), outer.end(), dims.begin());
  const std::ptrdiff_t first = by_slab ? split : 0;
  const Dims strides = row_major_strides(data);
  Dims steps = strides;
  steps[axis] = 0;
  std::fill(steps.begin(), steps.begin() + first, 0);
  kernels::ScatterSpec s;
  s.batch = element_count(Dims(data.begin(), data.begin() + first));
  s.axis = element_count(Dims(data.begin() + first, data.end()));
  s.count = element_count(Dims(dims.begin() + first, dims.end()));
  if (s.count == 0) return lower_view(ctx);
  ATC_ASSIGN(
      const kernels::Operand index,
      emit_flat_indices(ctx, dims, {{n.input(1), 0, row_major_strides(dims), data[axis], strides[axis]}},
                        steps, s.axis));
  return emit_scatter(ctx, s, index);
}

Status lower_scatter_nd(LowerContext& ctx) {
  const ir::Node& n = ctx.node();
  const Dims data = n.input(0)->type.dims(), dims = n.input(1)->type.dims();
  const Dims tuples(dims.begin(), dims.end() - 1);
  const auto rows_end = data.begin() + dims.back();
  const Dims rows(data.begin(), rows_end);
  kernels::ScatterSpec s;
  s.axis = element_count(rows);
  s.count = element_count(tuples);
  s.inner = element_count(Dims(rows_end, data.end()));
  if (s.count == 0) return lower_view(ctx);
  const auto updates = checked_mul(s.count, s.inner);
  if (!updates || *updates != element_count(n.input(2)->type.dims()))
    return cannot_lower(n, "has updates of shape [" + to_string(n.input(2)->type.dims()) +
                               "] that do not fit indices of shape [" + to_string(dims) + "]");
  ATC_ASSIGN(const kernels::Operand index,
             emit_flat_indices(ctx, tuples, tuple_parts(n.input(1), rows), Dims(tuples.size(), 0), s.axis));
  return emit_scatter(ctx, s, index);
}

}  // namespace

void register_scatter(Registry& r) {
  r.add({.name = "Scatter",  // renamed ScatterElements in opset 11, kept as deprecated
         .since = 9,
         .attrs = {{kAxis, AttrKind::Int}},
         .inputs = {3, 3},
         .infer = infer_scatter_elements,
         .reference = reference_scatter_elements,
         .lower = lower_scatter_elements,
         .lowers = lowers_scatter});
  r.add({.name = "ScatterElements",
         .since = 11,
         .attrs = {{kAxis, AttrKind::Int}, {kReduction, AttrKind::String, false, 16}},
         .inputs = {3, 3},
         .infer = infer_scatter_elements,
         .reference = reference_scatter_elements,
         .lower = lower_scatter_elements,
         .lowers = lowers_scatter});
  r.add({.name = "ScatterND",
         .since = 11,
         .attrs = {{kReduction, AttrKind::String, false, 16}},
         .inputs = {3, 3},
         .infer = infer_scatter_nd,
         .reference = reference_scatter_nd,
         .lower = lower_scatter_nd,
         .lowers = lowers_scatter});
}

}  // namespace atc::ops
