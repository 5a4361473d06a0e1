#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/reference_util.h"
#include "ops/shape_value.h"

// MaxUnpool: puts each element where the index of a MaxPool says it came from; zeros elsewhere.
namespace atc::ops {

namespace {

/// The size that MaxPool had before it, as far as its attributes tell: per spatial axis
/// (in - 1) * stride + kernel - pads. -1 where the input's size is unknown.
StatusOr<Dims> unpooled_spatial(const ir::Node& node, const Dims& spatial) {
  const InferContext ctx(node);
  const std::size_t rank = spatial.size();
  const Dims kernel = node.attrs.get_ints("kernel_shape");
  const Dims strides = node.attrs.get_ints("strides", Dims(rank, 1));
  const Dims pads = node.attrs.get_ints("pads", Dims(2 * rank, 0));
  if (kernel.size() != rank || strides.size() != rank || pads.size() != 2 * rank)
    return ctx.error("kernel_shape [" + to_string(kernel) + "], strides [" + to_string(strides) +
                     "] and pads [" + to_string(pads) + "] do not fit " + std::to_string(rank) +
                     " spatial axes");
  Dims out;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t size = (spatial[i] - 1) * strides[i] + kernel[i] - pads[i] - pads[rank + i];
    if (spatial[i] >= 0 && size < 0)
      return ctx.error("the output size of spatial axis " + std::to_string(i) + " would be " +
                       std::to_string(size));
    out.push_back(spatial[i] < 0 ? -1 : size);
  }
  return out;
}

Status infer_max_unpool(InferContext& ctx) {
  ATC_TRY(require_float(ctx, 0));
  ATC_TRY(require_dtype(ctx, 1, {DType::I64}, "i64"));
  ATC_TRY(require_rank(ctx, 0, 3));
  std::optional<ir::Shape> shape;
  if (ctx.ranked(0)) {
    const ir::Shape& x = ctx.shape(0);
    if (ctx.ranked(1)) {
      ATC_TRY(require_rank(ctx, 1, x.size(), x.size()));
      for (std::size_t i = 0; i < x.size(); ++i)
        if (conflicts(x[i], ctx.shape(1)[i]))
          return ctx.input_error(1, "must have the shape of the data, [" + ir::to_string(x) + "]");
    }
    if (ctx.has_input(2)) {
      ATC_TRY(require_dtype(ctx, 2, {DType::I64}, "i64"));
      shape = elements_of(ctx, 2);
      if (!shape)
        shape = unknown_shape(ctx, x.size());
      else if (shape->size() != x.size())
        return ctx.input_error(
            2, "has " + std::to_string(shape->size()) + " values, expected " + std::to_string(x.size()));
    } else {
      Dims spatial;
      for (std::size_t i = 2; i < x.size(); ++i) spatial.push_back(x[i].known() ? x[i].value : -1);
      ATC_ASSIGN(const Dims out, unpooled_spatial(ctx.node(), spatial));
      shape = ir::Shape{x[0], x[1]};
      for (std::int64_t size : out) shape->push_back(size >= 0 ? ir::Dim::of(size) : ctx.unknown_dim());
    }
  }
  ctx.set_output(0, ctx.dtype(0), std::move(shape));
  return {};
}

Status reference_max_unpool(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const Dims spatial(x.shape.begin() + 2, x.shape.end());
  ATC_ASSIGN(const Dims unpooled, unpooled_spatial(ctx.node(), spatial));
  // Indices count the tensor that was pooled; output_shape may ask for a larger one around it.
  Dims pooled = {x.shape[0], x.shape[1]};
  pooled.insert(pooled.end(), unpooled.begin(), unpooled.end());
  const Dims shape = ctx.has_input(2) ? to_int64s(ctx.input(2)) : pooled;
  if (element_count(shape) < 0 || shape.size() != pooled.size())
    return ctx.error("output_shape [" + to_string(shape) + "] does not fit the data [" + to_string(x.shape) +
                     "]");
  const Dims strides = row_major_strides(shape);
  const std::int64_t total = element_count(pooled);
  const std::vector<double> in = to_doubles(x);
  const std::vector<std::int64_t> indices = to_int64s(ctx.input(1));
  std::vector<double> y(static_cast<std::size_t>(element_count(shape)), 0.0);
  for (std::size_t i = 0; i < in.size(); ++i) {
    std::int64_t index = indices[i];
    bool inside = index >= 0 && index < total;
    std::int64_t offset = 0;
    for (std::size_t axis = pooled.size(); inside && axis-- > 0;) {
      const std::int64_t at = index % pooled[axis];
      inside = at < shape[axis];
      offset += at * strides[axis];
      index /= pooled[axis];
    }
    if (!inside)
      return ctx.error("index " + std::to_string(indices[i]) + " lies outside the output [" +
                       to_string(shape) + "]");
    y[static_cast<std::size_t>(offset)] = in[i];
  }
  ctx.outputs[0] = from_doubles(x.dtype, shape, y);
  return {};
}

}  // namespace

void register_max_unpool(Registry& registry) {
  registry.add({.name = "MaxUnpool",
                .since = 9,
                .attrs = {{"kernel_shape", AttrKind::Ints, true},
                          {"pads", AttrKind::Ints},
                          {"strides", AttrKind::Ints}},
                .inputs = {2, 3},
                .infer = infer_max_unpool,
                .reference = reference_max_unpool});
}

}  // namespace atc::ops
