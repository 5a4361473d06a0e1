#include "atc/base/check.h"
#include "atc/base/math.h"
#include "ops/channels_last.h"
#include "ops/families.h"
#include "ops/input_parts.h"
#include "ops/move.h"
#include "ops/op.h"
#include "ops/reference_util.h"

// atc::TransData: the same tensor in another storage format, ND <-> NC1HWC0 or NC1HWC0_C04, or from one of
// these to the other where channels are one block. Ranks may differ by leading 1s. To blocks it may read a
// part of its input (input_parts.h), such as the transposition in front of it. With `packing` it packs
// weights that are computed: ND -> FRACTAL_Z of logical dims `shape`, or the rows of a depthwise window (ND).
// `packing` is {groups, out, in, taps, out_stride, in_stride, group_stride, lanes}: the channels of one group
// and where they lie in the input, taps one behind the other; element (g, o, i, t) goes to lane i % lanes,
// column o % 16 of a fractal [lanes][16] at [g][o / 16][i / lanes][t]. What no element fills is zero.
namespace atc::ops {

namespace {

Status infer_trans_data(InferContext& ctx) {
  if (ctx.node().attrs.has("packing")) {
    ir::Shape shape;
    for (const std::int64_t d : ctx.node().attrs.get_ints("shape")) shape.push_back(ir::Dim::of(d));
    ctx.set_output(0, ctx.dtype(0), std::move(shape));
    return {};
  }
  if (stores_channels_last(ctx.node())) {
    ctx.set_output(0, ctx.dtype(0), ir::to_shape(channels_last_shape(ctx.node())));
    return {};
  }
  const auto parts = input_parts(ctx.node());
  ctx.set_output(0, ctx.dtype(0), parts.contains(0) ? ir::to_shape(parts.at(0).dims) : *ctx.type(0).shape);
  return {};
}

struct Blocks {
  std::int64_t batch, channels, spatial, c0;
  std::int64_t whole() const { return channels / c0; }
  std::int64_t rest() const { return channels % c0; }
};

// With one position and whole blocks both formats are the same bytes.
bool is_view(const Blocks& b) { return b.spatial == 1 && b.rest() == 0; }

/// A run of blocks of channels, all whole or the rest behind them.
struct BlockRun {
  std::int64_t first, count, lanes;
};

std::vector<BlockRun> block_runs(std::int64_t channels, std::int64_t lanes) {
  std::vector<BlockRun> runs;
  if (channels >= lanes) runs.push_back({0, channels / lanes, lanes});
  if (channels % lanes != 0) runs.push_back({channels / lanes, 1, channels % lanes});
  return runs;
}

Status lower_packing(LowerContext& ctx) {
  const ir::Node& n = ctx.node();
  const Dims p = n.attrs.get_ints("packing");
  ATC_CHECK(p.size() == 8, "packing has " + std::to_string(p.size()) + " numbers");
  const std::int64_t groups = p[0], out = p[1], in = p[2], taps = p[3], out_stride = p[4], in_stride = p[5],
                     group_stride = p[6], lanes = p[7];
  const std::int64_t fractal = lanes * 16, block = taps * fractal, panel = ceil_div(in, lanes) * block,
                     group = ceil_div(out, 16) * panel;
  std::vector<kernels::CopySegment> segments;
  auto zeros = [&](const Dims& dims, const Dims& strides, std::int64_t offset) {
    kernels::CopySegment s;
    s.src = -1;
    s.dims = dims;
    s.src_strides = Dims(dims.size(), 0);
    s.dst_offset = offset;
    s.dst_strides = strides;
    segments.push_back(std::move(s));
  };
  for (const BlockRun& o : block_runs(out, 16))
    for (const BlockRun& i : block_runs(in, lanes)) {
      kernels::CopySegment s;
      s.dims = {groups, o.count, o.lanes, i.count, i.lanes, taps};
      s.src_offset = o.first * 16 * out_stride + i.first * lanes * in_stride;
      s.src_strides = {group_stride, 16 * out_stride, out_stride, lanes * in_stride, in_stride, 1};
      s.dst_offset = o.first * panel + i.first * block;
      s.dst_strides = {group, panel, 1, block, 16, fractal};
      const std::int64_t at = s.dst_offset;
      segments.push_back(std::move(s));
      // Columns beside the last outputs, then lanes behind the last inputs.
      if (o.lanes < 16)
        zeros({groups, i.count, taps, i.lanes, 16 - o.lanes}, {group, block, fractal, 16, 1}, at + o.lanes);
      if (i.lanes < lanes)
        zeros({groups, o.count, taps, lanes - i.lanes, 16}, {group, panel, fractal, 16, 1},
              at + i.lanes * 16);
    }
  return emit_copies(ctx, n.input(0)->type.dtype, std::move(segments),
                     {ctx.read(n.input(0)), ctx.write(n.output(0))});
}

Status lower_trans_data(LowerContext& ctx) {
  const ir::Node& n = ctx.node();
  if (n.attrs.has("packing")) return lower_packing(ctx);
  const ir::Value* x = n.input(0);
  const ir::Value* y = n.output(0);
  const bool to_blocked = ir::has_channel_blocks(y->type.format);
  const ir::TensorType& blocked = (to_blocked ? y : x)->type;
  const Dims dims = blocked.dims();
  Blocks b{dims[0], dims[1], element_count(Dims(dims.begin() + 2, dims.end())),
           ir::c0_of(blocked.format, blocked.dtype)};
  const auto parts = input_parts(n);
  const bool between_blocks = to_blocked && ir::has_channel_blocks(x->type.format);
  const bool last = stores_channels_last(n);
  if (is_view(b) && parts.empty() && !between_blocks && !last) return lower_view(ctx);

  // Element (n, c, s) of the rows is at (n * C + c) * S + s unless they are a part of the input, blocked at
  // ((n * C1 + c / C0) * S + s) * C0 + c % C0.
  const std::int64_t c1 = ceil_div(b.channels, b.c0);
  Dims rows = row_major_strides(dims);
  std::int64_t first = 0;
  if (const auto part = parts.find(0); part != parts.end()) {
    ATC_CHECK(to_blocked && part->second.dims.size() <= dims.size(), n.label() + " reads a part in blocks");
    rows = part->second.strides;
    rows.insert(rows.begin(), dims.size() - rows.size(), 0);
    first = part->second.first;
  } else if (between_blocks) {
    ATC_CHECK(b.channels <= b.c0, n.label() + " splits blocks of channels");
    rows = row_major_strides(storage_dims_of(x));
    rows[1] = rows.back();
    rows.pop_back();
  }
  if (last) rows = channels_last_strides(dims);
  const Dims blocks = row_major_strides(storage_dims_of(to_blocked ? y : x));
  std::vector<kernels::CopySegment> segments;
  auto add = [&](std::int64_t first_block, std::int64_t count, std::int64_t lanes) {
    Dims nd = rows;
    nd[1] *= b.c0;
    nd.push_back(rows[1]);
    kernels::CopySegment s;
    s.dims = dims;
    s.dims[1] = count;
    s.dims.push_back(lanes);
    s.src_strides = to_blocked ? nd : blocks;
    s.dst_strides = to_blocked ? blocks : nd;
    const std::int64_t nd_offset = first + first_block * nd[1], blocked_offset = first_block * blocks[1];
    s.src_offset = to_blocked ? nd_offset : blocked_offset;
    s.dst_offset = to_blocked ? blocked_offset : nd_offset;
    segments.push_back(std::move(s));
  };
  if (b.whole() > 0) add(0, b.whole(), b.c0);
  if (b.rest() > 0) {
    add(b.whole(), 1, b.rest());
    if (to_blocked) {
      kernels::CopySegment zero;
      zero.src = -1;
      zero.dims = {b.batch, b.spatial, b.c0 - b.rest()};
      zero.src_strides = {0, 0, 0};
      zero.dst_offset = b.whole() * b.spatial * b.c0 + b.rest();
      zero.dst_strides = {c1 * b.spatial * b.c0, b.c0, 1};
      segments.push_back(std::move(zero));
    }
  }
  kernels::CopySpec spec;
  spec.element_bytes = bit_width(x->type.dtype) / 8;
  spec.segments = std::move(segments);
  ATC_ASSIGN(kernels::Task task, kernels::make_strided_copy(spec, {ctx.read(x), ctx.write(y)}, ctx.chip()));
  // With a part, or channels last, it stands for the model's own transposition (or slice).
  ctx.emit(std::move(task), parts.empty() && !last ? "" : "StridedView");
  return {};
}

}  // namespace

void register_trans_data(Registry& registry) {
  registry.add({.name = "TransData",
                .domain = "atc",
                .since = 0,
                .attrs = {{"channels_last", AttrKind::Ints},
                          {"packing", AttrKind::Ints},
                          {"parts", AttrKind::Ints},
                          {"shape", AttrKind::Ints}},
                .infer = infer_trans_data,
                .lower = lower_trans_data});
}

}  // namespace atc::ops
