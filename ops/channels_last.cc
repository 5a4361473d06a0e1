#include "ops/channels_last.h"

namespace atc::ops {
namespace {

constexpr const char* kChannelsLast = "channels_last";  // Ints

}  // namespace

bool stores_channels_last(const ir::Node& node) { return node.attrs.has(kChannelsLast); }

void set_channels_last(ir::Node& node, const Dims& shape) { node.attrs.set(kChannelsLast, shape); }

Dims channels_last_shape(const ir::Node& node) { return node.attrs.get_ints(kChannelsLast); }

Dims channels_last_strides(const Dims& dims) {
  Dims strides(dims.size(), 1);
  std::int64_t stride = dims[1];
  for (std::size_t i = dims.size(); i-- > 2;) {
    strides[i] = stride;
    stride *= dims[i];
  }
  strides[0] = stride;
  return strides;
}

Dims output_dims(const ir::Graph& body, std::size_t i) { return body.outputs()[i]->type.dims(); }

}  // namespace atc::ops
