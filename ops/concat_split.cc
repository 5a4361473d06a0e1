#include <algorithm>
#include <numeric>
#include <string>

#include "ops/axis_view.h"
#include "ops/families.h"
#include "ops/in_place.h"
#include "ops/infer_checks.h"
#include "ops/input_parts.h"
#include "ops/move.h"
#include "ops/op.h"
#include "ops/reference_util.h"
#include "ops/shape_value.h"

// Concat and Split: joining tensors along an axis and cutting one up along it.
namespace atc::ops {
namespace {

constexpr std::string_view kAxis = "axis";  // Concat: Int, 1, required since 4. Split: Int, 0.

// Concat --------------------------------------------------------------------------------------------

std::optional<ir::Shape> joined_elements(const InferContext& ctx) {
  ir::Shape out;
  for (std::size_t i = 0; i < ctx.input_count(); ++i) {
    const auto part = elements_of(ctx, i);
    if (!part) return std::nullopt;
    out.insert(out.end(), part->begin(), part->end());
  }
  return out;
}

Status infer_concat(InferContext& ctx) {
  for (std::size_t i = 1; i < ctx.input_count(); ++i) ATC_TRY(require_same_dtype(ctx, i, 0));
  std::size_t known = 0;  // an input of known rank gives the rank of all
  while (known < ctx.input_count() && !ctx.ranked(known)) ++known;
  if (known == ctx.input_count()) {
    ctx.set_output(0, ctx.dtype(0), std::nullopt);
    return {};
  }
  const std::size_t rank = ctx.shape(known).size();
  ATC_ASSIGN(const std::int64_t axis, axis_attribute(ctx, kAxis, 1, rank));
  const auto at = static_cast<std::size_t>(axis);

  ir::Shape shape = ctx.shape(known);
  std::int64_t total = 0;
  bool total_known = true;
  for (std::size_t i = 0; i < ctx.input_count(); ++i) {
    if (!ctx.ranked(i)) {
      total_known = false;
      continue;
    }
    const ir::Shape& part = ctx.shape(i);
    if (part.size() != rank)
      return ctx.input_error(i, "must have rank " + std::to_string(rank) + " as the others have");
    for (std::size_t d = 0; d < rank; ++d) {
      if (d == at) continue;
      if (conflicts(part[d], shape[d]))
        return ctx.input_error(i, "must agree with the other inputs in every axis but " +
                                      std::to_string(axis) + ": axis " + std::to_string(d) + " is " +
                                      std::to_string(part[d].value) + ", not " +
                                      std::to_string(shape[d].value));
      shape[d] = merge(shape[d], part[d]);
    }
    total_known = total_known && part[at].known();
    if (total_known) total += part[at].value;
  }
  if (ctx.input_count() > 1) shape[at] = total_known ? ir::Dim::of(total) : ctx.unknown_dim();
  ctx.set_output(0, ctx.dtype(0), std::move(shape));
  if (rank == 1)
    if (auto elements = joined_elements(ctx)) set_elements(ctx, 0, *std::move(elements));
  return {};
}

/// atc::Concat: its inputs, some of which are read in part (input_parts.h), joined.
Status infer_concat_of_parts(InferContext& ctx) {
  const ir::Node& n = ctx.node();
  const std::map<std::size_t, InputPart> parts = input_parts(n);
  const std::int64_t axis = n.attrs.get_int(kAxis, 0);
  ir::Shape shape;
  std::int64_t total = 0;
  for (std::size_t i = 0; i < ctx.input_count(); ++i) {
    if (!ctx.type(i).is_static()) return ctx.input_error(i, "has a shape that is not known");
    const auto part = parts.find(i);
    const Dims dims = part != parts.end() ? part->second.dims : ctx.type(i).dims();
    if (axis < 0 || axis >= std::ssize(dims) || (i > 0 && dims.size() != shape.size()))
      return ctx.input_error(i, "has a rank that does not fit the others and axis " + std::to_string(axis));
    if (i == 0) shape = ir::to_shape(dims);
    total += dims[static_cast<std::size_t>(axis)];
  }
  shape[static_cast<std::size_t>(axis)] = ir::Dim::of(total);
  ctx.set_output(0, ctx.dtype(0), std::move(shape));
  return {};
}

Status reference_concat(EvalContext& ctx) {
  Dims shape = ctx.input(0).shape;
  const auto axis =
      normalize_axis(ctx.node().attrs.get_int(kAxis, 1), static_cast<std::int64_t>(shape.size()));
  if (!axis) return ctx.error("attribute axis is outside the rank " + std::to_string(shape.size()));
  const auto at = static_cast<std::size_t>(*axis);
  shape[at] = 0;
  for (std::size_t i = 0; i < ctx.input_count(); ++i) {
    Dims rest = ctx.input(i).shape;
    if (rest.size() != shape.size()) return ctx.error("inputs differ in rank");
    const std::int64_t length = std::exchange(rest[at], shape[at]);
    if (rest != shape)
      return ctx.error("shape [" + to_string(ctx.input(i).shape) + "] of input " + std::to_string(i) +
                       " differs from the others outside axis " + std::to_string(*axis));
    shape[at] += length;
  }
  const AxisView view = axis_view(shape, *axis);
  const auto outer = static_cast<std::int64_t>(view.outer);
  const auto inner = static_cast<std::int64_t>(view.inner);
  ElementWriter out(ctx.input(0).dtype, shape);
  std::int64_t start = 0;
  for (std::size_t i = 0; i < ctx.input_count(); ++i) {
    const std::int64_t run = ctx.input(i).shape[at] * inner;
    for (std::int64_t o = 0; o < outer; ++o)
      out.copy(o * shape[at] * inner + start, ctx.input(i), o * run, run);
    start += run;
  }
  ctx.outputs[0] = std::move(out).freeze();
  return {};
}

// Split -----------------------------------------------------------------------------------------------

constexpr std::string_view kSplit = "split";             // Ints, until 12; input 1 since 13 (and in opset 1)
constexpr std::string_view kNumOutputs = "num_outputs";  // Int, since 18

/// Lengths of the parts when nothing states them: equal, and since opset 18 a shorter last one.
std::optional<Dims> even_parts(std::int64_t length, std::int64_t count, int version) {
  if (length % count == 0) return Dims(static_cast<std::size_t>(count), length / count);
  if (version < 18) return std::nullopt;
  const std::int64_t part = (length + count - 1) / count;
  Dims parts(static_cast<std::size_t>(count), part);
  parts.back() = length - part * (count - 1);
  if (parts.back() < 0) return std::nullopt;
  return parts;
}

std::string part_fault(const Dims& parts, std::size_t outputs, std::int64_t length) {
  const std::int64_t total = std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
  if (parts.size() == outputs && total == length && std::ranges::all_of(parts, [](auto p) { return p >= 0; }))
    return {};
  return "split [" + to_string(parts) + "] does not cut length " + std::to_string(length) + " into " +
         std::to_string(outputs) + " parts";
}

std::string uneven_fault(std::int64_t length, std::size_t outputs) {
  return "length " + std::to_string(length) + " of the split axis does not divide into " +
         std::to_string(outputs) + " outputs; state the lengths in split";
}

Status infer_split(InferContext& ctx) {
  const std::size_t outputs = ctx.node().outputs().size();
  auto give_up = [&](const std::optional<ir::Shape>& shape) {
    for (std::size_t i = 0; i < outputs; ++i) ctx.set_output(i, ctx.dtype(0), shape);
  };
  const std::int64_t stated = ctx.node().attrs.get_int(kNumOutputs, static_cast<std::int64_t>(outputs));
  if (stated != static_cast<std::int64_t>(outputs))
    return ctx.error("attribute num_outputs is " + std::to_string(stated) + ", the node has " +
                     std::to_string(outputs) + " outputs");
  if (!ctx.ranked(0)) {
    give_up(std::nullopt);
    return {};
  }
  ir::Shape shape = ctx.shape(0);
  ATC_ASSIGN(const std::int64_t axis, axis_attribute(ctx, kAxis, 0, shape.size()));
  const auto at = static_cast<std::size_t>(axis);
  const ir::Dim length = shape[at];

  std::optional<Dims> parts;
  if (ctx.node().attrs.has(kSplit))
    parts = ctx.node().attrs.get_ints(kSplit);
  else if (ctx.has_input(1))
    parts = literals_of(ctx, 1);
  else if (length.known()) {
    parts = even_parts(length.value, static_cast<std::int64_t>(outputs), ctx.version());
    if (!parts) return ctx.error(uneven_fault(length.value, outputs));
  }
  if (parts && length.known())
    if (const std::string fault = part_fault(*parts, outputs, length.value); !fault.empty())
      return ctx.error(fault);
  if (parts && std::ranges::any_of(*parts, [](std::int64_t p) { return p < 0; }))
    return ctx.error("split [" + to_string(*parts) + "] has a negative length");
  if (parts && parts->size() != outputs)
    return ctx.error("split has " + std::to_string(parts->size()) + " lengths, the node has " +
                     std::to_string(outputs) + " outputs");

  const auto elements = shape.size() == 1 ? elements_of(ctx, 0) : std::nullopt;
  std::int64_t start = 0;
  for (std::size_t i = 0; i < outputs; ++i) {
    shape[at] = parts ? ir::Dim::of((*parts)[i]) : ctx.unknown_dim();
    ctx.set_output(i, ctx.dtype(0), shape);
    if (!parts || !elements || !length.known()) continue;
    const auto first = elements->begin() + start;
    set_elements(ctx, i, ir::Shape(first, first + (*parts)[i]));
    start += (*parts)[i];
  }
  return {};
}

Status reference_split(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const auto axis =
      normalize_axis(ctx.node().attrs.get_int(kAxis, 0), static_cast<std::int64_t>(x.shape.size()));
  if (!axis) return ctx.error("attribute axis is outside the rank " + std::to_string(x.shape.size()));
  const auto at = static_cast<std::size_t>(*axis);
  const std::size_t outputs = ctx.outputs.size();
  const std::int64_t length = x.shape[at];

  std::optional<Dims> parts;
  if (ctx.node().attrs.has(kSplit))
    parts = ctx.node().attrs.get_ints(kSplit);
  else if (ctx.has_input(1))
    parts = to_int64s(ctx.input(1));
  else
    parts = even_parts(length, static_cast<std::int64_t>(outputs), ctx.version());
  if (!parts) return ctx.error(uneven_fault(length, outputs));
  if (const std::string fault = part_fault(*parts, outputs, length); !fault.empty()) return ctx.error(fault);

  const AxisView view = axis_view(x.shape, *axis);
  const auto outer = static_cast<std::int64_t>(view.outer);
  const auto inner = static_cast<std::int64_t>(view.inner);
  std::int64_t start = 0;
  for (std::size_t i = 0; i < outputs; ++i) {
    Dims shape = x.shape;
    shape[at] = (*parts)[i];
    const std::int64_t run = (*parts)[i] * inner;
    ElementWriter out(x.dtype, shape);
    for (std::int64_t o = 0; o < outer; ++o) out.copy(o * run, x, o * length * inner + start, run);
    ctx.outputs[i] = std::move(out).freeze();
    start += run;
  }
  return {};
}

// Lowering ------------------------------------------------------------------------------------------

/// Parts of a tensor along one axis, in storage order: the axis of a blocked format counts in blocks.
std::size_t storage_axis(const ir::Node& node, const ir::Value* whole) {
  const std::int64_t rank = std::ssize(whole->type.dims());
  return static_cast<std::size_t>(
      *normalize_axis(node.attrs.get_int(kAxis, node.is("Concat") && node.version < 4 ? 1 : 0), rank));
}

Status lower_concat(LowerContext& ctx) {
  const ir::Node& n = ctx.node();
  const ir::Value* y = n.output(0);
  const std::size_t axis = storage_axis(n, y);
  const Dims to = storage_strides(y);
  const Dims kept = in_place(n);
  const std::map<std::size_t, InputPart> parts = input_parts(n);
  std::vector<kernels::CopySegment> segments;
  std::vector<kernels::Operand> operands;
  std::int64_t at = 0;
  for (std::size_t i = 0; i < n.inputs().size(); ++i) {
    const ir::Value* x = n.input(i);
    const auto part = parts.find(i);
    const Dims dims = part != parts.end() ? part->second.dims : storage_dims_of(x);
    if (is_in_place(kept, i)) {
      at += dims[axis];
      continue;
    }
    kernels::CopySegment s;
    s.src = static_cast<int>(operands.size());
    s.dims = dims;
    s.src_strides = part != parts.end() ? part->second.strides : storage_strides(x);
    s.src_offset = part != parts.end() ? part->second.first : 0;
    s.dst_offset = at * to[axis];
    s.dst_strides = to;
    at += dims[axis];
    operands.push_back(ctx.read(x));
    segments.push_back(std::move(s));
  }
  if (segments.empty()) return {};
  for (kernels::CopySegment& s : segments) s.dst = static_cast<int>(operands.size());
  operands.push_back(ctx.write(y));
  return emit_copies(ctx, y->type.dtype, std::move(segments), std::move(operands));
}

Status lower_split(LowerContext& ctx) {
  const ir::Node& n = ctx.node();
  const ir::Value* x = n.input(0);
  const std::size_t axis = storage_axis(n, x);
  const Dims from = storage_strides(x);
  const Dims kept = in_place(n);
  std::vector<kernels::CopySegment> segments;
  std::vector<kernels::Operand> operands = {ctx.read(x)};
  std::int64_t at = 0;
  for (std::size_t i = 0; i < n.outputs().size(); ++i) {
    const ir::Value* y = n.output(i);
    if (y == nullptr) return cannot_lower(n, "leaves out an output");
    const Dims dims = storage_dims_of(y);
    if (is_in_place(kept, i)) {
      at += dims[axis];
      continue;
    }
    kernels::CopySegment s;
    s.src = 0;
    s.dst = static_cast<int>(operands.size());
    s.dims = dims;
    s.src_offset = at * from[axis];
    s.src_strides = from;
    s.dst_strides = storage_strides(y);
    at += dims[axis];
    operands.push_back(ctx.write(y));
    segments.push_back(std::move(s));
  }
  if (segments.empty()) return {};
  return emit_copies(ctx, x->type.dtype, std::move(segments), std::move(operands));
}

bool lowers_split(const ir::Node& node) {
  return copies_input(node) && std::none_of(node.outputs().begin(), node.outputs().end(),
                                            [](const ir::Value* v) { return v == nullptr; });
}

}  // namespace

void register_concat_split(Registry& r) {
  r.add({.name = "Concat",
         .since = 1,
         .until = 3,
         .attrs = {{kAxis, AttrKind::Int}},
         .inputs = {1, INT_MAX},
         .infer = infer_concat,
         .reference = reference_concat,
         .lower = lower_concat,
         .lowers = copies_input});
  r.add({.name = "Concat",
         .since = 4,
         .attrs = {{kAxis, AttrKind::Int, true}},
         .inputs = {1, INT_MAX},
         .infer = infer_concat,
         .reference = reference_concat,
         .lower = lower_concat,
         .lowers = copies_input});

  r.add({.name = "Concat",
         .domain = "atc",
         .since = 0,
         .attrs = {{kAxis, AttrKind::Int, true}, {"parts", AttrKind::Ints}},
         .inputs = {1, INT_MAX},
         .infer = infer_concat_of_parts,
         .lower = lower_concat,
         .lowers = copies_input});

  OpDef split{.name = "Split",
              .since = 1,
              .until = 1,
              .attrs = {{kAxis, AttrKind::Int}, {kSplit, AttrKind::Ints}},
              .inputs = {1, 2},
              .outputs = {1, INT_MAX},
              .infer = infer_split,
              .reference = reference_split};
  split.lower = lower_split;
  split.lowers = lowers_split;
  r.add(split);
  split.since = 2;
  split.until = 12;
  split.inputs = {1, 1};
  r.add(split);
  split.since = 13;
  split.until = INT_MAX;
  split.inputs = {1, 2};
  split.attrs = {{kAxis, AttrKind::Int}, {kNumOutputs, AttrKind::Int, false, 18}};
  r.add(split);
}

}  // namespace atc::ops
