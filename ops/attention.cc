#include <cmath>
#include <limits>

#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/reference_util.h"

// Attention (opset 23, 24): softmax(softcap(scale * Q K^T) + bias) V over heads. Rank 4 is [batch, heads,
// positions, elements]; rank 3 is [batch, positions, heads * elements] with the head counts as attributes.
namespace atc::ops {

namespace {

constexpr std::string_view kQHeads = "q_num_heads";                // Int, required for rank 3
constexpr std::string_view kKvHeads = "kv_num_heads";              // Int, required for rank 3
constexpr std::string_view kCausal = "is_causal";                  // Int, 0
constexpr std::string_view kScale = "scale";                       // Float, 1 / sqrt(elements of a head)
constexpr std::string_view kSoftcap = "softcap";                   // Float, 0: none
constexpr std::string_view kOutputMode = "qk_matmul_output_mode";  // Int, 0: what output 3 is, see Stage
constexpr std::string_view kPrecision = "softmax_precision";  // Int: at least this type; here always double

enum Input : std::size_t { kQ, kK, kV, kMask, kPastKey, kPastValue, kNonpad };
enum Output : std::size_t { kY, kPresentKey, kPresentValue, kScores };
/// Values of qk_matmul_output_mode: the scaled product, after the soft cap, after the bias, after the
/// softmax.
enum Stage : std::int64_t { kScaled, kCapped, kBiased, kWeights };

ir::Dim times(InferContext& ctx, const ir::Dim& a, const ir::Dim& b) {
  return a.known() && b.known() ? ir::Dim::of(a.value * b.value) : ctx.unknown_dim();
}
ir::Dim plus(InferContext& ctx, const ir::Dim& a, const ir::Dim& b) {
  return a.known() && b.known() ? ir::Dim::of(a.value + b.value) : ctx.unknown_dim();
}

/// [batch, heads, positions, elements] of a data input.
StatusOr<ir::Shape> heads_shape(InferContext& ctx, std::size_t input, std::string_view heads_attr) {
  const ir::Shape& s = ctx.shape(input);
  if (s.size() == 4) return s;
  const std::int64_t heads = ctx.node().attrs.get_int(heads_attr, 0);
  if (heads < 1)
    return ctx.error("attribute " + std::string(heads_attr) + " is " + std::to_string(heads) +
                     ", expected the number of heads, for input " + std::to_string(input) + " has rank 3");
  if (s[2].known() && s[2].value % heads != 0)
    return ctx.input_error(input, "has rows of " + std::to_string(s[2].value) + " elements, which " +
                                      std::string(heads_attr) + " = " + std::to_string(heads) +
                                      " does not divide");
  return ir::Shape{s[0], ir::Dim::of(heads), s[1],
                   s[2].known() ? ir::Dim::of(s[2].value / heads) : ctx.unknown_dim()};
}

Status check_types(const InferContext& ctx) {
  ATC_TRY(require_float(ctx, kQ));
  ATC_TRY(require_same_dtype(ctx, kK, kQ));
  ATC_TRY(require_float(ctx, kV));
  if (ctx.has_input(kMask) && ctx.dtype(kMask) != DType::Bool) ATC_TRY(require_same_dtype(ctx, kMask, kQ));
  if (ctx.has_input(kPastKey) != ctx.has_input(kPastValue))
    return ctx.error("has one of past_key and past_value, expected both or none");
  ATC_TRY(require_same_dtype(ctx, kPastKey, kK));
  ATC_TRY(require_same_dtype(ctx, kPastValue, kV));
  if (ctx.has_input(kNonpad)) {
    ATC_TRY(require_dtype(ctx, kNonpad, {DType::I64}, "type i64"));
    if (ctx.has_input(kPastKey))
      return ctx.error("has both nonpad_kv_seqlen and a past, expected one of them");
  }
  const std::int64_t mode = ctx.node().attrs.get_int(kOutputMode, 0);
  if (mode < kScaled || mode > kWeights)
    return ctx.error("attribute qk_matmul_output_mode is " + std::to_string(mode) + ", expected 0 to 3");
  for (std::size_t i : {kQ, kK, kV}) ATC_TRY(require_rank(ctx, i, 3, 4));
  for (std::size_t i : {kPastKey, kPastValue})
    if (ctx.has_input(i)) ATC_TRY(require_rank(ctx, i, 4, 4));
  return {};
}

Status infer_attention(InferContext& ctx) {
  ATC_TRY(check_types(ctx));
  const ir::Node& n = ctx.node();
  auto set = [&](std::size_t i, DType dtype, std::optional<ir::Shape> shape) {
    if (n.output(i) != nullptr) ctx.set_output(i, dtype, std::move(shape));
  };
  if (!ctx.ranked(kQ) || !ctx.ranked(kK) || !ctx.ranked(kV)) {
    set(kY, ctx.dtype(kQ), std::nullopt);
    set(kPresentKey, ctx.dtype(kK), std::nullopt);
    set(kPresentValue, ctx.dtype(kV), std::nullopt);
    set(kScores, ctx.dtype(kQ), std::nullopt);
    return {};
  }
  const std::size_t rank = ctx.shape(kQ).size();
  for (std::size_t i : {kK, kV})
    if (ctx.shape(i).size() != rank)
      return ctx.input_error(i, "has rank " + std::to_string(ctx.shape(i).size()) + ", expected " +
                                    std::to_string(rank) + " as input 0 has");
  ATC_ASSIGN(const ir::Shape q, heads_shape(ctx, kQ, kQHeads));
  ATC_ASSIGN(const ir::Shape k, heads_shape(ctx, kK, kKvHeads));
  ATC_ASSIGN(const ir::Shape v, heads_shape(ctx, kV, kKvHeads));
  if (conflicts(q[0], k[0]) || conflicts(q[0], v[0])) return ctx.error("has inputs of different batch sizes");
  if (conflicts(q[3], k[3])) return ctx.input_error(kK, "has heads of other length than the queries'");
  if (conflicts(k[1], v[1]) || conflicts(k[2], v[2])) return ctx.input_error(kV, "does not go with the keys");
  if (q[1].known() && k[1].known() && (k[1].value < 1 || q[1].value % k[1].value != 0))
    return ctx.error("has " + std::to_string(q[1].value) + " query heads, expected a multiple of the " +
                     std::to_string(k[1].value) + " key heads");
  ir::Dim total = k[2];
  if (ctx.has_input(kPastKey))
    total = ctx.ranked(kPastKey) ? plus(ctx, ctx.shape(kPastKey)[2], k[2]) : ctx.unknown_dim();
  set(kY, ctx.dtype(kQ),
      rank == 4 ? ir::Shape{q[0], q[1], q[2], v[3]} : ir::Shape{q[0], q[2], times(ctx, q[1], v[3])});
  set(kPresentKey, ctx.dtype(kK), ir::Shape{k[0], k[1], total, k[3]});
  set(kPresentValue, ctx.dtype(kV), ir::Shape{v[0], v[1], total, v[3]});
  set(kScores, ctx.dtype(kQ), ir::Shape{q[0], q[1], q[2], total});
  return {};
}

/// A data input as doubles in [batch, heads, positions, elements].
struct Heads {
  Dims dims;
  std::vector<double> values;
  double at(std::int64_t b, std::int64_t h, std::int64_t p, std::int64_t e) const {
    return values[static_cast<std::size_t>(((b * dims[1] + h) * dims[2] + p) * dims[3] + e)];
  }
};

Heads heads_of(const Tensor& t, std::int64_t heads) {
  if (t.shape.size() == 4) return {t.shape, to_doubles(t)};
  const std::int64_t b = t.shape[0], p = t.shape[1], e = t.shape[2] / heads;
  return {{b, heads, p, e}, to_doubles(strided_copy(t, {b, heads, p, e}, {p * heads * e, e, heads * e, 1}))};
}

/// Past positions, then new ones.
Heads with_past(const Heads& past, const Heads& now) {
  Heads out{now.dims, {}};
  out.dims[2] += past.dims[2];
  const std::int64_t old = past.dims[2] * past.dims[3], fresh = now.dims[2] * now.dims[3];
  for (std::int64_t i = 0; i < now.dims[0] * now.dims[1]; ++i) {
    out.values.insert(out.values.end(), past.values.begin() + i * old, past.values.begin() + (i + 1) * old);
    out.values.insert(out.values.end(), now.values.begin() + i * fresh, now.values.begin() + (i + 1) * fresh);
  }
  return out;
}

/// What is added to the scores [batch, heads, rows, positions]; -inf hides a position.
std::vector<double> bias_of(const EvalContext& ctx, const Dims& scores, std::int64_t past) {
  constexpr double kHidden = -std::numeric_limits<double>::infinity();
  std::vector<double> bias(static_cast<std::size_t>(element_count(scores)), 0.0);
  if (ctx.has_input(kMask)) {
    const Tensor& mask = ctx.input(kMask);
    const std::vector<double> m = to_doubles(mask);
    // A mask may end before the last position: those beyond are hidden.
    Dims walked = scores;
    walked[3] = std::min(walked[3], mask.shape.back() == 1 ? walked[3] : mask.shape.back());
    std::fill(bias.begin(), bias.end(), walked[3] < scores[3] ? kHidden : 0.0);
    for (StridedWalk w(walked, {strides_over(mask.shape, walked), strides_over(scores, scores)}); !w.done();
         w.next()) {
      const double x = m[static_cast<std::size_t>(w.offset(0))];
      bias[static_cast<std::size_t>(w.offset(1))] = mask.dtype != DType::Bool ? x : x != 0 ? 0.0 : kHidden;
    }
  }
  std::vector<std::int64_t> valid;
  if (ctx.has_input(kNonpad)) valid = to_int64s(ctx.input(kNonpad));
  const bool causal = ctx.node().attrs.get_int(kCausal, 0) != 0;
  for (std::int64_t b = 0, i = 0; b < scores[0]; ++b) {
    const std::int64_t length = valid.empty() ? scores[3] : valid[static_cast<std::size_t>(b)];
    // Row 0 stands behind the past; with a padded cache the rows are its last valid positions.
    const std::int64_t offset = valid.empty() ? past : length - scores[2];
    for (std::int64_t h = 0; h < scores[1]; ++h)
      for (std::int64_t r = 0; r < scores[2]; ++r)
        for (std::int64_t p = 0; p < scores[3]; ++p, ++i)
          if (p >= length || (causal && p > r + offset)) bias[static_cast<std::size_t>(i)] = kHidden;
  }
  return bias;
}

Status reference_attention(EvalContext& ctx) {
  const ir::Node& n = ctx.node();
  const Heads q = heads_of(ctx.input(kQ), n.attrs.get_int(kQHeads, 1));
  Heads k = heads_of(ctx.input(kK), n.attrs.get_int(kKvHeads, 1));
  Heads v = heads_of(ctx.input(kV), n.attrs.get_int(kKvHeads, 1));
  std::int64_t past = 0;
  if (ctx.has_input(kPastKey)) {
    past = ctx.input(kPastKey).shape[2];
    k = with_past(heads_of(ctx.input(kPastKey), 1), k);
    v = with_past(heads_of(ctx.input(kPastValue), 1), v);
  }
  const Dims scores = {q.dims[0], q.dims[1], q.dims[2], k.dims[2]};
  const std::int64_t d = q.dims[3], dv = v.dims[3], group = q.dims[1] / k.dims[1];
  const double scale = n.attrs.has(kScale) ? static_cast<double>(n.attrs.get_float(kScale, 1.0F))
                                           : 1 / std::sqrt(static_cast<double>(d));
  const double cap = n.attrs.get_float(kSoftcap, 0.0F);
  const std::int64_t mode = n.attrs.get_int(kOutputMode, 0);
  const std::vector<double> bias = bias_of(ctx, scores, past);
  std::vector<double> shown(n.output(kScores) != nullptr ? bias.size() : 0);
  std::vector<double> y(static_cast<std::size_t>(element_count(Dims{scores[0], scores[1], scores[2], dv})));
  std::vector<double> row(static_cast<std::size_t>(scores[3]));
  std::size_t first = 0, out = 0;
  for (std::int64_t b = 0; b < scores[0]; ++b)
    for (std::int64_t h = 0; h < scores[1]; ++h)
      for (std::int64_t r = 0; r < scores[2]; ++r, first += row.size()) {
        auto show = [&](std::int64_t stage) {
          if (mode == stage && !shown.empty())
            std::copy(row.begin(), row.end(), shown.begin() + static_cast<std::ptrdiff_t>(first));
        };
        double max_bias = -std::numeric_limits<double>::infinity();
        for (std::size_t p = 0; p < row.size(); ++p) {
          row[p] = 0;
          for (std::int64_t e = 0; e < d; ++e)
            row[p] += q.at(b, h, r, e) * k.at(b, h / group, static_cast<std::int64_t>(p), e);
          row[p] *= scale;
          max_bias = std::max(max_bias, bias[first + p]);
        }
        show(kScaled);
        if (cap > 0)
          for (double& x : row) x = cap * std::tanh(x / cap);
        show(kCapped);
        double max = -std::numeric_limits<double>::infinity();
        for (std::size_t p = 0; p < row.size(); ++p) max = std::max(max, row[p] += bias[first + p]);
        show(kBiased);
        // A row without a single position it may see gives zeros.
        double sum = 0;
        for (double& x : row) sum += x = std::isinf(max_bias) ? 0.0 : std::exp(x - max);
        if (sum != 0)
          for (double& x : row) x /= sum;
        show(kWeights);
        for (std::int64_t e = 0; e < dv; ++e, ++out)
          for (std::size_t p = 0; p < row.size(); ++p)
            if (row[p] != 0) y[out] += row[p] * v.at(b, h / group, static_cast<std::int64_t>(p), e);
      }
  const DType dtype = ctx.input(kQ).dtype;
  const Tensor result = from_doubles(dtype, {scores[0], scores[1], scores[2], dv}, y);
  ctx.outputs[kY] = result;
  if (ctx.input(kQ).shape.size() == 3) {
    const std::int64_t heads = scores[1], rows = scores[2];
    ctx.outputs[kY] =
        with_shape(strided_copy(result, {scores[0], rows, heads, dv}, {heads * rows * dv, dv, rows * dv, 1}),
                   {scores[0], rows, heads * dv});
  }
  if (n.output(kPresentKey) != nullptr)
    ctx.outputs[kPresentKey] = from_doubles(ctx.input(kK).dtype, k.dims, k.values);
  if (n.output(kPresentValue) != nullptr)
    ctx.outputs[kPresentValue] = from_doubles(ctx.input(kV).dtype, v.dims, v.values);
  if (n.output(kScores) != nullptr) ctx.outputs[kScores] = from_doubles(dtype, scores, shown);
  return {};
}

}  // namespace

void register_attention(Registry& registry) {
  OpDef def{.name = "Attention",
            .since = 23,
            .until = 23,
            .attrs = {{kCausal, AttrKind::Int},
                      {kKvHeads, AttrKind::Int},
                      {kQHeads, AttrKind::Int},
                      {kOutputMode, AttrKind::Int},
                      {kScale, AttrKind::Float},
                      {kSoftcap, AttrKind::Float},
                      {kPrecision, AttrKind::Int}},
            .inputs = {3, 6},
            .outputs = {1, 4},
            .infer = infer_attention,
            .reference = reference_attention};
  registry.add(def);
  def.since = 24;
  def.until = INT_MAX;
  def.inputs = {3, 7};  // nonpad_kv_seqlen
  registry.add(def);
}

}  // namespace atc::ops
