#include <string>

#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/op.h"
#include "ops/reference_util.h"

// Trilu: the upper or lower triangle of the last two axes, zero elsewhere.
namespace atc::ops {
namespace {

constexpr std::string_view kUpper = "upper";  // Int, 1
constexpr std::size_t kDiagonal = 1;          // optional scalar: the diagonal that bounds the triangle, 0

Status infer_trilu(InferContext& ctx) {
  ATC_TRY(require_rank(ctx, 0, 2));
  if (ctx.has_input(kDiagonal)) ATC_TRY(require_dtype(ctx, kDiagonal, {DType::I64}, "type i64"));
  return infer_same_as_input(ctx);
}

Status reference_trilu(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const std::size_t rank = x.shape.size();
  if (rank < 2) return ctx.error("input must have rank 2 or more");
  const bool upper = ctx.node().attrs.get_int(kUpper, 1) != 0;
  if (ctx.has_input(kDiagonal) && ctx.input(kDiagonal).count() != 1) return ctx.error("k must be a scalar");
  const std::int64_t k = ctx.has_input(kDiagonal) ? int_at(ctx.input(kDiagonal), 0) : 0;
  ElementWriter out(x.dtype, x.shape);
  for (NdIndex at(x.shape); !at.done(); at.next()) {
    const std::int64_t diagonal = at[rank - 1] - at[rank - 2];
    if (upper ? diagonal >= k : diagonal <= k) out.copy(at.position(), x, at.position());
  }
  ctx.outputs[0] = std::move(out).freeze();
  return {};
}

}  // namespace

void register_trilu(Registry& r) {
  r.add({.name = "Trilu",
         .since = 14,
         .attrs = {{kUpper, AttrKind::Int}},
         .inputs = {1, 2},
         .infer = infer_trilu,
         .reference = reference_trilu});
}

}  // namespace atc::ops
