#include "ops/softmax_fused.h"

#include <algorithm>
#include <cmath>

#include "ops/axis_view.h"
#include "ops/infer_checks.h"
#include "ops/reference_util.h"
#include "ops/vector_emitter.h"

// Ours, around a softmax along one axis (attribute `axis`, default -1):
// - atc::ScaledMaskedSoftmax, y = (x[, mask]): softmax of x * `scale` behind a mask that broadcasts to x and
// is
//   added (`mask_kind` "add") or bool and leaves (keep) or replaces (drop) by `fill` where it is true;
// - atc::SoftmaxWeightedSum, y = (x, scores): the sum along the axis of x * softmax(scores), the axis staying
//   as 1. scores broadcast to x and have the axis in full. A second output, where it is there, is the
//   softmax.
namespace atc::ops {
namespace {

using kernels::VecOp;
using Reg = VectorEmitter::Reg;

Status check_axis(const InferContext& ctx) {
  if (!ctx.ranked(0)) return {};
  auto axis = axis_attribute(ctx, "axis", -1, ctx.shape(0).size());
  return axis.ok() ? Status{} : axis.status();
}

std::size_t axis_of(const ir::Node& node, std::size_t rank) {
  return static_cast<std::size_t>(
      *normalize_axis(node.attrs.get_int("axis", -1), static_cast<std::int64_t>(rank)));
}

/// Input `i` broadcasts to input 0 without changing its shape.
Status check_broadcast(const InferContext& ctx, std::size_t i) {
  if (!ctx.has_input(i) || !ctx.ranked(0) || !ctx.ranked(i)) return {};
  const auto joint = broadcast(ctx.shape(0), ctx.shape(i));
  if (joint && ir::to_string(*joint) == ir::to_string(ctx.shape(0))) return {};
  return ctx.input_error(i, "does not broadcast to the data's shape [" + ir::to_string(ctx.shape(0)) + "]");
}

std::optional<Dims> vector_axes(const ir::Node& node) {
  return Dims{static_cast<std::int64_t>(axis_of(node, node.input(0)->type.shape->size()))};
}

bool accepts_float(const ir::Node& node) {
  return aicore::reg_type_of(node.input(0)->type.dtype) == kernels::RegType::F32;
}

/// exp(x - max x) along the program's reduced axis.
Reg exps_of(VectorEmitter& e, Reg x) {
  return e.unary(VecOp::Exp, e.binary(VecOp::Sub, x, e.unary(VecOp::ReduceMax, x)));
}

void softmax(std::vector<double>& x, const AxisView& v) {
  for (std::size_t o = 0; o < v.outer && v.length > 0; ++o)
    for (std::size_t i = 0; i < v.inner; ++i) {
      double* column = x.data() + v.column(o, i);
      double max = column[0], sum = 0;
      for (std::size_t k = 1; k < v.length; ++k) max = std::max(max, column[k * v.inner]);
      for (std::size_t k = 0; k < v.length; ++k)
        sum += column[k * v.inner] = std::exp(column[k * v.inner] - max);
      for (std::size_t k = 0; k < v.length; ++k) column[k * v.inner] /= sum;
    }
}

// ScaledMaskedSoftmax ---------------------------------------------------------------------------------

constexpr std::string_view kMaskKind = "mask_kind", kFill = "fill", kScale = "scale";

double scale_of(const ir::Node& node) { return static_cast<double>(node.attrs.get_float(kScale, 1.0F)); }
double fill_of(const ir::Node& node) { return static_cast<double>(node.attrs.get_float(kFill, 0.0F)); }
std::string mask_kind(const ir::Node& node) { return node.attrs.get_string(kMaskKind, "add"); }

Status infer_masked_softmax(InferContext& ctx) {
  ATC_TRY(require_float(ctx, 0));
  ATC_TRY(check_axis(ctx));
  const std::string kind = mask_kind(ctx.node());
  if (kind != "add" && kind != "keep" && kind != "drop")
    return ctx.error("attribute mask_kind must be add, keep or drop, found '" + kind + "'");
  if (ctx.has_input(1)) {
    if (kind == "add")
      ATC_TRY(require_float(ctx, 1));
    else
      ATC_TRY(require_dtype(ctx, 1, kBoolTypes, "type bool"));
  }
  ATC_TRY(check_broadcast(ctx, 1));
  return infer_same_as_input(ctx);
}

Status reference_masked_softmax(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  std::vector<double> y = to_doubles(x);
  for (double& v : y) v *= scale_of(ctx.node());
  if (ctx.has_input(1)) {
    const std::string kind = mask_kind(ctx.node());
    const std::vector<double> mask = to_doubles(ctx.input(1));
    for (StridedWalk w(x.shape, {strides_over(ctx.input(1).shape, x.shape)}); !w.done(); w.next()) {
      double& v = y[static_cast<std::size_t>(w.position())];
      const double m = mask[static_cast<std::size_t>(w.offset())];
      if (kind == "add")
        v += m;
      else if ((m != 0) == (kind == "drop"))
        v = fill_of(ctx.node());
    }
  }
  softmax(y, axis_view(x.shape, static_cast<std::int64_t>(axis_of(ctx.node(), x.shape.size()))));
  ctx.outputs[0] = from_doubles(x.dtype, x.shape, y);
  return {};
}

Status vector_masked_softmax(VectorEmitter& e) {
  Reg x = e.input(0);
  if (scale_of(e.node()) != 1)
    x = e.binary(VecOp::Mul, x, e.constant(kernels::RegType::F32, scale_of(e.node())));
  if (e.has_input(1)) {
    const std::string kind = mask_kind(e.node());
    const Reg fill = kind == "add" ? -1 : e.constant(kernels::RegType::F32, fill_of(e.node()));
    x = kind == "add"    ? e.binary(VecOp::Add, x, e.input(1))
        : kind == "keep" ? e.select(e.input(1), x, fill)
                         : e.select(e.input(1), fill, x);
  }
  const Reg exps = exps_of(e, x);
  e.set_output(0, e.binary(VecOp::Div, exps, e.unary(VecOp::ReduceSum, exps)));
  return {};
}

// SoftmaxWeightedSum ----------------------------------------------------------------------------------

Status infer_weighted_sum(InferContext& ctx) {
  ATC_TRY(require_float(ctx, 0));
  ATC_TRY(require_float(ctx, 1));
  ATC_TRY(check_axis(ctx));
  ATC_TRY(check_broadcast(ctx, 1));
  if (ctx.node().outputs().size() > 1) ctx.set_output(1, ctx.dtype(1), ctx.type(1).shape);
  if (!ctx.ranked(0)) return infer_same_as_input(ctx);
  ir::Shape out = ctx.shape(0);
  const std::size_t axis = axis_of(ctx.node(), out.size());
  if (ctx.ranked(1)) {
    const ir::Shape& s = ctx.shape(1);
    const std::size_t missing = out.size() - s.size();
    if (axis < missing || conflicts(s[axis - missing], out[axis]))
      return ctx.input_error(1, "does not have axis " + std::to_string(axis) + " of the data in full");
  }
  out[axis] = ir::Dim::of(1);
  ctx.set_output(0, ctx.dtype(0), out);
  return {};
}

Status reference_weighted_sum(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const Tensor& s = ctx.input(1);
  const std::size_t axis = axis_of(ctx.node(), x.shape.size());
  const std::size_t missing = x.shape.size() - s.shape.size();
  std::vector<double> weights = to_doubles(s);
  softmax(weights, axis_view(s.shape, static_cast<std::int64_t>(axis - missing)));
  Dims out = x.shape;
  out[axis] = 1;
  std::vector<double> y(static_cast<std::size_t>(element_count(out)), 0.0);
  const std::vector<double> values = to_doubles(x);
  for (StridedWalk w(x.shape, {strides_over(s.shape, x.shape), strides_over(out, x.shape)}); !w.done();
       w.next())
    y[static_cast<std::size_t>(w.offset(1))] +=
        values[static_cast<std::size_t>(w.position())] * weights[static_cast<std::size_t>(w.offset(0))];
  ctx.outputs[0] = from_doubles(x.dtype, out, y);
  if (ctx.node().outputs().size() > 1) ctx.outputs[1] = from_doubles(s.dtype, s.shape, weights);
  return {};
}

/// The weights stay as they are until the sums are there: one division a sum instead of one a weight.
Status vector_weighted_sum(VectorEmitter& e) {
  const Reg exps = exps_of(e, e.input(1));
  const Reg total = e.unary(VecOp::ReduceSum, exps);
  const Reg sum = e.unary(VecOp::ReduceSum, e.binary(VecOp::Mul, e.input(0), exps));
  e.set_output(0, e.binary(VecOp::Div, sum, total));
  if (e.node().outputs().size() > 1) e.set_output(1, e.binary(VecOp::Div, exps, total));
  return {};
}

}  // namespace

void register_softmax_fused(Registry& registry) {
  registry.add({.name = "ScaledMaskedSoftmax",
                .domain = "atc",
                .since = 0,
                .attrs = {{"axis", AttrKind::Int, false, 0},
                          {kFill, AttrKind::Float, false, 0},
                          {kMaskKind, AttrKind::String, false, 0},
                          {kScale, AttrKind::Float, false, 0}},
                .inputs = {1, 2},
                .infer = infer_masked_softmax,
                .reference = reference_masked_softmax,
                .vector = vector_masked_softmax,
                .vector_accepts = accepts_float,
                .reduce_axes = vector_axes});
  registry.add({.name = "SoftmaxWeightedSum",
                .domain = "atc",
                .since = 0,
                .attrs = {{"axis", AttrKind::Int, false, 0}},
                .inputs = {2, 2},
                .outputs = {1, 2},
                .infer = infer_weighted_sum,
                .reference = reference_weighted_sum,
                .vector = vector_weighted_sum,
                .vector_accepts = accepts_float,
                .reduce_axes = vector_axes});
}

}  // namespace atc::ops
