#include "ops/box_copy.h"
#include "ops/families.h"
#include "ops/move.h"
#include "ops/op.h"
#include "ops/reference_util.h"

// atc::StridedView: the elements of input 0 (ND) at offset + sum i_k * strides[k], dense. What a chain of
// Reshape, Transpose and Slice makes, as one copy.
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

}  // namespace

void register_strided_view(Registry& registry) {
  registry.add(
      {.name = "StridedView",
       .domain = "atc",
       .since = 0,
       .attrs = {{kShape, AttrKind::Ints, true}, {kOffset, AttrKind::Int}, {kStrides, AttrKind::Ints, true}},
       .infer = infer_strided_view,
       .lower = lower_strided_view});
  register_box_copy(registry);
}

}  // namespace atc::ops
