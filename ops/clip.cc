#include <optional>
#include <string>

#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/op.h"
#include "ops/reference_util.h"
#include "ops/vector_emitter.h"

// Clip: min(max(x, low), high). The bounds are attributes up to opset 10, optional scalar inputs since.
namespace atc::ops {
namespace {

using kernels::VecOp;

constexpr std::string_view kMin = "min";  // Float, no bound when absent
constexpr std::string_view kMax = "max";

Status infer_clip(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 0, kNumericTypes, "a numeric type"));
  for (std::size_t i : {1U, 2U}) {
    if (!ctx.has_input(i)) continue;
    ATC_TRY(require_same_dtype(ctx, i, 0));
    // Exporters also write the bounds as one-element vectors.
    if (ctx.ranked(i) && !ctx.shape(i).empty() &&
        (ctx.shape(i).size() > 1 || (ctx.shape(i)[0].known() && ctx.shape(i)[0].value != 1)))
      return ctx.input_error(i, "must be a scalar, found shape [" + ir::to_string(ctx.shape(i)) + "]");
  }
  return infer_same_as_input(ctx);
}

/// A lower bound, then the upper one, which wins where they cross. NaN elements stay NaN.
template <class T>
T clamp(T v, const std::optional<T>& low, const std::optional<T>& high) {
  if (low && v < *low) v = *low;
  if (high && v > *high) v = *high;
  return v;
}

Status reference_clip(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const bool from_inputs = ctx.version() >= 11;
  MutableTensor y(x.dtype, x.shape);
  dispatch(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using W = Widened<T>;
    auto bound = [&](std::size_t input, std::string_view attribute) -> std::optional<W> {
      if (from_inputs) {
        if (!ctx.has_input(input) || ctx.input(input).count() == 0) return std::nullopt;
        return widen(ctx.input(input).as<T>()[0]);
      }
      if (!ctx.node().attrs.has(attribute)) return std::nullopt;
      return static_cast<W>(ctx.node().attrs.get_float(attribute, 0));
    };
    const auto low = bound(1, kMin);
    const auto high = bound(2, kMax);
    std::ranges::transform(x.as<T>(), y.as<T>().begin(),
                           [&](T v) { return narrow<T>(clamp(widen(v), low, high)); });
  });
  ctx.outputs[0] = std::move(y).freeze();
  return {};
}

Status vector_clip_attributes(VectorEmitter& e) {
  auto r = e.input(0);
  const ir::Attributes& attrs = e.node().attrs;
  auto bound = [&](std::string_view name) {
    return e.constant(e.type(r), static_cast<double>(attrs.get_float(name, 0)));
  };
  if (attrs.has(kMin)) r = e.binary(VecOp::Max, r, bound(kMin));
  if (attrs.has(kMax)) r = e.binary(VecOp::Min, r, bound(kMax));
  e.set_output(0, r);
  return {};
}

Status vector_clip_inputs(VectorEmitter& e) {
  auto r = e.input(0);
  if (e.has_input(1)) r = e.binary(VecOp::Max, r, e.input(1));
  if (e.has_input(2)) r = e.binary(VecOp::Min, r, e.input(2));
  e.set_output(0, r);
  return {};
}

}  // namespace

void register_clip(Registry& r) {
  r.add({.name = "Clip",
         .since = 1,
         .until = 10,
         .attrs = {{kMax, AttrKind::Float},
                   {kMin, AttrKind::Float},
                   {"consumed_inputs", AttrKind::Ints, false, 1, 5}},
         .infer = infer_clip,
         .reference = reference_clip,
         .vector = vector_clip_attributes,
         .vector_accepts = has_vector_types});
  r.add({.name = "Clip",
         .since = 11,
         .inputs = {1, 3},
         .infer = infer_clip,
         .reference = reference_clip,
         .vector = vector_clip_inputs,
         .vector_accepts = has_vector_types});
}

}  // namespace atc::ops
