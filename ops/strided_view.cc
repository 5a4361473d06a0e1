#include "ops/families.h"
#include "ops/move.h"
#include "ops/op.h"
#include "ops/reference_util.h"

// atc::StridedView: the elements of input 0 (ND) at offset + sum i_k * strides[k], dense. What a chain of
// Reshape, Transpose and Slice makes, as one copy.
// atc::ConcatViews: such views of several inputs, joined along an axis. `parts` has the offset, the dims and
// the strides of each.
namespace atc::ops {

namespace {

constexpr std::string_view kShape = "shape";      // Ints
constexpr std::string_view kOffset = "offset";    // Int
constexpr std::string_view kStrides = "strides";  // Ints

Status infer_strided_view(InferContext& ctx) {
  const Dims shape = ctx.node().attrs.get_ints(kShape);
  if (ctx.node().attrs.get_ints(kStrides).size() != shape.size())
    return ctx.error("has strides of another rank");
  ir::Shape out;
  for (std::int64_t d : shape) out.push_back(ir::Dim::of(d));
  ctx.set_output(0, ctx.dtype(0), std::move(out));
  return {};
}

Status lower_strided_view(LowerContext& ctx) {
  const ir::Attributes& a = ctx.node().attrs;
  const Dims dims = ctx.node().output(0)->type.dims();
  return emit_copy(ctx, dims, {a.get_int(kOffset, 0), a.get_ints(kStrides)}, {0, row_major_strides(dims)});
}

constexpr std::string_view kAxis = "axis";    // Int
constexpr std::string_view kParts = "parts";  // Ints

/// What input i shows.
struct PartView {
  std::int64_t offset = 0;
  Dims dims, strides;
};

/// Views of all inputs, of one rank; empty when the attribute does not fit the inputs.
std::vector<PartView> parts_of(const ir::Node& node) {
  const Dims list = node.attrs.get_ints(kParts);
  const std::size_t inputs = node.inputs().size(), each = inputs == 0 ? 0 : list.size() / inputs;
  if (each % 2 == 0 || each * inputs != list.size()) return {};
  const auto rank = static_cast<std::ptrdiff_t>(each / 2);
  std::vector<PartView> out;
  for (auto at = list.begin(); at != list.end(); at += 1 + 2 * rank)
    out.push_back({*at, Dims(at + 1, at + 1 + rank), Dims(at + 1 + rank, at + 1 + 2 * rank)});
  return out;
}

Status infer_concat_views(InferContext& ctx) {
  const std::vector<PartView> parts = parts_of(ctx.node());
  const std::int64_t axis = ctx.node().attrs.get_int(kAxis, 0);
  if (parts.empty() || axis < 0 || axis >= std::ssize(parts[0].dims))
    return ctx.error("has parts that do not fit its inputs");
  Dims dims = parts[0].dims;
  std::int64_t& length = dims[static_cast<std::size_t>(axis)];
  length = 0;
  for (const PartView& p : parts) length += p.dims[static_cast<std::size_t>(axis)];
  ir::Shape out;
  for (std::int64_t d : dims) out.push_back(ir::Dim::of(d));
  ctx.set_output(0, ctx.dtype(0), std::move(out));
  return {};
}

Status lower_concat_views(LowerContext& ctx) {
  const ir::Node& n = ctx.node();
  const ir::Value* y = n.output(0);
  const auto axis = static_cast<std::size_t>(n.attrs.get_int(kAxis, 0));
  const Dims to = row_major_strides(y->type.dims());
  std::vector<kernels::CopySegment> segments;
  std::vector<kernels::Operand> operands;
  std::int64_t at = 0;
  for (const PartView& p : parts_of(n)) {
    kernels::CopySegment s;
    s.src = static_cast<int>(operands.size());
    s.dst = static_cast<int>(n.inputs().size());
    s.dims = p.dims;
    s.src_offset = p.offset;
    s.src_strides = p.strides;
    s.dst_offset = at * to[axis];
    s.dst_strides = to;
    at += p.dims[axis];
    operands.push_back(ctx.read(n.input(operands.size())));
    segments.push_back(std::move(s));
  }
  operands.push_back(ctx.write(y));
  return emit_copies(ctx, y->type.dtype, std::move(segments), std::move(operands));
}

}  // namespace

void register_strided_view(Registry& registry) {
  registry.add(
      {.name = "StridedView",
       .domain = "atc",
       .since = 0,
       .attrs = {{kShape, AttrKind::Ints, true}, {kOffset, AttrKind::Int}, {kStrides, AttrKind::Ints, true}},
       .infer = infer_strided_view,
       .lower = lower_strided_view});
  registry.add({.name = "ConcatViews",
                .domain = "atc",
                .since = 0,
                .attrs = {{kAxis, AttrKind::Int, true}, {kParts, AttrKind::Ints, true}},
                .inputs = {1, INT_MAX},
                .infer = infer_concat_views,
                .lower = lower_concat_views});
}

}  // namespace atc::ops
