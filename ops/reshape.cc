#include <algorithm>
#include <numeric>
#include <string>

#include "atc/base/math.h"
#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/move.h"
#include "ops/op.h"
#include "ops/reference_util.h"
#include "ops/shape_value.h"

// Reshape and Flatten: another shape for the same elements.
namespace atc::ops {
namespace {

/// Product of some dims: what is known, and the symbols left over.
struct DimProduct {
  std::int64_t known = 1;
  std::vector<std::string> symbols;
  bool overflow = false;

  void multiply(const ir::Dim& d) {
    if (!d.known()) {
      symbols.push_back(d.symbol);
    } else if (const auto product = checked_mul(known, d.value)) {
      known = *product;
    } else {
      overflow = true;
    }
  }
};

DimProduct product_of(std::span<const ir::Dim> dims) {
  DimProduct p;
  for (const ir::Dim& d : dims) p.multiply(d);
  return p;
}

ir::Dim as_dim(InferContext& ctx, const DimProduct& p) {
  if (p.known == 0) return ir::Dim::of(0);
  if (p.symbols.empty()) return ir::Dim::of(p.known);
  return p.symbols.size() == 1 && p.known == 1 ? ir::Dim::named(p.symbols[0]) : ctx.unknown_dim();
}

/// Drops symbols that stand on both sides of an equation of products.
void cancel(DimProduct& a, DimProduct& b) {
  std::erase_if(a.symbols, [&](const std::string& s) {
    const auto same = std::ranges::find(b.symbols, s);
    if (same == b.symbols.end()) return false;
    b.symbols.erase(same);
    return true;
  });
}

// Reshape -------------------------------------------------------------------------------------------

constexpr std::string_view kShape = "shape";          // Ints, until 4; input 1 since 5
constexpr std::string_view kAllowZero = "allowzero";  // Int, 0, since 14: a 0 means 0, not "as the input"

Status infer_reshape(InferContext& ctx) {
  std::optional<ir::Shape> target;
  if (ctx.version() < 5) {
    target = ir::Shape();
    for (std::int64_t v : ctx.node().attrs.get_ints(kShape)) target->push_back(literal(v));
  } else {
    ATC_TRY(require_dtype(ctx, 1, {DType::I64}, "type i64"));
    target = elements_of(ctx, 1);
  }
  if (!target) {
    const auto rank = length_of(ctx, 1);
    ctx.set_output(0, ctx.dtype(0),
                   rank ? std::optional(unknown_shape(ctx, static_cast<std::size_t>(*rank))) : std::nullopt);
    return {};
  }

  const bool allow_zero = ctx.node().attrs.get_int(kAllowZero, 0) != 0;
  const auto& source = ctx.type(0).shape;
  ir::Shape out = *target;
  std::optional<std::size_t> rest;  // the axis that takes what the others leave
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!is_literal(out[i])) continue;
    if (out[i].value == -1) {
      if (rest) return ctx.error("shape [" + ir::to_string(*target) + "] has -1 twice");
      rest = i;
    } else if (out[i].value < -1) {
      return ctx.error("shape has the negative length " + std::to_string(out[i].value) + " at axis " +
                       std::to_string(i));
    } else if (out[i].value == 0 && !allow_zero) {
      if (source && i >= source->size())
        return ctx.error("shape copies axis " + std::to_string(i) + " of the input, whose rank is " +
                         std::to_string(source->size()));
      out[i] = source ? (*source)[i] : ctx.unknown_dim();
    }
  }

  DimProduct left;
  for (std::size_t i = 0; i < out.size(); ++i)
    if (i != rest) left.multiply(out[i]);
  if (!source) {
    if (rest) out[*rest] = ctx.unknown_dim();
    ctx.set_output(0, ctx.dtype(0), std::move(out));
    keep_elements(ctx);
    return {};
  }
  DimProduct all = product_of(*source);
  if (all.overflow || left.overflow) return ctx.error("the number of elements does not fit 64 bits");
  cancel(all, left);
  const std::string mismatch = "input of shape [" + ir::to_string(*source) + "] cannot be reshaped to [" +
                               ir::to_string(*target) + "]";
  if (!rest && all.symbols.empty() && left.symbols.size() == 1) {
    // One unknown axis in the target: it takes what the others leave.
    rest = static_cast<std::size_t>(
        std::ranges::find(out, left.symbols[0], [](const ir::Dim& d) { return d.symbol; }) - out.begin());
    left.symbols.clear();
  }
  if (rest) {
    if (!left.symbols.empty() || left.known == 0) {
      if (left.symbols.empty() && all.symbols.empty() && all.known != 0) return ctx.error(mismatch);
      // 0 elements split by 0 leave nothing: ONNX gives no length, 0 keeps the count.
      out[*rest] = left.symbols.empty() && all.symbols.empty() ? ir::Dim::of(0) : ctx.unknown_dim();
    } else if (all.symbols.empty()) {
      if (all.known % left.known != 0) return ctx.error(mismatch);
      out[*rest] = ir::Dim::of(all.known / left.known);
    } else if (all.known % left.known == 0) {
      out[*rest] = as_dim(ctx, {all.known / left.known, all.symbols});
    } else {
      out[*rest] = ctx.unknown_dim();
    }
  } else if (all.symbols.empty() && left.symbols.empty() && all.known != left.known) {
    return ctx.error(mismatch);
  }
  ctx.set_output(0, ctx.dtype(0), std::move(out));
  keep_elements(ctx);
  return {};
}

Status reference_reshape(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const Dims target = ctx.version() < 5 ? ctx.node().attrs.get_ints(kShape) : to_int64s(ctx.input(1));
  const bool allow_zero = ctx.node().attrs.get_int(kAllowZero, 0) != 0;
  Dims out = target;
  std::int64_t left = 1;
  std::optional<std::size_t> rest;
  bool fits = true;
  for (std::size_t i = 0; i < out.size() && fits; ++i) {
    if (out[i] == 0 && !allow_zero) {
      fits = i < x.shape.size();
      if (fits) out[i] = x.shape[i];
    }
    if (out[i] == -1) {
      fits = fits && !rest;
      rest = i;
    } else {
      const auto product = checked_mul(left, out[i]);
      fits = fits && out[i] >= 0 && product;
      left = product.value_or(0);
    }
  }
  if (fits && rest) {
    fits = left == 0 ? x.count() == 0 : x.count() % left == 0;
    out[*rest] = left == 0 ? 0 : x.count() / left;
  }
  if (!fits || element_count(out) != x.count())
    return ctx.error("input of shape [" + to_string(x.shape) + "] cannot be reshaped to [" +
                     to_string(target) + "]");
  ctx.outputs[0] = with_shape(x, std::move(out));
  return {};
}

// Flatten -------------------------------------------------------------------------------------------

constexpr std::string_view kAxis = "axis";  // Int, 1, in [-rank, rank]

std::optional<std::size_t> flatten_axis(const ir::Node& node, std::size_t rank) {
  const auto r = static_cast<std::int64_t>(rank);
  std::int64_t axis = node.attrs.get_int(kAxis, 1);
  if (axis < 0) axis += r;
  if (axis < 0 || axis > r) return std::nullopt;
  return static_cast<std::size_t>(axis);
}

std::string flatten_fault(const ir::Node& node, std::size_t rank) {
  return "attribute axis is " + std::to_string(node.attrs.get_int(kAxis, 1)) + ", outside [-" +
         std::to_string(rank) + ", " + std::to_string(rank) + "]";
}

Status infer_flatten(InferContext& ctx) {
  if (!ctx.ranked(0)) {
    ctx.set_output(0, ctx.dtype(0), unknown_shape(ctx, 2));
    return {};
  }
  const std::span<const ir::Dim> shape = ctx.shape(0);
  const auto axis = flatten_axis(ctx.node(), shape.size());
  if (!axis) return ctx.error(flatten_fault(ctx.node(), shape.size()));
  const DimProduct rows = product_of(shape.first(*axis));
  const DimProduct columns = product_of(shape.subspan(*axis));
  if (rows.overflow || columns.overflow) return ctx.error("the number of elements does not fit 64 bits");
  ctx.set_output(0, ctx.dtype(0), ir::Shape{as_dim(ctx, rows), as_dim(ctx, columns)});
  return {};
}

Status reference_flatten(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const auto axis = flatten_axis(ctx.node(), x.shape.size());
  if (!axis) return ctx.error(flatten_fault(ctx.node(), x.shape.size()));
  const std::span<const std::int64_t> dims = x.shape;
  ctx.outputs[0] = with_shape(x, {element_count(dims.first(*axis)), element_count(dims.subspan(*axis))});
  return {};
}

}  // namespace

void register_reshape(Registry& r) {
  r.add({.name = "Reshape",
         .since = 1,
         .until = 4,
         .attrs = {{kShape, AttrKind::Ints}, {"consumed_inputs", AttrKind::Ints}},
         .infer = infer_reshape,
         .reference = reference_reshape,
         .lower = lower_view});
  r.add({.name = "Reshape",
         .since = 5,
         .attrs = {{kAllowZero, AttrKind::Int, false, 14}},
         .inputs = {2, 2},
         .infer = infer_reshape,
         .reference = reference_reshape,
         .lower = lower_view});
  r.add({.name = "Flatten",
         .attrs = {{kAxis, AttrKind::Int}},
         .infer = infer_flatten,
         .reference = reference_flatten,
         .lower = lower_view});
}

}  // namespace atc::ops
