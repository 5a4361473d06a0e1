#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "ops/axis_view.h"
#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/reference_util.h"

// Unique: the distinct elements of a tensor, or the distinct slices along an axis.
namespace atc::ops {
namespace {

constexpr std::string_view kAxis = "axis";      // Int; absent: the flattened input
constexpr std::string_view kSorted = "sorted";  // Int, 1: ascending; 0: by first occurrence

// Outputs: Y, indices (first occurrence), inverse_indices, counts; all but Y are i64 and optional.
constexpr std::size_t kFirst = 1;
constexpr std::size_t kInverse = 2;
constexpr std::size_t kCounts = 3;

Status infer_unique(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 0, kNumericTypes | kBoolTypes | DTypeSet{DType::String},
                        "a numeric type, bool or string"));
  const std::int64_t sorted = ctx.node().attrs.get_int(kSorted, 1);
  if (sorted != 0 && sorted != 1)
    return ctx.error("attribute sorted is " + std::to_string(sorted) + ", expected 0 or 1");
  const ir::Dim kept = ctx.unknown_dim();
  ir::Dim length = ctx.unknown_dim();  // of what is told apart: elements or slices
  std::optional<ir::Shape> shape = ir::Shape{kept};
  if (ctx.node().attrs.has(kAxis)) {
    shape = ctx.type(0).shape;
    if (shape) {
      ATC_ASSIGN(const std::int64_t axis, axis_attribute(ctx, kAxis, 0, shape->size()));
      length = std::exchange((*shape)[static_cast<std::size_t>(axis)], kept);
    }
  } else if (ctx.ranked(0) && ir::is_static(ctx.shape(0))) {
    if (const std::int64_t n = element_count(ctx.type(0).dims()); n >= 0) length = ir::Dim::of(n);
  }
  ctx.set_output(0, ctx.dtype(0), std::move(shape));
  ctx.set_output(kFirst, DType::I64, ir::Shape{kept});
  ctx.set_output(kInverse, DType::I64, ir::Shape{length});
  ctx.set_output(kCounts, DType::I64, ir::Shape{kept});
  return {};
}

/// Below, equal, above as -1, 0, 1. NaN stands above every number and equals itself, as in NumPy.
template <class T>
int order(const T& a, const T& b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b))
      return static_cast<int>(std::isnan(a)) - static_cast<int>(std::isnan(b));
  }
  return a < b ? -1 : b < a ? 1 : 0;
}

/// Lexicographic order of slices i and j of the view, by an element's order at two offsets.
template <class OrderAt>
int order_slices(const AxisView& view, std::size_t i, std::size_t j, OrderAt order_at) {
  for (std::size_t o = 0; o < view.outer; ++o)
    for (std::size_t k = 0; k < view.inner; ++k) {
      const std::size_t column = view.column(o, k);
      if (const int c = order_at(column + i * view.inner, column + j * view.inner); c != 0) return c;
    }
  return 0;
}

struct Groups {
  std::vector<std::int64_t> first;    ///< first slice of each group
  std::vector<std::int64_t> inverse;  ///< group of each slice
  std::vector<std::int64_t> counts;
};

/// Groups of equal slices, in ascending order or by first occurrence.
template <class OrderAt>
Groups group_slices(const AxisView& view, bool sorted, OrderAt order_at) {
  std::vector<std::size_t> slices(view.length);
  std::iota(slices.begin(), slices.end(), std::size_t{0});
  std::ranges::stable_sort(
      slices, [&](std::size_t i, std::size_t j) { return order_slices(view, i, j, order_at) < 0; });
  Groups g;
  g.inverse.resize(view.length);
  for (std::size_t at = 0; at < slices.size(); ++at) {
    if (at == 0 || order_slices(view, slices[at - 1], slices[at], order_at) != 0) {
      g.first.push_back(static_cast<std::int64_t>(slices[at]));  // stable: the first of its equals
      g.counts.push_back(0);
    }
    g.inverse[slices[at]] = std::ssize(g.first) - 1;
    ++g.counts.back();
  }
  if (sorted) return g;
  std::vector<std::size_t> rank(g.first.size());  // new position -> old one
  std::iota(rank.begin(), rank.end(), std::size_t{0});
  std::ranges::sort(rank, {}, [&](std::size_t k) { return g.first[k]; });
  Groups out;
  std::vector<std::int64_t> position(rank.size());
  for (std::size_t k = 0; k < rank.size(); ++k) {
    position[rank[k]] = static_cast<std::int64_t>(k);
    out.first.push_back(g.first[rank[k]]);
    out.counts.push_back(g.counts[rank[k]]);
  }
  for (const std::int64_t group : g.inverse) out.inverse.push_back(position[static_cast<std::size_t>(group)]);
  return out;
}

Groups groups_of(const Tensor& x, const AxisView& view, bool sorted) {
  if (x.dtype == DType::String)
    return group_slices(view, sorted,
                        [&](std::size_t i, std::size_t j) { return order(x.strings[i], x.strings[j]); });
  Groups groups;
  dispatch(x.dtype, [&](auto tag) {
    const auto v = x.as<typename decltype(tag)::type>();
    groups = group_slices(view, sorted,
                          [&](std::size_t i, std::size_t j) { return order(widen(v[i]), widen(v[j])); });
  });
  return groups;
}

Status reference_unique(EvalContext& ctx) {
  Tensor x = ctx.input(0);
  std::int64_t axis = 0;
  if (ctx.node().attrs.has(kAxis)) {
    const auto normal =
        normalize_axis(ctx.node().attrs.get_int(kAxis, 0), static_cast<std::int64_t>(x.shape.size()));
    if (!normal) return ctx.error("attribute axis is outside the rank " + std::to_string(x.shape.size()));
    axis = *normal;
  } else {
    x = with_shape(x, {x.count()});
  }
  const AxisView view = axis_view(x.shape, axis);
  const Groups groups = groups_of(x, view, ctx.node().attrs.get_int(kSorted, 1) != 0);

  const auto kept = std::ssize(groups.first);
  const auto inner = static_cast<std::int64_t>(view.inner);
  Dims shape = x.shape;
  shape[static_cast<std::size_t>(axis)] = kept;
  ElementWriter y(x.dtype, shape);
  std::int64_t to = 0;
  for (std::size_t o = 0; o < view.outer; ++o)
    for (const std::int64_t slice : groups.first) {
      y.copy(to, x, static_cast<std::int64_t>(view.column(o, 0)) + slice * inner, inner);
      to += inner;
    }
  ctx.outputs[0] = std::move(y).freeze();
  const auto set = [&](std::size_t i, const std::vector<std::int64_t>& values) {
    if (i < ctx.outputs.size()) ctx.outputs[i] = from_int64s(DType::I64, {std::ssize(values)}, values);
  };
  set(kFirst, groups.first);
  set(kInverse, groups.inverse);
  set(kCounts, groups.counts);
  return {};
}

}  // namespace

void register_unique(Registry& r) {
  r.add({.name = "Unique",
         .since = 11,
         .attrs = {{kAxis, AttrKind::Int}, {kSorted, AttrKind::Int}},
         .outputs = {1, 4},
         .infer = infer_unique,
         .reference = reference_unique});
}

}  // namespace atc::ops
