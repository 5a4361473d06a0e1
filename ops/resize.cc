#include <algorithm>
#include <cmath>

#include "aicore/vector_ops.h"
#include "kernels/gather.h"
#include "kernels/interpolate.h"
#include "ops/axis_view.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/integer_math.h"
#include "ops/move.h"
#include "ops/reference_util.h"
#include "ops/resize_geometry.h"
#include "ops/shape_value.h"

namespace atc::ops {

namespace {

// Where the inputs are: Resize-10 and Upsample-9 (X, scales); Resize-11 and later (X, roi, scales, sizes);
// Upsample-7 and -1 have attributes.

bool has_scale_attributes(const ir::Node& node) { return node.op_type == "Upsample" && node.version < 9; }
bool has_roi_and_sizes(const ir::Node& node) { return node.op_type == "Resize" && node.version >= 11; }
std::size_t scales_index(const ir::Node& node) { return has_roi_and_sizes(node) ? 2 : 1; }
constexpr std::size_t kRoi = 1;
constexpr std::size_t kSizes = 3;

StatusOr<std::vector<double>> scale_attributes(const ir::Node& node) {
  if (node.version >= 7) {
    const std::vector<float> scales = node.attrs.get_floats("scales");
    return std::vector<double>(scales.begin(), scales.end());
  }
  return std::vector<double>{1, 1, static_cast<double>(node.attrs.get_float("height_scale", 0)),
                             static_cast<double>(node.attrs.get_float("width_scale", 0))};
}

bool crops(const ir::Node& node) {
  return has_roi_and_sizes(node) &&
         node.attrs.get_string("coordinate_transformation_mode", {}) == "tf_crop_and_resize";
}

// Inference -----------------------------------------------------------------------------------------

/// An optional tensor input counts as absent when it is known to be empty.
bool is_given(const InferContext& ctx, std::size_t i) {
  if (!ctx.has_input(i)) return false;
  return !(ctx.ranked(i) && ctx.shape(i).size() == 1 && ctx.shape(i)[0] == ir::Dim::of(0));
}

/// The request as far as constants tell it; nullopt when a needed input is data.
StatusOr<std::optional<ResizeRequest>> known_request(InferContext& ctx, std::optional<ir::Shape>& size_dims) {
  ResizeRequest request;
  const ir::Node& node = ctx.node();
  if (has_scale_attributes(node)) {
    ATC_ASSIGN(request.scales, scale_attributes(node));
    return std::optional(std::move(request));
  }
  const std::size_t scales = scales_index(node);
  if (crops(node)) {
    if (!is_given(ctx, kRoi)) return ctx.error("has no roi, which tf_crop_and_resize needs");
    ATC_TRY(require_float(ctx, kRoi));
    const Tensor* roi = ctx.constant(kRoi);
    if (!roi) return std::optional<ResizeRequest>();
    request.roi = to_doubles(*roi);
  }
  if (is_given(ctx, scales)) {
    ATC_TRY(require_dtype(ctx, scales, {DType::F32}, "f32"));
    const Tensor* tensor = ctx.constant(scales);
    if (!tensor) return std::optional<ResizeRequest>();
    if (tensor->count() > 0) request.scales = to_doubles(*tensor);
  }
  if (has_roi_and_sizes(node) && is_given(ctx, kSizes)) {
    ATC_TRY(require_dtype(ctx, kSizes, {DType::I64}, "i64"));
    size_dims = elements_of(ctx, kSizes);
    if (!size_dims) return std::optional<ResizeRequest>();
    if (!size_dims->empty()) request.sizes.emplace();
    for (const ir::Dim& d : *size_dims) {
      if (is_literal(d) && d.value < 0)
        return ctx.input_error(kSizes, "has the size " + std::to_string(d.value) + ", expected >= 0");
      request.sizes->push_back(d.known() ? d.value : -1);
    }
  }
  return std::optional(std::move(request));
}

Status infer_resize(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 0, kNumericTypes | kBoolTypes, "a numeric type"));
  ATC_TRY(require_rank(ctx, 0, 1));
  ATC_ASSIGN(const ResizeOptions options, resize_options(ctx.node()));
  if (ctx.dtype(0) == DType::Bool && options.mode != ResizeMode::Nearest)
    return ctx.input_error(0, "is bool, which only mode \"nearest\" can resize");
  std::optional<ir::Shape> size_dims;
  ATC_ASSIGN(const std::optional<ResizeRequest> request, known_request(ctx, size_dims));
  if (!ctx.ranked(0)) {
    ctx.set_output(0, ctx.dtype(0), std::nullopt);
    return {};
  }
  const ir::Shape& x = ctx.shape(0);
  if (!request) {
    ctx.set_output(0, ctx.dtype(0), unknown_shape(ctx, x.size()));
    return {};
  }
  Dims dims;
  for (const ir::Dim& d : x) dims.push_back(d.known() ? d.value : -1);
  ATC_ASSIGN(const std::vector<ResizeAxis> axes, resize_axes(ctx.node(), dims, *request));
  // A size that is some axis' length keeps that symbol.
  Dims axis_of_size = ctx.node().attrs.get_ints("axes");
  std::vector<std::optional<ir::Dim>> named(x.size());
  if (request->sizes && ctx.node().attrs.get_string("keep_aspect_ratio_policy", "stretch") == "stretch")
    for (std::size_t i = 0; i < size_dims->size(); ++i) {
      const std::int64_t axis = axis_of_size.empty() ? static_cast<std::int64_t>(i)
                                                     : *normalize_axis(axis_of_size[i], std::ssize(x));
      named[static_cast<std::size_t>(axis)] = (*size_dims)[i];
    }
  ir::Shape out;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const bool unchanged = !named[i] && axes[i].input_step == axes[i].output_step && !crops(ctx.node());
    if (axes[i].output >= 0)
      out.push_back(ir::Dim::of(axes[i].output));
    else if (named[i])
      out.push_back(*named[i]);
    else
      out.push_back(unchanged ? x[i] : ctx.unknown_dim());
  }
  ctx.set_output(0, ctx.dtype(0), std::move(out));
  return {};
}

// Reference -----------------------------------------------------------------------------------------

StatusOr<ResizeRequest> request_of(const EvalContext& ctx) {
  ResizeRequest request;
  const ir::Node& node = ctx.node();
  if (has_scale_attributes(node)) {
    ATC_ASSIGN(request.scales, scale_attributes(node));
    return request;
  }
  const std::size_t scales = scales_index(node);
  const auto given = [&](std::size_t i) { return ctx.has_input(i) && ctx.input(i).count() > 0; };
  if (given(scales)) request.scales = to_doubles(ctx.input(scales));
  if (!has_roi_and_sizes(node)) return request;
  if (given(kRoi)) request.roi = to_doubles(ctx.input(kRoi));
  if (given(kSizes)) request.sizes = to_int64s(ctx.input(kSizes));
  return request;
}

/// Gathers single elements; any dtype.
Tensor resize_nearest(const Tensor& x, const Dims& shape, const std::vector<AxisTaps>& tables,
                      double extrapolation) {
  const Dims strides = row_major_strides(x.shape);
  MutableTensor y(x.dtype, shape);
  dispatch(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto in = x.as<T>();
    const auto out = y.as<T>();
    const T outside = double_to<T>(extrapolation);
    for (NdIndex o(shape); !o.done(); o.next()) {
      std::int64_t offset = 0;
      bool inside = true;
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        const std::int32_t i = tables[axis].index[static_cast<std::size_t>(o[axis])];
        inside = inside && i >= 0;
        offset += i * strides[axis];
      }
      out[static_cast<std::size_t>(o.position())] = inside ? in[static_cast<std::size_t>(offset)] : outside;
    }
  });
  return std::move(y).freeze();
}

/// One axis of a separable interpolation: [outer, in, inner] to [outer, out, inner].
std::vector<double> interpolate_axis(const std::vector<double>& x, const AxisView& v, std::int64_t output,
                                     const AxisTaps& table) {
  const auto out = static_cast<std::size_t>(output);
  const auto taps = static_cast<std::size_t>(table.taps);
  std::vector<double> y(v.outer * out * v.inner, 0.0);
  for (std::size_t n = 0; n < v.outer; ++n)
    for (std::size_t o = 0; o < out; ++o)
      for (std::size_t t = o * taps; t < (o + 1) * taps; ++t) {
        if (table.index[t] < 0) continue;
        const double weight = table.weight[t];
        const double* from = x.data() + v.column(n, 0) + static_cast<std::size_t>(table.index[t]) * v.inner;
        double* to = y.data() + (n * out + o) * v.inner;
        for (std::size_t i = 0; i < v.inner; ++i) to[i] += weight * from[i];
      }
  return y;
}

/// Integer results are cut toward zero; the slack keeps weights such as 1/3 + 2/3 from losing a one.
double cut(double v) { return std::trunc(v + std::copysign(1e-5, v)); }

Tensor resize_interpolated(const Tensor& x, const Dims& shape, const std::vector<AxisTaps>& tables,
                           const std::vector<ResizeAxis>& axes, double extrapolation) {
  std::vector<double> y = to_doubles(x);
  Dims current = x.shape;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    if (axes[axis].is_identity()) continue;
    y = interpolate_axis(y, axis_view(current, static_cast<std::int64_t>(axis)), shape[axis], tables[axis]);
    current[axis] = shape[axis];
  }
  const auto is_outside = [&](const NdIndex& o, std::size_t axis) {
    const AxisTaps& table = tables[axis];
    return table.index[static_cast<std::size_t>(o[axis] * table.taps)] < 0;
  };
  for (NdIndex o(shape); !o.done(); o.next())
    for (std::size_t axis = 0; axis < axes.size(); ++axis)
      if (is_outside(o, axis)) y[static_cast<std::size_t>(o.position())] = extrapolation;
  if (is_integer(x.dtype))
    for (double& v : y) v = cut(v);
  return from_doubles(x.dtype, shape, y);
}

Status reference_resize(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  ATC_ASSIGN(const ResizeOptions options, resize_options(ctx.node()));
  ATC_ASSIGN(const ResizeRequest request, request_of(ctx));
  ATC_ASSIGN(const std::vector<ResizeAxis> axes, resize_axes(ctx.node(), x.shape, request));
  Dims shape;
  for (const ResizeAxis& axis : axes) shape.push_back(axis.output);
  if (x.count() == 0) {
    ctx.outputs[0] = MutableTensor(x.dtype, shape).freeze();
    return {};
  }
  std::vector<AxisTaps> tables;
  for (const ResizeAxis& axis : axes) tables.push_back(axis_taps(axis, options));
  ctx.outputs[0] = options.mode == ResizeMode::Nearest
                       ? resize_nearest(x, shape, tables, options.extrapolation_value)
                       : resize_interpolated(x, shape, tables, axes, options.extrapolation_value);
  return {};
}

// Lowering ------------------------------------------------------------------------------------------

/// The tables of all axes when sizes and scales are constant and nothing lies outside the input.
std::optional<std::vector<AxisTaps>> constant_taps(const ir::Node& node, std::vector<ResizeAxis>* found) {
  if (!parameters_are_constant(node, 1)) return std::nullopt;
  std::vector<const Tensor*> inputs;
  for (const ir::Value* v : node.inputs())
    inputs.push_back(v != nullptr && v->is_constant() ? &v->constant() : nullptr);
  const EvalContext ctx(node, std::move(inputs));
  const auto request = request_of(ctx);
  const auto options = resize_options(node);
  if (!request.ok() || !options.ok()) return std::nullopt;
  const auto axes = resize_axes(node, node.input(0)->type.dims(), *request);
  if (!axes.ok()) return std::nullopt;
  std::vector<AxisTaps> taps;
  for (const ResizeAxis& axis : *axes) {
    taps.push_back(axis_taps(axis, *options));
    if (std::find(taps.back().index.begin(), taps.back().index.end(), -1) != taps.back().index.end())
      return std::nullopt;
  }
  if (found != nullptr) *found = *axes;
  return taps;
}

bool is_vector_float(DType dtype) { return aicore::reg_type_of(dtype) == aicore::RegType::F32; }

/// Interpolation is the vector unit's in f32; nearest neighbours of other types are gathered.
bool lowers_resize(const ir::Node& node) {
  if (!is_vector_float(node.input(0)->type.dtype)) {
    const auto options = resize_options(node);
    if (!options.ok() || options->mode != ResizeMode::Nearest || !copies_input(node)) return false;
  }
  return constant_taps(node, nullptr).has_value();
}

/// One axis of a tensor of dims `from`, which becomes `count` long.
StatusOr<kernels::Task> resize_axis(LowerContext& ctx, const Dims& from, std::size_t axis, std::int64_t count,
                                    const AxisTaps& taps, const kernels::Operand& in,
                                    const kernels::Operand& out) {
  const ir::Node& n = ctx.node();
  const auto split = from.begin() + static_cast<std::ptrdiff_t>(axis);
  const std::int64_t outer = element_count(Dims(from.begin(), split));
  const std::int64_t inner = element_count(Dims(split + 1, from.end()));
  const std::string name = n.name + "/axis" + std::to_string(axis);
  MutableTensor index(DType::I32, {count, taps.taps});
  std::copy(taps.index.begin(), taps.index.end(), index.as<std::int32_t>().begin());
  const kernels::Operand positions = ctx.constant(name + "_index", std::move(index).freeze());
  if (!is_vector_float(n.input(0)->type.dtype)) {
    kernels::GatherSpec s;
    s.element_bytes = bit_width(n.input(0)->type.dtype) / 8;
    s.outer = outer;
    s.axis = from[axis];
    s.count = count;
    s.inner = inner;
    return kernels::make_gather(s, {in, positions, out}, ctx.chip());
  }
  kernels::InterpolateSpec s;
  s.outer = outer;
  s.axis = from[axis];
  s.count = count;
  s.inner = inner;
  s.taps = taps.taps;
  s.index = taps.index;
  MutableTensor weight(DType::F32, {count, taps.taps});
  std::copy(taps.weight.begin(), taps.weight.end(), weight.as<float>().begin());
  return kernels::make_interpolate(
      s, {in, positions, ctx.constant(name + "_weight", std::move(weight).freeze()), out}, ctx.chip());
}

/// How often every element of each axis is repeated when that is all the node does: nearest neighbours of an
/// axis that grows by a whole factor.
std::optional<Dims> repeats_of(const std::vector<ResizeAxis>& axes, const std::vector<AxisTaps>& taps) {
  Dims repeats;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    repeats.push_back(1);
    if (axes[a].is_identity()) continue;
    const std::int64_t times = axes[a].output / axes[a].input;
    if (taps[a].taps != 1 || axes[a].output != times * axes[a].input) return std::nullopt;
    for (std::size_t o = 0; o < taps[a].index.size(); ++o)
      if (taps[a].index[o] != static_cast<std::int64_t>(o) / times || taps[a].weight[o] != 1)
        return std::nullopt;
    repeats.back() = times;
  }
  return repeats;
}

/// Every element of axis a `repeats[a]` times, in one copy; axes of storage beyond the logical ones stay.
Status lower_repeats(LowerContext& ctx, const Dims& repeats) {
  const Dims from = storage_dims_of(ctx.node().input(0));
  const Dims from_strides = row_major_strides(from);
  const Dims to_strides = row_major_strides(storage_dims_of(ctx.node().output(0)));
  Dims dims;
  Box source, target;
  for (std::size_t d = 0; d < from.size(); ++d) {
    const std::int64_t times = d < repeats.size() ? repeats[d] : 1;
    dims.insert(dims.end(), {from[d], times});
    source.strides.insert(source.strides.end(), {from_strides[d], 0});
    target.strides.insert(target.strides.end(), {to_strides[d] * times, to_strides[d]});
  }
  return emit_copy(ctx, dims, source, target);
}

/// One task an axis, each on what the one before has left; one for all where elements are only repeated.
Status lower_resize(LowerContext& ctx) {
  const ir::Node& n = ctx.node();
  std::vector<ResizeAxis> axes;
  const auto taps = constant_taps(n, &axes);
  if (!taps) return cannot_lower(n, "has sizes that are not constant");
  const DType dtype = n.input(0)->type.dtype;
  Dims dims = storage_dims_of(n.input(0));
  std::vector<std::size_t> steps;
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (!axes[i].is_identity()) steps.push_back(i);
  if (steps.empty()) return lower_view(ctx);
  if (const auto repeats = repeats_of(axes, *taps)) return lower_repeats(ctx, *repeats);
  kernels::Operand from = ctx.read(n.input(0));
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const std::size_t a = steps[k];
    const Dims before = dims;
    dims[a] = axes[a].output;
    const kernels::Operand to =
        k + 1 == steps.size()
            ? ctx.write(n.output(0))
            : ctx.workspace(dtype, static_cast<std::int64_t>(
                                       byte_size(dtype, static_cast<std::size_t>(element_count(dims)))));
    ATC_ASSIGN(kernels::Task task, resize_axis(ctx, before, a, axes[a].output, (*taps)[a], from, to));
    ctx.emit(std::move(task));
    from = to;
    from.output = false;
  }
  return {};
}

}  // namespace

void register_resize(Registry& registry) {
  const auto add = [&](std::string_view name, int since, int until, std::vector<AttrSpec> attrs,
                       Arity inputs) {
    registry.add({.name = name,
                  .since = since,
                  .until = until,
                  .attrs = std::move(attrs),
                  .inputs = inputs,
                  .infer = infer_resize,
                  .reference = reference_resize,
                  .lower = lower_resize,
                  .lowers = lowers_resize});
  };
  const AttrSpec mode = {"mode", AttrKind::String};
  add("Upsample", 1, 6,
      {{"height_scale", AttrKind::Float, true}, mode, {"width_scale", AttrKind::Float, true}}, {1, 1});
  add("Upsample", 7, 8, {mode, {"scales", AttrKind::Floats, true}}, {1, 1});
  add("Upsample", 9, 9, {mode}, {2, 2});
  add("Resize", 10, 10, {mode}, {2, 2});
  const std::vector<AttrSpec> attrs = {{"antialias", AttrKind::Int, false, 18},
                                       {"axes", AttrKind::Ints, false, 18},
                                       {"coordinate_transformation_mode", AttrKind::String},
                                       {"cubic_coeff_a", AttrKind::Float},
                                       {"exclude_outside", AttrKind::Int},
                                       {"extrapolation_value", AttrKind::Float},
                                       {"keep_aspect_ratio_policy", AttrKind::String, false, 18},
                                       mode,
                                       {"nearest_mode", AttrKind::String}};
  add("Resize", 11, 12, attrs, {3, 4});
  add("Resize", 13, INT_MAX, attrs, {1, 4});
}

}  // namespace atc::ops
