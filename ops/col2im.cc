#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/reference_util.h"
#include "ops/shape_value.h"

// Col2Im: adds up the blocks of columns [N, C * block, positions] at their places in images [N, C, image...].
namespace atc::ops {
namespace {

constexpr std::size_t kImageShape = 1;  // i64 vector: spatial lengths
constexpr std::size_t kBlockShape = 2;  // i64 vector: lengths of the block that slides over them

/// Attributes dilations (1), pads (0, begins then ends), strides (1): one value a spatial axis.
struct Sliding {
  Dims dilations;
  Dims pads;
  Dims strides;
};

StatusOr<Sliding> sliding_of(const ir::Node& node, std::size_t rank) {
  const Sliding s{node.attrs.get_ints("dilations", Dims(rank, 1)),
                  node.attrs.get_ints("pads", Dims(2 * rank, 0)),
                  node.attrs.get_ints("strides", Dims(rank, 1))};
  const auto below = [](const Dims& values, std::int64_t least) {
    return std::ranges::any_of(values, [least](std::int64_t v) { return v < least; });
  };
  if (s.dilations.size() != rank || s.strides.size() != rank || s.pads.size() != 2 * rank ||
      below(s.dilations, 1) || below(s.strides, 1) || below(s.pads, 0))
    return InferContext(node).error("attributes dilations [" + to_string(s.dilations) + "], pads [" +
                                    to_string(s.pads) + "] and strides [" + to_string(s.strides) +
                                    "] do not fit " + std::to_string(rank) + " spatial axes");
  return s;
}

/// Positions of the block along each axis; nullopt when it does not fit the padded image.
std::optional<Dims> positions(const Dims& image, const Dims& block, const Sliding& s) {
  Dims out;
  for (std::size_t i = 0; i < image.size(); ++i) {
    const std::int64_t room =
        image[i] + s.pads[i] + s.pads[i + image.size()] - s.dilations[i] * (block[i] - 1) - 1;
    if (block[i] < 1 || room < 0) return std::nullopt;
    out.push_back(room / s.strides[i] + 1);
  }
  return out;
}

/// The number of columns' rows and positions must be what image and block ask for.
Status check_columns(const InferContext& ctx, const Dims& image, const Dims& block) {
  ATC_ASSIGN(const Sliding s, sliding_of(ctx.node(), image.size()));
  const auto at = positions(image, block, s);
  if (!at)
    return ctx.error("a block of [" + to_string(block) + "] does not fit an image of [" + to_string(image) +
                     "]");
  const std::int64_t taps = element_count(block);
  const ir::Shape& x = ctx.shape(0);
  if (x[1].known() && x[1].value % taps != 0)
    return ctx.input_error(0, "has " + std::to_string(x[1].value) + " rows, not a multiple of the block's " +
                                  std::to_string(taps));
  if (conflicts(x[2], ir::Dim::of(element_count(*at))))
    return ctx.input_error(0, "has " + std::to_string(x[2].value) + " columns, expected " +
                                  std::to_string(element_count(*at)) + " positions of the block");
  return {};
}

Status infer_col2im(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 0, kNumericTypes, "a numeric type"));
  ATC_TRY(require_rank(ctx, 0, 3, 3));
  for (std::size_t i : {kImageShape, kBlockShape}) {
    ATC_TRY(require_dtype(ctx, i, {DType::I64}, "type i64"));
    ATC_TRY(require_rank(ctx, i, 1, 1));
  }
  const auto rank = length_of(ctx, kImageShape);
  if (!rank) {
    ctx.set_output(0, ctx.dtype(0), std::nullopt);
    return {};
  }
  if (const auto n = length_of(ctx, kBlockShape); n && *n != *rank)
    return ctx.input_error(
        kBlockShape, "must have one length for each of the " + std::to_string(*rank) + " axes of the image");
  const auto image = elements_of(ctx, kImageShape);
  const auto image_lengths = literals_of(ctx, kImageShape);
  const auto block = literals_of(ctx, kBlockShape);
  if (ctx.ranked(0) && image_lengths && block) ATC_TRY(check_columns(ctx, *image_lengths, *block));
  ir::Shape shape = {ctx.ranked(0) ? ctx.shape(0)[0] : ctx.unknown_dim(), ctx.unknown_dim()};
  if (ctx.ranked(0) && ctx.shape(0)[1].known() && block && element_count(*block) > 0)
    shape[1] = ir::Dim::of(ctx.shape(0)[1].value / element_count(*block));
  const ir::Shape spatial = image ? *image : unknown_shape(ctx, static_cast<std::size_t>(*rank));
  shape.insert(shape.end(), spatial.begin(), spatial.end());
  ctx.set_output(0, ctx.dtype(0), std::move(shape));
  return {};
}

Status reference_col2im(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const Dims image = to_int64s(ctx.input(kImageShape));
  const Dims block = to_int64s(ctx.input(kBlockShape));
  const std::size_t rank = image.size();
  ATC_ASSIGN(const Sliding s, sliding_of(ctx.node(), rank));
  const auto at = block.size() == rank ? positions(image, block, s) : std::nullopt;
  const std::int64_t taps = element_count(block);
  if (!at || x.shape[1] % taps != 0 || x.shape[2] != element_count(*at) || element_count(image) < 0)
    return ctx.error("columns of shape [" + to_string(x.shape) + "] do not fit an image of [" +
                     to_string(image) + "] with blocks of [" + to_string(block) + "]");
  const std::int64_t planes = x.shape[0] * (x.shape[1] / taps);  // channels of all images
  const std::int64_t pixels = element_count(image);
  const Dims strides = row_major_strides(image);
  const std::vector<double> in = to_doubles(x);
  std::vector<double> y(static_cast<std::size_t>(planes * pixels), 0.0);
  for (NdIndex tap(block); !tap.done(); tap.next())
    for (NdIndex place(*at); !place.done(); place.next()) {
      std::int64_t pixel = 0;
      bool inside = true;
      for (std::size_t i = 0; i < rank; ++i) {
        const std::int64_t p = place[i] * s.strides[i] + tap[i] * s.dilations[i] - s.pads[i];
        inside = inside && p >= 0 && p < image[i];
        pixel += p * strides[i];
      }
      if (!inside) continue;
      for (std::int64_t plane = 0; plane < planes; ++plane)
        y[static_cast<std::size_t>(plane * pixels + pixel)] +=
            in[static_cast<std::size_t>((plane * taps + tap.position()) * x.shape[2] + place.position())];
    }
  Dims shape = {x.shape[0], x.shape[1] / taps};
  shape.insert(shape.end(), image.begin(), image.end());
  ctx.outputs[0] = from_doubles(x.dtype, shape, y);
  return {};
}

}  // namespace

void register_col2im(Registry& r) {
  r.add({.name = "Col2Im",
         .since = 18,
         .attrs = {{"dilations", AttrKind::Ints}, {"pads", AttrKind::Ints}, {"strides", AttrKind::Ints}},
         .inputs = {3, 3},
         .infer = infer_col2im,
         .reference = reference_col2im});
}

}  // namespace atc::ops
