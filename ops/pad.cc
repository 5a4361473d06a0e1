#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>

#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/move.h"
#include "ops/op.h"
#include "ops/pad_geometry.h"
#include "ops/reference_util.h"
#include "ops/shape_value.h"

// Pad: elements added (or, with negative counts, removed) at both ends of axes.
namespace atc::ops {
namespace {

// Attributes: mode (String, "constant", "reflect", "edge", since 19 "wrap"); until 10 also pads (`paddings`
// in opset 1; Ints) and value (Float, 0). Inputs since 11: data, pads, constant_value, axes (since 18).
constexpr std::string_view kMode = "mode";
constexpr std::string_view kValue = "value";
constexpr int kInputsSince = 11;
enum Input : std::size_t { kPadsIn = 1, kValueIn = 2, kAxesIn = 3 };

std::string_view pads_attribute(int version) { return version < 2 ? "paddings" : "pads"; }

StatusOr<PadMode> mode_of(const ir::Node& node, const auto& ctx) {
  const std::string mode = node.attrs.get_string(kMode, "constant");
  if (mode == "constant") return PadMode::Constant;
  if (mode == "reflect") return PadMode::Reflect;
  if (mode == "edge") return PadMode::Edge;
  if (mode == "wrap" && node.version >= 19) return PadMode::Wrap;
  return ctx.error("attribute mode must be constant, reflect" +
                   std::string(node.version >= 19 ? ", edge or wrap" : " or edge") + ", found '" + mode +
                   "'");
}

/// Pads for every axis of the input, [starts..., ends...], from those of the named axes.
std::optional<Dims> spread(const Dims& pads, const std::optional<Dims>& axes, std::size_t rank) {
  if (!axes) return pads.size() == 2 * rank ? std::optional(pads) : std::nullopt;
  const auto normal = normalize_axes(*axes, rank);
  if (!normal || pads.size() != 2 * axes->size()) return std::nullopt;
  Dims out(2 * rank, 0);
  for (std::size_t i = 0; i < normal->size(); ++i) {
    const auto axis = static_cast<std::size_t>((*normal)[i]);
    out[axis] = pads[i];
    out[rank + axis] = pads[axes->size() + i];
  }
  return out;
}

std::string pads_fault(const Dims& pads, std::size_t rank) {
  return "pads [" + to_string(pads) + "] and axes do not fit an input of rank " + std::to_string(rank);
}

Status infer_pad(InferContext& ctx) {
  ATC_ASSIGN(const PadMode mode, mode_of(ctx.node(), ctx));
  if (ctx.has_input(kValueIn)) ATC_TRY(require_same_dtype(ctx, kValueIn, 0));
  if (!ctx.ranked(0)) {
    ctx.set_output(0, ctx.dtype(0), std::nullopt);
    return {};
  }
  ir::Shape shape = ctx.shape(0);
  std::optional<Dims> pads;
  std::optional<Dims> axes;
  if (ctx.version() < kInputsSince) {
    pads = ctx.node().attrs.get_ints(pads_attribute(ctx.version()));
  } else {
    pads = literals_of(ctx, kPadsIn);
    if (ctx.has_input(kAxesIn)) {
      axes = literals_of(ctx, kAxesIn);
      if (!axes) pads.reset();
    }
  }
  if (!pads) {
    ctx.set_output(0, ctx.dtype(0), unknown_shape(ctx, shape.size()));
    return {};
  }
  const auto all = spread(*pads, axes, shape.size());
  if (!all) return ctx.error(pads_fault(*pads, shape.size()));
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t before = (*all)[i];
    const std::int64_t after = (*all)[shape.size() + i];
    if (before == 0 && after == 0) continue;
    if (!shape[i].known()) {
      shape[i] = ctx.unknown_dim();
      continue;
    }
    if (const std::string fault = pad_fault(mode, shape[i].value, before, after); !fault.empty())
      return ctx.error("axis " + std::to_string(i) + ": " + fault);
    shape[i] = ir::Dim::of(shape[i].value + before + after);
  }
  ctx.set_output(0, ctx.dtype(0), std::move(shape));
  return {};
}

Status reference_pad(EvalContext& ctx) {
  ATC_ASSIGN(const PadMode mode, mode_of(ctx.node(), ctx));
  const Tensor& x = ctx.input(0);
  const std::size_t rank = x.shape.size();
  const bool from_inputs = ctx.version() >= kInputsSince;
  const Dims pads =
      from_inputs ? to_int64s(ctx.input(kPadsIn)) : ctx.node().attrs.get_ints(pads_attribute(ctx.version()));
  const auto axes = ctx.has_input(kAxesIn) ? std::optional(to_int64s(ctx.input(kAxesIn))) : std::nullopt;
  const auto all = spread(pads, axes, rank);
  if (!all) return ctx.error(pads_fault(pads, rank));

  Dims shape = x.shape;
  std::vector<std::vector<std::int64_t>> sources;  // for each axis and output position: where from, or -1
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t before = (*all)[i];
    const std::int64_t after = (*all)[rank + i];
    if (const std::string fault = pad_fault(mode, x.shape[i], before, after); !fault.empty())
      return ctx.error("axis " + std::to_string(i) + ": " + fault);
    shape[i] += before + after;
    std::vector<std::int64_t> source;
    for (std::int64_t k = 0; k < shape[i]; ++k) source.push_back(pad_source(mode, x.shape[i], k - before));
    sources.push_back(std::move(source));
  }
  if (element_count(shape) < 0) return ctx.error("the number of elements does not fit 64 bits");

  std::optional<Tensor> value;
  if (from_inputs && ctx.has_input(kValueIn))
    value = ctx.input(kValueIn);
  else if (!from_inputs)
    value = scalar_tensor(x.dtype, static_cast<double>(ctx.node().attrs.get_float(kValue, 0)));
  if (value && value->count() != 1) return ctx.error("constant_value must have one element");

  const Dims strides = row_major_strides(x.shape);
  ElementWriter out(x.dtype, shape);
  for (NdIndex at(shape); !at.done(); at.next()) {
    std::int64_t from = 0;
    bool outside = false;
    for (std::size_t i = 0; i < rank; ++i) {
      const std::int64_t source = sources[i][static_cast<std::size_t>(at[i])];
      outside = outside || source < 0;
      from += source * strides[i];
    }
    if (!outside)
      out.copy(at.position(), x, from);
    else if (value)
      out.copy(at.position(), *value, 0);
  }
  ctx.outputs[0] = std::move(out).freeze();
  return {};
}

// Lowering ------------------------------------------------------------------------------------------

/// Constant padding is a copy between fills; the other modes are left to the reference.
bool lowers_pad(const ir::Node& node) {
  return copies_input(node) && parameters_are_constant(node, 1) &&
         node.attrs.get_string(kMode, "constant") == "constant";
}

std::uint64_t fill_bits(const ir::Node& node) {
  const DType dtype = node.input(0)->type.dtype;
  double value = 0;
  if (node.version < kInputsSince)
    value = static_cast<double>(node.attrs.get_float(kValue, 0));
  else if (node.input(kValueIn) != nullptr && node.input(kValueIn)->constant().count() == 1)
    value = to_doubles(node.input(kValueIn)->constant())[0];
  const Tensor t = is_integer(dtype) && node.version >= kInputsSince && node.input(kValueIn) != nullptr
                       ? from_int64s(dtype, {}, to_int64s(node.input(kValueIn)->constant()))
                       : scalar_tensor(dtype, value);
  std::uint64_t bits = 0;
  std::memcpy(&bits, t.data.data(), t.byte_size());
  return bits;
}

Status lower_pad(LowerContext& ctx) {
  const ir::Node& n = ctx.node();
  const Dims x = n.input(0)->type.dims(), y = n.output(0)->type.dims();
  const std::size_t rank = x.size();
  const Dims pads =
      n.version >= kInputsSince ? *constant_list(n, kPadsIn) : n.attrs.get_ints(pads_attribute(n.version));
  const auto all = spread(pads, constant_list(n, kAxesIn), rank);
  if (!all) return cannot_lower(n, pads_fault(pads, rank));
  const Dims from = row_major_strides(x), to = row_major_strides(y);
  kernels::CopySegment inner;
  inner.dims = x;
  inner.src_strides = from;
  inner.dst_strides = to;
  std::vector<kernels::CopySegment> segments;
  // Axis by axis: what lies before and after the data, inside the data's range of the axes already done.
  Dims done = y, low(rank, 0);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t before = std::max<std::int64_t>((*all)[i], 0),
                       after = std::max<std::int64_t>((*all)[rank + i], 0);
    const std::int64_t cut = std::max<std::int64_t>(-(*all)[i], 0);
    inner.src_offset += cut * from[i];
    inner.dst_offset += before * to[i];
    inner.dims[i] = y[i] - before - after;
    for (const auto& [start, length] : {std::pair(std::int64_t{0}, before), std::pair(y[i] - after, after)}) {
      if (length == 0) continue;
      kernels::CopySegment fill;
      fill.src = -1;
      fill.dims = done;
      fill.dims[i] = length;
      fill.src_strides.assign(rank, 0);
      fill.dst_strides = to;
      for (std::size_t k = 0; k < rank; ++k) fill.dst_offset += (k == i ? start : low[k]) * to[k];
      fill.fill_bits = fill_bits(n);
      segments.push_back(std::move(fill));
    }
    done[i] = inner.dims[i];
    low[i] = before;
  }
  if (element_count(inner.dims) > 0) segments.push_back(std::move(inner));
  return emit_copies(ctx, n.input(0)->type.dtype, std::move(segments),
                     {ctx.read(n.input(0)), ctx.write(n.output(0))});
}

}  // namespace

void register_pad(Registry& r) {
  for (const bool first : {true, false})
    r.add({.name = "Pad",
           .since = first ? 1 : 2,
           .until = first ? 1 : kInputsSince - 1,
           .attrs = {{kMode, AttrKind::String},
                     {pads_attribute(first ? 1 : 2), AttrKind::Ints, true},
                     {kValue, AttrKind::Float}},
           .infer = infer_pad,
           .reference = reference_pad,
           .lower = lower_pad,
           .lowers = lowers_pad});
  r.add({.name = "Pad",
         .since = kInputsSince,
         .until = 17,
         .attrs = {{kMode, AttrKind::String}},
         .inputs = {2, 3},
         .infer = infer_pad,
         .reference = reference_pad,
         .lower = lower_pad,
         .lowers = lowers_pad});
  r.add({.name = "Pad",
         .since = 18,
         .attrs = {{kMode, AttrKind::String}},
         .inputs = {2, 4},
         .infer = infer_pad,
         .reference = reference_pad,
         .lower = lower_pad,
         .lowers = lowers_pad});
}

}  // namespace atc::ops
