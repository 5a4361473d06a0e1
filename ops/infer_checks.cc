#include "ops/infer_checks.h"

#include <algorithm>
#include <string>

namespace atc::ops {

Status require_float(const InferContext& ctx, std::size_t input) {
  return require_dtype(ctx, input, kFloatTypes, "a float type (f32, f16, bf16, f64)");
}

Status require_same_dtype(const InferContext& ctx, std::size_t input, std::size_t like) {
  if (!ctx.has_input(input) || ctx.dtype(input) == ctx.dtype(like)) return {};
  if (ctx.dtype(input) == DType::Undefined || ctx.dtype(like) == DType::Undefined) return {};
  return ctx.input_error(input, "must have the dtype of input " + std::to_string(like) + ", " +
                                    std::string(name(ctx.dtype(like))));
}

Status require_rank(const InferContext& ctx, std::size_t input, std::size_t least, std::size_t most) {
  if (!ctx.ranked(input)) return {};
  const std::size_t rank = ctx.shape(input).size();
  if (rank >= least && rank <= most) return {};
  std::string expected = std::to_string(least);
  if (most == SIZE_MAX)
    expected = "at least " + expected;
  else if (most != least)
    expected += " to " + std::to_string(most);
  return ctx.input_error(input, "has rank " + std::to_string(rank) + ", expected " + expected);
}

Status require_vector(const InferContext& ctx, std::size_t input, const ir::Dim& length) {
  if (!ctx.has_input(input) || !ctx.ranked(input)) return {};
  ATC_TRY(require_rank(ctx, input, 1, 1));
  const ir::Dim& found = ctx.shape(input)[0];
  if (!conflicts(found, length)) return {};
  return ctx.input_error(
      input, "has " + std::to_string(found.value) + " elements, expected " + std::to_string(length.value));
}

bool conflicts(const ir::Dim& a, const ir::Dim& b) { return a.known() && b.known() && a.value != b.value; }

const ir::Dim& merge(const ir::Dim& a, const ir::Dim& b) { return a.known() ? a : b.known() ? b : a; }

StatusOr<std::int64_t> axis_attribute(const InferContext& ctx, std::string_view name, std::int64_t fallback,
                                      std::size_t rank) {
  const std::int64_t axis = ctx.node().attrs.get_int(name, fallback);
  const auto normal = normalize_axis(axis, static_cast<std::int64_t>(rank));
  if (normal) return *normal;
  return ctx.error("attribute " + std::string(name) + " is " + std::to_string(axis) + ", outside [-" +
                   std::to_string(rank) + ", " + std::to_string(rank) + ") for an input of rank " +
                   std::to_string(rank));
}

StatusOr<Dims> resolve_axes(const ir::Node& node, const Dims& axes, std::size_t rank) {
  const InferContext ctx(node);
  Dims out;
  for (std::int64_t axis : axes) {
    const auto normal = normalize_axis(axis, static_cast<std::int64_t>(rank));
    if (!normal)
      return ctx.error("axis " + std::to_string(axis) + " of axes [" + to_string(axes) + "] is outside [-" +
                       std::to_string(rank) + ", " + std::to_string(rank) + ") for an input of rank " +
                       std::to_string(rank));
    out.push_back(*normal);
  }
  std::sort(out.begin(), out.end());
  if (std::adjacent_find(out.begin(), out.end()) != out.end())
    return ctx.error("axes [" + to_string(axes) + "] name an axis twice");
  return out;
}

}  // namespace atc::ops
