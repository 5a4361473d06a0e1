#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/legacy_broadcast.h"
#include "ops/op.h"
#include "ops/reference_util.h"
#include "ops/shape_value.h"
#include "ops/vector_emitter.h"

// Logic on booleans: And, Or, Xor, Not.
namespace atc::ops {
namespace {

using kernels::VecOp;

struct AndOp {
  static constexpr VecOp kVector = VecOp::And;
  static bool apply(bool a, bool b) { return a && b; }
};
struct OrOp {
  static constexpr VecOp kVector = VecOp::Or;
  static bool apply(bool a, bool b) { return a || b; }
};
struct XorOp {
  static constexpr VecOp kVector = VecOp::Xor;
  static bool apply(bool a, bool b) { return a != b; }
};

Status infer_logic(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 0, kBoolTypes, "type bool"));
  ATC_TRY(require_dtype(ctx, 1, kBoolTypes, "type bool"));
  ATC_ASSIGN(auto shape, pairwise_shape(ctx));
  ctx.set_output(0, DType::Bool, std::move(shape));
  return {};
}

template <class Op>
Status reference_logic(EvalContext& ctx) {
  ATC_ASSIGN(const AlignedPair pair, aligned_inputs(ctx));
  ctx.outputs[0] =
      compare_pairs(pair.a, pair.b, pair.space, [](auto a, auto b) { return Op::apply(a != 0, b != 0); });
  return {};
}

template <class Op>
Status vector_logic(VectorEmitter& e) {
  e.set_output(0, e.binary(Op::kVector, e.input(0), e.input(1)));
  return {};
}

template <class Op>
void register_pair(Registry& r, std::string_view name) {
  OpDef def{.name = name,
            .since = 1,
            .until = kLastLegacyBroadcast,
            .attrs = legacy_broadcast_attrs(),
            .inputs = {2, 2},
            .infer = infer_logic,
            .reference = reference_logic<Op>,
            .vector = vector_logic<Op>,
            .vector_accepts = is_right_aligned};
  r.add(def);
  def.since = kLastLegacyBroadcast + 1;
  def.until = INT_MAX;
  def.attrs.clear();
  r.add(def);
}

Status infer_not(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 0, kBoolTypes, "type bool"));
  ctx.set_output(0, DType::Bool, ctx.type(0).shape);
  if (auto elements = elements_of(ctx, 0)) {
    for (ir::Dim& d : *elements)
      if (is_literal(d))
        d = literal(d.value == 0 ? 1 : 0);
      else
        d = ctx.unknown_dim();
    set_elements(ctx, 0, *std::move(elements));
  }
  return {};
}

Status reference_not(EvalContext& ctx) {
  ctx.outputs[0] = map_elements(ctx.input(0), [](auto v) { return v == 0; });
  return {};
}

Status vector_not(VectorEmitter& e) {
  e.set_output(0, e.unary(VecOp::Not, e.input(0)));
  return {};
}

}  // namespace

void register_logic(Registry& r) {
  register_pair<AndOp>(r, "And");
  register_pair<OrOp>(r, "Or");
  register_pair<XorOp>(r, "Xor");
  r.add({.name = "Not", .infer = infer_not, .reference = reference_not, .vector = vector_not});
}

}  // namespace atc::ops
