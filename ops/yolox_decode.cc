#include <cmath>
#include <string>
#include <vector>

#include "ops/any_domain.h"
#include "ops/families.h"
#include "ops/infer_checks.h"

// YoloxBoundingBoxDecode: Ascend's decoding of YOLOX predictions [batch, boxes, 4] (dx, dy, log width, log
// height) against priors [boxes, 4] (x, y, width, height) into corners (x1, y1, x2, y2).
namespace atc::ops {
namespace {

Status infer_yolox_decode(InferContext& ctx) {
  ATC_TRY(require_float(ctx, 0));
  ATC_TRY(require_same_dtype(ctx, 1, 0));
  ATC_TRY(require_rank(ctx, 0, 2, 2));
  ATC_TRY(require_rank(ctx, 1, 3, 3));
  for (std::size_t i = 0; i < 2; ++i)
    if (ctx.ranked(i) && conflicts(ctx.shape(i).back(), ir::Dim::of(4)))
      return ctx.input_error(i, "must have four elements a box");
  std::optional<ir::Shape> shape = ctx.type(1).shape;
  if (shape && ctx.ranked(0)) {
    if (conflicts((*shape)[1], ctx.shape(0)[0]))
      return ctx.input_error(
          1, "must have a box for each of the " + std::to_string(ctx.shape(0)[0].value) + " priors");
    (*shape)[1] = merge((*shape)[1], ctx.shape(0)[0]);
  }
  ctx.set_output(0, ctx.dtype(1), std::move(shape));
  return {};
}

Status reference_yolox_decode(EvalContext& ctx) {
  const Tensor& boxes = ctx.input(1);
  const std::vector<double> prior = to_doubles(ctx.input(0));
  const std::vector<double> in = to_doubles(boxes);
  std::vector<double> y(in.size());
  for (std::size_t i = 0; i < in.size(); i += 4) {
    const double* p = prior.data() + i % prior.size();
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const double middle = p[axis] + in[i + axis] * p[2 + axis];
      const double half = std::exp(in[i + 2 + axis]) * p[2 + axis] / 2;
      y[i + axis] = middle - half;
      y[i + 2 + axis] = middle + half;
    }
  }
  ctx.outputs[0] = from_doubles(boxes.dtype, boxes.shape, y);
  return {};
}

}  // namespace

void register_yolox_decode(Registry& r) {
  r.add({.name = "YoloxBoundingBoxDecode",
         .domain = kAnyDomain,
         .inputs = {2, 2},
         .infer = infer_yolox_decode,
         .reference = reference_yolox_decode});
}

}  // namespace atc::ops
