#include "ops/indices.h"

#include <span>
#include <string>

#include "ops/reference_util.h"

namespace atc::ops {
namespace {

Status outside(const EvalContext& ctx, std::int64_t index, std::int64_t length) {
  return ctx.error("index " + std::to_string(index) + " is outside an axis of length " +
                   std::to_string(length));
}

}  // namespace

StatusOr<std::vector<std::int64_t>> normal_indices(const EvalContext& ctx, std::size_t i,
                                                   std::int64_t length) {
  std::vector<std::int64_t> out = to_int64s(ctx.input(i));
  for (std::int64_t& index : out) {
    const auto normal = normalize_axis(index, length);
    if (!normal) return outside(ctx, index, length);
    index = *normal;
  }
  return out;
}

StatusOr<std::vector<std::int64_t>> element_targets(const EvalContext& ctx, const Dims& data) {
  const Tensor& indices = ctx.input(1);
  const auto axis =
      normalize_axis(ctx.node().attrs.get_int("axis", 0), static_cast<std::int64_t>(data.size()));
  if (!axis || indices.shape.size() != data.size())
    return ctx.error("attribute axis or indices of shape [" + to_string(indices.shape) +
                     "] do not fit data of shape [" + to_string(data) + "]");
  const auto at = static_cast<std::size_t>(*axis);
  for (std::size_t d = 0; d < data.size(); ++d)
    if (d != at && indices.shape[d] > data[d])
      return ctx.error("indices of shape [" + to_string(indices.shape) + "] exceed data of shape [" +
                       to_string(data) + "] in axis " + std::to_string(d));
  ATC_ASSIGN(std::vector<std::int64_t> out, normal_indices(ctx, 1, data[at]));
  Dims strides = row_major_strides(data);
  const std::int64_t step = std::exchange(strides[at], 0);
  for (StridedWalk w(indices.shape, {strides}); !w.done(); w.next()) {
    std::int64_t& target = out[static_cast<std::size_t>(w.position())];
    target = w.offset() + target * step;
  }
  return out;
}

StatusOr<TupleTargets> tuple_targets(const EvalContext& ctx, const Dims& data, std::size_t batch) {
  const Tensor& indices = ctx.input(1);
  if (indices.shape.empty() || batch >= indices.shape.size() ||
      batch + static_cast<std::size_t>(indices.shape.back()) > data.size())
    return ctx.error("indices of shape [" + to_string(indices.shape) + "] do not fit data of shape [" +
                     to_string(data) + "]");
  const auto tuple = static_cast<std::size_t>(indices.shape.back());
  const std::span<const std::int64_t> dims(data);
  const std::span<const std::int64_t> lead(indices.shape.data(), indices.shape.size() - 1);
  for (std::size_t d = 0; d < batch; ++d)
    if (indices.shape[d] != data[d])
      return ctx.error("data and indices differ in batch axis " + std::to_string(d));

  TupleTargets out;
  out.run = element_count(dims.subspan(batch + tuple));
  const std::int64_t per_batch = element_count(dims.subspan(batch));
  const std::int64_t tuples = element_count(lead);
  const std::int64_t tuples_per_batch = element_count(lead.subspan(batch));
  const Dims strides = row_major_strides(data);
  const std::vector<std::int64_t> index = to_int64s(indices);
  for (std::int64_t t = 0; t < tuples; ++t) {
    std::int64_t offset = t / tuples_per_batch * per_batch;
    for (std::size_t k = 0; k < tuple; ++k) {
      const std::int64_t wanted = index[static_cast<std::size_t>(t) * tuple + k];
      const auto normal = normalize_axis(wanted, data[batch + k]);
      if (!normal) return outside(ctx, wanted, data[batch + k]);
      offset += *normal * strides[batch + k];
    }
    out.offsets.push_back(offset);
  }
  return out;
}

}  // namespace atc::ops
