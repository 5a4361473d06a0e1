#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/op.h"
#include "ops/reference_util.h"
#include "ops/shape_value.h"
#include "ops/vector_emitter.h"

// Where: output = condition ? x : y, with broadcasting of all three.
namespace atc::ops {
namespace {

void fold_where(InferContext& ctx) {
  const auto condition = elements_of(ctx, 0);
  const auto x = elements_of(ctx, 1);
  const auto y = elements_of(ctx, 2);
  if (!condition || !x || !y) return;
  const std::size_t count = std::max({condition->size(), x->size(), y->size()});
  auto at = [&](const ir::Shape& s, std::size_t i) { return s[s.size() == 1 ? 0 : i]; };
  for (const auto* s : {&*condition, &*x, &*y})
    if (s->size() != 1 && s->size() != count) return;
  ir::Shape out;
  for (std::size_t i = 0; i < count; ++i) {
    const ir::Dim c = at(*condition, i);
    if (is_literal(c))
      out.push_back(c.value != 0 ? at(*x, i) : at(*y, i));
    else
      out.push_back(at(*x, i) == at(*y, i) ? at(*x, i) : ctx.unknown_dim());
  }
  set_elements(ctx, 0, std::move(out));
}

Status infer_where(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 0, kBoolTypes, "type bool"));
  ATC_TRY(require_same_dtype(ctx, 2, 1));
  std::optional<ir::Shape> shape;
  if (ctx.ranked(0) && ctx.ranked(1) && ctx.ranked(2)) {
    const auto branches = broadcast(ctx.shape(1), ctx.shape(2));
    shape = branches ? broadcast(ctx.shape(0), *branches) : std::nullopt;
    if (!shape)
      return ctx.error("shapes [" + ir::to_string(ctx.shape(0)) + "], [" + ir::to_string(ctx.shape(1)) +
                       "] and [" + ir::to_string(ctx.shape(2)) + "] do not broadcast");
  }
  ctx.set_output(0, ctx.dtype(1), std::move(shape));
  fold_where(ctx);
  return {};
}

Status reference_where(EvalContext& ctx) {
  const Tensor& condition = ctx.input(0);
  const Tensor& x = ctx.input(1);
  const Tensor& y = ctx.input(2);
  const auto branches = broadcast_dims(x.shape, y.shape);
  const auto space = branches ? broadcast_dims(condition.shape, *branches) : std::nullopt;
  if (!space)
    return ctx.error("shapes [" + to_string(condition.shape) + "], [" + to_string(x.shape) + "] and [" +
                     to_string(y.shape) + "] do not broadcast");
  const auto chosen = condition.as<Bool8>();
  ElementWriter out(x.dtype, *space);
  for (StridedWalk w(*space, {strides_over(condition.shape, *space), strides_over(x.shape, *space),
                              strides_over(y.shape, *space)});
       !w.done(); w.next()) {
    const bool take_x = chosen[static_cast<std::size_t>(w.offset(0))];
    out.copy(w.position(), take_x ? x : y, w.offset(take_x ? 1 : 2));
  }
  ctx.outputs[0] = std::move(out).freeze();
  return {};
}

Status vector_where(VectorEmitter& e) {
  e.set_output(0, e.select(e.input(0), e.input(1), e.input(2)));
  return {};
}

}  // namespace

void register_where(Registry& r) {
  r.add({.name = "Where",
         .since = 9,
         .inputs = {3, 3},
         .infer = infer_where,
         .reference = reference_where,
         .vector = vector_where,
         .vector_accepts = has_vector_types});
}

}  // namespace atc::ops
