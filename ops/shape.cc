#include <algorithm>

#include "atc/base/math.h"
#include "ops/families.h"
#include "ops/op.h"
#include "ops/reference_util.h"
#include "ops/shape_value.h"

// Shape and Size: the lengths of a tensor as data.
namespace atc::ops {
namespace {

constexpr std::string_view kStart = "start";  // Int, 0, since 15
constexpr std::string_view kEnd = "end";      // Int, the rank, since 15

struct AxisRange {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// Axes that the node asks for: negative bounds count from the end, all are clamped to [0, rank].
AxisRange axis_range(const ir::Node& node, std::size_t rank) {
  const auto r = static_cast<std::int64_t>(rank);
  auto bound = [&](std::string_view attribute, std::int64_t fallback) {
    const std::int64_t v = node.attrs.get_int(attribute, fallback);
    return std::clamp<std::int64_t>(v < 0 ? v + r : v, 0, r);
  };
  const std::int64_t first = bound(kStart, 0);
  const std::int64_t last = std::max(first, bound(kEnd, r));
  return {static_cast<std::size_t>(first), static_cast<std::size_t>(last - first)};
}

Status infer_shape_op(InferContext& ctx) {
  if (!ctx.ranked(0)) {
    ctx.set_output(0, DType::I64, ir::Shape{ctx.unknown_dim()});
    return {};
  }
  const ir::Shape& shape = ctx.shape(0);
  const AxisRange range = axis_range(ctx.node(), shape.size());
  ctx.set_output(0, DType::I64, ir::Shape{ir::Dim::of(static_cast<std::int64_t>(range.count))});
  const auto first = shape.begin() + static_cast<std::ptrdiff_t>(range.first);
  set_elements(ctx, 0, ir::Shape(first, first + static_cast<std::ptrdiff_t>(range.count)));
  return {};
}

Status reference_shape_op(EvalContext& ctx) {
  const Dims& shape = ctx.input(0).shape;
  const AxisRange range = axis_range(ctx.node(), shape.size());
  ctx.outputs[0] = from_int64s(DType::I64, {static_cast<std::int64_t>(range.count)},
                               std::span(shape).subspan(range.first, range.count));
  return {};
}

Status infer_size(InferContext& ctx) {
  ctx.set_output(0, DType::I64, ir::Shape{});
  if (!ctx.ranked(0)) return {};
  std::int64_t known = 1;
  const ir::Dim* symbol = nullptr;
  for (const ir::Dim& d : ctx.shape(0)) {
    if (d.known()) {
      const auto product = checked_mul(known, d.value);
      if (!product) return ctx.input_error(0, "has more elements than 64 bits count");
      known = *product;
    } else if (symbol != nullptr) {
      return {};
    } else {
      symbol = &d;
    }
  }
  if (symbol == nullptr || known == 0)
    set_elements(ctx, 0, {literal(known)});
  else if (known == 1)
    set_elements(ctx, 0, {*symbol});
  return {};
}

Status reference_size(EvalContext& ctx) {
  const std::int64_t count = ctx.input(0).count();
  ctx.outputs[0] = from_int64s(DType::I64, {}, std::span(&count, 1));
  return {};
}

}  // namespace

void register_shape(Registry& r) {
  r.add({.name = "Shape",
         .attrs = {{kEnd, AttrKind::Int, false, 15}, {kStart, AttrKind::Int, false, 15}},
         .infer = infer_shape_op,
         .reference = reference_shape_op});
  r.add({.name = "Size", .infer = infer_size, .reference = reference_size});
}

}  // namespace atc::ops
