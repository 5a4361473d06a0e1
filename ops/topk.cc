#include <algorithm>
#include <numeric>

#include "ops/axis_view.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
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

}  // namespace

void register_topk(Registry& registry) {
  registry.add({.name = "TopK",
                .until = 9,
                .attrs = {{"axis", AttrKind::Int}, {"k", AttrKind::Int, true}},
                .outputs = {1, 2},
                .infer = infer_topk,
                .reference = reference_topk});
  registry.add({.name = "TopK",
                .since = 10,
                .attrs = {{"axis", AttrKind::Int},
                          {"largest", AttrKind::Int, false, 11},
                          {"sorted", AttrKind::Int, false, 11}},
                .inputs = {2, 2},
                .outputs = {1, 2},
                .infer = infer_topk,
                .reference = reference_topk});
}

}  // namespace atc::ops
