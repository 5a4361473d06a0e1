#include <algorithm>
#include <numeric>
#include <string>

#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/reference_util.h"
#include "ops/shape_value.h"

// CenterCropPad: brings axes to given lengths around their middle, by cropping or by padding with zeros.
namespace atc::ops {
namespace {

constexpr std::size_t kLengths = 1;         // i32 or i64, one length for each of `axes`
constexpr std::string_view kAxes = "axes";  // Ints; absent: all axes

/// The axes that the lengths stand for, in that order.
StatusOr<Dims> cropped_axes(const ir::Node& node, std::size_t rank) {
  Dims axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (!node.attrs.has(kAxes)) return axes;
  const Dims given = node.attrs.get_ints(kAxes);
  const auto normal = normalize_axes(given, rank);
  if (normal) return *normal;
  return InferContext(node).error("attribute axes is [" + to_string(given) +
                                  "], expected different axes of an input of rank " + std::to_string(rank));
}

Status wrong_count(const InferContext& ctx, std::size_t lengths, std::size_t axes) {
  return ctx.input_error(
      kLengths, "states " + std::to_string(lengths) + " lengths for " + std::to_string(axes) + " axes");
}

Status infer_center_crop_pad(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, kLengths, kIndexTypes, "type i32 or i64"));
  ATC_TRY(require_rank(ctx, kLengths, 1, 1));
  std::optional<ir::Shape> shape = ctx.type(0).shape;
  if (shape) {
    ATC_ASSIGN(const Dims axes, cropped_axes(ctx.node(), shape->size()));
    if (const auto n = length_of(ctx, kLengths); n && *n != std::ssize(axes))
      return wrong_count(ctx, static_cast<std::size_t>(*n), axes.size());
    const auto lengths = elements_of(ctx, kLengths);
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const ir::Dim length = lengths ? (*lengths)[i] : ctx.unknown_dim();
      if (is_literal(length) && length.value < 0)
        return ctx.input_error(kLengths, "has the negative length " + std::to_string(length.value));
      (*shape)[static_cast<std::size_t>(axes[i])] = length;
    }
  }
  ctx.set_output(0, ctx.dtype(0), std::move(shape));
  return {};
}

Status reference_center_crop_pad(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  ATC_ASSIGN(const Dims axes, cropped_axes(ctx.node(), x.shape.size()));
  const Dims lengths = to_int64s(ctx.input(kLengths));
  if (lengths.size() != axes.size())
    return wrong_count(InferContext(ctx.node()), lengths.size(), axes.size());
  if (std::ranges::any_of(lengths, [](std::int64_t n) { return n < 0; }))
    return ctx.error("[" + to_string(lengths) + "] are not possible lengths");
  Dims shape = x.shape;
  Dims copied = x.shape;  // what input and output share
  Dims from(x.shape.size(), 0);
  Dims to(x.shape.size(), 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    shape[axis] = lengths[i];
    copied[axis] = std::min(x.shape[axis], lengths[i]);
    from[axis] = (x.shape[axis] - copied[axis]) / 2;
    to[axis] = (lengths[i] - copied[axis]) / 2;
  }
  if (element_count(shape) < 0) return ctx.error("[" + to_string(shape) + "] is not a possible shape");
  const Dims in = row_major_strides(x.shape);
  const Dims out = row_major_strides(shape);
  ElementWriter y(x.dtype, shape);
  const std::int64_t first = std::inner_product(from.begin(), from.end(), in.begin(), std::int64_t{0});
  const std::int64_t target = std::inner_product(to.begin(), to.end(), out.begin(), std::int64_t{0});
  for (StridedWalk w(copied, {in, out}, {first, target}); !w.done(); w.next())
    y.copy(w.offset(1), x, w.offset(0));
  ctx.outputs[0] = std::move(y).freeze();
  return {};
}

}  // namespace

void register_center_crop_pad(Registry& r) {
  r.add({.name = "CenterCropPad",
         .since = 18,
         .attrs = {{kAxes, AttrKind::Ints}},
         .inputs = {2, 2},
         .infer = infer_center_crop_pad,
         .reference = reference_center_crop_pad});
}

}  // namespace atc::ops
