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

/// Positions [begin, begin + length) of the output along an axis that read source, source + step, ...; step
/// is 1, -1 or 0.
struct Run {
  std::int64_t begin = 0, length = 0, source = 0, step = 1;
};

std::vector<Run> runs_of(PadMode mode, std::int64_t input, std::int64_t output, std::int64_t before) {
  std::vector<Run> runs;
  for (std::int64_t k = 0; k < output; ++k) {
    const std::int64_t source = pad_source(mode, input, k - before);
    if (!runs.empty()) {
      Run& r = runs.back();
      const std::int64_t step = source - r.source;
      if (r.length == 1 && step >= -1 && step <= 1) {
        r.step = step;
        ++r.length;
        continue;
      }
      if (r.length > 1 && source == r.source + r.length * r.step) {
        ++r.length;
        continue;
      }
    }
    runs.push_back({k, 1, source, 1});
  }
  return runs;
}

std::optional<Dims> constant_pads(const ir::Node& node) {
  const std::size_t rank = node.input(0)->type.dims().size();
  if (node.version < kInputsSince) return spread(node.attrs.get_ints(pads_attribute(node.version)), {}, rank);
  const auto pads = constant_list(node, kPadsIn);
  return pads ? spread(*pads, constant_list(node, kAxesIn), rank) : std::nullopt;
}

/// The runs of every axis under a mode that repeats elements; nullopt when they make too many boxes.
std::optional<std::vector<std::vector<Run>>> repeated_runs(const ir::Node& node) {
  constexpr std::int64_t kMaxSegments = 512;
  const auto mode = mode_of(node, InferContext(node));
  const auto pads = constant_pads(node);
  if (!mode.ok() || !pads) return std::nullopt;
  const Dims x = node.input(0)->type.dims(), y = node.output(0)->type.dims();
  std::vector<std::vector<Run>> out;
  std::int64_t segments = 1;
  for (std::size_t i = 0; i < x.size(); ++i) {
    out.push_back(runs_of(*mode, x[i], y[i], (*pads)[i]));
    segments *= std::ssize(out.back());
    if (segments > kMaxSegments) return std::nullopt;
  }
  return out;
}

bool repeats_elements(const ir::Node& node) { return node.attrs.get_string(kMode, "constant") != "constant"; }

bool lowers_pad(const ir::Node& node) {
  if (!copies_input(node) || !parameters_are_constant(node, 1)) return false;
  return !repeats_elements(node) || repeated_runs(node).has_value();
}

/// Every combination of the axes' runs is a box that is copied, backwards or from one element where it has
/// to.
Status lower_repeated(LowerContext& ctx) {
  const ir::Node& n = ctx.node();
  const auto runs = repeated_runs(n);
  if (!runs) return cannot_lower(n, "has pads that make too many boxes");
  const Dims from = row_major_strides(n.input(0)->type.dims());
  const Dims to = row_major_strides(n.output(0)->type.dims());
  std::vector<kernels::CopySegment> segments(1);
  for (std::size_t i = 0; i < runs->size(); ++i) {
    std::vector<kernels::CopySegment> cut;
    for (const kernels::CopySegment& s : segments)
      for (const Run& r : (*runs)[i]) {
        kernels::CopySegment& piece = cut.emplace_back(s);
        piece.dims.push_back(r.length);
        piece.src_offset += r.source * from[i];
        piece.src_strides.push_back(r.step * from[i]);
        piece.dst_offset += r.begin * to[i];
        piece.dst_strides.push_back(to[i]);
      }
    segments = std::move(cut);
  }
  return emit_copies(ctx, n.input(0)->type.dtype, std::move(segments),
                     {ctx.read(n.input(0)), ctx.write(n.output(0))});
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

/// Constant padding is a copy between fills.
Status lower_pad(LowerContext& ctx) {
  const ir::Node& n = ctx.node();
  if (repeats_elements(n)) return lower_repeated(ctx);
  const Dims x = n.input(0)->type.dims(), y = n.output(0)->type.dims();
  const std::size_t rank = x.size();
  const auto all = constant_pads(n);
  if (!all) return cannot_lower(n, "has pads and axes that do not fit its input");
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
