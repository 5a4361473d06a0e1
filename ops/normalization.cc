#include <cmath>

#include "ops/batch_norm.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/reference_util.h"

// Normalization by the statistics of channels: BatchNormalization, InstanceNormalization,
// GroupNormalization, MeanVarianceNormalization. Sums and variances in double, two passes.
namespace atc::ops {

bool is_training_batch_norm(const ir::Node& node) {
  if (node.version >= 14) return node.attrs.get_int("training_mode", 0) != 0;
  if (node.version >= 7) return node.outputs().size() > 1;
  return node.attrs.get_int("is_test", 0) == 0;
}

bool is_per_activation_batch_norm(const ir::Node& node) {
  return node.version < 9 && node.attrs.get_int("spatial", 1) == 0;
}

namespace {

double epsilon_of(const ir::Node& node) { return node.attrs.get_float("epsilon", 1e-5F); }

struct Moments {
  double mean = 0;
  double variance = 0;  ///< of the population (divided by the count)
};

/// Moments of the elements that `for_each(visit)` visits.
template <class ForEach>
Moments moments(ForEach for_each) {
  Moments m;
  double count = 0;
  for_each([&](double v) {
    m.mean += v;
    ++count;
  });
  m.mean /= count;
  for_each([&](double v) { m.variance += (v - m.mean) * (v - m.mean); });
  m.variance /= count;
  return m;
}

// BatchNormalization ------------------------------------------------------------------------------

/// Shape of the parameters: [C], or [C, D1, ...] for each activation.
ir::Shape parameter_shape(const InferContext& ctx) {
  const ir::Shape& x = ctx.shape(0);
  if (x.size() < 2) return {ir::Dim::of(1)};
  if (!is_per_activation_batch_norm(ctx.node())) return {x[1]};
  return {x.begin() + 1, x.end()};
}

Status infer_batch_normalization(InferContext& ctx) {
  for (std::size_t i = 0; i < 5; ++i) ATC_TRY(require_float(ctx, i));
  for (std::size_t i = 1; ctx.version() < 15 && i < (ctx.version() < 14 ? 5U : 3U); ++i)
    ATC_TRY(require_same_dtype(ctx, i, 0));
  ATC_TRY(require_same_dtype(ctx, 2, 1));
  ATC_TRY(require_same_dtype(ctx, 4, 3));
  ATC_TRY(require_rank(ctx, 0, 1));
  ctx.set_output(0, ctx.dtype(0), ctx.type(0).shape);
  std::optional<ir::Shape> parameters;
  if (ctx.ranked(0)) {
    parameters = parameter_shape(ctx);
    for (std::size_t i = 1; i < 5; ++i) {
      if (!ctx.ranked(i)) continue;
      ATC_TRY(require_rank(ctx, i, parameters->size(), parameters->size()));
      for (std::size_t axis = 0; axis < parameters->size(); ++axis)
        if (conflicts(ctx.shape(i)[axis], (*parameters)[axis]))
          return ctx.input_error(i, "has shape [" + ir::to_string(ctx.shape(i)) + "], expected [" +
                                        ir::to_string(*parameters) + "]");
    }
  }
  if (ctx.version() >= 14 && !is_training_batch_norm(ctx.node()) && ctx.node().outputs().size() > 1)
    return ctx.error("has outputs for running statistics, which only training_mode 1 gives");
  for (std::size_t i = 1; i < ctx.node().outputs().size(); ++i)
    if (ctx.node().output(i)) ctx.set_output(i, ctx.dtype(i < 3 ? i + 2 : 3), parameters);
  return {};
}

Status reference_batch_normalization(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const ir::Node& node = ctx.node();
  const std::vector<double> scale = to_doubles(ctx.input(1));
  const std::vector<double> bias = to_doubles(ctx.input(2));
  std::vector<double> mean = to_doubles(ctx.input(3));
  std::vector<double> variance = to_doubles(ctx.input(4));
  std::vector<double> y = to_doubles(x);
  // x as [batch, parameters, plane]
  const std::size_t count = scale.size();
  const std::size_t batch = x.shape.size() < 2 ? y.size() : static_cast<std::size_t>(x.shape[0]);
  const std::size_t plane = y.empty() ? 0 : y.size() / (batch * count);

  if (is_training_batch_norm(node)) {
    const double momentum = node.attrs.get_float("momentum", 0.9F);
    std::vector<double> running_mean = mean;
    std::vector<double> running_variance = variance;
    for (std::size_t c = 0; c < count; ++c) {
      const Moments m = moments([&](auto visit) {
        for (std::size_t n = 0; n < batch; ++n)
          for (std::size_t i = 0; i < plane; ++i) visit(y[(n * count + c) * plane + i]);
      });
      mean[c] = m.mean;
      variance[c] = m.variance;
      running_mean[c] = running_mean[c] * momentum + m.mean * (1 - momentum);
      running_variance[c] = running_variance[c] * momentum + m.variance * (1 - momentum);
    }
    // Versions before 14 also give the batch's own statistics, as outputs 3 and 4.
    const std::vector<double>* statistics[] = {&running_mean, &running_variance, &mean, &variance};
    for (std::size_t i = 1; i < ctx.outputs.size(); ++i)
      ctx.outputs[i] =
          from_doubles(ctx.input(i < 3 ? i + 2 : 3).dtype, ctx.input(3).shape, *statistics[i - 1]);
  }

  const double epsilon = epsilon_of(node);
  for (std::size_t n = 0; n < batch; ++n)
    for (std::size_t c = 0; c < count; ++c) {
      const double factor = scale[c] / std::sqrt(variance[c] + epsilon);
      for (std::size_t i = 0; i < plane; ++i) {
        double& v = y[(n * count + c) * plane + i];
        v = (v - mean[c]) * factor + bias[c];
      }
    }
  ctx.outputs[0] = from_doubles(x.dtype, x.shape, y);
  return {};
}

// InstanceNormalization, GroupNormalization ---------------------------------------------------------

/// Normalizes each of `groups` groups of channels of each batch element; scale and bias are looked up
/// per channel by `parameter(channel)`.
template <class Parameter>
Tensor normalize_groups(const Tensor& x, std::int64_t groups, const Tensor& scale_tensor,
                        const Tensor& bias_tensor, double epsilon, Parameter parameter) {
  const std::vector<double> scale = to_doubles(scale_tensor);
  const std::vector<double> bias = to_doubles(bias_tensor);
  std::vector<double> y = to_doubles(x);
  const auto channels = static_cast<std::size_t>(x.shape[1]);
  const std::size_t rows = static_cast<std::size_t>(x.shape[0] * groups);
  const std::size_t length = y.empty() ? 0 : y.size() / rows;
  const std::size_t plane = length * static_cast<std::size_t>(groups) / std::max<std::size_t>(channels, 1);
  for (std::size_t row = 0; row < rows && length > 0; ++row) {
    double* first = y.data() + row * length;
    const Moments m = moments([&](auto visit) {
      for (std::size_t i = 0; i < length; ++i) visit(first[i]);
    });
    const double inverse = 1 / std::sqrt(m.variance + epsilon);
    for (std::size_t i = 0; i < length; ++i) {
      const std::size_t p = parameter((row * length + i) / plane % channels);
      first[i] = (first[i] - m.mean) * inverse * scale[p] + bias[p];
    }
  }
  return from_doubles(x.dtype, x.shape, y);
}

Status infer_instance_normalization(InferContext& ctx) {
  ATC_TRY(require_float(ctx, 0));
  ATC_TRY(require_rank(ctx, 0, 3));
  for (std::size_t i = 1; i < 3; ++i) {
    ATC_TRY(require_same_dtype(ctx, i, 0));
    if (ctx.ranked(0)) ATC_TRY(require_vector(ctx, i, ctx.shape(0)[1]));
  }
  return infer_same_as_input(ctx);
}

Status reference_instance_normalization(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  ctx.outputs[0] = normalize_groups(x, x.shape[1], ctx.input(1), ctx.input(2), epsilon_of(ctx.node()),
                                    [](std::size_t channel) { return channel; });
  return {};
}

Status infer_group_normalization(InferContext& ctx) {
  ATC_TRY(require_float(ctx, 0));
  ATC_TRY(require_rank(ctx, 0, 2));
  const std::int64_t groups = ctx.node().attrs.get_int("num_groups", 0);
  if (groups < 1) return ctx.error("attribute num_groups is " + std::to_string(groups) + ", expected >= 1");
  if (ctx.ranked(0)) {
    const ir::Dim& channels = ctx.shape(0)[1];
    if (channels.known() && channels.value % groups != 0)
      return ctx.input_error(0, "has " + std::to_string(channels.value) +
                                    " channels, not a multiple of num_groups " + std::to_string(groups));
  }
  for (std::size_t i = 1; i < 3; ++i) {
    ATC_TRY(require_same_dtype(ctx, i, 0));
    // Version 18 has one scale and bias a group, version 21 one a channel.
    if (ctx.version() < 21)
      ATC_TRY(require_vector(ctx, i, ir::Dim::of(groups)));
    else if (ctx.ranked(0))
      ATC_TRY(require_vector(ctx, i, ctx.shape(0)[1]));
  }
  return infer_same_as_input(ctx);
}

Status reference_group_normalization(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const std::int64_t groups = ctx.node().attrs.get_int("num_groups", 1);
  const auto channels_per_parameter =
      static_cast<std::size_t>(std::max<std::int64_t>(ctx.version() < 21 ? x.shape[1] / groups : 1, 1));
  ctx.outputs[0] = normalize_groups(x, groups, ctx.input(1), ctx.input(2), epsilon_of(ctx.node()),
                                    [=](std::size_t channel) { return channel / channels_per_parameter; });
  return {};
}

// MeanVarianceNormalization -------------------------------------------------------------------------

Dims mvn_axes(const ir::Node& node) { return node.attrs.get_ints("axes", {0, 2, 3}); }

Status infer_mvn(InferContext& ctx) {
  ATC_TRY(require_float(ctx, 0));
  if (ctx.ranked(0)) {
    auto axes = resolve_axes(ctx.node(), mvn_axes(ctx.node()), ctx.shape(0).size());
    if (!axes.ok()) return axes.status();
  }
  return infer_same_as_input(ctx);
}

Status reference_mvn(EvalContext& ctx) {
  constexpr double kEpsilon = 1e-9;  // of the operator's function body
  const Tensor& x = ctx.input(0);
  std::vector<double> y = to_doubles(x);
  Dims kept = x.shape;
  for (std::int64_t axis : mvn_axes(ctx.node()))
    kept[static_cast<std::size_t>(*normalize_axis(axis, std::ssize(x.shape)))] = 1;
  const Dims strides = strides_over(kept, x.shape);
  const auto rows = static_cast<std::size_t>(element_count(kept));
  std::vector<double> mean(rows, 0.0);
  std::vector<double> variance(rows, 0.0);
  const double count = static_cast<double>(y.size()) / static_cast<double>(rows);
  const auto walk = [&](auto visit) {
    for (StridedWalk w(x.shape, {strides}); !w.done(); w.next())
      visit(y[static_cast<std::size_t>(w.position())], static_cast<std::size_t>(w.offset()));
  };
  walk([&](double v, std::size_t row) { mean[row] += v / count; });
  walk([&](double v, std::size_t row) { variance[row] += (v - mean[row]) * (v - mean[row]) / count; });
  walk([&](double& v, std::size_t row) { v = (v - mean[row]) / (std::sqrt(variance[row]) + kEpsilon); });
  ctx.outputs[0] = from_doubles(x.dtype, x.shape, y);
  return {};
}

}  // namespace

void register_normalization(Registry& registry) {
  const OpDef batch = {.name = "BatchNormalization",
                       .attrs = {{"consumed_inputs", AttrKind::Ints, false, 1, 5},
                                 {"epsilon", AttrKind::Float},
                                 {"is_test", AttrKind::Int, false, 1, 6},
                                 {"momentum", AttrKind::Float},
                                 {"spatial", AttrKind::Int, false, 1, 8},
                                 {"training_mode", AttrKind::Int, false, 14}},
                       .inputs = {5, 5},
                       .outputs = {1, 5},
                       .infer = infer_batch_normalization,
                       .reference = reference_batch_normalization};
  OpDef until_13 = batch;
  until_13.until = 13;
  registry.add(std::move(until_13));
  OpDef since_14 = batch;
  since_14.since = 14;
  since_14.outputs = {1, 3};
  registry.add(std::move(since_14));

  registry.add({.name = "InstanceNormalization",
                .attrs = {{"consumed_inputs", AttrKind::Ints, false, 1, 5}, {"epsilon", AttrKind::Float}},
                .inputs = {3, 3},
                .infer = infer_instance_normalization,
                .reference = reference_instance_normalization});
  registry.add({.name = "GroupNormalization",
                .since = 18,
                .attrs = {{"epsilon", AttrKind::Float},
                          {"num_groups", AttrKind::Int, true},
                          {"stash_type", AttrKind::Int, false, 21}},
                .inputs = {3, 3},
                .infer = infer_group_normalization,
                .reference = reference_group_normalization});
  registry.add({.name = "MeanVarianceNormalization",
                .since = 9,
                .attrs = {{"axes", AttrKind::Ints}},
                .infer = infer_mvn,
                .reference = reference_mvn});
}

}  // namespace atc::ops
