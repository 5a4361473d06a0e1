#include <array>
#include <cmath>
#include <string>

#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/integer_math.h"
#include "ops/op.h"
#include "ops/reference_util.h"
#include "ops/shape_value.h"

// Tensors out of little or nothing: Constant, ConstantOfShape, EyeLike, Range.
namespace atc::ops {
namespace {

// A list longer than this as a shape value is data.
constexpr std::int64_t kMaxElements = 1024;

// Constant ------------------------------------------------------------------------------------------

Tensor strings_tensor(Dims shape, std::vector<std::string> strings) {
  Tensor t;
  t.dtype = DType::String;
  t.shape = std::move(shape);
  t.strings = std::move(strings);
  return t;
}

/// The tensor that the node's one attribute states; nullopt unless there is exactly one.
std::optional<Tensor> constant_value(const ir::Node& node) {
  if (node.attrs.map().size() != 1) return std::nullopt;
  const auto& [name, attribute] = *node.attrs.map().begin();
  struct Convert {
    std::optional<Tensor> operator()(const Tensor& t) const { return t; }
    std::optional<Tensor> operator()(float v) const {
      return scalar_tensor(DType::F32, static_cast<double>(v));
    }
    std::optional<Tensor> operator()(std::int64_t v) const {
      return from_int64s(DType::I64, {}, std::span(&v, 1));
    }
    std::optional<Tensor> operator()(const std::string& v) const { return strings_tensor({}, {v}); }
    std::optional<Tensor> operator()(const std::vector<std::int64_t>& v) const {
      return from_int64s(DType::I64, {static_cast<std::int64_t>(v.size())}, v);
    }
    std::optional<Tensor> operator()(const std::vector<float>& v) const {
      return from_doubles(DType::F32, {static_cast<std::int64_t>(v.size())},
                          std::vector<double>(v.begin(), v.end()));
    }
    std::optional<Tensor> operator()(const std::vector<std::string>& v) const {
      return strings_tensor({static_cast<std::int64_t>(v.size())}, v);
    }
    std::optional<Tensor> operator()(const std::shared_ptr<ir::Graph>&) const { return std::nullopt; }
    std::optional<Tensor> operator()(const std::vector<Tensor>&) const { return std::nullopt; }
  };
  return std::visit(Convert{}, attribute);
}

Status infer_constant(InferContext& ctx) {
  const auto value = constant_value(ctx.node());
  if (!value)
    return ctx.error(
        "must have exactly one of value, sparse_value, value_float, value_floats, value_int, "
        "value_ints, value_string, value_strings");
  ctx.set_output(0, value->dtype, ir::to_shape(value->shape));
  if (is_integer(value->dtype) && value->shape.size() <= 1 && value->count() <= kMaxElements) {
    ir::Shape elements;
    for (std::int64_t v : to_int64s(*value)) elements.push_back(literal(v));
    set_elements(ctx, 0, std::move(elements));
  }
  return {};
}

Status reference_constant(EvalContext& ctx) {
  auto value = constant_value(ctx.node());
  if (!value) return ctx.error("must have exactly one value attribute");
  ctx.outputs[0] = *std::move(value);
  return {};
}

// ConstantOfShape -------------------------------------------------------------------------------------

constexpr std::string_view kValue = "value";  // Tensor of one element, f32 0

Tensor fill_value(const ir::Node& node) {
  const Tensor* value = node.attrs.get_tensor(kValue);
  return value != nullptr ? *value : scalar_tensor(DType::F32, 0);
}

Status infer_constant_of_shape(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 0, {DType::I64}, "type i64"));
  ATC_TRY(require_rank(ctx, 0, 1, 1));
  const Tensor value = fill_value(ctx.node());
  if (value.count() != 1) return ctx.error("attribute value must be a tensor of one element");
  const auto dims = elements_of(ctx, 0);
  if (!dims) {
    const auto rank = length_of(ctx, 0);
    ctx.set_output(0, value.dtype,
                   rank ? std::optional(unknown_shape(ctx, static_cast<std::size_t>(*rank))) : std::nullopt);
    return {};
  }
  for (const ir::Dim& d : *dims)
    if (is_literal(d) && d.value < 0)
      return ctx.input_error(0, "has the negative length " + std::to_string(d.value));
  ctx.set_output(0, value.dtype, *dims);
  if (!is_integer(value.dtype) || dims->size() > 1 || !ir::is_static(*dims)) return {};
  const std::int64_t count = dims->empty() ? 1 : dims->front().value;
  if (count <= kMaxElements)
    set_elements(ctx, 0, ir::Shape(static_cast<std::size_t>(count), literal(int_at(value, 0))));
  return {};
}

Status reference_constant_of_shape(EvalContext& ctx) {
  const Dims shape = to_int64s(ctx.input(0));
  if (std::ranges::any_of(shape, [](auto d) { return d < 0; }) || element_count(shape) < 0)
    return ctx.error("[" + to_string(shape) + "] is not a possible shape");
  ctx.outputs[0] = filled(fill_value(ctx.node()), shape);
  return {};
}

// EyeLike -------------------------------------------------------------------------------------------

constexpr std::string_view kDType = "dtype";  // Int, that of the input
constexpr std::string_view kDiagonal = "k";   // Int, 0: above (> 0) or below the main diagonal

DType eye_dtype(const ir::Node& node, DType input) {
  return static_cast<DType>(node.attrs.get_int(kDType, static_cast<std::int64_t>(input)));
}

Status infer_eye_like(InferContext& ctx) {
  ATC_TRY(require_rank(ctx, 0, 2, 2));
  const std::int64_t dtype = ctx.node().attrs.get_int(kDType, static_cast<std::int64_t>(ctx.dtype(0)));
  const bool known = dtype >= 0 && dtype < kDTypeCount;
  if (!known || !(kNumericTypes | kBoolTypes).has(static_cast<DType>(dtype)))
    return ctx.error("the output type " +
                     (known ? std::string(name(static_cast<DType>(dtype))) : std::to_string(dtype)) +
                     " is not a numeric type or bool");
  ctx.set_output(0, static_cast<DType>(dtype), ctx.type(0).shape);
  return {};
}

Status reference_eye_like(EvalContext& ctx) {
  const Dims& shape = ctx.input(0).shape;
  const DType dtype = eye_dtype(ctx.node(), ctx.input(0).dtype);
  const std::int64_t k = ctx.node().attrs.get_int(kDiagonal, 0);
  const Tensor one = scalar_tensor(dtype, 1);
  ElementWriter out(dtype, shape);
  for (NdIndex at(shape); !at.done(); at.next())
    if (at[1] - at[0] == k) out.copy(at.position(), one, 0);
  ctx.outputs[0] = std::move(out).freeze();
  return {};
}

// Range ---------------------------------------------------------------------------------------------

/// max(ceil((limit - start) / delta), 0); nullopt when delta is 0 or the count fits no tensor.
std::optional<std::int64_t> range_count(double start, double limit, double delta) {
  if (delta == 0 || std::isnan(start) || std::isnan(limit) || std::isnan(delta)) return std::nullopt;
  const double count = std::ceil((limit - start) / delta);
  if (count >= 9.0e18) return std::nullopt;
  return count > 0 ? static_cast<std::int64_t>(count) : 0;
}

std::optional<std::int64_t> range_count(std::int64_t start, std::int64_t limit, std::int64_t delta) {
  if (delta == 0) return std::nullopt;
  if (delta > 0 ? limit <= start : limit >= start) return 0;
  // Unsigned: the distance of two int64 may not be one.
  const auto low = static_cast<std::uint64_t>(delta > 0 ? start : limit);
  const auto high = static_cast<std::uint64_t>(delta > 0 ? limit : start);
  const std::uint64_t step =
      delta > 0 ? static_cast<std::uint64_t>(delta) : 0 - static_cast<std::uint64_t>(delta);
  const std::uint64_t count = (high - low - 1) / step + 1;
  if (count > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
  return static_cast<std::int64_t>(count);
}

Status infer_range(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 0, kNumericTypes, "a numeric type"));
  for (std::size_t i = 0; i < 3; ++i) {
    ATC_TRY(require_same_dtype(ctx, i, 0));
    // Exporters also write the scalars as one-element vectors.
    if (const auto n = length_of(ctx, i); n && *n != 1) return ctx.input_error(i, "must be a scalar");
  }
  std::array<std::optional<ir::Dim>, 3> bound;
  for (std::size_t i = 0; i < 3; ++i)
    if (const auto e = elements_of(ctx, i); e && e->size() == 1) bound[i] = e->front();

  ir::Dim length = ctx.unknown_dim();
  const bool constant =
      ctx.constant(0) != nullptr && ctx.constant(1) != nullptr && ctx.constant(2) != nullptr;
  const std::string fault = "start, limit and delta do not state a range";
  if (constant && is_float(ctx.dtype(0))) {
    const auto count = range_count(double_at(*ctx.constant(0), 0), double_at(*ctx.constant(1), 0),
                                   double_at(*ctx.constant(2), 0));
    if (!count) return ctx.error(fault);
    length = ir::Dim::of(*count);
  } else if (bound[0] && bound[1] && bound[2]) {
    if (is_literal(*bound[0]) && is_literal(*bound[1]) && is_literal(*bound[2])) {
      const auto count = range_count(bound[0]->value, bound[1]->value, bound[2]->value);
      if (!count) return ctx.error(fault);
      length = ir::Dim::of(*count);
      if (*count <= kMaxElements) {
        ir::Shape elements;
        for (std::int64_t i = 0; i < *count; ++i)
          elements.push_back(literal(bound[0]->value + i * bound[2]->value));
        set_elements(ctx, 0, std::move(elements));
      }
    } else if (*bound[0] == literal(0) && *bound[2] == literal(1)) {
      length = *bound[1];  // 0, 1, ... up to an axis length
    }
  }
  ctx.set_output(0, ctx.dtype(0), ir::Shape{length});
  return {};
}

Status reference_range(EvalContext& ctx) {
  const DType dtype = ctx.input(0).dtype;
  for (std::size_t i = 0; i < 3; ++i)
    if (ctx.input(i).count() != 1) return ctx.error("start, limit and delta must be scalars");
  return dispatch(dtype, [&](auto tag) -> Status {
    using T = typename decltype(tag)::type;
    // Unsigned elements are ranged over as int64: their distances are the same.
    using W = std::conditional_t<kIsFloating<T>, double, std::int64_t>;
    const auto start = static_cast<W>(widen(ctx.input(0).as<T>()[0]));
    const auto limit = static_cast<W>(widen(ctx.input(1).as<T>()[0]));
    const auto delta = static_cast<W>(widen(ctx.input(2).as<T>()[0]));
    const auto count = range_count(start, limit, delta);
    if (!count) return ctx.error("start, limit and delta do not state a range");
    MutableTensor y(dtype, {*count});
    auto out = y.as<T>();
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] =
          narrow<T>(static_cast<Widened<T>>(wrapping_add(start, wrapping_mul(static_cast<W>(i), delta))));
    ctx.outputs[0] = std::move(y).freeze();
    return {};
  });
}

}  // namespace

void register_constant(Registry& r) {
  r.add({.name = "Constant",
         .attrs = {{"sparse_value", AttrKind::Tensor, false, 11},
                   {"value", AttrKind::Tensor},
                   {"value_float", AttrKind::Float, false, 12},
                   {"value_floats", AttrKind::Floats, false, 12},
                   {"value_int", AttrKind::Int, false, 12},
                   {"value_ints", AttrKind::Ints, false, 12},
                   {"value_string", AttrKind::String, false, 12},
                   {"value_strings", AttrKind::Strings, false, 12}},
         .inputs = {0, 0},
         .infer = infer_constant,
         .reference = reference_constant});
  r.add({.name = "ConstantOfShape",
         .since = 9,
         .attrs = {{kValue, AttrKind::Tensor}},
         .infer = infer_constant_of_shape,
         .reference = reference_constant_of_shape});
  r.add({.name = "EyeLike",
         .since = 9,
         .attrs = {{kDType, AttrKind::Int}, {kDiagonal, AttrKind::Int}},
         .infer = infer_eye_like,
         .reference = reference_eye_like});
  r.add({.name = "Range", .since = 11, .inputs = {3, 3}, .infer = infer_range, .reference = reference_range});
}

}  // namespace atc::ops
