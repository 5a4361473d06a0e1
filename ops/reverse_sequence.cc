#include <string>

#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/op.h"
#include "ops/reference_util.h"

// ReverseSequence: the first sequence_lens[b] steps of each batch entry in reverse order, the rest kept.
namespace atc::ops {
namespace {

constexpr std::string_view kBatchAxis = "batch_axis";  // Int, 1: one of axes 0 and 1
constexpr std::string_view kTimeAxis = "time_axis";    // Int, 0: the other

struct Axes {
  std::size_t batch = 1;
  std::size_t time = 0;
};

StatusOr<Axes> axes_of(const ir::Node& node, const auto& ctx) {
  const std::int64_t batch = node.attrs.get_int(kBatchAxis, 1);
  const std::int64_t time = node.attrs.get_int(kTimeAxis, 0);
  if (batch + time != 1 || batch * time != 0)
    return ctx.error("attributes batch_axis and time_axis are " + std::to_string(batch) + " and " +
                     std::to_string(time) + ", expected 0 and 1 or 1 and 0");
  return Axes{static_cast<std::size_t>(batch), static_cast<std::size_t>(time)};
}

Status infer_reverse_sequence(InferContext& ctx) {
  ATC_ASSIGN(const Axes axes, axes_of(ctx.node(), ctx));
  ATC_TRY(require_dtype(ctx, 1, {DType::I64}, "type i64"));
  ATC_TRY(require_rank(ctx, 0, 2));
  if (ctx.ranked(0)) ATC_TRY(require_vector(ctx, 1, ctx.shape(0)[axes.batch]));
  return infer_same_as_input(ctx);
}

Status reference_reverse_sequence(EvalContext& ctx) {
  ATC_ASSIGN(const Axes axes, axes_of(ctx.node(), ctx));
  const Tensor& x = ctx.input(0);
  const std::vector<std::int64_t> lengths = to_int64s(ctx.input(1));
  if (x.shape.size() < 2 || static_cast<std::int64_t>(lengths.size()) != x.shape[axes.batch])
    return ctx.error("sequence_lens does not fit an input of shape [" + to_string(x.shape) + "]");
  for (std::int64_t length : lengths)
    if (length < 0 || length > x.shape[axes.time])
      return ctx.error("sequence length " + std::to_string(length) + " is outside [0, " +
                       std::to_string(x.shape[axes.time]) + "]");
  const std::int64_t step = row_major_strides(x.shape)[axes.time];
  ElementWriter out(x.dtype, x.shape);
  for (NdIndex at(x.shape); !at.done(); at.next()) {
    const std::int64_t length = lengths[static_cast<std::size_t>(at[axes.batch])];
    const std::int64_t t = at[axes.time];
    const std::int64_t source = t < length ? length - 1 - t : t;
    out.copy(at.position(), x, at.position() + (source - t) * step);
  }
  ctx.outputs[0] = std::move(out).freeze();
  return {};
}

}  // namespace

void register_reverse_sequence(Registry& r) {
  r.add({.name = "ReverseSequence",
         .since = 10,
         .attrs = {{kBatchAxis, AttrKind::Int}, {kTimeAxis, AttrKind::Int}},
         .inputs = {2, 2},
         .infer = infer_reverse_sequence,
         .reference = reference_reverse_sequence});
}

}  // namespace atc::ops
