#include <algorithm>
#include <limits>
#include <numeric>

#include "aicore/vector_ops.h"
#include "atc/base/math.h"
#include "kernels/top_k.h"
#include "ops/axis_view.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/move.h"
#include "ops/reference_util.h"
#include "ops/shape_value.h"

// TopK: the k largest (or smallest) elements along an axis and their indices (i64). k is an attribute in
// version 1 and an input since 10. Among equal elements the lower index comes first; the results are
// sorted whether `sorted` asks for it or not.
namespace atc::ops {

namespace {

/// k as far as it is known: its value, an axis length, or a fresh symbol.
StatusOr<ir::Dim> k_of(InferContext& ctx) {
  if (ctx.version() < 10) {
    const std::int64_t k = ctx.node().attrs.get_int("k", -1);
    if (k < 0) return ctx.error("attribute k is " + std::to_string(k) + ", expected >= 0");
    return ir::Dim::of(k);
  }
  ATC_TRY(require_dtype(ctx, 1, {DType::I64}, "i64"));
  ATC_TRY(require_rank(ctx, 1, 0, 1));
  const auto elements = elements_of(ctx, 1);
  if (!elements) return ctx.unknown_dim();
  if (elements->size() != 1)
    return ctx.input_error(1, "has " + std::to_string(elements->size()) + " elements, expected 1");
  if (is_literal((*elements)[0]) && (*elements)[0].value < 0)
    return ctx.input_error(1, "holds k = " + std::to_string((*elements)[0].value) + ", expected >= 0");
  return (*elements)[0];
}

Status infer_topk(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 0, ctx.version() < 11 ? kFloatTypes : kNumericTypes,
                        ctx.version() < 11 ? "a float type" : "a numeric type"));
  ATC_TRY(require_rank(ctx, 0, 1));
  ATC_ASSIGN(const ir::Dim k, k_of(ctx));
  std::optional<ir::Shape> shape;
  if (ctx.ranked(0)) {
    ATC_ASSIGN(const std::int64_t axis, axis_attribute(ctx, "axis", -1, ctx.shape(0).size()));
    shape = ctx.shape(0);
    ir::Dim& dim = (*shape)[static_cast<std::size_t>(axis)];
    if (k.known() && dim.known() && k.value > dim.value)
      return ctx.input_error(0, "has " + std::to_string(dim.value) + " elements along axis " +
                                    std::to_string(axis) + ", fewer than k = " + std::to_string(k.value));
    dim = k;
  }
  ctx.set_output(0, ctx.dtype(0), shape);
  if (ctx.node().output(1)) ctx.set_output(1, DType::I64, shape);
  return {};
}

/// Order of results: NaN counts as the largest value.
template <class W>
bool comes_before(W a, W b, bool largest) {
  const bool a_nan = a != a;
  const bool b_nan = b != b;
  if (a_nan || b_nan) return a_nan != b_nan && a_nan == largest;
  return largest ? a > b : a < b;
}

Status reference_topk(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const std::int64_t k = ctx.version() < 10 ? ctx.node().attrs.get_int("k", 0) : int_at(ctx.input(1), 0);
  const bool largest = ctx.node().attrs.get_int("largest", 1) != 0;
  const std::int64_t axis = *normalize_axis(ctx.node().attrs.get_int("axis", -1), std::ssize(x.shape));
  const AxisView v = axis_view(x.shape, axis);
  if (k < 0 || static_cast<std::size_t>(k) > v.length)
    return ctx.error("k is " + std::to_string(k) + ", but axis " + std::to_string(axis) + " has " +
                     std::to_string(v.length) + " elements");
  const auto count = static_cast<std::size_t>(k);
  Dims shape = x.shape;
  shape[static_cast<std::size_t>(axis)] = k;
  MutableTensor values(x.dtype, shape);
  MutableTensor indices(DType::I64, shape);
  dispatch(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto in = x.as<T>();
    const auto out = values.as<T>();
    const auto out_index = indices.as<std::int64_t>();
    std::vector<std::size_t> order(v.length);
    for (std::size_t o = 0; o < v.outer; ++o)
      for (std::size_t i = 0; i < v.inner; ++i) {
        const auto at = [&](std::size_t e) { return in[v.column(o, i) + e * v.inner]; };
        std::iota(order.begin(), order.end(), 0);
        std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](std::size_t a, std::size_t b) {
          const auto va = widen(at(a));
          const auto vb = widen(at(b));
          if (comes_before(va, vb, largest)) return true;
          return !comes_before(vb, va, largest) && a < b;
        });
        for (std::size_t j = 0; j < count; ++j) {
          out[(o * count + j) * v.inner + i] = at(order[j]);
          out_index[(o * count + j) * v.inner + i] = static_cast<std::int64_t>(order[j]);
        }
      }
  });
  ctx.outputs[0] = std::move(values).freeze();
  if (ctx.node().output(1)) ctx.outputs[1] = std::move(indices).freeze();
  return {};
}

// Lowering ------------------------------------------------------------------------------------------

/// The input as rows of elements along the axis, and k: what the output has there.
struct Rows {
  AxisView view;
  std::int64_t keep = 0;
  std::int64_t outer() const { return static_cast<std::int64_t>(view.outer); }
  std::int64_t length() const { return static_cast<std::int64_t>(view.length); }
  std::int64_t inner() const { return static_cast<std::int64_t>(view.inner); }
};

Rows rows_of(const ir::Node& node) {
  const Dims x = node.input(0)->type.dims();
  const std::int64_t axis = *normalize_axis(node.attrs.get_int("axis", -1), std::ssize(x));
  const ir::Value* out = node.output(0) != nullptr ? node.output(0) : node.output(1);
  return {axis_view(x, axis), out->type.dims()[static_cast<std::size_t>(axis)]};
}

bool lowers_topk(const ir::Node& node) {
  const auto type = aicore::reg_type_of(node.input(0)->type.dtype);
  if (!type || *type == aicore::RegType::B8) return false;
  const Rows rows = rows_of(node);
  return rows.keep <= kernels::kMaxTopK && rows.length() <= std::numeric_limits<std::int32_t>::max();
}

kernels::Operand as_input(kernels::Operand operand) {
  operand.output = false;
  return operand;
}

/// A workspace of rows * length elements.
StatusOr<kernels::Operand> elements(LowerContext& ctx, DType dtype, std::int64_t rows, std::int64_t length) {
  const auto bytes = checked_mul(rows * (bit_width(dtype) / 8), length);
  if (!bytes) return cannot_lower(ctx.node(), "has more elements than 64 bits count");
  return ctx.workspace(dtype, *bytes);
}

/// to[o, i, k] = from[o, k, i], or back.
Status emit_turn(LowerContext& ctx, const Rows& r, std::int64_t length, bool back,
                 const kernels::Operand& from, const kernels::Operand& to) {
  kernels::CopySegment s;
  s.dims = {r.outer(), r.inner(), length};
  const Dims turned = {r.inner() * length, length, 1}, given = {r.inner() * length, 1, r.inner()};
  s.src_strides = back ? turned : given;
  s.dst_strides = back ? given : turned;
  return emit_copies(ctx, from.dtype, {std::move(s)}, {as_input(from), to});
}

/// The best of every row; long rows are cut into stretches for the cores, whose best a second task joins.
Status emit_top(LowerContext& ctx, const Rows& r, const kernels::Operand& x, const kernels::Operand& values,
                const kernels::Operand& indices) {
  kernels::TopKSpec s;
  s.largest = ctx.node().attrs.get_int("largest", 1) != 0;
  s.rows = r.outer() * r.inner();
  s.axis = r.length();
  s.keep = r.keep;
  s.parts = kernels::top_k_parts(s.rows, s.axis, s.keep, ctx.chip());
  if (s.parts == 1) {
    ATC_ASSIGN(kernels::Task task, kernels::make_top_k(s, {as_input(x), values, indices}, ctx.chip()));
    ctx.emit(std::move(task));
    return {};
  }
  const std::int64_t candidates = s.parts * s.keep;
  ATC_ASSIGN(const kernels::Operand best, elements(ctx, x.dtype, s.rows, candidates));
  ATC_ASSIGN(const kernels::Operand names, elements(ctx, DType::I32, s.rows, candidates));
  ATC_ASSIGN(kernels::Task first, kernels::make_top_k(s, {as_input(x), best, names}, ctx.chip()));
  ctx.emit(std::move(first));
  s.axis = candidates;
  s.parts = 1;
  s.named = true;
  ATC_ASSIGN(kernels::Task second,
             kernels::make_top_k(s, {as_input(best), as_input(names), values, indices}, ctx.chip()));
  ctx.emit(std::move(second));
  return {};
}

Status lower_topk(LowerContext& ctx) {
  const ir::Node& n = ctx.node();
  const Rows r = rows_of(n);
  const std::int64_t rows = r.outer() * r.inner();
  kernels::Operand x = ctx.read(n.input(0));
  auto result = [&](std::size_t i, DType dtype, bool turned) -> StatusOr<kernels::Operand> {
    if (n.output(i) != nullptr && !turned) return ctx.write(n.output(i));
    return elements(ctx, dtype, rows, r.keep);
  };
  const bool turns = r.inner() != 1;
  ATC_ASSIGN(const kernels::Operand values, result(0, x.dtype, turns));
  ATC_ASSIGN(const kernels::Operand indices, result(1, DType::I64, turns));
  if (turns) {
    ATC_ASSIGN(const kernels::Operand turned, elements(ctx, x.dtype, rows, r.length()));
    ATC_TRY(emit_turn(ctx, r, r.length(), false, x, turned));
    x = turned;
  }
  ATC_TRY(emit_top(ctx, r, x, values, indices));
  if (!turns) return {};
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
    if (n.output(i) != nullptr)
      ATC_TRY(emit_turn(ctx, r, r.keep, true, i == 0 ? values : indices, ctx.write(n.output(i))));
  return {};
}

}  // namespace

void register_topk(Registry& registry) {
  registry.add({.name = "TopK",
                .until = 9,
                .attrs = {{"axis", AttrKind::Int}, {"k", AttrKind::Int, true}},
                .outputs = {1, 2},
                .infer = infer_topk,
                .reference = reference_topk,
                .lower = lower_topk,
                .lowers = lowers_topk});
  registry.add({.name = "TopK",
                .since = 10,
                .attrs = {{"axis", AttrKind::Int},
                          {"largest", AttrKind::Int, false, 11},
                          {"sorted", AttrKind::Int, false, 11}},
                .inputs = {2, 2},
                .outputs = {1, 2},
                .infer = infer_topk,
                .reference = reference_topk,
                .lower = lower_topk,
                .lowers = lowers_topk});
}

}  // namespace atc::ops
