#include "atc/base/math.h"
#include "ops/families.h"
#include "ops/move.h"
#include "ops/op.h"

// atc::TransData: the same tensor in another storage format, ND <-> NC1HWC0. Ranks may differ by leading 1s.
namespace atc::ops {

namespace {

Status infer_trans_data(InferContext& ctx) {
  ctx.set_output(0, ctx.dtype(0), ctx.type(0).shape);
  return {};
}

struct Blocks {
  std::int64_t batch, channels, spatial, c0;
  std::int64_t whole() const { return channels / c0; }
  std::int64_t rest() const { return channels % c0; }
};

// With one position and whole blocks both formats are the same bytes.
bool is_view(const Blocks& b) { return b.spatial == 1 && b.rest() == 0; }

Status lower_trans_data(LowerContext& ctx) {
  const ir::Node& n = ctx.node();
  const ir::Value* x = n.input(0);
  const ir::Value* y = n.output(0);
  const bool to_blocked = y->type.format == ir::Format::NC1HWC0;
  const Dims dims = (to_blocked ? y : x)->type.dims();
  Blocks b{dims[0], dims[1], element_count(Dims(dims.begin() + 2, dims.end())), ir::c0_of(x->type.dtype)};
  if (is_view(b)) return lower_view(ctx);

  // ND element (n, c, s) is at (n * C + c) * S + s, blocked at ((n * C1 + c / C0) * S + s) * C0 + c % C0.
  const std::int64_t c1 = ceil_div(b.channels, b.c0);
  std::vector<kernels::CopySegment> segments;
  auto add = [&](const Dims& extent, std::int64_t first_block) {
    const Dims nd = {b.channels * b.spatial, b.c0 * b.spatial, 1, b.spatial};
    const Dims blocked = {c1 * b.spatial * b.c0, b.spatial * b.c0, b.c0, 1};
    kernels::CopySegment s;
    s.dims = extent;
    s.src_strides = to_blocked ? nd : blocked;
    s.dst_strides = to_blocked ? blocked : nd;
    const std::int64_t nd_offset = first_block * b.c0 * b.spatial,
                       blocked_offset = first_block * b.spatial * b.c0;
    s.src_offset = to_blocked ? nd_offset : blocked_offset;
    s.dst_offset = to_blocked ? blocked_offset : nd_offset;
    segments.push_back(std::move(s));
  };
  if (b.whole() > 0) add({b.batch, b.whole(), b.spatial, b.c0}, 0);
  if (b.rest() > 0) {
    add({b.batch, 1, b.spatial, b.rest()}, b.whole());
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
  return emit_copies(ctx, x->type.dtype, std::move(segments), {ctx.read(x), ctx.write(y)});
}

}  // namespace

void register_trans_data(Registry& registry) {
  registry.add({.name = "TransData",
                .domain = "atc",
                .since = 0,
                .infer = infer_trans_data,
                .lower = lower_trans_data});
}

}  // namespace atc::ops
