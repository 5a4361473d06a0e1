#include <algorithm>
#include <string>

#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/move.h"
#include "ops/op.h"
#include "ops/reference_util.h"
#include "ops/shape_value.h"

// Squeeze and Unsqueeze: axes of length 1 removed and inserted.
namespace atc::ops {
namespace {

constexpr std::string_view kAxes = "axes";  // Ints, until 12; input 1 since 13
constexpr int kAxesAreInputSince = 13;

/// The node's axes; nullopt when the node has none. `known` is false when they hang on data.
std::optional<Dims> axes_of(const InferContext& ctx, bool& known) {
  known = true;
  if (ctx.version() < kAxesAreInputSince) {
    if (!ctx.node().attrs.has(kAxes)) return std::nullopt;
    return ctx.node().attrs.get_ints(kAxes);
  }
  if (!ctx.has_input(1)) return std::nullopt;
  const auto axes = literals_of(ctx, 1);
  known = axes.has_value();
  return axes;
}

std::optional<Dims> axes_of(const EvalContext& ctx) {
  if (ctx.version() >= kAxesAreInputSince)
    return ctx.has_input(1) ? std::optional(to_int64s(ctx.input(1))) : std::nullopt;
  if (!ctx.node().attrs.has(kAxes)) return std::nullopt;
  return ctx.node().attrs.get_ints(kAxes);
}

bool contains(const Dims& axes, std::size_t axis) {
  return std::ranges::find(axes, static_cast<std::int64_t>(axis)) != axes.end();
}

Status infer_squeeze(InferContext& ctx) {
  bool known = true;
  auto axes = axes_of(ctx, known);
  if (!known || !ctx.ranked(0)) {
    ctx.set_output(0, ctx.dtype(0), std::nullopt);
    keep_elements(ctx);
    return {};
  }
  const ir::Shape& shape = ctx.shape(0);
  if (axes) {
    ATC_ASSIGN(axes, resolve_axes(ctx.node(), *axes, shape.size()));
  }
  ir::Shape out;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool unit = shape[i] == ir::Dim::of(1);
    if (axes ? !contains(*axes, i) : shape[i].known() && !unit) {
      out.push_back(shape[i]);
    } else if (axes && shape[i].known() && !unit) {
      return ctx.error("axis " + std::to_string(i) + " to squeeze has length " +
                       std::to_string(shape[i].value) + ", expected 1");
    } else if (!axes && !unit) {  // whether the axis goes hangs on its length
      ctx.set_output(0, ctx.dtype(0), std::nullopt);
      keep_elements(ctx);
      return {};
    }
  }
  ctx.set_output(0, ctx.dtype(0), std::move(out));
  keep_elements(ctx);
  return {};
}

Status reference_squeeze(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  auto axes = axes_of(ctx);
  if (axes) {
    const auto normal = normalize_axes(*axes, x.shape.size());
    if (!normal)
      return ctx.error("axes [" + to_string(*axes) + "] do not fit shape [" + to_string(x.shape) + "]");
    axes = normal;
  }
  Dims out;
  for (std::size_t i = 0; i < x.shape.size(); ++i) {
    const bool drop = axes ? contains(*axes, i) : x.shape[i] == 1;
    if (!drop)
      out.push_back(x.shape[i]);
    else if (x.shape[i] != 1)
      return ctx.error("axis " + std::to_string(i) + " to squeeze has length " + std::to_string(x.shape[i]));
  }
  ctx.outputs[0] = with_shape(x, std::move(out));
  return {};
}

/// `shape` with `one` inserted at the given axes of the result.
template <class ShapeT, class Dim>
ShapeT with_ones(const ShapeT& shape, const Dims& axes, const Dim& one) {
  ShapeT out;
  auto next = shape.begin();
  for (std::size_t i = 0; i < shape.size() + axes.size(); ++i)
    out.push_back(contains(axes, i) ? one : *next++);
  return out;
}

Status infer_unsqueeze(InferContext& ctx) {
  bool known = true;
  const auto axes = axes_of(ctx, known);
  if (known && !axes) return ctx.error("axes are required");
  if (!axes || !ctx.ranked(0)) {
    const auto count = axes ? std::nullopt : length_of(ctx, 1);
    ctx.set_output(0, ctx.dtype(0),
                   count && ctx.ranked(0) ? std::optional(unknown_shape(
                                                ctx, ctx.shape(0).size() + static_cast<std::size_t>(*count)))
                                          : std::nullopt);
    keep_elements(ctx);
    return {};
  }
  ATC_ASSIGN(const Dims normal, resolve_axes(ctx.node(), *axes, ctx.shape(0).size() + axes->size()));
  ctx.set_output(0, ctx.dtype(0), with_ones(ctx.shape(0), normal, ir::Dim::of(1)));
  keep_elements(ctx);
  return {};
}

Status reference_unsqueeze(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const auto axes = axes_of(ctx);
  const auto normal = axes ? normalize_axes(*axes, x.shape.size() + axes->size()) : std::nullopt;
  if (!normal) return ctx.error("axes do not fit shape [" + to_string(x.shape) + "]");
  ctx.outputs[0] = with_shape(x, with_ones(x.shape, *normal, std::int64_t{1}));
  return {};
}

OpDef axes_def(std::string_view name, bool optional, Status (*infer)(InferContext&),
               Status (*reference)(EvalContext&)) {
  return {.name = name,
          .since = 1,
          .until = kAxesAreInputSince - 1,
          .attrs = {{kAxes, AttrKind::Ints, !optional}},
          .infer = infer,
          .reference = reference};
}

}  // namespace

void register_squeeze(Registry& r) {
  for (const bool squeeze : {true, false}) {
    OpDef def = squeeze ? axes_def("Squeeze", true, infer_squeeze, reference_squeeze)
                        : axes_def("Unsqueeze", false, infer_unsqueeze, reference_unsqueeze);
    def.lower = lower_view;
    r.add(def);
    def.since = kAxesAreInputSince;
    def.until = INT_MAX;
    def.attrs.clear();
    def.inputs = {squeeze ? 1 : 2, 2};
    r.add(def);
  }
}

}  // namespace atc::ops
