#include "ops/conv_address.h"

#include "atc/base/math.h"

namespace atc::ops {

std::array<std::int64_t, 3> three(const Dims& d, std::int64_t fill) {
  std::array<std::int64_t, 3> out = {fill, fill, fill};
  for (std::size_t i = 0; i < d.size(); ++i) out[3 - d.size() + i] = d[i];
  return out;
}

kernels::ConvAddress conv_address(const ir::Value* value, const Dims& out_dims) {
  Dims dims = value->type.dims();
  const bool in_blocks = value->type.format == ir::Format::NC1HWC0;
  if (!in_blocks && element_count(dims) == 1 && element_count(out_dims) != 1) return {};
  dims.insert(dims.begin(), out_dims.size() - dims.size(), 1);
  const auto out = three(Dims(out_dims.begin() + 2, out_dims.end()), 1);
  const auto spatial = three(Dims(dims.begin() + 2, dims.end()), 1);
  auto stride = [](std::int64_t dim, std::int64_t of, std::int64_t s) { return dim == 1 && of != 1 ? 0 : s; };
  kernels::ConvAddress a;
  if (!in_blocks) {
    a.w = stride(spatial[2], out[2], 1);
    a.h = stride(spatial[1], out[1], spatial[2]);
    a.d = stride(spatial[0], out[0], spatial[1] * spatial[2]);
    const std::int64_t plane = spatial[0] * spatial[1] * spatial[2];
    a.lane = stride(dims[1], out_dims[1], plane);
    a.c1 = 16 * a.lane;
    a.channels = a.lane == 0 ? 0 : dims[1];
    a.n = dims[0] == 1 ? 0 : plane * dims[1];
    return a;
  }
  a.lane = 1;
  a.c0 = ir::c0_of(value->type.dtype);
  a.w = stride(spatial[2], out[2], a.c0);
  a.h = stride(spatial[1], out[1], spatial[2] * a.c0);
  a.d = stride(spatial[0], out[0], spatial[1] * spatial[2] * a.c0);
  a.c1 = spatial[0] * spatial[1] * spatial[2] * a.c0;
  a.n = dims[0] == 1 ? 0 : a.c1 * ceil_div(dims[1], a.c0);
  return a;
}

}  // namespace atc::ops
