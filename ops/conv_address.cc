#include "ops/conv_address.h"

#include "atc/base/check.h"
#include "ops/channels_last.h"
#include "ops/in_place.h"

namespace atc::ops {

std::array<std::int64_t, 3> three(const Dims& d, std::int64_t fill) {
  std::array<std::int64_t, 3> out = {fill, fill, fill};
  for (std::size_t i = 0; i < d.size(); ++i) out[3 - d.size() + i] = d[i];
  return out;
}

kernels::ConvAddress conv_address(const ir::Value* value, const Dims& out_dims) {
  Dims dims = value->type.dims();
  const bool in_blocks = ir::has_channel_blocks(value->type.format);
  if (!in_blocks && element_count(dims) == 1 && element_count(out_dims) != 1) return {};
  const bool has_batch = dims.size() == out_dims.size() && dims[0] != 1;
  const std::int64_t batch = has_batch ? storage_strides(value)[0] : 0;
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
    a.n = batch;
    return a;
  }
  const std::int64_t c0 = ir::c0_of(value->type.format, value->type.dtype);
  a.lane = 1;
  a.w = stride(spatial[2], out[2], c0);
  a.h = stride(spatial[1], out[1], spatial[2] * c0);
  a.d = stride(spatial[0], out[0], spatial[1] * spatial[2] * c0);
  const std::int64_t block = spatial[0] * spatial[1] * spatial[2] * c0;
  a.n = batch;
  if (value->type.format == ir::Format::NC1HWC0_C04) {
    // Its single block is the first lanes of a panel.
    ATC_CHECK(dims[1] <= c0, "several blocks of four channels: " + ir::to_string(value->type));
    a.c1 = 16;
    a.channels = dims[1];
    return a;
  }
  a.c0 = c0;
  a.c1 = block;
  return a;
}

namespace {

kernels::ConvAddress channels_last_address(const Dims& out) {
  const auto spatial = three(Dims(out.begin() + 2, out.end()), 1);
  kernels::ConvAddress a;
  a.lane = 1;
  a.c1 = 16;
  a.channels = out[1];
  a.w = out[1];
  a.h = spatial[2] * a.w;
  a.d = spatial[1] * a.h;
  a.n = spatial[0] * a.d;
  return a;
}

}  // namespace

std::vector<kernels::ConvAddress> epilogue_addresses(const ir::Node& node,
                                                     const std::vector<const ir::Value*>& values,
                                                     const Dims& out) {
  std::vector<kernels::ConvAddress> addresses;
  for (const ir::Value* v : values)
    addresses.push_back(v->producer() == &node && stores_channels_last(node) ? channels_last_address(out)
                                                                             : conv_address(v, out));
  return addresses;
}

}  // namespace atc::ops
