#include "ops/box_copy.h"

#include <cstring>
#include <optional>

#include "ops/move.h"
#include "ops/op.h"
#include "ops/reference_util.h"

namespace atc::ops {

namespace {

constexpr std::string_view kShape = "shape";  // Ints: dims of the output
constexpr std::string_view kBoxes = "boxes";  // Ints: of each box its rank, dims, source offset and strides,
                                              // destination offset and strides

std::optional<std::vector<CopyBox>> boxes_of(const ir::Node& node) {
  const Dims list = node.attrs.get_ints(kBoxes);
  std::vector<CopyBox> out;
  for (std::size_t at = 0; at < list.size();) {
    const std::int64_t rank = list[at];
    const std::int64_t left = static_cast<std::int64_t>(list.size() - at);
    if (rank < 0 || rank > left || left < 3 + 3 * rank) return std::nullopt;
    const auto part = [&](std::int64_t first, std::int64_t count) {
      const auto begin = list.begin() + static_cast<std::ptrdiff_t>(at) + first;
      return Dims(begin, begin + count);
    };
    out.push_back({part(1, rank), part(1 + rank, 1)[0], part(2 + rank, rank), part(2 + 2 * rank, 1)[0],
                   part(3 + 2 * rank, rank)});
    at += static_cast<std::size_t>(3 + 3 * rank);
  }
  return out;
}

Status infer_box_copy(InferContext& ctx) {
  const auto boxes = boxes_of(ctx.node());
  if (!boxes) return ctx.error("has boxes that are not complete");
  const Dims shape = ctx.node().attrs.get_ints(kShape);
  std::int64_t elements = 0;
  for (const CopyBox& box : *boxes) elements += element_count(box.dims);
  if (elements != element_count(shape)) return ctx.error("has boxes that do not fill its output");
  ctx.set_output(0, ctx.dtype(0), ir::to_shape(shape));
  return {};
}

Status reference_box_copy(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  MutableTensor y(x.dtype, ctx.node().attrs.get_ints(std::string(kShape)));
  const std::int64_t e = bit_width(x.dtype) / 8;
  const std::span<const std::byte> from = x.data.span();
  const auto boxes = boxes_of(ctx.node());
  for (const CopyBox& box : *boxes)
    for (StridedWalk w(box.dims, {box.src_strides, box.dst_strides}); !w.done(); w.next())
      std::memcpy(y.bytes().data() + (box.dst_offset + w.offset(1)) * e,
                  from.data() + (box.src_offset + w.offset(0)) * e, static_cast<std::size_t>(e));
  ctx.outputs[0] = std::move(y).freeze();
  return {};
}

Status lower_box_copy(LowerContext& ctx) {
  const ir::Node& n = ctx.node();
  std::vector<kernels::CopySegment> segments;
  auto boxes = boxes_of(n);
  for (CopyBox& box : *boxes) {
    kernels::CopySegment s;
    s.dims = std::move(box.dims);
    s.src_offset = box.src_offset;
    s.src_strides = std::move(box.src_strides);
    s.dst_offset = box.dst_offset;
    s.dst_strides = std::move(box.dst_strides);
    segments.push_back(std::move(s));
  }
  return emit_copies(ctx, n.input(0)->type.dtype, std::move(segments),
                     {ctx.read(n.input(0)), ctx.write(n.output(0))});
}

}  // namespace

void set_copy_boxes(ir::Node& node, const Dims& shape, const std::vector<CopyBox>& boxes) {
  Dims list;
  for (const CopyBox& box : boxes) {
    list.push_back(std::ssize(box.dims));
    list.insert(list.end(), box.dims.begin(), box.dims.end());
    list.push_back(box.src_offset);
    list.insert(list.end(), box.src_strides.begin(), box.src_strides.end());
    list.push_back(box.dst_offset);
    list.insert(list.end(), box.dst_strides.begin(), box.dst_strides.end());
  }
  node.attrs.set(std::string(kShape), shape);
  node.attrs.set(std::string(kBoxes), list);
}

void register_box_copy(Registry& registry) {
  registry.add({.name = "BoxCopy",
                .domain = "atc",
                .since = 0,
                .attrs = {{kShape, AttrKind::Ints, true}, {kBoxes, AttrKind::Ints, true}},
                .infer = infer_box_copy,
                .reference = reference_box_copy,
                .lower = lower_box_copy,
                .lowers = copies_input});
}

}  // namespace atc::ops
