#include "ops/shape_value.h"

#include <algorithm>
#include <cmath>

#include "ops/reference_util.h"

namespace atc::ops {
namespace {

// Shapes have few axes; longer integer tensors are data, not worth tracking element by element.
constexpr std::size_t kMaxShapeElements = 1024;

}  // namespace

std::optional<ir::Shape> elements_of(const InferContext& ctx, std::size_t i) {
  if (!ctx.has_input(i)) return std::nullopt;
  if (const Tensor* t = ctx.constant(i)) {
    const bool integral = is_integer(t->dtype) || t->dtype == DType::Bool;
    if (!integral || !dispatchable(t->dtype) || t->shape.size() > 1) return std::nullopt;
    if (static_cast<std::size_t>(t->count()) > kMaxShapeElements) return std::nullopt;
    ir::Shape out;
    for (std::int64_t k = 0; k < t->count(); ++k) out.push_back(literal(int_at(*t, k)));
    return out;
  }
  return ctx.dims_value(i);
}

std::optional<std::vector<std::int64_t>> literals_of(const InferContext& ctx, std::size_t i) {
  // A constant list of any length and rank is as good as its elements.
  if (const Tensor* t = ctx.has_input(i) ? ctx.constant(i) : nullptr) {
    if (is_integer(t->dtype) || t->dtype == DType::Bool) return to_int64s(*t);
    // Repeats and lengths were of the data's type in opset 1: whole numbers as floats.
    if (is_float(t->dtype) && t->count() <= static_cast<std::int64_t>(kMaxShapeElements)) {
      const std::vector<double> values = to_doubles(*t);
      if (std::all_of(values.begin(), values.end(), [](double v) { return v == std::floor(v); }))
        return to_int64s(*t);
    }
  }
  const auto elements = elements_of(ctx, i);
  if (!elements) return std::nullopt;
  std::vector<std::int64_t> out;
  for (const ir::Dim& d : *elements) {
    if (!is_literal(d)) return std::nullopt;
    out.push_back(d.value);
  }
  return out;
}

std::optional<std::int64_t> length_of(const InferContext& ctx, std::size_t i) {
  if (const auto elements = elements_of(ctx, i)) return static_cast<std::int64_t>(elements->size());
  if (!ctx.ranked(i) || ctx.shape(i).size() > 1) return std::nullopt;
  if (ctx.shape(i).empty()) return 1;
  return ctx.shape(i)[0].known() ? std::optional(ctx.shape(i)[0].value) : std::nullopt;
}

void set_elements(InferContext& ctx, std::size_t i, ir::Shape elements) {
  if (elements.size() <= kMaxShapeElements) ctx.set_dims_value(i, std::move(elements));
}

void keep_elements(InferContext& ctx) {
  if (auto elements = elements_of(ctx, 0)) set_elements(ctx, 0, *std::move(elements));
}

ir::Shape unknown_shape(InferContext& ctx, std::size_t rank) {
  ir::Shape out;
  for (std::size_t i = 0; i < rank; ++i) out.push_back(ctx.unknown_dim());
  return out;
}

}  // namespace atc::ops
