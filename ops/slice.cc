#include <algorithm>
#include <numeric>
#include <string>

#include "ops/dtype_set.h"
#include "ops/element_view.h"
#include "ops/families.h"
#include "ops/in_place.h"
#include "ops/infer_checks.h"
#include "ops/move.h"
#include "ops/op.h"
#include "ops/reference_util.h"
#include "ops/shape_value.h"

// Slice: a strided part of a tensor, with NumPy's rules for bounds.
namespace atc::ops {
namespace {

// Attributes until opset 9, inputs 1 to 4 since 10 (steps since 10).
constexpr std::string_view kStarts = "starts";
constexpr std::string_view kEnds = "ends";
constexpr std::string_view kAxes = "axes";  // 0, 1, ... when absent
constexpr int kInputsSince = 10;
enum Input : std::size_t { kStartsIn = 1, kEndsIn = 2, kAxesIn = 3, kStepsIn = 4 };

/// What one axis of known length contributes.
struct AxisSlice {
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
};

/// Bounds clamped into the axis, counting from its end when negative. Precondition: step != 0.
AxisSlice slice_axis(std::int64_t length, std::int64_t start, std::int64_t end, std::int64_t step) {
  if (length == 0) return {0, step, 0};
  auto from_end = [length](std::int64_t v) { return v < 0 ? v + length : v; };
  AxisSlice s{0, step, 0};
  if (step > 0) {
    s.start = std::clamp<std::int64_t>(from_end(start), 0, length);
    const std::int64_t last = std::clamp<std::int64_t>(from_end(end), 0, length);
    if (last > s.start) s.count = (last - s.start - 1) / step + 1;
  } else {  // walks down; an end before the first element is -1
    s.start = std::clamp<std::int64_t>(from_end(start), 0, length - 1);
    const std::int64_t last = std::clamp<std::int64_t>(from_end(end), -1, length - 1);
    // Unsigned: -step of the lowest int64 is no int64.
    const auto stride = 0 - static_cast<std::uint64_t>(step);
    if (last < s.start)
      s.count = static_cast<std::int64_t>(static_cast<std::uint64_t>(s.start - last - 1) / stride) + 1;
  }
  return s;
}

/// A list of the node as far as it is known: nullopt when it hangs on data.
std::optional<ir::Shape> list_of(const InferContext& ctx, std::string_view attribute, std::size_t input) {
  if (ctx.version() >= kInputsSince) return elements_of(ctx, input);
  ir::Shape out;
  for (std::int64_t v : ctx.node().attrs.get_ints(attribute)) out.push_back(literal(v));
  return out;
}

/// Length of a slice along an axis whose bounds or length are symbols, where it can be told.
ir::Dim symbolic_length(InferContext& ctx, const ir::Dim& length, const ir::Dim& start, const ir::Dim& end,
                        const ir::Dim& step) {
  constexpr std::int64_t kFar = INT32_MAX;  // exporters write such ends for "to the last"
  if (step != literal(1)) return ctx.unknown_dim();
  const bool from_first = start == literal(0);
  const bool to_last = end == length || (is_literal(end) && end.value >= kFar);
  if (from_first && to_last) return length;
  // [0, symbol) of an unknown or longer axis is not told: the axis may be shorter than the symbol.
  if (from_first && length == end) return length;
  if (is_literal(start) && start.value < 0 && to_last && length.known()) return ir::Dim::of(-start.value);
  return ctx.unknown_dim();
}

Status infer_slice(InferContext& ctx) {
  if (ctx.version() >= kInputsSince) {
    for (std::size_t i = kStartsIn; i <= kStepsIn; ++i) {
      if (!ctx.has_input(i)) continue;
      ATC_TRY(require_dtype(ctx, i, kIndexTypes, "type i32 or i64"));
      ATC_TRY(require_rank(ctx, i, 1, 1));
    }
  }
  if (!ctx.ranked(0)) {
    ctx.set_output(0, ctx.dtype(0), std::nullopt);
    return {};
  }
  ir::Shape shape = ctx.shape(0);
  const auto starts = list_of(ctx, kStarts, kStartsIn);
  const auto ends = list_of(ctx, kEnds, kEndsIn);

  // Which axes are cut. When not even that is known, every axis may be.
  std::optional<Dims> axes;
  const bool has_axes = ctx.version() < kInputsSince ? ctx.node().attrs.has(kAxes) : ctx.has_input(kAxesIn);
  if (has_axes) {
    axes = ctx.version() < kInputsSince ? ctx.node().attrs.get_ints(kAxes) : literals_of(ctx, kAxesIn);
  } else if (const auto count = starts ? std::optional(static_cast<std::int64_t>(starts->size()))
                                       : length_of(ctx, kStartsIn)) {
    axes = Dims(static_cast<std::size_t>(*count));
    std::iota(axes->begin(), axes->end(), 0);
  }
  if (!axes) {
    ctx.set_output(0, ctx.dtype(0), unknown_shape(ctx, shape.size()));
    return {};
  }
  const auto normal = normalize_axes(*axes, shape.size());
  if (!normal)
    return ctx.error("axes [" + to_string(*axes) + "] do not name different axes of an input of rank " +
                     std::to_string(shape.size()));

  const std::optional<ir::Shape> steps =
      ctx.has_input(kStepsIn) ? elements_of(ctx, kStepsIn) : ir::Shape(axes->size(), literal(1));
  for (const auto* list : {&starts, &ends, &steps})
    if (*list && (*list)->size() != axes->size())
      return ctx.error("starts, ends, axes and steps differ in length");

  auto elements = elements_of(ctx, 0);
  for (std::size_t i = 0; i < axes->size(); ++i) {
    ir::Dim& length = shape[static_cast<std::size_t>((*normal)[i])];
    if (steps && (*steps)[i] == literal(0))
      return ctx.error("the step of axis " + std::to_string((*normal)[i]) + " is 0");
    if (!starts || !ends || !steps) {
      length = ctx.unknown_dim();
      elements.reset();
      continue;
    }
    const ir::Dim& start = (*starts)[i];
    const ir::Dim& end = (*ends)[i];
    const ir::Dim& step = (*steps)[i];
    if (!length.known() || !is_literal(start) || !is_literal(end) || !is_literal(step)) {
      const ir::Dim cut = symbolic_length(ctx, length, start, end, step);
      if (cut != length) elements.reset();
      length = cut;
      continue;
    }
    const AxisSlice s = slice_axis(length.value, start.value, end.value, step.value);
    length = ir::Dim::of(s.count);
    if (!elements) continue;
    ir::Shape kept;
    for (std::int64_t k = 0; k < s.count; ++k)
      kept.push_back((*elements)[static_cast<std::size_t>(s.start + k * s.step)]);
    elements = std::move(kept);
  }
  ctx.set_output(0, ctx.dtype(0), std::move(shape));
  if (elements) set_elements(ctx, 0, *std::move(elements));
  return {};
}

/// A slice as a strided view of its input.
struct SliceView {
  Dims shape;
  Dims strides;
  std::int64_t first = 0;
};

/// `list` gives an attribute or input by name or index; `fail` makes the error.
template <class List, class Fail>
StatusOr<SliceView> slice_view(const Dims& x, bool from_inputs, List list, Fail fail) {
  const Dims starts = list(kStarts, kStartsIn).value_or(Dims());
  const Dims ends = list(kEnds, kEndsIn).value_or(Dims());
  Dims all(starts.size());
  std::iota(all.begin(), all.end(), 0);
  const Dims axes = list(kAxes, kAxesIn).value_or(all);
  const Dims steps =
      from_inputs ? list({}, kStepsIn).value_or(Dims(starts.size(), 1)) : Dims(starts.size(), 1);
  const auto normal = normalize_axes(axes, x.size());
  if (!normal || ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size())
    return fail("starts [" + to_string(starts) + "], ends [" + to_string(ends) + "], axes [" +
                to_string(axes) + "] and steps [" + to_string(steps) + "] do not fit shape [" + to_string(x) +
                "]");

  SliceView v{x, row_major_strides(x), 0};
  for (std::size_t i = 0; i < starts.size(); ++i) {
    if (steps[i] == 0) return fail("the step of axis " + std::to_string((*normal)[i]) + " is 0");
    const auto axis = static_cast<std::size_t>((*normal)[i]);
    const AxisSlice s = slice_axis(x[axis], starts[i], ends[i], steps[i]);
    v.shape[axis] = s.count;
    if (s.count == 0) continue;
    v.first += s.start * v.strides[axis];
    v.strides[axis] *= s.count > 1 ? s.step : 0;  // a far step of a single element must not overflow
  }
  return v;
}

Status reference_slice(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const bool from_inputs = ctx.version() >= kInputsSince;
  auto list = [&](std::string_view attribute, std::size_t input) -> std::optional<Dims> {
    if (from_inputs) return ctx.has_input(input) ? std::optional(to_int64s(ctx.input(input))) : std::nullopt;
    return ctx.node().attrs.has(attribute) ? std::optional(ctx.node().attrs.get_ints(attribute))
                                           : std::nullopt;
  };
  ATC_ASSIGN(const SliceView v, slice_view(x.shape, from_inputs, list,
                                           [&](std::string why) { return ctx.error(std::move(why)); }));
  ctx.outputs[0] = strided_copy(x, v.shape, v.strides, v.first);
  return {};
}

// Lowering ------------------------------------------------------------------------------------------

bool lowers_slice(const ir::Node& node) { return copies_input(node) && parameters_are_constant(node, 1); }

template <class Fail>
StatusOr<SliceView> constant_slice(const ir::Node& n, Fail fail) {
  auto list = [&](std::string_view attribute, std::size_t input) -> std::optional<Dims> {
    if (n.version >= kInputsSince) return constant_list(n, input);
    return n.attrs.has(attribute) ? std::optional(n.attrs.get_ints(attribute)) : std::nullopt;
  };
  return slice_view(n.input(0)->type.dims(), n.version >= kInputsSince, list, fail);
}

Status lower_slice(LowerContext& ctx) {
  const ir::Node& n = ctx.node();
  if (is_in_place(in_place(n), 0)) return {};
  ATC_ASSIGN(const SliceView v,
             constant_slice(n, [&](std::string why) { return cannot_lower(n, std::move(why)); }));
  return emit_copy(ctx, v.shape, {v.first, v.strides}, {0, row_major_strides(v.shape)});
}

}  // namespace

std::optional<ElementView> slice_element_view(const ir::Node& slice) {
  if (!parameters_are_constant(slice, 1)) return std::nullopt;
  const auto v = constant_slice(slice, [&](std::string why) { return cannot_lower(slice, std::move(why)); });
  if (!v.ok()) return std::nullopt;
  return ElementView{v->strides, v->first};
}

void register_slice(Registry& r) {
  r.add({.name = "Slice",
         .since = 1,
         .until = kInputsSince - 1,
         .attrs = {{kAxes, AttrKind::Ints}, {kEnds, AttrKind::Ints, true}, {kStarts, AttrKind::Ints, true}},
         .infer = infer_slice,
         .reference = reference_slice,
         .lower = lower_slice,
         .lowers = lowers_slice});
  r.add({.name = "Slice",
         .since = kInputsSince,
         .inputs = {3, 5},
         .infer = infer_slice,
         .reference = reference_slice,
         .lower = lower_slice,
         .lowers = lowers_slice});
}

}  // namespace atc::ops
