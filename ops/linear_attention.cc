#include <cmath>
#include <string>
#include <vector>

#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/shape_value.h"

// LinearAttention: attention as a recurrence over a state S [d_k, d_v] for each key/value head. With key k,
// value v, query q, decay g and step size b at time t:
//   linear       S += k v'
//   gated        S = exp(g) S + k v'
//   delta        S += b k (v - S'k)'
//   gated_delta  S = exp(g) S, then as delta
// and the output scale * q'S.
namespace atc::ops {
namespace {

// Inputs: query [B,T,Hq*dk], key [B,T,Hkv*dk], value [B,T,Hkv*dv], past_state [B,Hkv,dk,dv] (optional, zero),
// decay [B,T,Hkv*dk or Hkv], beta [B,T,Hkv or 1], the last two where the rule has them.
constexpr std::size_t kKey = 1;
constexpr std::size_t kValue = 2;
constexpr std::size_t kPast = 3;
constexpr std::size_t kDecay = 4;
constexpr std::size_t kBeta = 5;

struct Rule {
  std::int64_t q_heads = 0;
  std::int64_t kv_heads = 0;
  bool gated = false;
  bool delta = false;
};

StatusOr<Rule> rule_of(const ir::Node& node) {
  const InferContext ctx(node);
  Rule rule{node.attrs.get_int("q_num_heads", 0), node.attrs.get_int("kv_num_heads", 0)};
  if (rule.q_heads < 1 || rule.kv_heads < 1 || rule.q_heads % rule.kv_heads != 0)
    return ctx.error("attributes q_num_heads " + std::to_string(rule.q_heads) + " and kv_num_heads " +
                     std::to_string(rule.kv_heads) + " must be positive, the first a multiple of the second");
  const std::string name = node.attrs.get_string("update_rule", "gated_delta");
  if (name != "linear" && name != "gated" && name != "delta" && name != "gated_delta")
    return ctx.error("attribute update_rule is '" + name + "', expected linear, gated, delta or gated_delta");
  rule.gated = name.starts_with("gated");
  rule.delta = name.ends_with("delta");
  if (rule.gated && node.input(kDecay) == nullptr)
    return ctx.error("update_rule " + name + " needs input " + std::to_string(kDecay) + ", decay");
  if (rule.delta && node.input(kBeta) == nullptr)
    return ctx.error("update_rule " + name + " needs input " + std::to_string(kBeta) + ", beta");
  return rule;
}

/// Length of a packed axis over its heads.
StatusOr<ir::Dim> head_size(InferContext& ctx, std::size_t i, std::int64_t heads) {
  if (!ctx.ranked(i) || !ctx.shape(i)[2].known()) return ctx.unknown_dim();
  const std::int64_t packed = ctx.shape(i)[2].value;
  if (packed % heads != 0)
    return ctx.input_error(i, "has " + std::to_string(packed) + " elements a step, not a multiple of " +
                                  std::to_string(heads) + " heads");
  return ir::Dim::of(packed / heads);
}

Status infer_linear_attention(InferContext& ctx) {
  ATC_ASSIGN(const Rule rule, rule_of(ctx.node()));
  ATC_TRY(require_float(ctx, 0));
  ir::Shape steps = unknown_shape(ctx, 2);  // batch and time
  for (std::size_t i : {std::size_t{0}, kKey, kValue, kDecay, kBeta}) {
    if (!ctx.has_input(i)) continue;
    ATC_TRY(require_same_dtype(ctx, i, 0));
    ATC_TRY(require_rank(ctx, i, 3, 3));
    if (!ctx.ranked(i)) continue;
    for (std::size_t axis = 0; axis < 2; ++axis) {
      if (conflicts(ctx.shape(i)[axis], steps[axis]))
        return ctx.input_error(
            i, "must have the batch and steps of the other inputs, [" + ir::to_string(steps) + "]");
      steps[axis] = merge(steps[axis], ctx.shape(i)[axis]);
    }
  }
  ATC_ASSIGN(const ir::Dim query, head_size(ctx, 0, rule.q_heads));
  ATC_ASSIGN(ir::Dim key, head_size(ctx, kKey, rule.kv_heads));
  ATC_ASSIGN(const ir::Dim value, head_size(ctx, kValue, rule.kv_heads));
  if (conflicts(query, key))
    return ctx.input_error(kKey, "has heads of " + std::to_string(key.value) + " elements, the query of " +
                                     std::to_string(query.value));
  key = merge(key, query);
  const ir::Dim heads = ir::Dim::of(rule.kv_heads);
  if (rule.gated && ctx.ranked(kDecay) && key.known() && conflicts(ctx.shape(kDecay)[2], heads) &&
      conflicts(ctx.shape(kDecay)[2], ir::Dim::of(rule.kv_heads * key.value)))
    return ctx.input_error(kDecay, "must have one element for each head or each key element a step");
  if (rule.delta && ctx.ranked(kBeta) && conflicts(ctx.shape(kBeta)[2], heads) &&
      conflicts(ctx.shape(kBeta)[2], ir::Dim::of(1)))
    return ctx.input_error(kBeta, "must have one element for each head, or one, a step");

  const ir::Shape state = {steps[0], heads, key, value};
  if (ctx.has_input(kPast)) {
    ATC_TRY(require_float(ctx, kPast));
    ATC_TRY(require_rank(ctx, kPast, 4, 4));
    for (std::size_t i = 0; ctx.ranked(kPast) && i < 4; ++i)
      if (conflicts(ctx.shape(kPast)[i], state[i]))
        return ctx.input_error(kPast, "must have shape [" + ir::to_string(state) + "]");
  }
  const ir::Dim packed = value.known() ? ir::Dim::of(value.value * rule.q_heads) : ctx.unknown_dim();
  ctx.set_output(0, ctx.dtype(0), ir::Shape{steps[0], steps[1], packed});
  ctx.set_output(1, ctx.dtype(ctx.has_input(kPast) ? kPast : 0), state);
  return {};
}

/// One step of one key/value head: updates the state [dk, dv].
void update_state(double* state, const double* k, const double* v, std::size_t dk, std::size_t dv,
                  const Rule& rule, const double* decay, bool decay_of_key, double beta) {
  for (std::size_t i = 0; rule.gated && i < dk; ++i)
    for (std::size_t j = 0; j < dv; ++j) state[i * dv + j] *= std::exp(decay[decay_of_key ? i : 0]);
  for (std::size_t j = 0; j < dv; ++j) {
    double write = v[j];
    if (rule.delta) {
      for (std::size_t i = 0; i < dk; ++i) write -= state[i * dv + j] * k[i];
      write *= beta;
    }
    for (std::size_t i = 0; i < dk; ++i) state[i * dv + j] += k[i] * write;
  }
}

Status reference_linear_attention(EvalContext& ctx) {
  ATC_ASSIGN(const Rule rule, rule_of(ctx.node()));
  const Tensor& query = ctx.input(0);
  const auto batch = static_cast<std::size_t>(query.shape[0]);
  const auto steps = static_cast<std::size_t>(query.shape[1]);
  const auto q_heads = static_cast<std::size_t>(rule.q_heads);
  const auto heads = static_cast<std::size_t>(rule.kv_heads);
  const std::size_t dk = static_cast<std::size_t>(query.shape[2]) / q_heads;
  const std::size_t dv = static_cast<std::size_t>(ctx.input(kValue).shape[2]) / heads;
  const double given = ctx.node().attrs.get_float("scale", 0);
  const double scale = given != 0 ? given : 1 / std::sqrt(static_cast<double>(dk));

  const std::vector<double> q = to_doubles(query);
  const std::vector<double> k = to_doubles(ctx.input(kKey));
  const std::vector<double> v = to_doubles(ctx.input(kValue));
  const std::vector<double> decay = rule.gated ? to_doubles(ctx.input(kDecay)) : std::vector<double>();
  const std::vector<double> beta = rule.delta ? to_doubles(ctx.input(kBeta)) : std::vector<double>();
  const std::size_t decays = rule.gated ? decay.size() / (batch * steps) : 0;  // a step
  const std::size_t betas = rule.delta ? beta.size() / (batch * steps) : 0;
  const bool decay_of_key = decays != heads || dk == 1;
  std::vector<double> state =
      ctx.has_input(kPast) ? to_doubles(ctx.input(kPast)) : std::vector<double>(batch * heads * dk * dv, 0.0);
  std::vector<double> y(batch * steps * q_heads * dv);
  for (std::size_t b = 0; b < batch; ++b)
    for (std::size_t t = 0; t < steps; ++t) {
      const std::size_t step = b * steps + t;
      for (std::size_t h = 0; h < heads; ++h) {
        double* s = state.data() + (b * heads + h) * dk * dv;
        update_state(s, k.data() + (step * heads + h) * dk, v.data() + (step * heads + h) * dv, dk, dv, rule,
                     decay.data() + step * decays + h * (decay_of_key ? dk : 1), decay_of_key,
                     rule.delta ? beta[step * betas + (betas == 1 ? 0 : h)] : 1);
        for (std::size_t g = h * (q_heads / heads); g < (h + 1) * (q_heads / heads); ++g)
          for (std::size_t j = 0; j < dv; ++j) {
            double sum = 0;
            for (std::size_t i = 0; i < dk; ++i) sum += q[(step * q_heads + g) * dk + i] * s[i * dv + j];
            y[(step * q_heads + g) * dv + j] = scale * sum;
          }
      }
    }
  ctx.outputs[0] =
      from_doubles(query.dtype, {query.shape[0], query.shape[1], static_cast<std::int64_t>(q_heads * dv)}, y);
  if (ctx.outputs.size() > 1)
    ctx.outputs[1] = from_doubles(
        ctx.has_input(kPast) ? ctx.input(kPast).dtype : query.dtype,
        {query.shape[0], rule.kv_heads, static_cast<std::int64_t>(dk), static_cast<std::int64_t>(dv)}, state);
  return {};
}

}  // namespace

void register_linear_attention(Registry& r) {
  r.add({.name = "LinearAttention",
         .since = 27,
         .attrs = {{"chunk_size", AttrKind::Int},  // a hint for other ways to evaluate it
                   {"kv_num_heads", AttrKind::Int, true},
                   {"q_num_heads", AttrKind::Int, true},
                   {"scale", AttrKind::Float},
                   {"update_rule", AttrKind::String}},
         .inputs = {3, 6},
         .outputs = {1, 2},
         .infer = infer_linear_attention,
         .reference = reference_linear_attention});
}

}  // namespace atc::ops
