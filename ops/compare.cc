#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/legacy_broadcast.h"
#include "ops/op.h"
#include "ops/reference_util.h"
#include "ops/shape_value.h"
#include "ops/vector_emitter.h"

// Comparisons: Equal, Less, LessOrEqual, Greater, GreaterOrEqual.
namespace atc::ops {
namespace {

using kernels::VecOp;

struct EqualOp {
  static constexpr VecOp kVector = VecOp::Equal;
  template <class T>
  static bool apply(const T& a, const T& b) {
    return a == b;
  }
};
struct LessOp {
  static constexpr VecOp kVector = VecOp::Less;
  template <class T>
  static bool apply(const T& a, const T& b) {
    return a < b;
  }
};
struct LessOrEqualOp {
  static constexpr VecOp kVector = VecOp::LessEqual;
  template <class T>
  static bool apply(const T& a, const T& b) {
    return a <= b;
  }
};
struct GreaterOp {
  static constexpr VecOp kVector = VecOp::Greater;
  template <class T>
  static bool apply(const T& a, const T& b) {
    return a > b;
  }
};
struct GreaterOrEqualOp {
  static constexpr VecOp kVector = VecOp::GreaterEqual;
  template <class T>
  static bool apply(const T& a, const T& b) {
    return a >= b;
  }
};

/// Result of comparing two elements of shape values, where it does not hang on an unknown length.
template <class Op>
std::optional<bool> compare_elements(const ir::Dim& a, const ir::Dim& b) {
  if (is_literal(a) && is_literal(b)) return Op::apply(a.value, b.value);
  if (a == b) return Op::apply(0, 0);
  // A length is never negative.
  if (is_literal(a) && a.value < 0) return Op::apply(-1, 0);
  if (is_literal(b) && b.value < 0) return Op::apply(0, -1);
  return std::nullopt;
}

template <class Op>
void fold_comparison(InferContext& ctx) {
  const auto a = elements_of(ctx, 0);
  const auto b = elements_of(ctx, 1);
  if (!a || !b || (a->size() != b->size() && a->size() != 1 && b->size() != 1)) return;
  ir::Shape out;
  const std::size_t count = a->size() == 1 ? b->size() : a->size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto result = compare_elements<Op>((*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]);
    out.push_back(result ? literal(*result ? 1 : 0) : ctx.unknown_dim());
  }
  set_elements(ctx, 0, std::move(out));
}

template <class Op>
Status infer_comparison(InferContext& ctx) {
  constexpr bool kEquality = std::is_same_v<Op, EqualOp>;
  constexpr DTypeSet kAllowed =
      kEquality ? kNumericTypes | DTypeSet{DType::Bool, DType::String} : kNumericTypes;
  ATC_TRY(require_dtype(ctx, 0, kAllowed, kEquality ? "a numeric type, bool or string" : "a numeric type"));
  ATC_TRY(require_same_dtype(ctx, 1, 0));
  ATC_ASSIGN(auto shape, pairwise_shape(ctx));
  ctx.set_output(0, DType::Bool, std::move(shape));
  fold_comparison<Op>(ctx);
  return {};
}

template <class Op>
Status reference_comparison(EvalContext& ctx) {
  ATC_ASSIGN(const AlignedPair pair, aligned_inputs(ctx));
  if (pair.a.dtype != DType::String) {
    ctx.outputs[0] =
        compare_pairs(pair.a, pair.b, pair.space, [](auto a, auto b) { return Op::apply(a, b); });
    return {};
  }
  MutableTensor y(DType::Bool, pair.space);
  for (StridedWalk w(pair.space,
                     {strides_over(pair.a.shape, pair.space), strides_over(pair.b.shape, pair.space)});
       !w.done(); w.next())
    y.as<Bool8>()[static_cast<std::size_t>(w.position())] =
        Op::apply(pair.a.strings[static_cast<std::size_t>(w.offset(0))],
                  pair.b.strings[static_cast<std::size_t>(w.offset(1))]);
  ctx.outputs[0] = std::move(y).freeze();
  return {};
}

template <class Op>
Status vector_comparison(VectorEmitter& e) {
  e.set_output(0, e.binary(Op::kVector, e.input(0), e.input(1)));
  return {};
}

bool accepts_comparison(const ir::Node& node) { return has_vector_types(node) && is_right_aligned(node); }

template <class Op>
OpDef comparison(std::string_view name, int since) {
  return {.name = name,
          .since = since,
          .inputs = {2, 2},
          .infer = infer_comparison<Op>,
          .reference = reference_comparison<Op>,
          .vector = vector_comparison<Op>,
          .vector_accepts = accepts_comparison};
}

template <class Op>
void register_with_legacy(Registry& r, std::string_view name) {
  OpDef legacy = comparison<Op>(name, 1);
  legacy.until = kLastLegacyBroadcast;
  legacy.attrs = legacy_broadcast_attrs();
  r.add(std::move(legacy));
  r.add(comparison<Op>(name, kLastLegacyBroadcast + 1));
}

}  // namespace

void register_compare(Registry& r) {
  register_with_legacy<EqualOp>(r, "Equal");
  register_with_legacy<LessOp>(r, "Less");
  register_with_legacy<GreaterOp>(r, "Greater");
  r.add(comparison<LessOrEqualOp>("LessOrEqual", 12));
  r.add(comparison<GreaterOrEqualOp>("GreaterOrEqual", 12));
}

}  // namespace atc::ops
