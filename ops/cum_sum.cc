#include <string>

#include "aicore/vector_ops.h"
#include "kernels/scan.h"
#include "ops/axis_view.h"
#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/integer_math.h"
#include "ops/move.h"
#include "ops/op.h"
#include "ops/reference_util.h"
#include "ops/shape_value.h"

// Running reductions along an axis: CumSum, CumProd.
namespace atc::ops {
namespace {

constexpr std::string_view kExclusive = "exclusive";  // Int, 0: leave the element itself out
constexpr std::string_view kReverse = "reverse";      // Int, 0: run from the end
constexpr std::size_t kAxis = 1;                      // scalar input in [-rank, rank)

Status infer_running(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 0, kNumericTypes, "a numeric type"));
  ATC_TRY(require_dtype(ctx, kAxis, kIndexTypes, "type i32 or i64"));
  const auto axis = literals_of(ctx, kAxis);
  if (axis && ctx.ranked(0)) {
    const std::size_t rank = ctx.shape(0).size();
    if (axis->size() != 1 || !normalize_axis(axis->front(), static_cast<std::int64_t>(rank)))
      return ctx.input_error(kAxis, "must be one axis of an input of rank " + std::to_string(rank));
  }
  return infer_same_as_input(ctx);
}

struct SumOp {
  static constexpr int kStart = 0;
  template <class T>
  static T apply(T a, T b) {
    return wrapping_add(a, b);
  }
};
struct ProdOp {
  static constexpr int kStart = 1;
  template <class T>
  static T apply(T a, T b) {
    return wrapping_mul(a, b);
  }
};

template <class Op>
Status reference_running(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const auto axis = ctx.input(kAxis).count() == 1 ? normalize_axis(int_at(ctx.input(kAxis), 0),
                                                                   static_cast<std::int64_t>(x.shape.size()))
                                                  : std::nullopt;
  if (!axis) return ctx.error("axis must be one axis of an input of shape [" + to_string(x.shape) + "]");
  const bool exclusive = ctx.node().attrs.get_int(kExclusive, 0) != 0;
  const bool reverse = ctx.node().attrs.get_int(kReverse, 0) != 0;
  const AxisView view = axis_view(x.shape, *axis);
  MutableTensor y(x.dtype, x.shape);
  dispatch(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto in = x.as<T>();
    auto out = y.as<T>();
    for (std::size_t o = 0; o < view.outer; ++o)
      for (std::size_t i = 0; i < view.inner; ++i) {
        auto total = static_cast<Widened<T>>(Op::kStart);
        for (std::size_t step = 0; step < view.length; ++step) {
          const std::size_t k = view.column(o, i) + (reverse ? view.length - 1 - step : step) * view.inner;
          const Widened<T> before = total;
          total = Op::apply(total, widen(in[k]));
          out[k] = narrow<T>(exclusive ? before : total);
        }
      }
  });
  ctx.outputs[0] = std::move(y).freeze();
  return {};
}

// Lowering ------------------------------------------------------------------------------------------

/// The axis has to be known, and the elements to be of a type that the vector unit adds.
bool lowers_running(const ir::Node& node) {
  const auto type = aicore::reg_type_of(node.input(0)->type.dtype);
  return type && *type != aicore::RegType::B8 && parameters_are_constant(node, kAxis);
}

template <class Op>
Status lower_running(LowerContext& ctx) {
  const ir::Node& n = ctx.node();
  const Dims dims = n.input(0)->type.dims();
  const auto axis = normalize_axis(constant_list(n, kAxis)->front(), std::ssize(dims));
  if (!axis) return cannot_lower(n, "names an axis outside its input");
  const AxisView view = axis_view(dims, *axis);
  kernels::ScanSpec s;
  s.product = std::is_same_v<Op, ProdOp>;
  s.exclusive = n.attrs.get_int(kExclusive, 0) != 0;
  s.reverse = n.attrs.get_int(kReverse, 0) != 0;
  s.outer = static_cast<std::int64_t>(view.outer);
  s.axis = static_cast<std::int64_t>(view.length);
  s.inner = static_cast<std::int64_t>(view.inner);
  ATC_ASSIGN(kernels::Task task,
             kernels::make_scan(s, {ctx.read(n.input(0)), ctx.write(n.output(0))}, ctx.chip()));
  ctx.emit(std::move(task));
  return {};
}

template <class Op>
OpDef running(std::string_view name, int since) {
  return {.name = name,
          .since = since,
          .attrs = {{kExclusive, AttrKind::Int}, {kReverse, AttrKind::Int}},
          .inputs = {2, 2},
          .infer = infer_running,
          .reference = reference_running<Op>,
          .lower = lower_running<Op>,
          .lowers = lowers_running};
}

}  // namespace

void register_cum_sum(Registry& r) {
  r.add(running<ProdOp>("CumProd", 26));
  r.add(running<SumOp>("CumSum", 11));
}

}  // namespace atc::ops
