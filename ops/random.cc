#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/random_stream.h"
#include "ops/reference_util.h"

// RandomNormal RandomNormalLike RandomUniform RandomUniformLike Bernoulli Multinomial. Numbers come from
// RandomStream with the node's seed, so every run of a model gives the same ones.
namespace atc::ops {
namespace {

constexpr std::string_view kDType = "dtype";             // Int; absent: that of the input, f32 without one
constexpr std::string_view kShape = "shape";             // Ints
constexpr std::string_view kSampleSize = "sample_size";  // Int, 1

/// Attribute dtype, which must be one of `allowed`.
StatusOr<DType> dtype_attribute(const ir::Node& node, DType fallback, DTypeSet allowed) {
  const std::int64_t value = node.attrs.get_int(kDType, static_cast<std::int64_t>(fallback));
  const bool known = value >= 0 && value < kDTypeCount;
  if (known && allowed.has(static_cast<DType>(value))) return static_cast<DType>(value);
  return InferContext(node).error(
      "attribute dtype is " + (known ? std::string(name(static_cast<DType>(value))) : std::to_string(value)) +
      ", which this operator does not give");
}

template <class Next>
Tensor generate(DType dtype, const Dims& shape, Next next) {
  std::vector<double> values(static_cast<std::size_t>(element_count(shape)));
  for (double& v : values) v = next();
  return from_doubles(dtype, shape, values);
}

// RandomNormal and RandomUniform, of a given shape or of that of an input ----------------------------------

struct Normal {
  static double next(RandomStream& random, const ir::Node& node) {
    return static_cast<double>(node.attrs.get_float("mean", 0)) +
           static_cast<double>(node.attrs.get_float("scale", 1)) * random.normal();
  }
};
struct Uniform {
  static double next(RandomStream& random, const ir::Node& node) {
    const double low = node.attrs.get_float("low", 0);
    return low + (static_cast<double>(node.attrs.get_float("high", 1)) - low) * random.uniform();
  }
};

Status infer_random(InferContext& ctx) {
  ATC_ASSIGN(const DType dtype, dtype_attribute(ctx.node(), DType::F32, kFloatTypes));
  const Dims shape = ctx.node().attrs.get_ints(kShape);
  if (element_count(shape) < 0 || std::ranges::any_of(shape, [](std::int64_t d) { return d < 0; }))
    return ctx.error("attribute shape is [" + to_string(shape) + "], which is no possible shape");
  ctx.set_output(0, dtype, ir::to_shape(shape));
  return {};
}

template <class Distribution>
Status reference_random(EvalContext& ctx) {
  ATC_ASSIGN(const DType dtype, dtype_attribute(ctx.node(), DType::F32, kFloatTypes));
  RandomStream random(seed_of(ctx.node()));
  ctx.outputs[0] = generate(dtype, ctx.node().attrs.get_ints(kShape),
                            [&] { return Distribution::next(random, ctx.node()); });
  return {};
}

Status infer_random_like(InferContext& ctx) {
  ATC_ASSIGN(const DType dtype, dtype_attribute(ctx.node(), ctx.dtype(0), kFloatTypes));
  ctx.set_output(0, dtype, ctx.type(0).shape);
  return {};
}

template <class Distribution>
Status reference_random_like(EvalContext& ctx) {
  ATC_ASSIGN(const DType dtype, dtype_attribute(ctx.node(), ctx.input(0).dtype, kFloatTypes));
  RandomStream random(seed_of(ctx.node()));
  ctx.outputs[0] =
      generate(dtype, ctx.input(0).shape, [&] { return Distribution::next(random, ctx.node()); });
  return {};
}

// Bernoulli: ones with the probabilities of the input
// --------------------------------------------------------

Status infer_bernoulli(InferContext& ctx) {
  ATC_TRY(require_float(ctx, 0));
  ATC_ASSIGN(const DType dtype, dtype_attribute(ctx.node(), ctx.dtype(0), kNumericTypes | kBoolTypes));
  ctx.set_output(0, dtype, ctx.type(0).shape);
  return {};
}

/// As NumPy's binomial(1, p): the rarer outcome takes the upper end of the unit interval.
Status reference_bernoulli(EvalContext& ctx) {
  const Tensor& p = ctx.input(0);
  ATC_ASSIGN(const DType dtype, dtype_attribute(ctx.node(), p.dtype, kNumericTypes | kBoolTypes));
  RandomStream random(seed_of(ctx.node()));
  std::vector<double> y = to_doubles(p);
  for (double& v : y) {
    if (!(v >= 0 && v <= 1)) return ctx.error("probability " + std::to_string(v) + " is outside [0, 1]");
    const double u = random.uniform();
    v = v > 0.5 ? u <= v : u > 1 - v;
  }
  ctx.outputs[0] = from_doubles(dtype, p.shape, y);
  return {};
}

// Multinomial: classes drawn with probabilities softmax(input)
// ------------------------------------------------

Status infer_multinomial(InferContext& ctx) {
  ATC_TRY(require_float(ctx, 0));
  ATC_TRY(require_rank(ctx, 0, 2, 2));
  ATC_ASSIGN(const DType dtype, dtype_attribute(ctx.node(), DType::I32, kIndexTypes));
  const std::int64_t samples = ctx.node().attrs.get_int(kSampleSize, 1);
  if (samples < 1)
    return ctx.error("attribute sample_size is " + std::to_string(samples) + ", expected >= 1");
  ctx.set_output(0, dtype,
                 ir::Shape{ctx.ranked(0) ? ctx.shape(0)[0] : ctx.unknown_dim(), ir::Dim::of(samples)});
  return {};
}

Status reference_multinomial(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  ATC_ASSIGN(const DType dtype, dtype_attribute(ctx.node(), DType::I32, kIndexTypes));
  const std::int64_t samples = ctx.node().attrs.get_int(kSampleSize, 1);
  const std::int64_t classes = x.shape[1];
  if (classes == 0) return ctx.error("has no classes to draw from");
  RandomStream random(seed_of(ctx.node()));
  const std::vector<double> log_weight = to_doubles(x);
  std::vector<std::int64_t> y;
  for (std::int64_t b = 0; b < x.shape[0]; ++b) {
    const std::span row(log_weight.data() + b * classes, static_cast<std::size_t>(classes));
    const double largest = *std::ranges::max_element(row);
    std::vector<double> up_to;  // weights added up
    double sum = 0;
    for (const double v : row) up_to.push_back(sum += std::exp(v - largest));
    for (std::int64_t s = 0; s < samples; ++s) {
      const auto drawn = std::ranges::upper_bound(up_to, random.uniform() * sum) - up_to.begin();
      y.push_back(std::min<std::int64_t>(drawn, classes - 1));
    }
  }
  ctx.outputs[0] = from_int64s(dtype, {x.shape[0], samples}, y);
  return {};
}

}  // namespace

void register_random(Registry& r) {
  const AttrSpec seed = {"seed", AttrKind::Float};
  const AttrSpec dtype = {kDType, AttrKind::Int};
  const AttrSpec shape = {kShape, AttrKind::Ints, true};
  const std::vector<AttrSpec> normal = {dtype, {"mean", AttrKind::Float}, {"scale", AttrKind::Float}, seed};
  const std::vector<AttrSpec> uniform = {dtype, {"high", AttrKind::Float}, {"low", AttrKind::Float}, seed};
  const auto with_shape_attribute = [&](std::vector<AttrSpec> attrs) {
    attrs.push_back(shape);
    return attrs;
  };
  const auto add = [&](std::string_view name, int since, std::vector<AttrSpec> attrs, int inputs,
                       Status (*infer)(InferContext&), Status (*reference)(EvalContext&)) {
    r.add({.name = name,
           .since = since,
           .attrs = std::move(attrs),
           .inputs = {inputs, inputs},
           .infer = infer,
           .reference = reference,
           .foldable = false});
  };
  add("Bernoulli", 15, {dtype, seed}, 1, infer_bernoulli, reference_bernoulli);
  add("Multinomial", 7, {dtype, {kSampleSize, AttrKind::Int}, seed}, 1, infer_multinomial,
      reference_multinomial);
  add("RandomNormal", 1, with_shape_attribute(normal), 0, infer_random, reference_random<Normal>);
  add("RandomNormalLike", 1, normal, 1, infer_random_like, reference_random_like<Normal>);
  add("RandomUniform", 1, with_shape_attribute(uniform), 0, infer_random, reference_random<Uniform>);
  add("RandomUniformLike", 1, uniform, 1, infer_random_like, reference_random_like<Uniform>);
}

}  // namespace atc::ops
